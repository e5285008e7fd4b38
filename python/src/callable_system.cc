#include "callable_system.h"

#include <cmath>
#include <limits>

#include "arrays.h"
#include "stiction/base/error.h"

namespace stiction::python {
namespace {

/// Central differences err by δ²/6 f''' + ε f/δ: least at the cube root of ε.
const double kDifference = std::cbrt(std::numeric_limits<double>::epsilon());

double difference_of(double x) { return kDifference * std::max(1.0, std::abs(x)); }

/// A copy, so that a function may keep or change what it gets.
py::array_t<double> to_array(const ConstVectorRef& x) {
  py::array_t<double> array(x.size());
  std::copy_n(x.data(), x.size(), array.mutable_data());
  return array;
}

/// The value of a function, or the array that stands for one.
template <class... Arguments>
py::object value_of(const py::object& function, const Arguments&... arguments) {
  return PyCallable_Check(function.ptr()) != 0 ? function(arguments...) : function;
}

std::string result_of(const std::string& name) { return "result of '" + name + "'"; }

void evaluate(const RowFunctions& rows, double t, const ConstVectorRef& q, VectorRef out) {
  if (rows.count == 0) return;
  const py::gil_scoped_acquire lock;
  out = to_vector(rows.value(t, to_array(q)), result_of(rows.name), rows.count);
}

void evaluate_drift(const RowFunctions& rows, double t, const ConstVectorRef& q, VectorRef drift) {
  if (!rows.drift.is_none()) {
    drift = to_vector(value_of(rows.drift, t, to_array(q)), result_of(rows.name + "_drift"),
                      rows.count);
    return;
  }
  const double dt = difference_of(t);
  VectorXd ahead(rows.count), behind(rows.count);
  evaluate(rows, t + dt, q, ahead);
  evaluate(rows, t - dt, q, behind);
  drift = (ahead - behind) / (2 * dt);
}

void evaluate_gradient(const RowFunctions& rows, double t, const ConstVectorRef& q,
                       RowMatrixRef gradient) {
  if (!rows.gradient.is_none()) {
    const auto given = to_numbers(value_of(rows.gradient, t, to_array(q)),
                                  result_of(rows.name + "_gradient"), {rows.count, q.size()});
    gradient = ConstRowMatrixMap(given.data(), rows.count, q.size());
    return;
  }
  VectorXd moved = q, ahead(rows.count), behind(rows.count);
  for (Eigen::Index k = 0; k < q.size(); ++k) {
    const double dq = difference_of(q[k]);
    moved[k] = q[k] + dq;
    evaluate(rows, t, moved, ahead);
    moved[k] = q[k] - dq;
    evaluate(rows, t, moved, behind);
    moved[k] = q[k];
    gradient.col(k) = (ahead - behind) / (2 * dq);
  }
}

}  // namespace

CallableSystem::CallableSystem(Layout layout, CallableFunctions functions)
    : GeneralizedSystem(std::move(layout)), functions_(std::move(functions)) {
  functions_.constraints.count = num_constraints();
  functions_.springs.count = num_springs();
  functions_.gaps.count = num_contacts();
  has_force_jacobians_ = !functions_.force_jacobians.is_none();
}

/// The last owner may be a thread without the interpreter's lock.
CallableSystem::~CallableSystem() {
  const py::gil_scoped_acquire lock;
  functions_ = {};
}

void CallableSystem::fill_mass(const ConstVectorRef& q, RowMatrixRef mass) const {
  const auto given =
      to_numbers(value_of(functions_.mass, to_array(q)), result_of("mass"), {q.size(), q.size()});
  mass = ConstRowMatrixMap(given.data(), q.size(), q.size());
}

void CallableSystem::evaluate_mass(double, const ConstVectorRef& q, RowMatrixRef mass) const {
  const py::gil_scoped_acquire lock;
  fill_mass(q, mass);
}

/// c_i = Σ_jk (∂M_ij/∂q_k − ½ ∂M_jk/∂q_i) v_j v_k (T11). None for a constant mass matrix.
void CallableSystem::subtract_velocity_terms(const ConstVectorRef& q, const ConstVectorRef& v,
                                             VectorRef force) const {
  if (PyCallable_Check(functions_.mass.ptr()) == 0) return;
  const Eigen::Index n = q.size();
  py::array_t<double> given;
  if (!functions_.mass_gradient.is_none())
    given = to_numbers(value_of(functions_.mass_gradient, to_array(q)), result_of("mass_gradient"),
                       {n, n, n});
  RowMatrixXd ahead(n, n), behind(n, n), derivative(n, n);
  VectorXd moved = q;
  for (Eigen::Index k = 0; k < n; ++k) {  // derivative = ∂M/∂q_k
    if (!functions_.mass_gradient.is_none()) {
      for (Eigen::Index i = 0; i < n * n; ++i) derivative.data()[i] = given.data()[i * n + k];
    } else {
      const double dq = difference_of(q[k]);
      moved[k] = q[k] + dq;
      fill_mass(moved, ahead);
      moved[k] = q[k] - dq;
      fill_mass(moved, behind);
      moved[k] = q[k];
      derivative = (ahead - behind) / (2 * dq);
    }
    const VectorXd product = derivative * v;
    force -= v[k] * product;
    force[k] += 0.5 * v.dot(product);
  }
}

void CallableSystem::subtract_potential_gradient(double t, const ConstVectorRef& q,
                                                 VectorRef force) const {
  if (functions_.potential.is_none()) return;
  if (!functions_.potential_gradient.is_none()) {
    force -= to_vector(value_of(functions_.potential_gradient, t, to_array(q)),
                       result_of("potential_gradient"), static_cast<int>(q.size()));
    return;
  }
  VectorXd moved = q;
  for (Eigen::Index k = 0; k < q.size(); ++k) {
    const double dq = difference_of(q[k]);
    moved[k] = q[k] + dq;
    const double ahead = evaluate_potential(t, moved);
    moved[k] = q[k] - dq;
    const double behind = evaluate_potential(t, moved);
    moved[k] = q[k];
    force[k] -= (ahead - behind) / (2 * dq);
  }
}

void CallableSystem::evaluate_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                    VectorRef force) const {
  const py::gil_scoped_acquire lock;
  evaluate_applied_force(t, q, v, force);
  subtract_potential_gradient(t, q, force);
  subtract_velocity_terms(q, v, force);
}

