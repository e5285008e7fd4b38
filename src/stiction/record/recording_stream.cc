#include "stiction/record/recording_stream.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "stiction/record/recording_format.h"
#include "stiction/record/recording_parts.h"

namespace stiction {

using namespace recording_parts;

namespace {

/// Rows of a list that increases are looked through so many at a time.
constexpr std::int64_t kBlock = 65536;

/// A table whose rows carry the number of what they belong to, read in order.
struct Cursor {
  std::string object;
  std::int64_t next = 0, end = 0;

  /// How many rows from `next` on have a number of at most `last`.
  std::int64_t count_up_to(const Hdf5File& file, std::int64_t last) const {
    std::int64_t count = 0;
    while (next + count < end) {
      const std::int64_t size = std::min(kBlock, end - next - count);
      const auto numbers = read_column<std::int64_t>(file, object, next + count, size);
      const auto stop = std::find_if(numbers.begin(), numbers.end(),
                                     [last](std::int64_t number) { return number > last; });
      count += stop - numbers.begin();
      if (stop != numbers.end()) break;
    }
    return count;
  }
};

/// Starts of the rows of each of `numbers` in a list that belongs to them, and its end.
std::vector<std::int64_t> index_rows(const std::vector<std::int64_t>& numbers,
                                     const std::vector<std::int64_t>& belongs_to) {
  std::vector<std::int64_t> starts{0};
  auto next = static_cast<std::int64_t>(0);
  for (const std::int64_t number : numbers) {
    while (next < static_cast<std::int64_t>(belongs_to.size()) && belongs_to[next] <= number)
      ++next;
    starts.push_back(next);
  }
  return starts;
}

/// A table of the schemes that have geometric stiffness: all columns, or none.
RowMatrixXd read_turning(const Hdf5File& file, const std::string& object, std::int64_t first,
                         std::int64_t num_rows, std::size_t num_columns) {
  const bool is_there = file.shape(object).columns != 0;
  return read_matrix(file, object, first, num_rows, is_there ? num_columns : 0);
}

}  // namespace

struct RecordingStream::Impl {
  Impl(const std::string& path, std::int64_t max_bytes);

  void read_header();
  void read_rows(std::int64_t n, RecordedChunk& chunk);
  void read_contacts(std::int64_t n, RecordedContacts& contacts);
  void read_events(std::int64_t n, RecordedEvents& events);
  void read_phases(std::int64_t n, RecordedChunk& chunk);
  void read_states(RecordedPhases& phases);
  void read_controls(RecordedChunk& chunk);
  std::int64_t choose_size();

