// SPOOK step by step: its rows against recurrences worked out by hand, its impact stage, and the
// mean rows of its position iteration. Agreement is to rounding of the numbers involved.
#include "stiction/scheme/spook.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "stiction/model/rigid_body_builder.h"
#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"
#include "stiction/solve/solvers.h"
#include "tests/dense_algebra.h"
#include "tests/fitted_slope.h"
#include "tests/model/random_joints.h"

namespace stiction::testing {
namespace {

constexpr double kRounding = 1e-12;

SimulationOptions spook(double h, const SpookOptions& options = {}) {
  return {.scheme = "spook", .h = h, .stepping = {.spook = options}};
}

// -------------------------------------------------------------------------------------------------
// Options

TEST(Spook, RefusesNumbersOutOfRangeByName) {
  const auto message = [](const SpookOptions& options) -> std::string {
    try {
      check_options({.spook = options});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({}), "");
  EXPECT_NE(message({.relaxation = 0}).find("spook.relaxation is 0"), std::string::npos);
  EXPECT_NE(message({.relaxation = NAN}).find("spook.relaxation"), std::string::npos);
  EXPECT_NE(message({.compliance = 0}).find("spook.compliance is 0"), std::string::npos);
  EXPECT_NE(message({.stiffness_return = 1}).find("spook.stiffness_return is 1"),
            std::string::npos);
  EXPECT_NE(message({.stiffness_return = -0.1}).find("spook.stiffness_return"), std::string::npos);
}

// -------------------------------------------------------------------------------------------------
// Rows of constraints, (T29)

/// Three masses with linear constraints G x = c, of which some depend on others.
struct LinearSystem {
  Eigen::Vector3d masses{1.0, 0.02, 40.0};
  Eigen::Vector3d x{0.3, -0.2, 0.1};  // off the constraints, at rest
  Eigen::MatrixXd G;
  Eigen::VectorXd c;

  Model build() const {
    SystemBuilder system;
    std::vector<Expression> coordinates;
    for (int i = 0; i < 3; ++i) {
      coordinates.push_back(system.add_coordinate("x" + std::to_string(i), {x[i], 0}));
      system.set_mass(coordinates[i], coordinates[i], masses[i]);
    }
    for (int i = 0; i < G.rows(); ++i) {
      Expression sum = -c[i];
      for (int k = 0; k < 3; ++k) sum = sum + G(i, k) * coordinates[k];
      system.add_constraint("row" + std::to_string(i), sum);
    }
    return system.build_model();
  }
};

/// `num_rows` rows of rank `rank`; the rest repeat, and combine, the first ones. Contradicting each
/// other by `contradiction`.
LinearSystem linear_system(int num_rows, int rank, double contradiction) {
  LinearSystem system;
  system.G.resize(num_rows, 3);
  system.c = Eigen::VectorXd::Zero(num_rows);
  const double rows[2][3] = {{1, -1, 0}, {0.5, 0, 2}};
  for (int i = 0; i < num_rows; ++i) {
    if (i < rank)
      system.G.row(i) << rows[i][0], rows[i][1], rows[i][2];
    else if (i == rank)
      system.G.row(i) = system.G.row(0);
    else
      system.G.row(i) = 3 * system.G.row(0) - 2 * system.G.row(rank - 1);
    if (i >= rank) system.c[i] = contradiction;
  }
  return system;
}

TEST(Spook, FollowsItsRecurrenceForEveryComplianceRelaxationAndRank) {
  constexpr double h = 0.01;
  constexpr int kNumSteps = 300;
  struct Rank {
    int num_rows, rank;
  };
  for (const Rank& rank : {Rank{1, 1}, Rank{2, 2}, Rank{2, 1}, Rank{3, 2}, Rank{4, 2}, Rank{4, 1}})
    for (const double compliance : {1e-10, 1e-6, 1e-2, 1.0, 100.0})
      for (const double relaxation : {0.01, 0.5, 2.0, 10.0, 1000.0}) {
        SCOPED_TRACE("rows " + std::to_string(rank.num_rows) + " of rank " +
                     std::to_string(rank.rank) + ", compliance " + std::to_string(compliance) +
                     ", relaxation " + std::to_string(relaxation));
        // Rows that contradict each other by c have impulses of c/C: with the smallest compliance
        // their rounding would be all that one sees.
        const LinearSystem system =
            linear_system(rank.num_rows, rank.rank, compliance < 1e-3 ? 0 : 0.1);
        SimulationOptions options = spook(h, {.relaxation = relaxation, .compliance = compliance});
        options.penetration_tolerance = 10;  // the start is off on purpose
        // Rows that yield this much are said to contradict each other, and some do.
        options.on_failure = OnFailure::kAcceptAndFlag;
        Simulation simulation(system.build(), options);

        const Eigen::MatrixXd inverse_mass = system.masses.cwiseInverse().asDiagonal();
        const Eigen::MatrixXd A_0 =
            multiply(multiply(system.G, inverse_mass), system.G.transpose());
        Eigen::MatrixXd A_eps = A_0;
        A_eps.diagonal() += compliance * A_0.diagonal();
        const Modes modes = find_modes(A_0, A_eps);
        const Eigen::MatrixXd& Y = modes.vectors;  // yᵀA_ε y = 1
        const double phi = 1 / (1 + 4 * relaxation);

        const auto amplitudes = [&] {
          return multiply(Y.transpose(), multiply(system.G, simulation.state().q) - system.c)
              .col(0)
              .eval();
        };
        Eigen::VectorXd last = amplitudes();
        const double start = last.norm();
        simulation.step();
        Eigen::VectorXd now = amplitudes();
        // Impulses up to 1/C times the numbers cancel where rows depend on each other.
        const double tolerance = std::max(kRounding, 1e-15 / compliance) * start;
        double early = start, late = 0;
        for (int n = 1; n < kNumSteps; ++n) {
          simulation.step();
          const Eigen::VectorXd next = amplitudes();
          for (int i = 0; i < rank.num_rows; ++i) {
            const double a = modes.values[i];
            const double trace = 2 - a * (1 + 3 * phi), determinant = 1 - a * (1 - phi);
            ASSERT_NEAR(next[i], trace * now[i] - determinant * last[i], tolerance)
                << "step " << n << ", mode " << i << ", a = " << a;
          }
          double& largest = n < kNumSteps / 2 ? early : late;
          largest = std::max(largest, next.norm());
          last = now;
          now = next;
        }
        // Bounded: a nearly double root grows for a while (about 1/(1 − √φ) ≤ 50 steps) and then
        // decays. Sampled, the crests of an oscillation differ a little.
        EXPECT_LE(late, 1.05 * early);
      }
}

TEST(Spook, ConstraintErrorsShrinkToAThirdPerStepAtTheDefaultRelaxation) {
  // Stiff limit, τ = 2h: trace 2/3 and determinant 1/9, a double root 1/3: x_n = (a + b n)/3ⁿ. The
  // compliance 1e-14 splits the root by its square root, 1e-7, which is what n steps see n times.
  constexpr double h = 0.01, x_0 = 0.5;
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {x_0, 0});
  system.set_mass(x, x, 7.0);
  system.add_constraint("at zero", x);
  SimulationOptions options = spook(h, {.compliance = 1e-14});
  options.penetration_tolerance = 1;
  Simulation simulation(system.build_model(), options);
  // One step from rest: h v⁺ = −4φ x, φ = 1/9.
  const double b = 3 * (x_0 - 4 * x_0 / 9) - x_0;
  for (int n = 1; n <= 20; ++n) {
    simulation.step();
    const double scaled = simulation.state().q[0] * std::pow(3, n);
    ASSERT_NEAR(scaled, x_0 + b * n, 1e-6 * n * n) << "step " << n;
  }
}

TEST(Spook, RowsOfDifferentComplianceAndDampingOnOneFreedomAddUp) {
  // λ_i = (−4φ_i x/h + φ_i v − v⁺)/C_i, C_i = 4ε_iφ_i/h², φ_i = 1/(1 + 4τ_i/h), with the sum of all
  // on one mass.
  constexpr double h = 0.02, m = 3;
  for (const double eps_1 : {1e-9, 1e-4, 1.0})
    for (const double tau_1 : {0.0, 0.03, 1.0})
      for (const double eps_2 : {1e-6, 1e-2})
        for (const double tau_2 : {0.0, 0.5}) {
          SCOPED_TRACE(std::to_string(eps_1) + " " + std::to_string(tau_1) + " " +
                       std::to_string(eps_2) + " " + std::to_string(tau_2));
          RigidBodyBuilder world;
          const BodyId body =
              world.add_body({.name = "mass",
                              .velocity = {2, -1, 0.5},
                              .mass = m,
                              .inertia = Eigen::Matrix3d::Identity(),
                              .free_axes = {true, true, true, false, false, false}});
          world.add_joint({.name = "first",
                           .type = JointType::kBall,
                           .bodies = {kWorld, body},
                           .compliance = eps_1,
                           .damping_time = tau_1});
          world.add_joint({.name = "second",
                           .type = JointType::kBall,
                           .bodies = {kWorld, body},
                           .compliance = eps_2,
                           .damping_time = tau_2});
          Simulation simulation(world.build_model(), spook(h));
          Vector3d x = Vector3d::Zero(), v(2, -1, 0.5);
          const double phi_1 = 1 / (1 + 4 * tau_1 / h), phi_2 = 1 / (1 + 4 * tau_2 / h);
          const double k_1 = h * h / (4 * eps_1 * phi_1), k_2 = h * h / (4 * eps_2 * phi_2);
          for (int n = 0; n < 200; ++n) {
            simulation.step();
            v = (m * v + (k_1 * phi_1 + k_2 * phi_2) * (v - 4 * x / h)) / (m + k_1 + k_2);
            x += h * v;
            // Undamped and stiff the recurrence has nearly a double root −1, where rounding adds
            // up.
            ASSERT_LE((simulation.state().q.head<3>() - x).norm(), 1e-11) << "step " << n;
          }
        }
}

TEST(Spook, DampersWithoutSpringAreImplicit) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 1});
  system.set_mass(x, x, 2.0);
  system.add_spring({.name = "damper", .extension = x, .damping = 30});
  Simulation simulation(system.build_model(), spook(0.1));
  for (int n = 1; n <= 20; ++n) {
    simulation.step();
    ASSERT_NEAR(simulation.state().v[0], std::pow(1 / (1 + 0.1 * 30 / 2), n), kRounding);
  }
}

