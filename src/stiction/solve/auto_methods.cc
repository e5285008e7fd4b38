#include "stiction/solve/auto_methods.h"

#include <algorithm>

namespace stiction {
namespace {

/// Lemke's method is cubic in this number; measured on polygons it stays below 2 ms.
constexpr int kMaxLemkeRows = 120;
/// Matrices of plain complementarity problems may be anything, which only pivoting takes; above
/// this size they are mostly sparse and tame.
constexpr int kMaxLcpRows = 300;
/// Up to this number Newton's method costs next to nothing.
constexpr int kFewDiscs = 30;

}  // namespace

bool AutoTraits::is_small() const { return num_lemke_rows <= kMaxLemkeRows; }

AutoTraits inspect(const StepProblem& problem) {
  AutoTraits traits;
  traits.num_lemke_rows = problem.num_bilateral();
  traits.num_contacts = problem.num_contacts();
  traits.num_joint_rows = problem.num_bilateral();
  traits.is_impact = problem.h == 0;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int num_rows = problem.contacts.num_rows(j);
    const bool has_friction = num_rows > 1 && problem.mu[j] > 0;
    const bool is_disc = problem.section[j].kind == FrictionSection::Kind::kDisc;
    traits.is_lcp = traits.is_lcp && !has_friction;
    const bool is_spatial = num_rows == 3 && has_friction;
    traits.is_smooth = traits.is_smooth || (is_spatial && is_disc);
    traits.is_cornered = traits.is_cornered || (is_spatial && !is_disc);
    const int num_sides = std::max(4, problem.section[j].num_sides);
    traits.num_lemke_rows += is_spatial ? 3 + num_sides : num_rows == 1 ? 1 : 4;
  }
  traits.is_lcp = traits.is_lcp && !problem.coupling.is_empty();
  return traits;
}

std::span<const AutoMethod> choose_for_steps(const AutoTraits& traits) {
  using enum AutoMethod;
  static constexpr AutoMethod kForFewDiscs[] = {kBodyNewton, kPreciseNewton};
  static constexpr AutoMethod kForFewLooseDiscs[] = {kBodyNewton, kWarmSweeps, kPreciseNewton};
  static constexpr AutoMethod kForSomeDiscs[] = {kBodyNewton, kPreciseNewton, kWarmSweeps};
  static constexpr AutoMethod kForDiscs[] = {kBodyNewton, kWarmSweeps};
  static constexpr AutoMethod kForFirstDiscs[] = {kBodyNewton, kPreciseNewton, kAdmm};
  static constexpr AutoMethod kForManyCorners[] = {kDirect};
  if (!traits.is_step || traits.is_lcp) return {};
  if (traits.is_cornered && !traits.is_small()) return kForManyCorners;
  if (traits.is_cornered || !traits.is_smooth) return {};
  if (traits.num_contacts <= kFewDiscs) {
    const std::span<const AutoMethod> methods =
        traits.is_precise_at_rest() ? std::span<const AutoMethod>(kForFewDiscs) : kForFewLooseDiscs;
    return methods.subspan(traits.is_warm ? 0 : 1);
  }
  if (traits.is_impact) return std::span(kForDiscs).subspan(1);
  if (traits.is_warm && traits.is_precise_at_rest()) return kForSomeDiscs;
  if (traits.is_warm) return kForDiscs;
  return std::span(kForFirstDiscs).subspan(traits.is_precise_at_rest() ? 1 : 0);
}

std::span<const AutoMethod> choose_chain(const AutoTraits& traits, bool prefers_exact,
                                         bool is_tight) {
  using enum AutoMethod;
  static constexpr AutoMethod kForLcp[] = {kLemke, kBlockPivot, kNewton, kPatientSweeps};
  static constexpr AutoMethod kForLargeLcp[] = {kSweeps, kNewton, kPatientSweeps, kLemke};
  static constexpr AutoMethod kForCorners[] = {kLemke, kSweeps, kPolish, kPatientSweeps};
  static constexpr AutoMethod kForManyCorners[] = {kSweeps, kPatientSweeps, kLemke};
  static constexpr AutoMethod kForDiscs[] = {kSweeps, kNewton,        kColdNewton, kInteriorPoint,
                                             kPolish, kPatientSweeps, kColdSweeps, kPatientNewton};
  static constexpr AutoMethod kForMovingDiscs[] = {kMoreSweeps,    kNewton,       kColdNewton,
                                                   kInteriorPoint, kPolish,       kPatientSweeps,
                                                   kColdSweeps,    kPatientNewton};
  static constexpr AutoMethod kForManyDiscs[] = {kNewton, kColdNewton, kInteriorPoint,
                                                 kPatientSweeps};
  static constexpr AutoMethod kForManyMovingDiscs[] = {kMoreSweeps,    kNewton,        kColdNewton,
                                                       kInteriorPoint, kPatientSweeps, kColdSweeps,
                                                       kPatientNewton};
  static constexpr AutoMethod kForPlanes[] = {kSweeps,        kNewton, kLemke,
                                              kInteriorPoint, kPolish, kPatientSweeps};
  static constexpr AutoMethod kForSmallPlanes[] = {kLemke, kSweeps, kNewton, kPolish,
                                                   kPatientSweeps};
  const bool is_small = traits.is_small();
  if (traits.is_lcp && traits.num_lemke_rows <= kMaxLcpRows) return kForLcp;
  if (traits.is_lcp) return kForLargeLcp;
  if (traits.is_cornered && is_small) return kForCorners;
  if (traits.is_cornered) return kForManyCorners;
  const bool has_many_discs = traits.is_smooth && traits.num_contacts > AutoTraits::kManyDiscs;
  if (has_many_discs && traits.is_step && !traits.is_machine()) return kForManyMovingDiscs;
  if (has_many_discs && is_tight) return kForManyDiscs;
  const bool has_some_discs = traits.is_smooth && traits.num_contacts > AutoTraits::kSomeDiscs;
  if (has_some_discs && traits.is_moving && traits.is_rough && !traits.is_machine())
    return kForMovingDiscs;
  if (traits.is_smooth) return kForDiscs;
  if (prefers_exact && is_small) return kForSmallPlanes;
  return kForPlanes;
}

bool is_hopeless(AutoMethod method, const AutoTraits& traits) {
  using enum AutoMethod;
  const bool is_last_resort = method == kNewton || method == kColdNewton ||
                              method == kInteriorPoint ||
                              (method == kPatientSweeps && !traits.is_machine());
  return is_last_resort && traits.is_smooth && traits.is_rough &&
         traits.num_contacts > AutoTraits::kMostColdDiscs;
}

}  // namespace stiction
