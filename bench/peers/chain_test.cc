// What all engines are measured with must itself be right: gaps and energies by hand, and the
// reference against the Lagrange equations written down a second time.
#include <gtest/gtest.h>

#include <cmath>

#include "bench/peers/chain.h"
#include "bench/peers/chain_reference.h"

namespace stiction::bench {
namespace {

constexpr double kRounding = 1e-15;

/// θ̈ from the dense mass matrix: every rod moves all rods behind it.
Eigen::VectorXd lagrange_acceleration(const ChainScene& scene, const ChainAngles& at) {
  const int n = scene.links;
  const double m = scene.link_mass, l = scene.link_length, I = scene.body_inertia(0).y();
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      // ∂p_b/∂θ_i has the length l for bodies b behind rod i and l/2 for its own.
      double coupling = scene.ball_mass * l * l;
      for (int b = std::max(i, j); b < n; ++b)
        coupling += m * (b == i ? l / 2 : l) * (b == j ? l / 2 : l);
      M(i, j) = coupling * std::cos(at.theta[i] - at.theta[j]) + (i == j ? I : 0);
      right[i] -= coupling * std::sin(at.theta[i] - at.theta[j]) * at.rate[j] * at.rate[j];
    }
  for (int i = 0; i < n; ++i) {
    const double behind = scene.ball_mass + m * (n - i - 0.5);
    right[i] -= behind * kGravity * l * std::cos(at.theta[i]);
  }
  return M.ldlt().solve(right);
}

ChainAngles bent(int links) {
  ChainAngles at{Eigen::VectorXd(links), Eigen::VectorXd(links)};
  for (int i = 0; i < links; ++i) {
    at.theta[i] = -0.3 + 0.9 * std::sin(1.7 * i);
    at.rate[i] = 1.1 * std::cos(2.3 * i + 0.4);
  }
  return at;
}

TEST(ChainReference, AccelerationsAreThoseOfTheLagrangeEquations) {
  for (const double ball_mass : {1.0, 1e3}) {
    for (const int links : {1, 2, 7}) {
      SCOPED_TRACE(links);
      const ChainScene scene{.links = links, .ball_mass = ball_mass};
      ChainReference chain(scene);
      const ChainAngles at = bent(links);
      const Eigen::VectorXd expected = lagrange_acceleration(scene, at);
      // The condition number of the dense matrix is below 1e3 times the mass ratio 1e3.
      EXPECT_LE((chain.compute_acceleration(at) - expected).norm(),
                1e6 * kRounding * expected.norm());
    }
  }
}

TEST(ChainReference, ConservesEnergyToOneMillionthUnderBothBalls) {
  for (const double ball_mass : {1e3, 1e6}) {
    const ChainScene scene{.links = 10, .ball_mass = ball_mass};
    const ReferencePath reference = compute_reference(scene, 1.5);
    EXPECT_EQ(reference.path.size(), 90u);
    EXPECT_LE(reference.energy_drift, 1e-6);
    EXPECT_LE(reference.path_error, 1e-6 * scene.rope_length());
  }
}

TEST(ChainReference, RungeKuttaConvergesWithOrderFour) {
  const ChainScene scene{.links = 3, .ball_mass = 2};
  const auto end_of = [&](int steps) {
    ChainReference chain(scene);
    chain.set_state(bent(3));
    for (int k = 0; k < steps; ++k) chain.advance(0.1 / steps);
    return chain.state().theta;
  };
  // Halving divides the distance between neighbours by 2⁴; terms of order 5 are an h-th of that.
  const Eigen::VectorXd coarse = end_of(100), middle = end_of(200), fine = end_of(400);
  EXPECT_NEAR(std::log2((coarse - middle).norm() / (middle - fine).norm()), 4, 0.2);
}

TEST(ChainReference, OneRodSwingsAsACompoundPendulum) {
  const ChainScene scene{.links = 1, .link_length = 1, .ball_mass = 3, .ball_radius = 0.1};
  ChainReference chain(scene);
  const double amplitude = 1e-3, dt = 1e-4;
  chain.set_state({Eigen::VectorXd::Constant(1, -M_PI / 2 + amplitude), Eigen::VectorXd::Zero(1)});
  const double inertia = scene.body_inertia(0).y() + 0.25 * scene.link_mass + scene.ball_mass;
  const double omega = std::sqrt(kGravity * (0.5 * scene.link_mass + scene.ball_mass) / inertia);
  const int quarter = static_cast<int>(M_PI / 2 / omega / dt);
  for (int k = 0; k < quarter; ++k) chain.advance(dt);
  // The frequency falls by amplitude²/16; a quarter period is quarter · dt up to one dt.
  EXPECT_NEAR(chain.state().theta[0] + M_PI / 2, amplitude * std::cos(omega * quarter * dt),
              amplitude * amplitude * amplitude);
}

TEST(ChainMeasures, StartHasNoGapAndNoEnergy) {
  const ChainScene scene;
  EXPECT_LE(compute_gap(scene, make_start(scene)), kRounding * scene.rope_length());
  EXPECT_EQ(compute_energy(scene, make_start(scene)), 0);
}

TEST(ChainMeasures, MechanismHasNoGapInAnyState) {
  const ChainScene scene{.links = 7};
  ChainReference chain(scene);
  chain.set_state(bent(7));
  EXPECT_LE(compute_gap(scene, chain.bodies()), 10 * kRounding * scene.rope_length());
}

TEST(ChainMeasures, GapIsTheDistanceAtTheWorstJoint) {
  const ChainScene scene{.links = 3};
  for (int moved = 0; moved <= 3; ++moved) {
    std::vector<BodyState> bodies = make_start(scene);
    bodies[moved].p_WB.z() += 0.03;
    EXPECT_NEAR(compute_gap(scene, bodies), 0.03, kRounding);
  }
  std::vector<BodyState> bodies = make_start(scene);
  bodies[1].R_WB = Eigen::AngleAxisd(M_PI, Eigen::Vector3d::UnitY());
  EXPECT_NEAR(compute_gap(scene, bodies), scene.link_length, kRounding);
}

TEST(ChainMeasures, NotANumberIsNotHiddenByLaterBodies) {
  const ChainScene scene{.links = 3};
  std::vector<BodyState> bodies = make_start(scene);
  bodies[0].p_WB.setConstant(std::nan(""));
  EXPECT_TRUE(std::isnan(compute_gap(scene, bodies)));
  EXPECT_TRUE(std::isnan(compute_energy(scene, bodies)));
}

TEST(ChainMeasures, EnergyCountsSpinAboutBodyAxes) {
  const ChainScene scene{.links = 1};
  std::vector<BodyState> bodies = make_start(scene);
  // A rod that stands upright and spins about the vertical turns about its own x axis.
  bodies[0].R_WB = Eigen::AngleAxisd(M_PI / 2, Eigen::Vector3d::UnitY());
  bodies[0].w_WB = {0, 0, 4};
  EXPECT_NEAR(compute_energy(scene, bodies), scene.body_inertia(0).x() * 8, kRounding);
  bodies[0].v_WB = {0, 3, 0};
  bodies[1].p_WB.z() = -2;
  EXPECT_NEAR(compute_energy(scene, bodies),
              scene.body_inertia(0).x() * 8 + 4.5 - 2 * kGravity * scene.ball_mass,
              kRounding * 2 * kGravity * scene.ball_mass);
}

/// Replays the reference, so that the whole way of measuring has a known answer.
class ReplayWorld final : public ChainWorld {
 public:
  ReplayWorld(const ChainScene& scene, int lost_after)
      : scene_(scene), chain_(scene), lost_after_(lost_after) {}
  void step() override {
    for (int i = 0; i < 100; ++i) chain_.advance(scene_.h / 100);
    ++steps_;
  }
  void read(std::vector<BodyState>& bodies) override { bodies = chain_.bodies(); }
  bool is_lost() const override { return steps_ > lost_after_; }

