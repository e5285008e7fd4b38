// Projections of positions have no impulses in the recording. What they leave and what they move
// says whether they are one.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/QR>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>

#include "stiction/audit/auditor.h"
#include "stiction/audit/rounding.h"

namespace stiction {
namespace {

/// Of the natural size of a row: where a projection ends.
constexpr double kFeasible = 1e-9;
/// Of the way of a projection that may be off the directions of its rows, which turn meanwhile, and
/// of which those of contacts are known where they were recorded.
constexpr double kAstray = 0.02;
/// Least squares are as accurate, which is far below that share.
constexpr double kLeast = 1e-6;
/// Numbers of a matrix that a dense decomposition takes well below a second for.
constexpr Eigen::Index kDense = 250'000;
/// [m] or [rad]: rows of gaps above it take no part.
constexpr double kOpen = 1e-6;

}  // namespace

/// The nearest point in the norm of M has M(q̃)(q − q̃) in the span of the gradients of constraints,
/// springs that are held, and gaps that are closed; and constraints hold there. Least squares say
/// how much of the way is not.
void Auditor::check_projection(const std::vector<AuditedPhase>& phases, std::size_t index,
                               AuditReport& report) {
  const AuditedPhase& phase = phases[index];
  const bool projects_by_default = settings_.scheme == SchemeName::kAnitescuPotra ||
                                   settings_.scheme == SchemeName::kLinearlyImplicitEuler;
  report.check(Law::kMotion, settings_.stepping.projection.value_or(projects_by_default) ? 0 : 1,
               0.5, [] { return std::string("a projection of positions that nobody asked for"); });
  const double t = phase.start.t;
  VectorXd way, sizes;
  model_.displacement(phase.start.q, phase.q_end, way);
  model_.measure_coordinates(phase.start.q, sizes);
  projected_ += way.cwiseAbs();
  RowSet rows;
  model_.append_constraint_rows(t, phase.q_end, rows);
  VectorXd theta(model_.num_constraints());
  if (theta.size() > 0) model_.evaluate_constraints(t, phase.q_end, theta);
  for (int i = 0; i < model_.num_constraints(); ++i) {
    if (!model_.constraint(i).is_rigid()) continue;
    double size = 1;
    for (int e = rows.rows.entry_start(i); e < rows.rows.entry_start(i + 1); ++e)
      for (int k = 0; k < rows.rows.entry_columns(e); ++k)
        size += std::abs(rows.rows.entry_values(e)[k]) *
                sizes[model_.block_starts()[rows.rows.entry_block(e)] + k];
    report.check(Law::kJointRows, std::abs(theta[i]), kFeasible * size, [&] {
      return fmt::format("joint row {}: error after a projection of positions",
                         header_.joint_names[static_cast<std::size_t>(i)]);
    });
  }
  if ((way.array().abs() <= kUlps * sizes.array().max(sizes.maxCoeff() * 1e-3)).all()) return;
  model_.append_spring_rows(t, phase.q_end, rows);
  VectorXd gaps(model_.num_fixed_contacts());
  if (gaps.size() > 0) model_.evaluate_fixed_gaps(t, phase.q_end, gaps);
  for (int j = 0; j < gaps.size(); ++j)
    if (gaps[j] <= kOpen) model_.append_fixed_contact_rows(t, phase.q_end, j, rows);
  // A contact that rolls on a round shape of radius R moves by R times the turn within a step, and
  // its directions with it: where the projection ends the step they are those of the row.
  const bool is_last = index + 1 == phases.size();
  for (const AuditedPhase& other : phases)
    for (const AuditedContact& contact : other.contacts) {
      if (contact.shape_a < 0) continue;
      const auto found = is_last ? at_end_.find(contact.id) : at_end_.end();
      problem_.append_contact(t, phase.q_end, found != at_end_.end() ? found->second : contact,
                              rows);
    }

  // In the norm of M: L⁻¹ of M = L Lᵀ makes it that of the plane.
  const auto num_v = static_cast<Eigen::Index>(model_.num_v());
  const int num_rows = rows.rows.num_row_blocks();
  VectorXd moved(num_v);
  std::vector<Eigen::LLT<MatrixXd>> factors;
  for (int b = 0; b < static_cast<int>(model_.blocks().size()); ++b) {
    const auto [part, unused, offset, n] = model_.blocks()[b];
    RowMatrixXd mass(n, n);
    model_.evaluate_mass(t, phase.start.q, b, mass);
    factors.emplace_back(MatrixXd(mass));
    moved.segment(offset, n) = factors.back().matrixL().transpose() * way.segment(offset, n);
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < num_rows; ++i)
    for (int e = rows.rows.entry_start(i); e < rows.rows.entry_start(i + 1); ++e) {
      const int block = rows.rows.entry_block(e), n = rows.rows.entry_columns(e);
      const VectorXd gradient =
          factors[block].matrixL().solve(VectorXd(ConstVectorMap(rows.rows.entry_values(e), n)));
      for (int k = 0; k < n; ++k)
        entries.emplace_back(model_.block_starts()[block] + k, i, gradient[k]);
    }
  Eigen::SparseMatrix<double> gradients(num_v, num_rows);
  gradients.setFromTriplets(entries.begin(), entries.end());
  VectorXd astray = moved;
  // Mechanisms have rows that depend on others, which iterations do not cope with; what is large is
  // contacts for the most part.
  if (num_rows > 0 && num_v * num_rows <= kDense) {
    const Eigen::CompleteOrthogonalDecomposition<MatrixXd> least{MatrixXd(gradients)};
    astray -= gradients * VectorXd(least.solve(moved));
  } else if (num_rows > 0) {
    Eigen::LeastSquaresConjugateGradient<Eigen::SparseMatrix<double>> least;
    least.setTolerance(kLeast);
    least.setMaxIterations(10 * (num_v + num_rows));
    least.compute(gradients);
    astray -= gradients * VectorXd(least.solve(moved));
  }
  const double most = kAstray + way.cwiseAbs().maxCoeff();
  // Gaps that the projection has closed, but that took part in no phase, are not recorded.
  if (astray.norm() > most * moved.norm() &&
      geometry_.has_other_touch(t, phase.q_end, kOpen, found_)) {
    report.skip(Law::kMotion, "the way of a projection of positions next to further contacts");
    return;
  }
  for (int b = 0; b < static_cast<int>(model_.blocks().size()); ++b) {
    const auto [part, unused, offset, n] = model_.blocks()[b];
    report.check(Law::kMotion, astray.segment(offset, n).norm() / (moved.norm() + 1e-300), most,
                 [&] {
                   return fmt::format(
                       "{}: share of a projection of positions that no joint, spring or contact "
                       "explains",
                       name_of_block(b));
                 });
  }
}

}  // namespace stiction
