#include "stiction/scheme/unused_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stiction/base/text.h"

namespace stiction {
namespace {

using Schemes = std::vector<std::string>;

/// Those that locate events.
const Schemes& event_schemes() {
  static const Schemes names = {"anitescu-potra", "linearly-implicit-euler", "trapezoidal-1",
                                "trapezoidal-2"};
  return names;
}

/// Notes about one scheme, an option after the other.
class UnusedOptions {
 public:
  explicit UnusedOptions(std::string_view scheme) : scheme_(scheme) {}

  void look_at(const char* option, bool is_asked_for, const Schemes& readers) {
    if (!is_asked_for || std::ranges::find(readers, scheme_) != readers.end()) return;
    notes_.push_back(fmt::format("{} does not change steps in {}, only in {}", option, scheme_,
                                 joined(readers)));
  }

  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  std::string_view scheme_;
  std::vector<std::string> notes_;
};

void look_at_events(const EventOptions& events, UnusedOptions& unused) {
  const EventOptions usual;
  Schemes readers = event_schemes();
  unused.look_at("events.contact_growth", events.contact_growth != usual.contact_growth, readers);
  unused.look_at("events.min_step", events.min_step != usual.min_step, readers);
  unused.look_at("events.time_tolerance", events.time_tolerance != usual.time_tolerance, readers);
  readers.emplace_back("spook");
  unused.look_at("events.restitution_threshold",
                 events.restitution_threshold != usual.restitution_threshold, readers);
  // All schemes accumulate slip while gaps are within it, which no step depends on.
  unused.look_at("events.contact_tolerance", events.contact_tolerance != usual.contact_tolerance,
                 readers);
}

void look_at_spook(const SpookOptions& spook, UnusedOptions& unused) {
  const SpookOptions usual;
  const Schemes readers = {"spook"};
  unused.look_at("spook.relaxation", spook.relaxation != usual.relaxation, readers);
  unused.look_at("spook.compliance", spook.compliance != usual.compliance, readers);
  unused.look_at("spook.geometric_stiffness",
                 spook.geometric_stiffness != usual.geometric_stiffness, readers);
  unused.look_at("spook.stiffness_return", spook.stiffness_return != usual.stiffness_return,
                 readers);
  unused.look_at("spook.position_iteration", spook.position_iteration, readers);
}

/// The Jacobian of the trapezoidal schemes has the implicit term, and so has the midpoint rule.
void look_at_gyroscopic(const SteppingOptions& options, UnusedOptions& unused) {
  const bool wants_explicit = options.gyroscopic == GyroscopicTerm::kExplicit;
  const bool wants_implicit = options.gyroscopic == GyroscopicTerm::kImplicit &&
                              options.jacobians == ForceJacobians::kSpringsOnly;
  Schemes readers = {"stewart-trinkle", "anitescu-potra", "linearly-implicit-euler", "moreau"};
  if (!options.spook.position_iteration || !wants_explicit) readers.emplace_back("spook");
  unused.look_at("gyroscopic", wants_explicit || wants_implicit, readers);
}

}  // namespace

std::vector<std::string> describe_unused_options(std::string_view scheme,
                                                 const SteppingOptions& options) {
  UnusedOptions unused(scheme);
  unused.look_at("projection", options.projection.value_or(false), event_schemes());
  unused.look_at("jacobians", options.jacobians != ForceJacobians::kExact,
                 {"trapezoidal-1", "trapezoidal-2"});
  look_at_gyroscopic(options, unused);
  unused.look_at("error_control.tolerance", options.error_control.tolerance > 0, event_schemes());
  look_at_events(options.events, unused);
  look_at_spook(options.spook, unused);
  return unused.take_notes();
}

}  // namespace stiction
