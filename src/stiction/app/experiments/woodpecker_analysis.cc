#include "stiction/app/experiments/woodpecker_analysis.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction::experiments {

void WoodpeckerObserver::on_step(const StepRecord& record) {
  std::vector<ContactStatus> now(3, ContactStatus::kOpen);
  for (const ContactOutcome& contact : record.contacts)
    if (contact.impulse[0] > 0) now[contact.contact] = contact.status;
  for (int i = 0; i < 3; ++i)
    if (now[i] != status_[i]) events.push_back({record.state.t, i, status_[i], now[i]});
  // Of an impact that a scheme locates within the step nothing may be left at its end.
  const bool is_located =
      std::any_of(record.events.begin(), record.events.end(), [](const StepEvent& event) {
        return event.kind == EventKind::kCollision && event.contact == kBeak;
      });
  const bool closes = now[kBeak] != ContactStatus::kOpen && status_[kBeak] == ContactStatus::kOpen;
  // One beak hit per cycle; the smallest cycle is longer than 0.1 s.
  if ((is_located || closes) && (beak_hits.empty() || record.state.t - beak_hits.back().t > 0.03))
    beak_hits.push_back({record.state.t, record.state.q[0]});
  status_ = now;
  if (record.state.t >= settled_from) {
    for (int i = 0; i < 3; ++i) {
      q_min[i] = std::min(q_min[i], record.state.q[i]);
      q_max[i] = std::max(q_max[i], record.state.q[i]);
      v_max[i] = std::max(v_max[i], std::abs(record.state.v[i]));
    }
  }
}

double WoodpeckerObserver::mean_period(std::size_t first) const {
  if (first + 1 >= beak_hits.size()) return std::numeric_limits<double>::quiet_NaN();
  return (beak_hits.back().t - beak_hits[first].t) /
         static_cast<double>(beak_hits.size() - 1 - first);
}

double WoodpeckerObserver::mean_descent(std::size_t first) const {
  if (first + 1 >= beak_hits.size()) return std::numeric_limits<double>::quiet_NaN();
  return (beak_hits[first].y - beak_hits.back().y) /
         static_cast<double>(beak_hits.size() - 1 - first);
}

std::vector<std::string> event_words(const WoodpeckerObserver& observer, double h,
                                     std::size_t cycle) {
  const char* names[] = {"beak", "lower", "upper"};
  const double from = observer.beak_hits[cycle].t - 1.5 * h;
  const double to = observer.beak_hits[cycle + 1].t - 1.5 * h;
  std::vector<std::string> words;
  const auto& events = observer.events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& event = events[i];
    if (event.t < from || event.t >= to) continue;
    const bool closes = event.before == ContactStatus::kOpen;
    const bool reopens =
        closes && i + 1 < events.size() && events[i + 1].contact == event.contact &&
        events[i + 1].after == ContactStatus::kOpen && events[i + 1].t - event.t < 3.5 * h;
    const char* what = reopens                                ? " taps"
                       : closes                               ? " closes"
                       : event.after == ContactStatus::kOpen  ? " lifts"
                       : event.after == ContactStatus::kStick ? " sticks"
                                                              : " slips";
    words.push_back(names[event.contact] + std::string(what));
    if (reopens) ++i;
  }
  return words;
}

std::vector<std::string> woodpecker_cycle() {
  return {"beak taps",    "upper closes", "upper lifts", "lower taps", "lower closes",
          "lower sticks", "lower slips",  "lower lifts", "upper taps"};
}

}  // namespace stiction::experiments
