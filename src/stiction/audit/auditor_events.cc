// What the recording says about events within a step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/audit/auditor.h"
#include "stiction/audit/rounding.h"

namespace stiction {
namespace {

bool has_contact(const AuditedPhase& phase, std::int64_t id) {
  return std::any_of(
      phase.contacts.begin(), phase.contacts.end(),
      [id](const AuditedContact& contact) { return static_cast<std::int64_t>(contact.id) == id; });
}

}  // namespace

void Auditor::check_events(const RecordedChunk& chunk, const Row& row,
                           const std::vector<AuditedPhase>& phases, AuditReport& report) const {
  if (!row.follows) return;
  const RecordedEvents& events = chunk.events;
  const auto first = std::lower_bound(events.step.begin(), events.step.end(), row.step);
  double last = last_.state.t;
  const double rounding = kUlps * (std::abs(row.state.t) + header_.h);
  std::vector<char> is_told(phases.size(), 0);
  for (auto i = first - events.step.begin(); i < events.size() && events.step[i] == row.step; ++i) {
    const double t = events.time[i];
    double off = std::numeric_limits<double>::infinity();
    for (const AuditedPhase& phase : phases)
      off = std::min({off, std::abs(t - phase.start.t), std::abs(t - row.state.t)});
    const double outside = std::max(last - t, t - row.state.t);
    report.check(Law::kTime, phases.empty() ? outside : std::max(outside, off), rounding, [&] {
      return fmt::format("event {} of the step at {:.17g} s is at none of its phases, in order [s]",
                         i - (first - events.step.begin()), t);
    });
    last = std::max(last, t);
    if (!phases.empty()) check_event(events, i, phases, rounding, is_told, report);
  }
  // A step of no length is an impact that somebody asked for.
  if (header_.event_kinds.empty() || !(row.state.t > last_.state.t)) return;
  for (std::size_t p = 0; p < phases.size(); ++p)
    if (phases[p].kind == PhaseName::kImpact)
      report.check(Law::kStatus, is_told[p] ? 0 : 1, 0.5, [&] {
        return fmt::format("no event tells of the impact at {:.17g} s", phases[p].start.t);
      });
}

void Auditor::check_event(const RecordedEvents& events, std::int64_t i,
                          const std::vector<AuditedPhase>& phases, double rounding,
                          std::vector<char>& is_told, AuditReport& report) const {
  const auto kind = static_cast<std::size_t>(events.kind[i]);
  const bool is_known = events.kind[i] >= 0 && kind < header_.event_kinds.size();
  report.check(Law::kStatus, is_known ? 0 : 1, 0.5,
               [&] { return fmt::format("event of the unknown kind {}", events.kind[i]); });
  if (!is_known) return;
  const std::string& name = header_.event_kinds[kind];
  const double t = events.time[i];
  const std::int64_t id = events.contact[i];
  const auto check = [&](bool is_right, const char* what) {
    report.check(Law::kStatus, is_right ? 0 : 1, 0.5, [&] {
      return fmt::format("event '{}' of contact {} at {:.17g} s: {}", name, id, t, what);
    });
  };
  if (name == "collision") {
    std::size_t p = 0;
    while (p < phases.size() &&
           !(phases[p].kind == PhaseName::kImpact && !is_told[p] &&
             std::abs(phases[p].start.t - t) <= rounding && has_contact(phases[p], id)))
      ++p;
    check(p < phases.size(), "there is no impact of it then");
    if (p == phases.size()) return;
    is_told[p] = 1;
    double change = impact_energy_[p], size = impact_energy_size_[p];
    if (p + 1 < phases.size() && phases[p + 1].kind == PhaseName::kDecompression) {
      change += impact_energy_[p + 1];
      size += impact_energy_size_[p + 1];
    }
    report.check(Law::kEnergy, std::abs(events.energy[i] - change), kUlps * (size + 1e-300), [&] {
      return fmt::format("collision of contact {} at {:.17g} s: change of energy [J]", id, t);
    });
    return;
  }
  report.check(Law::kEnergy, std::abs(events.energy[i]), 1e-300,
               [&] { return fmt::format("energy of an event '{}', which has none [J]", name); });
  if (name == "floor") {
    check(id == -1, "it belongs to no contact");
    check(std::any_of(phases.begin(), phases.end(),
                      [&](const AuditedPhase& phase) {
                        return std::abs(phase.start.t - t) <= rounding &&
                               (phase.kind == PhaseName::kPositionLevel ||
                                phase.kind == PhaseName::kLinearPositionLevel);
                      }),
          "the rest of the step was not taken without events");
    return;
  }
  check_transition(name, id, t, phases, rounding, report);
}

/// What slips comes to rest, or from rest, at a slip of 0; what takes off presses no longer.
void Auditor::check_transition(const std::string& name, std::int64_t id, double t,
                               const std::vector<AuditedPhase>& phases, double rounding,
                               AuditReport& report) const {
  const auto check = [&](bool is_right, const char* what) {
    report.check(Law::kStatus, is_right ? 0 : 1, 0.5, [&] {
      return fmt::format("event '{}' of contact {} at {:.17g} s: {}", name, id, t, what);
    });
  };
  // One that opens at the start of a step took part in the one before only.
  const bool is_at_start = phases.empty() || std::abs(phases.front().start.t - t) <= rounding;
  const bool took_part = std::any_of(phases.begin(), phases.end(), [&](const AuditedPhase& phase) {
    return phase.kind == PhaseName::kStep && phase.start.t <= t + rounding &&
           has_contact(phase, id);
  });
  if (is_at_start && !took_part && name == "take-off")
    report.skip(Law::kStatus, "whether contacts that opened between two steps took part before");
  else
    check(took_part, "the contact took no part before");
}

}  // namespace stiction