  Hdf5File file;
  std::int64_t max_bytes;
  Extent extent;
  RecordingHeader header;
  std::int64_t next_row = 0;
  Cursor contacts, events, phases, phase_contacts, controls;
  std::int64_t num_states = 0;
};

RecordingStream::Impl::Impl(const std::string& path, std::int64_t bytes)
    : file(Hdf5File::open(path, Hdf5File::CutFiles::kTake)), max_bytes(bytes) {
  check_format(file);
  extent = read_commit(file);
  read_header();
  contacts = {"contacts/step", 0, extent.contacts};
  if (file.has("events")) events = {"events/step", 0, count_events(file, extent.flushes)};
  if (file.has("controls/step")) controls = {"controls/step", 0, file.shape("controls/step").rows};
  if (!header.has_phases) return;
  const auto [num_phases, num_contacts, states] = count_phases(file, extent.flushes);
  phases = {"phases/step", 0, num_phases};
  phase_contacts = {"phases/contacts/phase", 0, num_contacts};
  num_states = states;
}

void RecordingStream::Impl::read_header() {
  read_names(file, header);
  if (file.has("scene")) header.scene = file.read_text("scene");
  if (file.has("events")) header.event_kinds = file.read_texts_attribute("events", "kinds");
  header.has_phases = file.has("phases");
  if (header.has_phases) header.phase_kinds = file.read_texts_attribute("phases", "kinds");
  header.was_left_open = file.was_left_open();
  header.bytes = static_cast<std::int64_t>(std::filesystem::file_size(file.path()));
  header.bytes_lost = file.bytes_lost();
  header.num_rows = extent.steps;
  header.num_stored = file.shape("time").rows;
  if (!file.has("settings")) return;
  if (file.has_attribute("settings", "friction"))
    header.friction = file.read_text_attribute("settings", "friction");
  for (const std::string_view name : recording_format::kSettings)
    if (file.has_attribute("settings", std::string(name)))
      header.settings.emplace(name, file.read_double_attribute("settings", std::string(name)));
}

/// So many rows that, with their contacts and phases, they stay below the limit; at least one.
std::int64_t RecordingStream::Impl::choose_size() {
  const auto row_bytes = static_cast<std::int64_t>(
      8 * (header.q_names.size() + header.v_names.size() + header.joint_names.size() +
           header.reaction_names.size() + 32));
  constexpr std::int64_t kContactBytes = 200;
  std::int64_t n =
      std::min(header.num_rows - next_row, std::max<std::int64_t>(1, max_bytes / row_bytes));
  for (; n > 1; n /= 2) {
    const std::int64_t last = read_column<std::int64_t>(file, "step", next_row + n - 1, 1).front();
    const std::int64_t num_contacts = contacts.count_up_to(file, last);
    const std::int64_t num_phases = header.has_phases ? phases.count_up_to(file, last) : 0;
    const std::int64_t num_phase_contacts =
        header.has_phases ? phase_contacts.count_up_to(file, phases.next + num_phases - 1) : 0;
    if (n * row_bytes + (num_contacts + num_phase_contacts) * kContactBytes +
            num_phases * 2 * row_bytes <=
        max_bytes)
      break;
  }
  return n;
}

void RecordingStream::Impl::read_rows(std::int64_t n, RecordedChunk& chunk) {
  const std::int64_t first = next_row;
  chunk.first_row = first;
  chunk.time = read_column<double>(file, "time", first, n);
  chunk.step = read_column<std::int64_t>(file, "step", first, n);
  chunk.q = read_matrix(file, "q", first, n, header.q_names.size());
  chunk.v = read_matrix(file, "v", first, n, header.v_names.size());
  chunk.joint_impulses = read_matrix(file, "joints/impulse", first, n, header.joint_names.size());
  chunk.reactions.resize(n, 0);
  if (!header.reaction_names.empty())
    chunk.reactions = read_matrix(file, "joints/reaction", first, n, header.reaction_names.size());
  chunk.energy = read_group(file, "energy/", kEnergyNames, first, n);
  chunk.certificate = read_group(file, "certificate/", kCertificateNames, first, n);
  chunk.iterations = read_column<int>(file, "solver/iterations", first, n);
  chunk.stage = read_column<int>(file, "solver/stage", first, n);
  chunk.flagged.clear();
  if (file.has("solver/flagged"))
    chunk.flagged = read_column<int>(file, "solver/flagged", first, n);
}

void RecordingStream::Impl::read_contacts(std::int64_t n, RecordedContacts& out) {
  read_contact_rows(file, contacts.next, n, out);
  contacts.next += n;
}

void RecordingStream::Impl::read_events(std::int64_t n, RecordedEvents& out) {
  out.kinds = header.event_kinds;
  read_event_rows(file, events.next, n, out);
  events.next += n;
}

void RecordingStream::Impl::read_phases(std::int64_t n, RecordedChunk& chunk) {
  RecordedPhases& out = chunk.phases;
  const std::int64_t first = phases.next;
  out.first = first;
  out.step = read_column<std::int64_t>(file, "phases/step", first, n);
  out.kind = read_column<int>(file, "phases/kind", first, n);
  out.time = read_column<double>(file, "phases/time", first, n);
  out.length = read_column<double>(file, "phases/length", first, n);
  out.share = read_column<double>(file, "phases/share", first, n);
  out.state = read_column<std::int64_t>(file, "phases/state", first, n);
  out.rows = read_column<std::int64_t>(file, "phases/rows", first, n);
  out.impulse = read_matrix(file, "phases/impulse", first, n, header.joint_names.size());
  out.turning = read_turning(file, "phases/turning", first, n, header.joint_names.size());
  phases.next += n;
  read_states(out);

  const std::int64_t first_contact = phase_contacts.next;
  const std::int64_t m = phase_contacts.count_up_to(file, first + n - 1);
  out.contact_phase = read_column<std::int64_t>(file, "phases/contacts/phase", first_contact, m);
  out.id = read_column<std::uint64_t>(file, "phases/contacts/id", first_contact, m);
  out.shape_a = read_column<int>(file, "phases/contacts/shape_a", first_contact, m);
  out.shape_b = read_column<int>(file, "phases/contacts/shape_b", first_contact, m);
  out.point = read_matrix(file, "phases/contacts/point", first_contact, m, 3);
  out.normal = read_matrix(file, "phases/contacts/normal", first_contact, m, 3);
  out.gap = read_column<double>(file, "phases/contacts/gap", first_contact, m);
  out.contact_impulse = read_matrix(file, "phases/contacts/impulse", first_contact, m, 3);
  out.contact_turning = read_turning(file, "phases/contacts/turning", first_contact, m, 3);
  phase_contacts.next += m;

  out.row_start = index_rows(chunk.step, out.step);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) numbers[i] = first + i;
  out.contact_start = index_rows(numbers, out.contact_phase);
}