TEST(Spook, TakesBackThePenetrationOfAContactLikeTheErrorOfAJoint) {
  // u_N = w + Cν + (4φ/h)Φ − φ v = 0 at a contact that presses: the recurrence of a joint, 1/3 per
  // step, with gravity as load. What is left is C·(m g h): 1e-10 of the way of a step.
  constexpr double h = 0.01, g = 9.81;
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {-1e-3, 0});
  system.set_mass(y, y, 2.0);
  system.set_potential(2 * g * y);
  system.add_contact({.name = "floor", .gap = y});
  SimulationOptions options = spook(h);
  options.penetration_tolerance = 1e-2;
  Simulation simulation(system.build_model(), options);
  double x = -1e-3, v = 0;
  for (int n = 0; n < 60; ++n) {
    simulation.step();
    v = x <= 1e-9 ? std::max(v - g * h, (v - 4 * x / h) / 9) : v - g * h;
    x += h * v;
    ASSERT_NEAR(simulation.state().q[0], x, 1e-12) << "step " << n;
  }
  EXPECT_NEAR(x, 0, 1e-9);
}

// -------------------------------------------------------------------------------------------------
// The impact stage

/// A body in the plane of its coordinates with `num_contacts` planes through it; some leave
/// already.
Model struck_body(Random& random, int num_contacts, bool has_friction) {
  SystemBuilder system;
  std::vector<Expression> q;
  for (const char* name : {"x", "y", "z"}) {
    q.push_back(system.add_coordinate(name, {0, random.normal()}));
    system.set_mass(q.back(), q.back(), std::exp(random.normal()));
  }
  const double common = random.uniform(0, 1);
  for (int j = 0; j < num_contacts; ++j) {
    ExpressionContact contact;
    contact.gap = random.normal() * q[0] + random.normal() * q[1] + random.normal() * q[2];
    contact.restitution = has_friction ? common : random.uniform(0, 1);
    if (has_friction) {
      contact.tangents = {{random.normal(), random.normal(), random.normal()}};
      contact.mu = random.uniform(0, 1);
      contact.restitution_tangential = common;
    }
    system.add_contact(contact);
  }
  return system.build_model();
}

