#include "stiction/model/generalized_system.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/check.h"

namespace stiction {

GeneralizedSystem::GeneralizedSystem(Layout layout) : layout_(std::move(layout)) {
  set_sizes(num_coordinates(), {num_coordinates()});
  for (const std::string& name : layout_.constraints) constraints_.push_back({.name = name});
  springs_ = layout_.springs;
  contacts_ = layout_.contacts;
}

std::vector<std::string> GeneralizedSystem::recorded_v_names() const {
  std::vector<std::string> names = layout_.coordinates;
  for (std::string& name : names) name.insert(0, "v.");
  return names;
}

void GeneralizedSystem::evaluate_block_mass(double t, const ConstVectorRef& q, int,
                                            RowMatrixRef mass) const {
  evaluate_mass(t, q, mass);
}

void GeneralizedSystem::evaluate_block_jacobians(double t, const ConstVectorRef& q,
                                                 const ConstVectorRef& v, int, RowMatrixRef k_q,
                                                 RowMatrixRef k_v) const {
  evaluate_force_jacobians(t, q, v, k_q, k_v);
}

void GeneralizedSystem::evaluate_block_gyroscopic(double t, const ConstVectorRef& q,
                                                  const ConstVectorRef& v, int,
                                                  RowMatrixRef gyroscopic) const {
  evaluate_gyroscopic(t, q, v, gyroscopic);
}

namespace {

/// Room for the drifts of the rows that are appended next.
VectorMap append_drifts(int num_rows, RowSet& out) {
  out.drift.resize(out.drift.size() + num_rows);
  return {out.drift.data() + out.drift.size() - num_rows, num_rows};
}

}  // namespace

void GeneralizedSystem::append_constraint_rows(double t, const ConstVectorRef& q, int first_block,
                                               RowSet& out) const {
  if (num_constraints() == 0) return;
  const RowMatrixMap rows =
      out.rows.add_single_rows(num_constraints(), first_block, num_coordinates());
  evaluate_constraint_rows(t, q, rows, append_drifts(num_constraints(), out));
}

void GeneralizedSystem::append_spring_rows(double t, const ConstVectorRef& q, int first_block,
                                           RowSet& out) const {
  if (num_springs() == 0) return;
  const RowMatrixMap rows = out.rows.add_single_rows(num_springs(), first_block, num_coordinates());
  evaluate_spring_rows(t, q, rows, append_drifts(num_springs(), out));
}

void GeneralizedSystem::append_contact_rows(double t, const ConstVectorRef& q, int contact,
                                            int first_block, RowSet& out) const {
  const int num_rows = 1 + contacts()[contact].num_tangents;
  out.rows.add_row_block(num_rows);
  const RowMatrixMap rows = out.rows.add_entry(first_block, num_coordinates());
  evaluate_contact_rows(t, q, contact, rows, append_drifts(num_rows, out));
}

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
void GeneralizedSystem::evaluate_constraint_rows(double, const ConstVectorRef&, RowMatrixRef,
                                                 VectorRef) const {
  ST_DEMAND(num_constraints() == 0);
}
void GeneralizedSystem::evaluate_spring_rows(double, const ConstVectorRef&, RowMatrixRef,
                                             VectorRef) const {
  ST_DEMAND(num_springs() == 0);
}
void GeneralizedSystem::evaluate_contact_rows(double, const ConstVectorRef&, int, RowMatrixRef,
                                              VectorRef) const {
  ST_DEMAND(num_contacts() == 0);
}

}  // namespace stiction
