// How far contacts have slipped since they were made, (T38), from row to row.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "stiction/audit/auditor.h"
#include "stiction/audit/rounding.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// The smallest rotation that takes one normal to the other, Rodrigues: sin and cos of its angle
/// are the norm of the cross product and the dot product.
Vector3d turned(const Vector3d& x, const Vector3d& from, const Vector3d& to) {
  const Vector3d axis = from.cross(to);
  const double cosine = from.dot(to);
  if (!(1 + cosine > 1e-12)) return x - to.dot(x) * to;
  return cosine * x + axis.cross(x) + axis.dot(x) / (1 + cosine) * axis;
}

}  // namespace

/// What contacts slide in the phases of a step, by their id.
std::map<std::uint64_t, Auditor::Way> Auditor::measure_ways(
    const std::vector<AuditedPhase>& phases) {
  std::map<std::uint64_t, Way> ways;
  for (const AuditedPhase& phase : phases) {
    const double duration = phase.share * phase.length;
    if (duration == 0 || phase.contacts.empty()) continue;
    const State at = rows_of(model_, settings_, phase);
    const VectorXd mean = 0.5 * (phase.start.v + phase.v_end);
    const double speed = phase.start.v.cwiseAbs().maxCoeff() + phase.v_end.cwiseAbs().maxCoeff();
    const double moved = speed * (1 + extent_of(at.q));
    for (const AuditedContact& contact : phase.contacts) {
      Way& way = ways[contact.id];
      RowSet rows;
      problem_.append_contact(at.t, at.q, contact, rows);
      way.size += duration * moved;
      for (int i = 0; i < problem_.law_of(contact).num_tangents; ++i) {
        const double rate = rows.rows.times(0, 1 + i, model_.block_starts(), mean.data());
        way.vector += duration * (rate + rows.drift[1 + i]) * rows.tangents[0][i];
        way.size += duration * std::abs(rows.drift[1 + i]);
      }
    }
  }
  return ways;
}

Auditor::ContactPlane Auditor::plane_of(const AuditedContact& contact,
                                        const Vector3d& normal) const {
  if (contact.shape_a < 0) return {Vector3d::UnitZ(), {Vector3d::UnitX(), Vector3d::UnitY()}};
  return {normal,
          problem_.surfaces()->tangents_of(
              {contact.shape_a, contact.shape_b, {.gap = 0, .normal = normal, .point = normal}},
              problem_.law_of(contact).num_tangents)};
}

void Auditor::check_accumulated_slip(const RecordedChunk& chunk, const Row& row,
                                     const std::vector<AuditedPhase>& phases, AuditReport& report) {
  const RecordedContacts& contacts = chunk.contacts;
  const std::map<std::uint64_t, SlipMark> before = std::exchange(slips_, {});
  const bool is_known = std::exchange(knows_slips_, has_last_ || row.step == 0) && row.follows;
  std::map<std::uint64_t, const AuditedContact*> seen;
  for (const AuditedPhase& phase : phases)
    for (const AuditedContact& contact : phase.contacts) seen[contact.id] = &contact;
  std::map<std::uint64_t, Way> ways = measure_ways(phases);
  for (std::int64_t c = contacts.row_start[row.index]; c < contacts.row_start[row.index + 1]; ++c) {
    const auto found = seen.find(contacts.id[c]);
    if (found == seen.end()) continue;  // told elsewhere
    if (std::isnan(contacts.accumulated_slip(c, 0))) {
      report.skip(Law::kTotals, "accumulated slip: the recording has none (an older version)");
      return;
    }
    const ContactPlane plane = plane_of(*found->second, contacts.normal.row(c).transpose());
    const Eigen::Vector2d recorded = contacts.accumulated_slip.row(c).transpose();
    SlipMark& mark = slips_[contacts.id[c]];
    mark.normal = plane.normal;
    mark.way = recorded[0] * plane.tangents[0] + recorded[1] * plane.tangents[1];
    if (!is_known) {
      report.skip(Law::kTotals, "accumulated slip where the row before is not recorded");
      continue;
    }
    const ContactStatus status = contacts.status[c];
    const bool is_lost = status == ContactStatus::kOpen &&
                         contacts.gap[c] > settings_.stepping.events.contact_tolerance;
    Way expected;
    if (const auto last = before.find(contacts.id[c]); last != before.end() && !is_lost)
      expected.vector = turned(last->second.way, last->second.normal, plane.normal);
    if (status != ContactStatus::kStick && !is_lost) {
      const Way& way = ways[contacts.id[c]];
      expected.vector += way.vector - plane.normal.dot(way.vector) * plane.normal;
      expected.size = way.size;
    }
    expected.size += mark.way.norm() + expected.vector.norm();
    const Eigen::Vector2d derived(plane.tangents[0].dot(expected.vector),
                                  plane.tangents[1].dot(expected.vector));
    report.check(Law::kTotals, (derived - recorded).norm(), kUlps * (expected.size + 1e-300),
                 [&] { return fmt::format("{}: accumulated slip [m]", name_of(*found->second)); });
  }
}

}  // namespace stiction