TEST(Spook, ImpactStageNeverRaisesTheKineticEnergy) {
  // Lacoursière–Linde, (72): without friction any restitution, with friction if normal and
  // tangential restitution of all contacts are the same. Contacts that touch and part already are
  // among them. Rounding: 1e-12 of the energy.
  int num_impacts = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Simulation simulation(struck_body(random, 1 + static_cast<int>(seed % 4), seed % 2 == 1),
                          spook(0.01));
    const double before = simulation.energy().now.kinetic;
    try {
      simulation.step(0);
    } catch (const StepRejected&) {
      continue;  // wedged: no velocity fits
    }
    num_impacts += simulation.events().empty() ? 0 : 1;
    ASSERT_LE(simulation.energy().now.kinetic, before * (1 + 1e-9));
    for (const StepEvent& event : simulation.events())
      ASSERT_LE(event.energy_change, 1e-9 * before);
  }
  EXPECT_GT(num_impacts, 1000);
}

// -------------------------------------------------------------------------------------------------
// Geometric stiffness, (T28)

TEST(Spook, PullsOfJointsAndContactsTurnABodyBack) {
  // A rod that hangs by a bead on a plane above its centre of mass, and carries something below.
  RigidBodyBuilder world;
  const BodyId rod = world.add_body(
      {.name = "rod", .position = {0, 0, -0.4}, .mass = 1, .inertia = Eigen::Matrix3d::Identity()});
  world.add_joint(
      {.name = "below", .type = JointType::kBall, .bodies = {kWorld, rod}, .bodies_touch = true},
      {.at = {0, 0, -0.7}});
  world.add_shape({.body = rod, .shape = Sphere{0.1}, .frame = {.position = {0, 0, 0.5}}});
  world.add_shape({.body = kWorld, .shape = Plane{}});
  ContactModel model(world.build_model());
  model.detect(model.initial_state(), 1e-3);
  ASSERT_EQ(model.num_contacts(), 1);
  const auto stiffness_of = [&](double along_z, double normal) {
    Eigen::Matrix<double, 6, 6, Eigen::RowMajor> stiffness;
    stiffness.setZero();
    const double joint[] = {0, 0, along_z}, contact[] = {normal, 0, 0};
    const Eigen::Matrix<double, 6, 1> v = Eigen::Matrix<double, 6, 1>::LinSpaced(1, 6);
    Eigen::Matrix<double, 6, 1> momentum = Eigen::Matrix<double, 6, 1>::Zero();
    double trace = 0;
    model.add_geometric_stiffness(0, model.initial_state().q, joint, contact,
                                  {.inertia = 1,
                                   .momentum = 0.5,
                                   .masses = stiffness.data(),
                                   .v = v.data(),
                                   .momenta = momentum.data(),
                                   .traces = &trace});
    EXPECT_LE((momentum - 0.5 * stiffness * v).norm(), kRounding);
    EXPECT_NEAR(trace, stiffness.trace(), kRounding);  // of a body with unit inertia
    EXPECT_EQ(stiffness.topRows<3>().norm() + stiffness.leftCols<3>().norm(), 0);
    return Eigen::Matrix3d(stiffness.bottomRightCorner<3, 3>());
  };
  const Eigen::Matrix3d across = Vector3d(1, 1, 0).asDiagonal();
  // Arms 0.3 m down and 0.4 m up; a joint that pushes up gives nothing.
  EXPECT_LE((stiffness_of(-20, 0) - 20 * 0.3 * across).norm(), kRounding);
  EXPECT_LE((stiffness_of(0, 10) - 10 * 0.4 * across).norm(), kRounding);
  EXPECT_LE((stiffness_of(-20, 10) - (6 + 4) * across).norm(), kRounding);
  EXPECT_EQ(stiffness_of(20, 0).norm(), 0);
}

