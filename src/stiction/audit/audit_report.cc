#include "stiction/audit/audit_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stiction {
namespace {

struct LawText {
  std::string_view name, statement;
};

constexpr std::array<LawText, kNumLaws> kTexts = {{
    {"time", "steps follow each other and their phases fill them"},
    {"quaternions", "orientations are unit quaternions"},
    {"motion", "positions follow from velocities as the scheme says"},
    {"momentum", "impulses balance the change of momentum of every body"},
    {"joint rows", "constraints, springs and velocity rows hold as the scheme says"},
    {"effort bounds", "motors and friction of joints stay within their bounds"},
    {"friction cones", "contact impulses lie in the friction cones"},
    {"complementarity", "contacts press only where they neither open nor close"},
    {"dissipation", "friction opposes slip with all that its bound allows"},
    {"gaps", "recorded contacts lie where the shapes touch"},
    {"contacts found", "shapes that touch have a contact"},
    {"penetration", "shapes overlap by no more than the scheme's own error"},
    {"tunnelling", "nothing passes through anything between two rows"},
    {"energy", "the ledger's entries are what the impulses did, and it closes"},
    {"totals", "impulses, slips and reactions of a step are those of its phases"},
    {"certificate", "recorded residuals are those of the step"},
    {"status", "flags and the end of the run tell what happened"},
}};

}  // namespace

std::string_view to_text(Law law) { return kTexts[static_cast<std::size_t>(law)].name; }
std::string_view statement_of(Law law) { return kTexts[static_cast<std::size_t>(law)].statement; }

double Finding::ratio() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!std::isfinite(figure) || std::isnan(tolerance)) return kInfinity;
  if (figure <= 0) return 0;
  return tolerance > 0 ? figure / tolerance : kInfinity;
}

bool AuditReport::count(Law law, const Finding& finding) {
  LawOutcome& outcome = outcomes_[static_cast<std::size_t>(law)];
  ++outcome.checks;
  const double ratio = finding.ratio();
  const bool is_first_broken = !(ratio <= 1) && outcome.broken++ == 0;
  return is_first_broken || outcome.checks == 1 || ratio > outcome.worst.ratio();
}

void AuditReport::keep(Law law, Finding finding, std::string where) {
  LawOutcome& outcome = outcomes_[static_cast<std::size_t>(law)];
  finding.where = std::move(where);
  if (outcome.broken == 1 && outcome.first_broken.where.empty() && !(finding.ratio() <= 1))
    outcome.first_broken = finding;
  if (outcome.checks == 1 || finding.ratio() > outcome.worst.ratio())
    outcome.worst = std::move(finding);
}

void AuditReport::skip(Law law, const std::string& reason) {
  const auto [place, is_new] = last_skip_.try_emplace({law, reason}, step_);
  if (!is_new && place->second == step_) return;
  place->second = step_;
  ++outcomes_[static_cast<std::size_t>(law)].unchecked[reason];
}

bool AuditReport::is_broken() const {
  return std::any_of(outcomes_.begin(), outcomes_.end(),
                     [](const LawOutcome& outcome) { return outcome.broken > 0; });
}

}  // namespace stiction
