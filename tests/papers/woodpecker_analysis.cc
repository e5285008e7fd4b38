#include "tests/papers/woodpecker_analysis.h"

#include <algorithm>

namespace stiction::testing {

void WoodpeckerObserver::on_step(const StepRecord& record) {
  std::vector<ContactStatus> now(3, ContactStatus::kOpen);
  for (const ContactOutcome& contact : record.contacts)
    if (contact.impulse[0] > 0) now[contact.contact] = contact.status;
  for (int i = 0; i < 3; ++i)
    if (now[i] != status_[i]) events.push_back({record.state.t, i, status_[i], now[i]});
  // One beak hit per cycle; the smallest cycle is longer than 0.1 s.
  if (now[kBeak] != ContactStatus::kOpen && status_[kBeak] == ContactStatus::kOpen &&
      (beak_hits.empty() || record.state.t - beak_hits.back().t > 0.03))
    beak_hits.push_back({record.state.t, record.state.q[0]});
  status_ = now;
  if (record.state.t >= settled_from) {
    for (int i = 0; i < 3; ++i) {
      q_min[i] = std::min(q_min[i], record.state.q[i]);
      q_max[i] = std::max(q_max[i], record.state.q[i]);
    }
  }
}

double WoodpeckerObserver::mean_period(std::size_t first) const {
  return (beak_hits.back().t - beak_hits[first].t) /
         static_cast<double>(beak_hits.size() - 1 - first);
}

double WoodpeckerObserver::mean_descent(std::size_t first) const {
  return (beak_hits[first].y - beak_hits.back().y) /
         static_cast<double>(beak_hits.size() - 1 - first);
}

}  // namespace stiction::testing
