#include "stiction/app/experiments/trace.h"

#include <algorithm>
#include <limits>

namespace stiction::experiments {

void Trace::on_step(const StepRecord& record) {
  samples.push_back({record.state, record.energy.now.total(), record.contacts});
  events.insert(events.end(), record.events.begin(), record.events.end());
}

double Trace::energy_gain_max() const {
  double gain = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < samples.size(); ++i)
    gain = std::max(gain, samples[i].energy - samples[i - 1].energy);
  return gain;
}

double Trace::energy_max() const {
  double energy = -std::numeric_limits<double>::infinity();
  for (const Sample& sample : samples) energy = std::max(energy, sample.energy);
  return energy;
}

std::vector<StepEvent> Trace::events_of(EventKind kind) const {
  std::vector<StepEvent> found;
  for (const StepEvent& event : events)
    if (event.kind == kind) found.push_back(event);
  return found;
}

}  // namespace stiction::experiments
