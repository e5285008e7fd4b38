#include "stiction/sim/accumulated_slip.h"

#include <cmath>

namespace stiction {
namespace {

using Eigen::Vector3d;

/// The vector, which lies in the plane of `from`, turned by the smallest rotation that takes the
/// normal `from` to `to`: R x = x − (to·x) (from + to)/(1 + from·to) for x ⊥ from. Where the normal
/// has turned over there is no smallest one; what lies in both planes is kept then.
Vector3d transported(const Vector3d& x, const Vector3d& from, const Vector3d& to) {
  if (from == to) return x;  // to the bit: what rests keeps its way
  constexpr double kOpposite = 1e-12;
  const double sum = 1 + from.dot(to);
  if (!(sum > kOpposite)) return x - to.dot(x) * to;
  return x - (to.dot(x) / sum) * (from + to);
}

Vector3d normal_of(const ContactOutcome& contact) {
  const auto& n = contact.place.normal;
  // Contacts without a place: tangents are the first two axes, always.
  return std::isfinite(n[0]) ? Vector3d(n[0], n[1], n[2]) : Vector3d::UnitZ();
}

}  // namespace

void accumulate_slip(const ContactModel& model, const std::vector<AccumulatedSlip>& before,
                     double touching, StepResult& result) {
  std::vector<AccumulatedSlip>& slips = result.memory.slips;
  slips.assign(static_cast<std::size_t>(model.num_contacts()), {});
  const auto add_up = [&](ContactOutcome& contact) {
    contact.accumulated_slip = {0, 0};
    const bool is_open = contact.status == ContactStatus::kOpen;
    if (is_open && contact.gap > touching) return;
    const auto index = static_cast<std::size_t>(contact.contact);
    AccumulatedSlip& slip = slips[index];
    slip.normal = normal_of(contact);
    if (!before.empty() && !before[index].way.isZero(0))
      slip.way = transported(before[index].way, before[index].normal, slip.normal);
    // What a sticking contact slides is rounding, or the rest of a slip that has come to its end.
    if (contact.status != ContactStatus::kStick)
      slip.way += contact.slid - slip.normal.dot(contact.slid) * slip.normal;
    if (slip.way.isZero(0)) return;
    const auto tangents = model.contact_tangents(contact.contact, slip.normal);
    contact.accumulated_slip = {tangents[0].dot(slip.way), tangents[1].dot(slip.way)};
  };
  const int count = static_cast<int>(result.contacts.size());
  run_numbers(model.workers().get(), count, kContactGrain, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) add_up(result.contacts[k]);
  });
}

}  // namespace stiction
