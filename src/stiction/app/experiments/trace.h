// An observer that keeps every step of a run: states, energy, contacts and events.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "stiction/sim/simulation.h"

namespace stiction::experiments {

class Trace final : public StepObserver {
 public:
  struct Sample {
    State state;
    double energy = 0;  // [J] kinetic, potential and spring
    std::vector<ContactOutcome> contacts;

    /// What the contact did in the step that ends here; open where it took no part.
    ContactOutcome contact(int index) const {
      for (const ContactOutcome& outcome : contacts)
        if (outcome.contact == index) return outcome;
      return {.contact = index};
    }
  };

  void on_step(const StepRecord& record) override;

  /// The largest gain of energy in one step, −∞ without steps.
  double energy_gain_max() const;
  double energy_max() const;
  /// The largest |f(state)| over all samples, the start included.
  template <class Function>
  double largest(const Function& f) const {
    double value = 0;
    for (const Sample& sample : samples) value = std::max(value, std::abs(f(sample.state)));
    return value;
  }
  /// Events of one kind, in order.
  std::vector<StepEvent> events_of(EventKind kind) const;

  std::vector<Sample> samples;  // the first is the start
  std::vector<StepEvent> events;
};

/// A run of `duration` with everything kept.
struct TracedRun {
  TracedRun(Model model, const SimulationOptions& options, double duration)
      : simulation(std::move(model), options) {
    simulation.add_observer(trace);
    simulation.run(duration);
  }
  Trace trace;
  Simulation simulation;

  const State& end() const { return simulation.state(); }
};

}  // namespace stiction::experiments
