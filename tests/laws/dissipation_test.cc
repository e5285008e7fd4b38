// What Anitescu–Potra 2002 prove of their steps: for a constant mass matrix, linear rows and no
// applied force the energy never rises, whatever the step, the stiffness and the masses (theorem
// 2.4, corollary 2.5); and as springs and dampers stiffen, the step tends to that of the system
// with rigid joints (theorem 2.6).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/fitted_slope.h"
#include "tests/sanitizers.h"

namespace stiction::testing {
namespace {

double log_uniform(Random& random, double low, double high) {
  return std::pow(10, random.uniform(low, high));
}

using Row = std::vector<double>;

struct LinearSpring {
  Row gradient;
  double offset = 0, stiffness = 0;
};

struct RandomSystem {
  Model model;
  std::vector<LinearSpring> springs;
  std::vector<Row> joint_rows;                 // constraints, then springs
  std::vector<std::vector<Row>> contact_rows;  // per contact: normal, tangents
};

/// Coordinates with masses of ratio up to 1e8, coupled in M, by linear springs, constraints and
/// contacts with friction.
class LinearSystem {
 public:
  LinearSystem(std::uint64_t seed, bool has_springs) : random_(seed) {
    n_ = 2 + static_cast<int>(random_.uniform() * 5);
    for (int i = 0; i < n_; ++i) {
      position_.push_back(random_.uniform(-1, 1));
      q_.push_back(
          builder_.add_coordinate("q" + std::to_string(i), {position_[i], random_.uniform(-1, 1)}));
    }
    add_mass();
    if (seed % 2 == 0) {
      rows_.push_back(random_row());
      builder_.add_constraint("joint", through_start(rows_.back()));
    }
    // Some have more springs and contacts than freedoms, which hold a milligram between them.
    for (int i = 0; has_springs && i < random_.integer(1, 3); ++i) add_spring();
    for (int i = 0; i < 1 + static_cast<int>(seed % 4); ++i) add_contact(i);
  }

  RandomSystem build() const { return {builder_.build_model(), springs_, rows_, contact_rows_}; }

 private:
  void add_mass() {
    std::vector<double> mass;
    for (int i = 0; i < n_; ++i) mass.push_back(log_uniform(random_, -4, 4));
    for (int i = 0; i < n_; ++i) {
      builder_.set_mass(q_[i], q_[i], mass[i]);
      // Diagonally dominant after scaling, hence positive definite.
      for (int j = 0; j < i; ++j)
        builder_.set_mass(q_[i], q_[j],
                          random_.uniform(-0.9, 0.9) / n_ * std::sqrt(mass[i] * mass[j]));
    }
  }

  Row random_row() {
    Row row;
    for (int i = 0; i < n_; ++i) row.push_back(random_.uniform(-1, 1));
    return row;
  }

  Expression times_q(const Row& row) const {
    Expression sum(0.0);
    for (int i = 0; i < n_; ++i) sum += row[i] * q_[i];
    return sum;
  }

  /// A linear function that vanishes at the start.
  Expression through_start(const Row& row) const {
    double value = 0;
    for (int i = 0; i < n_; ++i) value += row[i] * position_[i];
    return times_q(row) - value;
  }

  void add_spring() {
    LinearSpring spring{random_row(), random_.uniform(-1, 1), log_uniform(random_, 0, 12)};
    builder_.add_spring({.extension = times_q(spring.gradient) + spring.offset,
                         .stiffness = spring.stiffness,
                         .damping = random_.uniform() < 0.5 ? 0 : log_uniform(random_, 0, 12)});
    springs_.push_back(spring);
    rows_.push_back(spring.gradient);
  }

  void add_contact(int index) {
    const double gap = random_.uniform() < 0.5 ? 0 : random_.uniform();
    std::vector<Row> rows{random_row()};
    std::vector<std::vector<Expression>> tangents;
    for (int i = 0; i < 1 + index % 2; ++i) {
      rows.push_back(random_row());
      tangents.emplace_back(rows.back().begin(), rows.back().end());
    }
    builder_.add_contact(
        {.gap = through_start(rows[0]) + gap, .tangents = tangents, .mu = random_.uniform(0, 1.5)});
    contact_rows_.push_back(rows);
  }

