// A system in its own coordinates whose functions are Python's. Every call takes the interpreter's
// lock; what a function raises goes to the caller of the step, and what it returns is checked for
// its shape and for numbers that are not finite.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "stiction/model/generalized_system.h"

namespace stiction::python {

namespace py = pybind11;

/// Functions of (t, q) with one value per row; derivatives that are not given are taken by central
/// differences.
struct RowFunctions {
  std::string name;                  // of the value in messages
  py::object value = py::none();     // (n,)
  py::object gradient = py::none();  // (n, num_q), or None
  py::object drift = py::none();     // (n,) ∂/∂t, or None
  int count = 0;
};

struct CallableFunctions {
  py::object mass = py::none();                // (q) → (n, n), or such an array
  py::object mass_gradient = py::none();       // (q) → (n, n, n): [i, j, k] = ∂M_ij/∂q_k
  py::object force = py::none();               // (t, q, v) → (n,)
  py::object force_jacobians = py::none();     // (t, q, v) → two arrays (n, n)
  py::object potential = py::none();           // (t, q) → number
  py::object potential_gradient = py::none();  // (t, q) → (n,)
  RowFunctions constraints{.name = "constraints"};
  RowFunctions springs{.name = "springs"};
  RowFunctions gaps{.name = "gaps"};
  py::object tangents = py::none();  // (t, q) → (num_contacts, num_tangents, n), or such an array
};

class CallableSystem final : public GeneralizedSystem {
 public:
  CallableSystem(Layout layout, CallableFunctions functions);
  ~CallableSystem() override;
  CallableSystem(const CallableSystem&) = delete;
  CallableSystem& operator=(const CallableSystem&) = delete;

  void evaluate_mass(double t, const ConstVectorRef& q, RowMatrixRef mass) const override;
  void evaluate_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                      VectorRef force) const override;
  void evaluate_applied_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                              VectorRef force) const override;
  double evaluate_potential(double t, const ConstVectorRef& q) const override;
  void evaluate_force_jacobians(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                RowMatrixRef k_q, RowMatrixRef k_v) const override;
  bool has_exact_force_jacobians() const override { return has_force_jacobians_; }
  void evaluate_constraints(double t, const ConstVectorRef& q, VectorRef theta) const override;
  void evaluate_constraint_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                                VectorRef drift) const override;
  void evaluate_springs(double t, const ConstVectorRef& q, VectorRef extension) const override;
  void evaluate_spring_rows(double t, const ConstVectorRef& q, RowMatrixRef rows,
                            VectorRef drift) const override;
  void evaluate_gaps(double t, const ConstVectorRef& q, VectorRef gaps) const override;
  void evaluate_contact_rows(double t, const ConstVectorRef& q, int contact, RowMatrixRef rows,
                             VectorRef drift) const override;

 private:
  void subtract_velocity_terms(const ConstVectorRef& q, const ConstVectorRef& v,
                               VectorRef force) const;
  void subtract_potential_gradient(double t, const ConstVectorRef& q, VectorRef force) const;
  void fill_mass(const ConstVectorRef& q, RowMatrixRef mass) const;

  CallableFunctions functions_;
  bool has_force_jacobians_ = false;
};

}  // namespace stiction::python
