#include "stiction/audit/phase_reader.h"

#include <fmt/format.h>

#include "stiction/base/error.h"
#include "stiction/base/infinity.h"
#include "stiction/model/surfaces.h"

namespace stiction {

PhaseReader::PhaseReader(const Model& model, const RecordingHeader& header) : model_(model) {
  for (const std::string& name : header.phase_kinds) {
    const std::optional<PhaseName> kind = try_parse_phase(name);
    if (!kind)
      throw InputError(fmt::format(
          "recording '{}': this program does not know phases of the kind '{}'", header.path, name));
    kinds_.push_back(*kind);
  }
  for (const Model::Part& part : model.parts())
    if (num_shapes_ == 0 && part.system->surfaces() != nullptr)
      num_shapes_ = part.system->surfaces()->num_objects();
}

bool PhaseReader::is_pair(const AuditedContact& contact) const {
  return contact.shape_b >= 0 && contact.shape_a < num_shapes_ && contact.shape_b < num_shapes_ &&
         contact.shape_a != contact.shape_b;
}

std::vector<AuditedPhase> PhaseReader::read(const RecordedChunk& chunk, std::int64_t k,
                                            const State& end, const State* before,
                                            AuditReport& report) const {
  std::vector<AuditedPhase> phases;
  if (kinds_.empty()) return phases;
  const RecordedPhases& from = chunk.phases;
  const auto read_state = [&](std::int64_t place, double t) {
    State state;
    state.t = t;
    model_.restore(from.q.row(place - from.first_state).transpose(),
                   from.v.row(place - from.first_state).transpose(), state);
    return state;
  };
  for (std::int64_t i = from.row_start[k]; i < from.row_start[k + 1]; ++i) {
    AuditedPhase phase;
    if (from.kind[i] < 0 || from.kind[i] >= static_cast<int>(kinds_.size())) {
      report.check(Law::kTotals, kInfinity, 0,
                   [&] { return fmt::format("kind {} of a phase is unknown", from.kind[i]); });
      return {};
    }
    phase.kind = kinds_[static_cast<std::size_t>(from.kind[i])];
    phase.length = from.length[i];
    phase.share = from.share[i];
    if (chunk.control[k] >= 0) phase.held_force = chunk.held_force.row(chunk.control[k]);
    if (from.state[i] >= 0) {
      phase.start = read_state(from.state[i], from.time[i]);
    } else {
      report.check(Law::kTime, before != nullptr && phases.empty() ? 0 : 1, 0.5, [&] {
        return fmt::format("step {} starts from a row that is not there", chunk.step[k]);
      });
      if (before == nullptr || !phases.empty()) return {};
      phase.start = *before;
      phase.start.t = from.time[i];
    }
    if (from.rows[i] >= 0) phase.rows = read_state(from.rows[i], phase.start.t + phase.length);
    const auto nj = static_cast<std::size_t>(from.impulse.cols());
    phase.impulse.assign(from.impulse.data() + i * nj, from.impulse.data() + (i + 1) * nj);
    if (from.turning.cols() == from.impulse.cols())
      phase.turning.assign(from.turning.data() + i * nj, from.turning.data() + (i + 1) * nj);
    for (std::int64_t c = from.contact_start[i]; c < from.contact_start[i + 1]; ++c) {
      AuditedContact contact{.id = from.id[c],
                             .shape_a = from.shape_a[c],
                             .shape_b = from.shape_b[c],
                             .point = from.point.row(c).transpose(),
                             .normal = from.normal.row(c).transpose(),
                             .gap = from.gap[c],
                             .impulse = from.contact_impulse.row(c).transpose()};
      if (from.contact_turning.cols() == 3)
        contact.turning = from.contact_turning.row(c).transpose();
      const bool is_known =
          contact.shape_a >= 0
              ? is_pair(contact)
              : contact.id < static_cast<std::uint64_t>(model_.num_fixed_contacts());
      report.check(Law::kGaps, is_known ? 0 : 1, 0.5, [&] {
        return fmt::format("contact {} of shapes {} and {}: there is no such pair", contact.id,
                           contact.shape_a, contact.shape_b);
      });
      if (!is_known) return {};
      phase.contacts.push_back(contact);
    }
    if (!phases.empty()) {
      phases.back().q_end = phase.start.q;
      phases.back().v_end = phase.start.v;
    }
    phases.push_back(std::move(phase));
  }
  if (!phases.empty()) {
    phases.back().q_end = end.q;
    phases.back().v_end = end.v;
  }
  return phases;
}

State rows_of(const Model& model, const AuditSettings& settings, const AuditedPhase& phase) {
  State rows;
  rows.t = phase.start.t;
  rows.q = phase.start.q;
  if (phase.rows) {
    rows.t += phase.length;
    rows.q = phase.rows->q;
    return rows;
  }
  double ahead = phase.kind == PhaseName::kLinearPositionLevel ? 1 : 0;
  if (phase.kind == PhaseName::kStep) {
    if (settings.scheme == SchemeName::kTrapezoidal1) ahead = 1;
    if (settings.scheme == SchemeName::kTrapezoidal2 || settings.scheme == SchemeName::kMoreau)
      ahead = 0.5;
  }
  if (ahead == 0) return rows;
  model.displace(phase.start.q, phase.start.v, ahead * phase.length, rows.q);
  rows.t += ahead * phase.length;
  return rows;
}

}  // namespace stiction
