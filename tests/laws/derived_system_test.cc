// The woodpecker written as a C++ class by hand gives the same motion as the scene's formulas.
#include <gtest/gtest.h>

#include "stiction/model/generalized_system.h"
#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"

namespace stiction::testing {
namespace {

/// Glocker–Studer 2005, eqs. (14)–(16) with the numbers of Table I.
class HandWrittenWoodpecker final : public GeneralizedSystem {
 public:
  HandWrittenWoodpecker()
      : GeneralizedSystem(
            {.coordinates = {"y", "phi_M", "phi_S"},
             .constraints = {},
             .springs = {},
             .contacts = {
                 {"beak", 1, 0.3, 0.5, 0}, {"lower", 1, 0.3, 0, 0}, {"upper", 1, 0.3, 0, 0}}}) {}

  void evaluate_mass(double, const ConstVectorRef&, RowMatrixRef mass) const override {
    mass << m_S + m_M, m_S * l_M, m_S * l_G,                //
        m_S * l_M, J_M + m_S * l_M * l_M, m_S * l_M * l_G,  //
        m_S * l_G, m_S * l_M * l_G, J_S + m_S * l_G * l_G;
  }
  void evaluate_force(double, const ConstVectorRef& q, const ConstVectorRef&,
                      VectorRef force) const override {
    force << -(m_S + m_M) * g, -c * (q[1] - q[2]) - m_S * l_M * g,
        -c * (q[2] - q[1]) - m_S * l_G * g;
  }
  double evaluate_potential(double, const ConstVectorRef& q) const override {
    return (m_S + m_M) * g * q[0] + m_S * g * (l_M * q[1] + l_G * q[2]) +
           c / 2 * (q[1] - q[2]) * (q[1] - q[2]);
  }
  void evaluate_gaps(double, const ConstVectorRef& q, VectorRef gaps) const override {
    gaps << l_M + l_G - l_S - r_O - h_S * q[2], r_M - r_O + h_M * q[1], r_M - r_O - h_M * q[1];
  }
  void evaluate_contact_rows(double, const ConstVectorRef&, int contact, RowMatrixRef rows,
                             VectorRef drift) const override {
    if (contact == 0) rows << 0, 0, -h_S, 1, l_M, l_G - l_S;
    if (contact == 1) rows << 0, h_M, 0, 1, r_M, 0;
    if (contact == 2) rows << 0, -h_M, 0, 1, r_M, 0;
    drift.setZero();
  }

 private:
  static constexpr double r_O = 0.0025, r_M = 0.0031, h_M = 0.0058, l_M = 0.010, l_G = 0.015,
                          h_S = 0.02, l_S = 0.0201, m_M = 0.0003, m_S = 0.0045, J_M = 5e-9,
                          J_S = 7e-7, c = 0.0056, g = 9.81;
};

TEST(DerivedSystem, MovesLikeTheFormulasOfTheScene) {
  const Scene scene = example_scene("woodpecker");
  ModelBuilder builder;
  builder.add_system(std::make_shared<HandWrittenWoodpecker>(), scene.model.initial_state().q,
                     scene.model.initial_state().v);
  Simulation by_hand(builder.build(), {.h = 1e-4}), by_formula(scene.model, {.h = 1e-4});
  // Rounding differs in the last bit; the cycle is stable, but an impact may fall into the next
  // step. Before the first beak hit nothing amplifies it.
  by_hand.run(0.08);
  by_formula.run(0.08);
  EXPECT_LT((by_hand.state().q - by_formula.state().q).norm(), 1e-12);
  EXPECT_LT((by_hand.state().v - by_formula.state().v).norm(), 1e-10);
}

TEST(DerivedSystem, DefaultJacobiansAreTheDerivativesOfTheForce) {
  const HandWrittenWoodpecker system;
  const Eigen::Vector3d q(0.1, -0.05, 0.2), v(1, 2, 3);
  RowMatrixXd k_q(3, 3), k_v(3, 3);
  system.evaluate_force_jacobians(0, q, v, k_q, k_v);
  RowMatrixXd exact(3, 3);
  exact << 0, 0, 0, 0, -0.0056, 0.0056, 0, 0.0056, -0.0056;
  EXPECT_LT((k_q - exact).norm(), 1e-10);
  EXPECT_LT(k_v.norm(), 1e-10);
}

}  // namespace
}  // namespace stiction::testing