TEST(Spook, TautLinesAreStiffAcrossBeyondHalfAMass) {
  // T/d − m/(2h²) along two directions across the line; nothing if it pushes or pulls little.
  constexpr double h = 0.02, mass = 3, length = 0.5;
  RigidBodyBuilder world;
  const BodyId bead = world.add_body({.name = "bead",
                                      .position = {0, 0, -length},
                                      .mass = mass,
                                      .inertia = Eigen::Matrix3d::Identity()});
  world.add_distance({.name = "line", .bodies = {kWorld, bead}}, {{0, 0, 0}, {0, 0, -length}});
  const Model model = world.build_model();
  const auto rows_of = [&](double force) {
    TurningRows rows;
    rows.h = h;
    const double forces[] = {force};
    model.append_turning_rows(0, model.initial_state().q, forces, rows);
    EXPECT_EQ(rows.held, std::vector<double>{0});
    return rows;
  };
  const double tension = 1e5;
  const TurningRows rows = rows_of(-tension);
  ASSERT_EQ(rows.stiff.size(), 2);
  Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(rows.stiff[i], tension / length - mass / (2 * h * h), 1e-9 * tension);
    const Eigen::Matrix<double, 6, 1> row = rows.across.rows.entry_matrix(i, i).transpose();
    EXPECT_EQ(row.tail<3>().norm(), 0);  // held by its centre
    sum += row.head<3>() * row.head<3>().transpose();
  }
  EXPECT_LE((sum - Eigen::Matrix3d(Vector3d(1, 1, 0).asDiagonal())).norm(), kRounding);
  EXPECT_TRUE(rows_of(tension).stiff.empty());
  EXPECT_TRUE(rows_of(-0.99 * length * mass / (2 * h * h)).stiff.empty());
}