  Random random_;
  SystemBuilder builder_;
  int n_ = 0;
  std::vector<Expression> q_;
  std::vector<double> position_;
  std::vector<LinearSpring> springs_;
  std::vector<Row> rows_;
  std::vector<std::vector<Row>> contact_rows_;
};

/// |row| · |v|
double reach(const Row& row, const VectorXd& v) {
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i)
    sum += std::abs(row[i] * v[static_cast<Eigen::Index>(i)]);
  return sum;
}

/// What rounding of impulses may do to their work: impulses that cancel each other can do a
/// multiple of the work that the energy changes by.
double work_rounding(const RandomSystem& system, const Simulation& simulation,
                     const VectorXd& v_before) {
  const VectorXd speed = v_before.cwiseAbs() + simulation.state().v.cwiseAbs();
  double sum = 0;
  for (std::size_t i = 0; i < system.joint_rows.size(); ++i)
    sum += std::abs(simulation.joint_impulses()[i]) * reach(system.joint_rows[i], speed);
  for (const ContactOutcome& contact : simulation.contacts())
    for (std::size_t i = 0; i < system.contact_rows[contact.contact].size(); ++i)
      sum += std::abs(contact.impulse[i]) * reach(system.contact_rows[contact.contact][i], speed);
  return 16 * std::numeric_limits<double>::epsilon() * sum;
}

/// What rounding of q may do to the energy of springs: the projection holds extensions to 1e-13 of
/// the terms that they are a sum of.
double spring_rounding(const RandomSystem& system, const VectorXd& q) {
  double sum = 0;
  for (const LinearSpring& spring : system.springs) {
    double extension = spring.offset, size = std::abs(spring.offset);
    for (std::size_t i = 0; i < spring.gradient.size(); ++i) {
      extension += spring.gradient[i] * q[static_cast<Eigen::Index>(i)];
      size += std::abs(spring.gradient[i] * q[static_cast<Eigen::Index>(i)]);
    }
    const double error = 1e-13 * size;
    sum += spring.stiffness * error * (std::abs(extension) + error);
  }
  return sum;
}

/// Fails where a step raises the energy beyond rounding, or is rejected.
void expect_dissipation(const std::string& scheme, std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed + 1'000'000);
  const RandomSystem system = LinearSystem(seed, scheme == "linearly-implicit-euler").build();
  const double h = log_uniform(random, -4, 1);
  Simulation simulation(system.model, {.scheme = scheme,
                                       .solver = "auto",
                                       .h = h,
                                       .penetration_tolerance = 1e-9,
                                       .project_start = true});
  constexpr double kRounding = 1e-12;  // of the energy at hand
  double before = simulation.energy().now.total();
  for (int k = 0; k < 12; ++k) {
    const VectorXd v_before = simulation.state().v;
    double rounding = spring_rounding(system, simulation.state().q);
    ASSERT_NO_THROW(simulation.step()) << "step " << k << ", h = " << h;
    rounding +=
        spring_rounding(system, simulation.state().q) + work_rounding(system, simulation, v_before);
    const double after = simulation.energy().now.total();
    EXPECT_LE(after, before * (1 + kRounding) + rounding)
        << "step " << k << ", h = " << h << ", rise " << (after - before) / before;
    before = after;
  }
}

constexpr std::uint64_t kNumSystems = testing::fewer_sanitized(1000);

TEST(Dissipation, LinearlyImplicitEulerNeverRaisesTheEnergyOf1000RandomSystems) {
  for (std::uint64_t seed = 0; seed < kNumSystems; ++seed)
    expect_dissipation("linearly-implicit-euler", seed);
}

// A stiff spring throws a contact back sooner than a step can follow, so that it is held; before
// the next collision of the same step it leaves by metres all the same.
TEST(Dissipation, HeldContactsThatLeaveAreNotPulledBack) {
  for (const std::uint64_t seed : {2527, 6567}) expect_dissipation("linearly-implicit-euler", seed);
}

// While one contact leaves, stiff springs close another one, from decimetres away, within less than
// the shortest step.
TEST(Dissipation, ContactsThatAreApartAreNotHeld) {
  for (const std::uint64_t seed : {11242, 12431, 16626, 19367, 19513})
    expect_dissipation("linearly-implicit-euler", seed);
}

// Friction sticks in one step and lets go in one that is longer by rounding, which closes a contact
// that no step meets.
TEST(Dissipation, ContactsThatNoStepMeetsAreNotStruck) {
  std::vector<std::uint64_t> seeds{8467, 12071, 12999};
  seeds.resize(testing::fewer_sanitized(3, 3));
  for (const std::uint64_t seed : seeds) expect_dissipation("linearly-implicit-euler", seed);
}

TEST(Dissipation, AnitescuPotraNeverRaisesTheEnergyOf1000SystemsWithoutSprings) {
  for (std::uint64_t seed = 0; seed < kNumSystems; ++seed)
    expect_dissipation("anitescu-potra", seed);
}

/// Two bodies on a line, pushed together and apart by gravity on a slope, the first one on the
/// floor with friction; between them a spring and a damper, or a rigid joint.
Model coupled_pair(double stiffness) {
  SystemBuilder system;
  const Expression x1 = system.add_coordinate("x1", {0, 1}), y1 = system.add_coordinate("y1", {}),
                   x2 = system.add_coordinate("x2", {2, 1}),
                   y2 = system.add_coordinate("y2", {1, 0});
  const double masses[] = {1, 1, 3, 3};
  const Expression all[] = {x1, y1, x2, y2};
  for (int i = 0; i < 4; ++i) system.set_mass(all[i], all[i], masses[i]);
  system.set_potential(9.81 * (y1 + 3.0 * y2));
  system.add_force(x2, Expression(40.0));
  const Expression extension = (x2 - x1 - 2.0) + 0.5 * (y2 - y1 - 1.0);
  if (std::isinf(stiffness))
    system.add_constraint("joint", extension);
  else
    system.add_spring({.extension = extension, .stiffness = stiffness, .damping = stiffness});
  system.add_contact({.gap = y1, .tangents = {{1.0, 0.0, 0.0, 0.0}}, .mu = 0.3});
  return system.build_model();
}

TEST(StiffLimit, StepTendsToThatOfTheRigidJointLinearly) {
  const SimulationOptions options{
      .scheme = "linearly-implicit-euler", .solver = "lemke", .h = 0.05};
  Simulation rigid(coupled_pair(std::numeric_limits<double>::infinity()), options);
  rigid.step();
  std::vector<double> compliance, difference;
  for (int k = 3; k <= 9; ++k) {
    Simulation stiff(coupled_pair(std::pow(10, k)), options);
    stiff.step();
    compliance.push_back(std::pow(10, -k));
    difference.push_back((stiff.state().v - rigid.state().v).norm());
  }
  EXPECT_NEAR(fitted_order(compliance, difference), 1.0, 0.02);
  EXPECT_LT(difference.back(), 1e-6);
}

}  // namespace
}  // namespace stiction::testing
