#include "stiction/model/generalized_system.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/check.h"

namespace stiction {

void GeneralizedSystem::evaluate_applied_force(double, const ConstVectorRef&, const ConstVectorRef&,
                                               VectorRef force) const {
  force.setZero();
}

double GeneralizedSystem::evaluate_potential(double, const ConstVectorRef&) const { return 0; }

void GeneralizedSystem::evaluate_gyroscopic(double, const ConstVectorRef&, const ConstVectorRef&,
                                            RowMatrixRef gyroscopic) const {
  gyroscopic.setZero();
}

namespace {

/// Column i of the Jacobian of f at x by central differences. The step balances the truncation
/// error h²|f'''|/6 against the rounding error ε|f|/h.
template <class Function>
void differentiate_centrally(const Function& f, VectorXd& x, RowMatrixRef jacobian) {
  const double kRelativeStep = std::cbrt(std::numeric_limits<double>::epsilon());
  VectorXd plus(jacobian.rows()), minus(jacobian.rows());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double x_i = x[i];
    const double step = kRelativeStep * std::max(1.0, std::abs(x_i));
    x[i] = x_i + step;
    f(x, plus);
    const double high = x[i];
    x[i] = x_i - step;
    f(x, minus);
    jacobian.col(i) = (plus - minus) / (high - x[i]);
    x[i] = x_i;
  }
}

}  // namespace

void GeneralizedSystem::evaluate_force_jacobians(double t, const ConstVectorRef& q,
                                                 const ConstVectorRef& v, RowMatrixRef k_q,
                                                 RowMatrixRef k_v) const {
  VectorXd q_moved = q, v_moved = v;
  differentiate_centrally(
      [&](const VectorXd& x, VectorXd& force) { evaluate_force(t, x, v, force); }, q_moved, k_q);
  differentiate_centrally(
      [&](const VectorXd& x, VectorXd& force) { evaluate_force(t, q, x, force); }, v_moved, k_v);
}

// A layout that names constraints, springs or contacts comes with the functions that evaluate them.
void GeneralizedSystem::evaluate_constraints(double, const ConstVectorRef&, VectorRef) const {
  ST_DEMAND(num_constraints() == 0);
}
void GeneralizedSystem::evaluate_constraint_rows(double, const ConstVectorRef&, RowMatrixRef,
                                                 VectorRef) const {
  ST_DEMAND(num_constraints() == 0);
}
void GeneralizedSystem::evaluate_springs(double, const ConstVectorRef&, VectorRef) const {
  ST_DEMAND(num_springs() == 0);
}
void GeneralizedSystem::evaluate_spring_rows(double, const ConstVectorRef&, RowMatrixRef,
                                             VectorRef) const {
  ST_DEMAND(num_springs() == 0);
}
void GeneralizedSystem::evaluate_gaps(double, const ConstVectorRef&, VectorRef) const {
  ST_DEMAND(num_contacts() == 0);
}
void GeneralizedSystem::evaluate_contact_rows(double, const ConstVectorRef&, int, RowMatrixRef,
                                              VectorRef) const {
  ST_DEMAND(num_contacts() == 0);
}

}  // namespace stiction
