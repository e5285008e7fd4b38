// Reads cycles and events off a simulated woodpecker: an observer that keeps what the tests ask
// for.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "stiction/sim/simulation.h"

namespace stiction::testing {

/// Contacts of examples/woodpecker.json.
enum WoodpeckerContact { kBeak = 0, kLowerEdge = 1, kUpperEdge = 2 };

class WoodpeckerObserver final : public StepObserver {
 public:
  struct Event {
    double t;
    int contact;
    ContactStatus before, after;
  };
  struct Impact {
    double t;
    double y;
  };

  void on_step(const StepRecord& record) override {
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

  /// Mean over the cycles from the `first`-th beak hit to the last.
  double mean_period(std::size_t first) const {
    return (beak_hits.back().t - beak_hits[first].t) /
           static_cast<double>(beak_hits.size() - 1 - first);
  }
  double mean_descent(std::size_t first) const {
    return (beak_hits[first].y - beak_hits.back().y) /
           static_cast<double>(beak_hits.size() - 1 - first);
  }

  double settled_from = 0.5;  // [s] the cycle is reached before
  std::vector<Event> events;
  std::vector<Impact> beak_hits;
  double q_min[3] = {1e9, 1e9, 1e9}, q_max[3] = {-1e9, -1e9, -1e9};

 private:
  std::vector<ContactStatus> status_ = std::vector<ContactStatus>(3, ContactStatus::kOpen);
};

}  // namespace stiction::testing
