#include "stiction/sim/step_times.h"

#include <algorithm>
#include <cmath>

namespace stiction {

void DurationHistogram::add(double seconds) {
  const double place = kBinsPerDoubling * std::log2(std::max(seconds, kShortest) / kShortest);
  ++bins_[static_cast<std::size_t>(std::min(place, kNumBins - 1.0))];
  ++count_;
  sum_ += seconds;
  max_ = std::max(max_, seconds);
}

double DurationHistogram::quantile(double share) const {
  const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (int bin = 0; bin < kNumBins; ++bin) {
    seen += bins_[static_cast<std::size_t>(bin)];
    if (seen >= wanted && seen > 0)
      return std::min(max_, kShortest * std::exp2(double(bin + 1) / kBinsPerDoubling));
  }
  return max_;
}

std::vector<DurationHistogram::Octave> DurationHistogram::octaves() const {
  std::vector<Octave> all;
  for (int first = 0; first < kNumBins; first += kBinsPerDoubling) {
    Octave octave{.up_to = kShortest * std::exp2(double(first) / kBinsPerDoubling + 1)};
    for (int bin = first; bin < first + kBinsPerDoubling; ++bin)
      octave.count += bins_[static_cast<std::size_t>(bin)];
    if (octave.count > 0 || !all.empty()) all.push_back(octave);
  }
  while (!all.empty() && all.back().count == 0) all.pop_back();
  return all;
}

}  // namespace stiction
