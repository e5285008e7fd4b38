// Simulation::save and restore. The file holds every number that the next step depends on, bit for
// bit: state, clock, ledger and summary, and the names that tell whether it belongs to a
// simulation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/atomic_file.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/base/version.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr int kFormatVersion = 5;
constexpr std::string_view kFormat = "stiction checkpoint";

std::span<const double> as_span(const VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

void require_same(const Hdf5File& file, const std::string& attribute, std::string_view expected) {
  const std::string found = file.read_text_attribute("/", attribute);
  if (found != expected)
    throw InputError(
        fmt::format("{}: checkpoint was made with the {} '{}', this simulation has '{}'",
                    file.path(), attribute, found, expected));
}

std::vector<double> read_exactly(const Hdf5File& file, const std::string& object,
                                 std::size_t expected) {
  std::vector<double> values = file.read<double>(object);
  if (values.size() != expected)
    throw InputError(fmt::format("{}: '{}' has {} numbers, this simulation needs {}", file.path(),
                                 object, values.size(), expected));
  return values;
}

/// Forces that a scheme remembers, if it does.
std::vector<double> read_all_or_none(const Hdf5File& file, const std::string& object,
                                     std::size_t expected) {
  std::vector<double> values = file.read<double>(object);
  const auto is_bad = [](double x) { return !std::isfinite(x); };
  if ((!values.empty() && values.size() != expected) ||
      std::any_of(values.begin(), values.end(), is_bad))
    throw InputError(fmt::format("{}: '{}' does not fit this simulation", file.path(), object));
  return values;
}

constexpr int kNumCounts = 10;             // before those of the events
constexpr std::size_t kNumbersOfSlip = 6;  // way and normal of a contact

std::vector<ContactStatus> read_contact_memory(const Hdf5File& file, std::size_t num_contacts) {
  const auto values = file.read<std::int64_t>("memory_contacts");
  const auto is_bad = [](std::int64_t x) {
    return x < 0 || x > static_cast<std::int64_t>(ContactStatus::kSlip);
  };
  if ((!values.empty() && values.size() != num_contacts) ||
      std::any_of(values.begin(), values.end(), is_bad))
    throw InputError(
        fmt::format("{}: 'memory_contacts' does not fit this simulation", file.path()));
  std::vector<ContactStatus> contacts;
  for (const std::int64_t x : values) contacts.push_back(static_cast<ContactStatus>(x));
  return contacts;
}

std::vector<AccumulatedSlip> read_slips(const Hdf5File& file, std::size_t num_contacts) {
  const std::vector<double> values =
      read_all_or_none(file, "memory_slips", kNumbersOfSlip * num_contacts);
  std::vector<AccumulatedSlip> slips;
  for (std::size_t i = 0; i < values.size(); i += kNumbersOfSlip)
    slips.push_back({.way = {values[i], values[i + 1], values[i + 2]},
                     .normal = {values[i + 3], values[i + 4], values[i + 5]}});
  return slips;
}

}  // namespace

void Simulation::save(const std::string& path) const {
  PendingFile pending(path);
  Hdf5File file = Hdf5File::create(pending.temporary_path(), path);
  file.write_attribute("/", "format", kFormat);
  file.write_attribute("/", "format_version", kFormatVersion);
  file.write_attribute("/", "version", version());
  file.write_attribute("/", "scheme", options_.scheme);
  file.write_attribute("/", "solver", options_.solver);
  file.write_attribute("/", "friction", to_text(options_.friction));
  const std::vector<std::string> names = model_.q_names();
  file.write_attribute("/", "coordinates", fmt::format("{}", fmt::join(names, ",")));
  const std::uint64_t fingerprint[] = {compute_fingerprint(model_)};
  file.write<std::uint64_t>("fingerprint", fingerprint);
  file.write<double>("q", as_span(state_.q));
  file.write<double>("v", as_span(state_.v));
  const double clock[] = {state_.t, clock_.start, clock_.h};
  file.write<double>("clock", clock);
  const double ledger[] = {ledger_.start, ledger_.applied, ledger_.motor, ledger_.friction,
                           ledger_.impact};
  file.write<double>("ledger", ledger);
  const double worst[] = {summary_.residual_max, summary_.gap_min, summary_.joint_error_max,
                          summary_.impact_gain};
  file.write<double>("worst", worst);
  std::vector<std::int64_t> counts{clock_.index,
                                   summary_.steps,
                                   summary_.contacts_max,
                                   summary_.steps_above_tolerance,
                                   summary_.retries,
                                   summary_.substeps,
                                   summary_.rejected_substeps,
                                   summary_.impact_gains,
                                   summary_.scheme_iterations,
                                   summary_.linear_steps};
  counts.insert(counts.end(), summary_.events.begin(), summary_.events.end());
  file.write<std::int64_t>("counts", counts);
  // What sleeps is awake after a restart, finds that it rests, and falls asleep again.
  SchemeMemory all = taken().memory;
  if (sleepers_) sleepers_->complete(all);
  std::vector<std::int64_t> contacts;
  for (const ContactStatus status : all.contacts)
    contacts.push_back(static_cast<std::int64_t>(status));
  file.write<std::int64_t>("memory_contacts", contacts);
  file.write<std::uint64_t>("memory_keys", all.keys);
  const double memory[] = {all.substep};
  file.write<double>("memory", memory);
  file.write<double>("memory_joint_forces", all.joint_forces);
  file.write<double>("memory_contact_forces", all.contact_forces);
  std::vector<double> slips;
  for (const AccumulatedSlip& slip : all.slips)
    for (const Eigen::Vector3d& x : {slip.way, slip.normal})
      slips.insert(slips.end(), x.begin(), x.end());
  file.write<double>("memory_slips", slips);
  file.close();
  pending.commit();
}

