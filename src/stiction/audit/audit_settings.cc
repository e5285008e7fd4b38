#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "stiction/audit/auditor.h"
#include "stiction/base/error.h"

namespace stiction {
namespace {

/// Settings are stored as numbers, and files may say anything.
class StoredSettings {
 public:
  explicit StoredSettings(const RecordingHeader& header) : header_(header) {}

  double number(const char* name, double otherwise) const {
    const auto found = header_.settings.find(name);
    if (found == header_.settings.end()) return otherwise;
    if (!std::isfinite(found->second)) refuse(name, found->second, "a finite number");
    return found->second;
  }
  double at_least_0(const char* name, double otherwise) const {
    const double value = number(name, otherwise);
    if (value < 0) refuse(name, value, "a number >= 0");
    return value;
  }
  double positive(const char* name, double otherwise) const {
    const double value = number(name, otherwise);
    if (!(value > 0)) refuse(name, value, "a number > 0");
    return value;
  }
  int integer(const char* name, int otherwise, int least, int most) const {
    const double value = number(name, otherwise);
    if (value != std::floor(value) || value < least || value > most)
      refuse(name, value, fmt::format("an integer from {} to {}", least, most));
    return static_cast<int>(value);
  }
  bool flag(const char* name, bool otherwise) const {
    return integer(name, otherwise ? 1 : 0, 0, 1) != 0;
  }
  template <class Choice>
  Choice choice(const char* name, Choice otherwise, Choice last) const {
    return static_cast<Choice>(
        integer(name, static_cast<int>(otherwise), 0, static_cast<int>(last)));
  }

 private:
  [[noreturn]] void refuse(const char* name, double value, const std::string& expected) const {
    throw InputError(fmt::format("recording '{}': its setting '{}' is {}, expected {}",
                                 header_.path, name, value, expected));
  }

  const RecordingHeader& header_;
};

}  // namespace

AuditSettings read_settings(const RecordingHeader& header, const AuditSettings& fallback,
                            std::vector<std::string>& notes) {
  AuditSettings settings = fallback;
  const std::optional<SchemeName> scheme = try_parse_scheme(header.scheme);
  if (!scheme)
    throw InputError(
        fmt::format("recording '{}': its scheme is '{}', which this program does not know",
                    header.path, header.scheme));
  settings.scheme = *scheme;
  settings.h = header.h;
  if (header.settings.empty()) {
    notes.emplace_back(
        "the recording does not say with which settings it was made (an older version): those of "
        "its scene are taken");
    return settings;
  }
  const std::optional<FrictionSection> section = try_parse_friction_section(header.friction);
  if (!section)
    throw InputError(fmt::format(
        "recording '{}': its setting 'friction' is '{}', expected disc, box or polygon:K, K even",
        header.path, header.friction));
  settings.friction = *section;
  const StoredSettings stored(header);
  SteppingOptions& s = settings.stepping;
  settings.tolerance = stored.positive("tolerance", settings.tolerance);
  settings.every = stored.integer("every", settings.every, 1, std::numeric_limits<int>::max());
  const int projection = stored.integer("projection", -1, -1, 1);
  s.projection = projection < 0 ? std::nullopt : std::optional<bool>(projection > 0);
  s.jacobians = stored.choice("jacobians", s.jacobians, ForceJacobians::kSpringsOnly);
  s.nonlinear = stored.flag("nonlinear", s.nonlinear);
  s.gyroscopic = stored.choice("gyroscopic", s.gyroscopic, GyroscopicTerm::kImplicit);
  EventOptions& events = s.events;
  events.collisions = stored.flag("events.collisions", events.collisions);
  events.transitions = stored.flag("events.transitions", events.transitions);
  events.contact_tolerance =
      stored.at_least_0("events.contact_tolerance", events.contact_tolerance);
  events.contact_growth = stored.at_least_0("events.contact_growth", events.contact_growth);
  events.min_step = stored.number("events.min_step", events.min_step);
  events.time_tolerance = stored.number("events.time_tolerance", events.time_tolerance);
  events.restitution_threshold =
      stored.number("events.restitution_threshold", events.restitution_threshold);
  s.error_control.tolerance = stored.number("error_control.tolerance", s.error_control.tolerance);
  s.error_control.min_step = stored.number("error_control.min_step", s.error_control.min_step);
  s.spook.relaxation = stored.at_least_0("spook.relaxation", s.spook.relaxation);
  s.spook.compliance = stored.at_least_0("spook.compliance", s.spook.compliance);
  s.spook.geometric_stiffness =
      stored.flag("spook.geometric_stiffness", s.spook.geometric_stiffness);
  s.spook.stiffness_return = stored.number("spook.stiffness_return", s.spook.stiffness_return);
  s.spook.position_iteration = stored.flag("spook.position_iteration", s.spook.position_iteration);
  return settings;
}

}  // namespace stiction
