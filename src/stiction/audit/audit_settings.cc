#include <fmt/format.h>

#include "stiction/audit/auditor.h"
#include "stiction/base/error.h"

namespace stiction {

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
  if (const auto section = try_parse_friction_section(header.friction))
    settings.friction = *section;
  const auto get = [&](const char* name, double otherwise) {
    const auto found = header.settings.find(name);
    return found == header.settings.end() ? otherwise : found->second;
  };
  SteppingOptions& s = settings.stepping;
  settings.tolerance = get("tolerance", settings.tolerance);
  settings.every = static_cast<int>(get("every", settings.every));
  const double projection = get("projection", -1);
  s.projection = projection < 0 ? std::nullopt : std::optional<bool>(projection > 0);
  s.jacobians = static_cast<ForceJacobians>(
      static_cast<int>(get("jacobians", static_cast<double>(s.jacobians))));
  s.nonlinear = get("nonlinear", s.nonlinear ? 1 : 0) != 0;
  s.gyroscopic = static_cast<GyroscopicTerm>(
      static_cast<int>(get("gyroscopic", static_cast<double>(s.gyroscopic))));
  s.events.collisions = get("events.collisions", s.events.collisions ? 1 : 0) != 0;
  s.events.transitions = get("events.transitions", s.events.transitions ? 1 : 0) != 0;
  s.events.contact_tolerance = get("events.contact_tolerance", s.events.contact_tolerance);
  s.events.contact_growth = get("events.contact_growth", s.events.contact_growth);
  s.events.min_step = get("events.min_step", s.events.min_step);
  s.events.time_tolerance = get("events.time_tolerance", s.events.time_tolerance);
  s.events.restitution_threshold =
      get("events.restitution_threshold", s.events.restitution_threshold);
  s.error_control.tolerance = get("error_control.tolerance", s.error_control.tolerance);
  s.error_control.min_step = get("error_control.min_step", s.error_control.min_step);
  s.spook.relaxation = get("spook.relaxation", s.spook.relaxation);
  s.spook.compliance = get("spook.compliance", s.spook.compliance);
  s.spook.geometric_stiffness =
      get("spook.geometric_stiffness", s.spook.geometric_stiffness ? 1 : 0) != 0;
  s.spook.stiffness_return = get("spook.stiffness_return", s.spook.stiffness_return);
  s.spook.position_iteration =
      get("spook.position_iteration", s.spook.position_iteration ? 1 : 0) != 0;
  return settings;
}

}  // namespace stiction