TEST(Spook, YieldingTurnsHoldAgainstTorquesAcrossThem) {
  // |τ_⊥| − 2I/h², I the smallest inertia: about x nothing if τ is along x. (h²τ/I)^⅓ < 18.
  constexpr double h = 0.02, smallest = 0.01, torque = 500;
  RigidBodyBuilder world;
  const BodyId body = world.add_body(
      {.name = "body", .mass = 1, .inertia = Vector3d(0.012, smallest, 0.015).asDiagonal()});
  world.add_bushing(
      {.name = "bushing", .bodies = {kWorld, body}, .stiffness = {1e6}, .damping = {0.0}}, {});
  world.add_joint({.name = "weld", .type = JointType::kFixed, .bodies = {kWorld, body}});
  const Model model = world.build_model();
  TurningRows rows;
  rows.h = h;
  // Six rows of the weld, which does not yield, then along and about the axes of the bushing.
  std::vector<double> forces{0, 0, 0, 7, 8, 9, 1e4, 2e4, 3e4, torque, 0, 0};
  model.append_turning_rows(0, model.initial_state().q, forces, rows);
  ASSERT_EQ(rows.held.size(), forces.size());
  EXPECT_TRUE(rows.stiff.empty());
  const double expected = torque - 2 * smallest / (h * h);
  const std::vector<double> held{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, expected, expected};
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_NEAR(rows.held[i], held[i], 1e-9) << i;
  forces[9] = 0.99 * 2 * smallest / (h * h);
  rows.clear();
  model.append_turning_rows(0, model.initial_state().q, forces, rows);
  for (const double x : rows.held) EXPECT_EQ(x, 0);
}

// -------------------------------------------------------------------------------------------------
// The position iteration, (T31)

std::vector<NamedJointType> holonomic_types() {
  std::vector<NamedJointType> types;
  for (const NamedJointType& named : kJointTypes)
    if (num_constraints(named.type) > 0) types.push_back(named);
  return types;
}

class MeanRows : public ::testing::TestWithParam<NamedJointType> {};
INSTANTIATE_TEST_SUITE_P(Joints, MeanRows, ::testing::ValuesIn(holonomic_types()), type_name);

TEST_P(MeanRows, TimesTheMeanVelocityAreTheChangeOfTheConstraints) {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE("sample " + std::to_string(i));
    const JointGeometry joint = random_joint(GetParam().type, random);
    const JointedPair pair = random_pair(joint, i, random);
    RigidBodyBuilder world;
    for (const Pose& pose : {pair.a, pair.b})
      world.add_body({.name = "",
                      .position = pose.position,
                      .orientation = Eigen::Quaterniond(pose.rotation),
                      .mass = 1,
                      .inertia = Eigen::Matrix3d::Identity()});
    world.add_joint({.name = "joint",
                     .type = joint.type,
                     .bodies = {0, 1},
                     .frames = {joint.frame_a, joint.frame_b},
                     .length = joint.length,
                     .pitch = joint.pitch,
                     .radius = joint.radius});
    const auto system = world.build();
    const double h = random.uniform(0.01, 0.2);
    VectorXd v(12);
    for (double& component : v) component = random.normal();
    // Bodies that only move along, too; of a length the row is exact only if one of them turns.
    if (i % 4 == 2) v.segment<3>(3).setZero();
    if (i % 8 >= 6) v.segment<3>(9).setZero();
    const VectorXd start = system->initial_q();
    VectorXd mid(start.size()), end(start.size());
    system->displace(start, v, h / 2, mid, nullptr);
    system->displace(start, v, h, end, nullptr);
    VectorXd before(system->num_constraints()), after(before);
    system->evaluate_constraints(0, start, before);
    system->evaluate_constraints(h, end, after);
    RowSet rows;
    system->append_mean_constraint_rows(h / 2, h, mid, v, after - before, 0, rows);
    const int starts[] = {0, 6};
    for (int row = 0; row < system->num_constraints(); ++row) {
      const double rate = rows.rows.times(row, 0, starts, v.data()) + rows.drift[row];
      ASSERT_NEAR(h * rate, after[row] - before[row], 1e-13) << "row " << row;
    }
  }
}

