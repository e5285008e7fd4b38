// Reads cycles and events off a simulated woodpecker: an observer that keeps what the tests ask
// for.
#pragma once

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

  void on_step(const StepRecord& record) override;

  /// Mean over the cycles from the `first`-th beak hit to the last.
  double mean_period(std::size_t first) const;
  double mean_descent(std::size_t first) const;

  double settled_from = 0.5;  // [s] the cycle is reached before
  std::vector<Event> events;
  std::vector<Impact> beak_hits;
  double q_min[3] = {1e9, 1e9, 1e9}, q_max[3] = {-1e9, -1e9, -1e9};

 private:
  std::vector<ContactStatus> status_ = std::vector<ContactStatus>(3, ContactStatus::kOpen);
};

}  // namespace stiction::testing
