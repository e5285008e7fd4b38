// The errors by which problems of the public collections count as solved, so that our figures
// compare with published ones. With P the projection onto the friction cones, and
// û = u + μσ_B(−u_T) n (T4), norms over all rows and ρ = 1:
//
//   local   ‖r − P(r − û)‖ / max(‖q‖, ‖r‖, ‖u‖)                        u = K r + q
//           (with bilateral rows: all rows together, as in an mlcp)
//   global  ‖M̂w − p − Gᵀλ − Jᵀr‖ / max(‖p‖, ‖M̂w‖, ‖Jᵀr‖, ‖Gᵀλ‖)
//           + ‖r − P(r − û)‖ / max(‖r‖, ‖u‖) + ‖s‖ / max(‖b‖, ‖Gw‖)     u = J w + b_c
//   lcp     ‖min(z, w)‖ / ‖q‖                                          w = K z + q
//   mlcp    ‖(w_E ; min(z_I, w_I))‖ / max(‖q‖, ‖z‖, ‖w‖)               E equations, I inequalities
//
// A denominator is used only above 2.2e-16, in the global form above 1.5e-8. The last term of the
// global form is ours: the collection has no equations between velocities. Bilateral rows with
// bounds, which the collections have not either, count λ − P(λ − s) for s. These errors depend on
// the units of the problem; the certificate does not, and judges the problems of the engine.
// Computed from problem and answer alone, sharing nothing with any solver.
#pragma once

#include <string_view>
#include <vector>

#include "stiction/problem/certificate.h"
#include "stiction/problem/step_problem.h"

namespace stiction {

/// Where a problem comes from decides how its answer is judged.
enum class ProblemKind {
  kStepProblem,     // a step of the engine: the certificate
  kLocalFriction,   // friction in Delassus form: no bodies, K is the Delassus matrix
  kGlobalFriction,  // friction with bodies
  kLcp,             // contacts without friction, K is the matrix
  kMlcp,            // the same with unbounded bilateral rows as equations
};

/// "step", "local friction", "global friction", "lcp", "mlcp".
std::string_view to_text(ProblemKind kind);

/// The kind of collection that a problem of this form would come from: global friction if it has
/// bodies, else local friction, or an LCP or MLCP where no contact has friction.
ProblemKind collection_kind(const StepProblem& problem);

/// Slacks s of the bilateral rows (T2) and velocities u of the contact rows (T3, T4).
struct RowVelocities {
  std::vector<double> s;  // num_bilateral
  std::vector<double> u;  // num_contact_rows
};
RowVelocities compute_row_velocities(const StepProblem& problem, const StepSolution& solution);

/// Whether impulses are out of all proportion to biases and momenta: a million times what these
/// call for. Published errors are relative to impulses, and vanish when impulses grow against a
/// contradiction.
[[nodiscard]] bool has_inflated_impulses(const StepProblem& problem, const StepSolution& solution);

/// Computes errors with storage that is reused from call to call.
class PublishedError {
 public:
  /// The error of the kind; infinite if the answer does not fit the problem or is not finite. Of a
  /// step problem it is the certificate's residual.
  [[nodiscard]] double compute(ProblemKind kind, const StepProblem& problem,
                               const StepSolution& solution);

 private:
  double compute_kind(ProblemKind kind, const StepProblem& problem, const StepSolution& solution);
  double compute_momentum(const StepProblem& problem, const StepSolution& solution);
  double compute_global_rows(const StepProblem& problem, const StepSolution& solution);

  RowVelocities rows_;
  std::vector<double> momenta_, contact_impulses_, joint_impulses_, joint_velocities_;
  Certifier certifier_;
};

/// The same with storage of its own.
[[nodiscard]] double compute_published_error(ProblemKind kind, const StepProblem& problem,
                                             const StepSolution& solution);

}  // namespace stiction