/// Keeps the velocities of the last problem that was a step, not an impact or a projection.
class SpySolver final : public Solver {
 public:
  std::string_view name() const override { return "spy"; }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override {
    const SolverReport report = solver_->solve(problem, solution);
    if (problem.h > 0) velocity = solution.w_vector();
    return report;
  }
  VectorXd velocity;

 private:
  std::unique_ptr<Solver> solver_ = make_solver("auto", 1e-12);
};

/// Two bars on hinges whose axes are not parallel, released horizontally.
Model double_pendulum() {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -9.81});
  const Eigen::Matrix3d inertia = Vector3d(0.01, 0.09, 0.085).asDiagonal();
  const BodyId upper =
      world.add_body({.name = "upper", .position = {0.5, 0, 0}, .mass = 1, .inertia = inertia});
  const BodyId lower =
      world.add_body({.name = "lower", .position = {1.5, 0, 0}, .mass = 2, .inertia = inertia});
  world.add_joint({.name = "shoulder", .type = JointType::kHinge, .bodies = {kWorld, upper}},
                  {.at = {0, 0, 0}, .axis = {0, 1, 0}});
  world.add_joint({.name = "elbow", .type = JointType::kHinge, .bodies = {upper, lower}},
                  {.at = {1, 0, 0}, .axis = {0.3, 1, 0}});
  return world.build_model();
}

TEST(SpookMidpoint, StepConservesEnergyAndItsProjectionOnlyTakesSome) {
  const Model model = double_pendulum();
  const SchemeOptions options{.stepping = {.spook = {.position_iteration = true}}};
  const auto scheme = make_scheme("spook", options);
  SpySolver solver;
  SolveStage stage(solver, 1e-9);
  ModelEvaluator evaluator;
  State state = model.initial_state();
  StepResult result;
  double kinetic_max = 0;
  constexpr double kScale = 2 * 9.81 * 1.5 + 9.81 * 0.5;  // [J] what gravity can give
  for (int n = 0; n < 1000; ++n) {
    stage.begin_step();
    const double before = evaluator.compute_energy(model, state).total();
    scheme->step(model, state, result.memory, 0.005, stage, result);
    ASSERT_EQ(result.failure, "");
    ASSERT_EQ(result.substeps, 1);
    const double middle =
        evaluator.compute_energy(model, {result.end.t, result.end.q, solver.velocity}).total();
    state = result.end;
    const double after = evaluator.compute_energy(model, state).total();
    // The iteration ends where q moves by less than 1e-11 of itself; ten digits of a step.
    ASSERT_NEAR(middle, before, 1e-10 * kScale) << "step " << n;
    ASSERT_LE(after, middle + 1e-13 * kScale) << "step " << n;
    kinetic_max = std::max(kinetic_max, evaluator.compute_energy(model, state).kinetic);
  }
  EXPECT_GT(kinetic_max, 0.5 * kScale);  // it did fall
}

TEST(SpookMidpoint, ProjectionOfVelocitiesCostsEnergyOfThirdOrder) {
  // It takes what the joints at the end of the step see of v⁺, O(h²), hence O(h⁴) of the energy per
  // step.
  std::vector<double> steps, losses;
  for (const double h : {8e-3, 4e-3, 2e-3, 1e-3}) {
    Simulation simulation(double_pendulum(), spook(h, {.position_iteration = true}));
    const double start = simulation.energy().now.total();
    simulation.run(0.8);
    steps.push_back(h);
    losses.push_back(start - simulation.energy().now.total());
    EXPECT_GT(losses.back(), 0);
    EXPECT_LE(simulation.summary().joint_error_max, 1e-10);
  }
  EXPECT_NEAR(fitted_order(steps, losses), 3, 0.3);
}

}  // namespace
}  // namespace stiction::testing