void CallableSystem::evaluate_applied_force(double t, const ConstVectorRef& q,
                                            const ConstVectorRef& v, VectorRef force) const {
  force.setZero();
  if (functions_.force.is_none()) return;
  const py::gil_scoped_acquire lock;
  force = to_vector(functions_.force(t, to_array(q), to_array(v)), result_of("force"),
                    static_cast<int>(q.size()));
}

double CallableSystem::evaluate_potential(double t, const ConstVectorRef& q) const {
  if (functions_.potential.is_none()) return 0;
  const py::gil_scoped_acquire lock;
  return *to_numbers(functions_.potential(t, to_array(q)), result_of("potential"), {}).data();
}

void CallableSystem::evaluate_force_jacobians(double t, const ConstVectorRef& q,
                                              const ConstVectorRef& v, RowMatrixRef k_q,
                                              RowMatrixRef k_v) const {
  if (functions_.force_jacobians.is_none())
    return GeneralizedSystem::evaluate_force_jacobians(t, q, v, k_q, k_v);
  const py::gil_scoped_acquire lock;
  const py::ssize_t n = q.size();
  const auto given = to_numbers(functions_.force_jacobians(t, to_array(q), to_array(v)),
                                result_of("force_jacobians"), {2, n, n});
  k_q = ConstRowMatrixMap(given.data(), n, n);
  k_v = ConstRowMatrixMap(given.data() + n * n, n, n);
}

void CallableSystem::evaluate_constraints(double t, const ConstVectorRef& q,
                                          VectorRef theta) const {
  evaluate(functions_.constraints, t, q, theta);
}

void CallableSystem::evaluate_constraint_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                                              VectorRef drift) const {
  const py::gil_scoped_acquire lock;
  evaluate_gradient(functions_.constraints, t, q, rows);
  evaluate_drift(functions_.constraints, t, q, drift);
}

void CallableSystem::evaluate_springs(double t, const ConstVectorRef& q,
                                      VectorRef extension) const {
  evaluate(functions_.springs, t, q, extension);
}

void CallableSystem::evaluate_spring_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                                          VectorRef drift) const {
  const py::gil_scoped_acquire lock;
  evaluate_gradient(functions_.springs, t, q, rows);
  evaluate_drift(functions_.springs, t, q, drift);
}

void CallableSystem::evaluate_gaps(double t, const ConstVectorRef& q, VectorRef gaps) const {
  evaluate(functions_.gaps, t, q, gaps);
}

void CallableSystem::evaluate_contact_rows(double t, const ConstVectorRef& q, int contact,
                                           RowMatrixRef rows, VectorRef drift) const {
  const py::gil_scoped_acquire lock;
  const Eigen::Index n = q.size();
  RowMatrixXd normals(num_contacts(), n);
  VectorXd drifts(num_contacts());
  evaluate_gradient(functions_.gaps, t, q, normals);
  evaluate_drift(functions_.gaps, t, q, drifts);
  rows.row(0) = normals.row(contact);
  drift.setZero();
  drift[0] = drifts[contact];
  const Eigen::Index num_tangents = rows.rows() - 1;
  if (num_tangents == 0) return;
  const auto given = to_numbers(value_of(functions_.tangents, t, to_array(q)),
                                result_of("tangents"), {num_contacts(), num_tangents, n});
  rows.bottomRows(num_tangents) =
      ConstRowMatrixMap(given.data() + contact * num_tangents * n, num_tangents, n);
}

}  // namespace stiction::python