 private:
  ChainScene scene_;
  ChainReference chain_;
  int lost_after_, steps_ = 0;
};

TEST(ChainRun, OfTheReferenceItselfFindsNoError) {
  const ChainScene scene{.links = 4, .ball_mass = 10, .duration = 0.5};
  const ReferencePath reference = compute_reference(scene, scene.duration);
  ReplayWorld world(scene, 1000);
  const ChainResult result = run_chain(scene, {"replay", ""}, world);
  EXPECT_TRUE(result.finite);
  EXPECT_EQ(result.path.size(), 30u);
  EXPECT_LE(result.gap_max, 10 * kRounding * scene.rope_length());
  EXPECT_LE(std::abs(result.energy_end), 1e-6 * scene.energy_scale());
  EXPECT_LE(compute_path_error(scene, result.path, reference), 1e-6);
}

TEST(ChainRun, EndsWhereTheEngineGivesUp) {
  const ChainScene scene{.links = 4, .ball_mass = 10, .duration = 0.5};
  const ReferencePath reference = compute_reference(scene, scene.duration);
  ReplayWorld world(scene, 12);
  const ChainResult result = run_chain(scene, {"replay", ""}, world);
  EXPECT_FALSE(result.finite);
  EXPECT_EQ(result.path.size(), 12u);
  EXPECT_TRUE(std::isinf(compute_path_error(scene, result.path, reference)));
}

TEST(ChainScene, BadFieldIsNamed) {
  EXPECT_NO_THROW(check_scene({}));
  try {
    check_scene({.ball_mass = -1});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("ball_mass"), std::string::npos);
  }
}

}  // namespace
}  // namespace stiction::bench
