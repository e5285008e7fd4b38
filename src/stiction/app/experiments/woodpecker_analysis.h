// Reads cycles and events off a simulated woodpecker: an observer that keeps what is asked
// for.
#pragma once

#include <string>
#include <vector>

#include "stiction/sim/simulation.h"

namespace stiction::experiments {

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

  /// Mean over the cycles from the `first`-th beak hit to the last; NaN if there are none.
  double mean_period(std::size_t first) const;
  double mean_descent(std::size_t first) const;

  double settled_from = 0.5;  // [s] the cycle is reached before
  std::vector<Event> events;
  std::vector<Impact> beak_hits;
  double q_min[3] = {1e9, 1e9, 1e9}, q_max[3] = {-1e9, -1e9, -1e9};
  double v_max[3] = {0, 0, 0};  // of |v|

 private:
  std::vector<ContactStatus> status_ = std::vector<ContactStatus>(3, ContactStatus::kOpen);
};

/// Events of one cycle as words, a contact that opens within three steps of closing as one "taps".
std::vector<std::string> event_words(const WoodpeckerObserver& observer, double h,
                                     std::size_t cycle);

/// The nine events of a cycle, from the hit of the beak on.
std::vector<std::string> woodpecker_cycle();

}  // namespace stiction::experiments