void Simulation::restore(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  if (!file.has_attribute("/", "format") || file.read_text_attribute("/", "format") != kFormat)
    throw InputError(fmt::format("{}: is not a checkpoint", path));
  if (const int found = file.read_int_attribute("/", "format_version"); found != kFormatVersion)
    throw InputError(fmt::format("{}: checkpoint has format version {}, this program reads {}",
                                 path, found, kFormatVersion));
  require_same(file, "scheme", options_.scheme);
  require_same(file, "solver", options_.solver);
  require_same(file, "friction", to_text(options_.friction));
  const std::vector<std::string> names = model_.q_names();
  require_same(file, "coordinates", fmt::format("{}", fmt::join(names, ",")));
  if (file.read<std::uint64_t>("fingerprint") != std::vector{compute_fingerprint(model_)})
    throw InputError(
        fmt::format("{}: checkpoint was made with another model of the same coordinates", path));
  const auto q = read_exactly(file, "q", model_.num_q()),
             v = read_exactly(file, "v", model_.num_v());
  const auto clock = read_exactly(file, "clock", 3), ledger = read_exactly(file, "ledger", 5),
             worst = read_exactly(file, "worst", 4), substep = read_exactly(file, "memory", 1);
  const auto counts = file.read<std::int64_t>("counts");
  if (counts.size() != kNumCounts + kNumEventKinds)
    throw InputError(fmt::format("{}: 'counts' has the wrong size", path));
  const std::vector<std::uint64_t> keys = file.read<std::uint64_t>("memory_keys");
  const std::size_t num_contacts =
      model_.has_surfaces() ? keys.size() : static_cast<std::size_t>(model_.num_contacts());
  const SchemeMemory memory{
      .contacts = read_contact_memory(file, num_contacts),
      .keys = keys,
      .substep = substep[0],
      .joint_forces = read_all_or_none(file, "memory_joint_forces",
                                       static_cast<std::size_t>(model_.num_joint_rows())),
      .contact_forces = read_all_or_none(file, "memory_contact_forces", 3 * num_contacts),
      .slips = read_slips(file, num_contacts)};

  State state;
  state.t = clock[0];
  state.q = ConstVectorMap(q.data(), model_.num_q());
  state.v = ConstVectorMap(v.data(), model_.num_v());
  const auto is_bad = [](double x) { return !std::isfinite(x); };
  const bool has_bad_number =
      std::any_of(clock.begin(), clock.end(), is_bad) ||
      std::any_of(ledger.begin(), ledger.end(), is_bad) || is_bad(memory.substep) ||
      std::any_of(counts.begin(), counts.end(), [](auto n) { return n < 0; });
  if (has_bad_number || !state.q.allFinite() || !state.v.allFinite())
    throw InputError(fmt::format("{}: checkpoint holds a number that cannot be", path));
  wake_all();
  state_ = state;
  clock_ = {.start = clock[1], .h = clock[2], .index = counts[0]};
  ledger_.begin(evaluator_.compute_energy(model_, state_));
  ledger_.start = ledger[0];
  ledger_.add_step(
      {.applied = ledger[1], .motor = ledger[2], .friction = ledger[3], .impact = ledger[4]},
      ledger_.now);
  summary_ = {.steps = counts[1],
              .contacts_max = static_cast<int>(counts[2]),
              .residual_max = worst[0],
              .gap_min = worst[1],
              .joint_error_max = worst[2],
              .steps_above_tolerance = counts[3],
              .retries = counts[4],
              .events = {},
              .substeps = counts[5],
              .rejected_substeps = counts[6],
              .scheme_iterations = counts[8],
              .linear_steps = counts[9],
              .impact_gains = counts[7],
              .impact_gain = worst[3]};
  std::copy_n(counts.begin() + kNumCounts, kNumEventKinds, summary_.events.begin());
  model_.detect(state_, options_.h);  // what is told of the start has the gaps of its contacts
  forget_last_step();
  taken().memory = memory;
}

}  // namespace stiction