/// The states that the phases read last refer to.
void RecordingStream::Impl::read_states(RecordedPhases& out) {
  std::int64_t low = num_states, high = 0;
  for (const auto* places : {&out.state, &out.rows})
    for (const std::int64_t place : *places) {
      if (place < 0) continue;
      if (place >= num_states)
        fail(file,
             fmt::format("a phase refers to state {}, 'phases/states' has {}", place, num_states));
      low = std::min(low, place);
      high = std::max(high, place + 1);
    }
  if (low >= high) low = high = 0;
  if (high - low > 2 * static_cast<std::int64_t>(out.state.size()) + 1)
    fail(file, "the states in 'phases/state' do not follow each other");
  out.first_state = low;
  out.q = read_matrix(file, "phases/states/q", low, high - low, header.q_names.size());
  out.v = read_matrix(file, "phases/states/v", low, high - low, header.v_names.size());
}

/// Rows beyond the last recorded step are not complete and stay where they are.
void RecordingStream::Impl::read_controls(RecordedChunk& chunk) {
  chunk.control.assign(chunk.step.size(), -1);
  chunk.held_force.resize(0, static_cast<Eigen::Index>(header.v_names.size()));
  if (controls.next >= controls.end) return;
  const std::int64_t last = *std::max_element(chunk.step.begin(), chunk.step.end());
  const std::int64_t n = controls.count_up_to(file, last);
  const auto steps = read_column<std::int64_t>(file, "controls/step", controls.next, n);
  chunk.held_force = read_matrix(file, "controls/force", controls.next, n, header.v_names.size());
  controls.next += n;
  const std::vector<std::int64_t> starts = index_rows(chunk.step, steps);
  for (std::size_t k = 0; k < chunk.step.size(); ++k)
    for (std::int64_t i = starts[k]; i < starts[k + 1]; ++i)
      if (steps[i] == chunk.step[k]) chunk.control[k] = i;
}

RecordingStream::RecordingStream(const std::string& path, std::int64_t max_bytes)
    : impl_(std::make_unique<Impl>(path, max_bytes)) {}
RecordingStream::~RecordingStream() = default;
RecordingStream::RecordingStream(RecordingStream&&) noexcept = default;

const RecordingHeader& RecordingStream::header() const { return impl_->header; }

bool RecordingStream::next(RecordedChunk& chunk) {
  Impl& in = *impl_;
  if (in.next_row >= in.header.num_rows) return false;
  const std::int64_t n = in.choose_size();
  in.read_rows(n, chunk);
  const std::int64_t last = *std::max_element(chunk.step.begin(), chunk.step.end());
  in.read_contacts(in.contacts.count_up_to(in.file, last), chunk.contacts);
  chunk.contacts.row_start = index_rows(chunk.step, chunk.contacts.step);
  chunk.events = {};
  if (in.events.end > 0) in.read_events(in.events.count_up_to(in.file, last), chunk.events);
  if (in.header.has_phases) in.read_phases(in.phases.count_up_to(in.file, last), chunk);
  in.read_controls(chunk);
  in.next_row += n;
  return true;
}

std::vector<std::string> RecordingStream::leftovers() const {
  std::vector<std::string> texts;
  for (const Cursor* cursor :
       {&impl_->contacts, &impl_->events, &impl_->phases, &impl_->phase_contacts})
    if (cursor->next < cursor->end)
      texts.push_back(fmt::format("{} rows from row {} of '{}' belong to no recorded step",
                                  cursor->end - cursor->next, cursor->next, cursor->object));
  return texts;
}

}  // namespace stiction
