#include "stiction/model/expression_system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>

#include "stiction/base/random.h"
#include "stiction/model/expression_parser.h"
#include "stiction/model/system_builder.h"

namespace stiction {
namespace {

/// Both sides are sums of a few products: they agree to a few roundings of their largest term.
constexpr double kRounding = 1e-13;

VectorXd random_vector(Random& random, int size, double low, double high) {
  VectorXd vector(size);
  for (double& entry : vector) entry = random.uniform(low, high);
  return vector;
}

VectorXd force_of(const GeneralizedSystem& system, double t, const VectorXd& q, const VectorXd& v) {
  VectorXd force(system.num_coordinates());
  system.evaluate_force(t, q, v, force);
  return force;
}

RowMatrixXd mass_of(const GeneralizedSystem& system, double t, const VectorXd& q) {
  RowMatrixXd mass(system.num_coordinates(), system.num_coordinates());
  system.evaluate_mass(t, q, mass);
  return mass;
}

struct Jacobians {
  RowMatrixXd k_q, k_v;
};

Jacobians exact_jacobians(const GeneralizedSystem& system, double t, const VectorXd& q,
                          const VectorXd& v) {
  const int n = system.num_coordinates();
  Jacobians jacobians{RowMatrixXd(n, n), RowMatrixXd(n, n)};
  system.evaluate_force_jacobians(t, q, v, jacobians.k_q, jacobians.k_v);
  return jacobians;
}

/// Against the central differences of the base class, good to about ten digits.
void expect_exact_jacobians(const GeneralizedSystem& system, double t, const VectorXd& q,
                            const VectorXd& v) {
  const Jacobians exact = exact_jacobians(system, t, q, v);
  Jacobians differences = exact;
  system.GeneralizedSystem::evaluate_force_jacobians(t, q, v, differences.k_q, differences.k_v);
  const double scale = 1 + exact.k_q.cwiseAbs().maxCoeff() + exact.k_v.cwiseAbs().maxCoeff();
  EXPECT_LE((exact.k_q - differences.k_q).cwiseAbs().maxCoeff(), 1e-8 * scale);
  EXPECT_LE((exact.k_v - differences.k_v).cwiseAbs().maxCoeff(), 1e-8 * scale);
}

/// d/dt (T + V) = vᵀ f along the motion M v̇ = k, for M and V that do not depend on t: the velocity
/// terms of M do no work. Ṁ and V̇ by central differences along v, so to about 1e-9.
void expect_power_identity(const GeneralizedSystem& system, const VectorXd& q, const VectorXd& v) {
  constexpr double kStep = 1e-5;
  const VectorXd ahead = q + kStep * v, behind = q - kStep * v;
  const RowMatrixXd mass_rate =
      (mass_of(system, 0, ahead) - mass_of(system, 0, behind)) / (2 * kStep);
  const double potential_rate =
      (system.evaluate_potential(0, ahead) - system.evaluate_potential(0, behind)) / (2 * kStep);
  VectorXd applied(q.size());
  system.evaluate_applied_force(0, q, v, applied);
  const double kinetic_rate = 0.5 * v.dot(mass_rate * v) + v.dot(force_of(system, 0, q, v));
  EXPECT_NEAR(kinetic_rate + potential_rate, v.dot(applied), 1e-7 * (1 + v.squaredNorm()));
}

constexpr double kM1 = 1.3, kM2 = 0.7, kL1 = 0.9, kL2 = 1.1, kG = 9.81;

/// Angles from the vertical.
BuiltSystem make_double_pendulum(double damping = 0) {
  SystemBuilder system;
  const Expression a = system.add_coordinate("a"), b = system.add_coordinate("b");
  system.set_mass(a, a, (kM1 + kM2) * kL1 * kL1);
  system.set_mass(a, b, kM2 * kL1 * kL2 * cos(a - b));
  system.set_mass(b, b, kM2 * kL2 * kL2);
  system.set_potential(-(kM1 + kM2) * kG * kL1 * cos(a) - kM2 * kG * kL2 * cos(b));
  system.add_force(a, -damping * system.velocity(a));
  return system.build();
}

TEST(ExpressionSystem, DoublePendulumHasItsKnownEquations) {
  const BuiltSystem built = make_double_pendulum();
  const double c = kM2 * kL1 * kL2;
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const VectorXd q = random_vector(random, 2, -3, 3), v = random_vector(random, 2, -5, 5);
    const double S = std::sin(q[0] - q[1]), C = std::cos(q[0] - q[1]);
    const VectorXd force = force_of(*built.system, 0, q, v);
    const double weight_a = (kM1 + kM2) * kG * kL1, weight_b = kM2 * kG * kL2;
    EXPECT_NEAR(force[0], -c * S * v[1] * v[1] - weight_a * std::sin(q[0]), 100 * kRounding);
    EXPECT_NEAR(force[1], c * S * v[0] * v[0] - weight_b * std::sin(q[1]), 100 * kRounding);

    const Jacobians exact = exact_jacobians(*built.system, 0, q, v);
    Eigen::Matrix2d k_q, k_v;
    k_q << -c * C * v[1] * v[1] - weight_a * std::cos(q[0]), c * C * v[1] * v[1],
        c * C * v[0] * v[0], -c * C * v[0] * v[0] - weight_b * std::cos(q[1]);
    k_v << 0, -2 * c * S * v[1], 2 * c * S * v[0], 0;
    EXPECT_LE((exact.k_q - k_q).cwiseAbs().maxCoeff(), 100 * kRounding);
    EXPECT_LE((exact.k_v - k_v).cwiseAbs().maxCoeff(), 100 * kRounding);
    expect_exact_jacobians(*built.system, 0, q, v);
    EXPECT_EQ(mass_of(*built.system, 0, q)(0, 1), mass_of(*built.system, 0, q)(1, 0));
  }
}

/// Angle from the vertical and angle around it.
BuiltSystem make_spherical_pendulum(double mass, double length) {
  SystemBuilder system;
  const Expression polar = system.add_coordinate("polar"), around = system.add_coordinate("around");
  const double inertia = mass * length * length;
  system.set_mass(polar, polar, inertia);
  system.set_mass(around, around, inertia * pow(sin(polar), 2));
  system.set_potential(-mass * kG * length * cos(polar));
  return system.build();
}

TEST(ExpressionSystem, SphericalPendulumHasItsKnownEquations) {
  const double m = 0.8, l = 1.2, J = m * l * l;
  const BuiltSystem built = make_spherical_pendulum(m, l);
  Random random(4);
  for (int i = 0; i < 50; ++i) {
    const VectorXd q = random_vector(random, 2, 0.3, 2.8), v = random_vector(random, 2, -5, 5);
    const double S = std::sin(q[0]), C = std::cos(q[0]);
    const VectorXd force = force_of(*built.system, 0, q, v);
    EXPECT_NEAR(force[0], J * S * C * v[1] * v[1] - m * kG * l * S, 100 * kRounding);
    EXPECT_NEAR(force[1], -2 * J * S * C * v[0] * v[1], 100 * kRounding);

    const Jacobians exact = exact_jacobians(*built.system, 0, q, v);
    const double cos_2 = C * C - S * S;
    Eigen::Matrix2d k_q, k_v;
    k_q << J * cos_2 * v[1] * v[1] - m * kG * l * C, 0, -2 * J * cos_2 * v[0] * v[1], 0;
    k_v << 0, 2 * J * S * C * v[1], -2 * J * S * C * v[1], -2 * J * S * C * v[0];
    EXPECT_LE((exact.k_q - k_q).cwiseAbs().maxCoeff(), 200 * kRounding);
    EXPECT_LE((exact.k_v - k_v).cwiseAbs().maxCoeff(), 200 * kRounding);
    expect_exact_jacobians(*built.system, 0, q, v);
  }
}

TEST(ExpressionSystem, VelocityTermsDoNoWork) {
  SystemBuilder builder;
  const Expression x = builder.add_coordinate("x"), y = builder.add_coordinate("y"),
                   z = builder.add_coordinate("z");
  builder.set_mass(x, x, 3 + sin(x * y));
  builder.set_mass(y, y, 4 + z * z);
  builder.set_mass(z, z, 2 + exp(-x * x));
  builder.set_mass(x, y, 0.5 * cos(z));
  builder.set_mass(y, z, 0.3 * x * y);
  builder.set_mass(x, z, 0.1 * atan(y));
  builder.set_potential(x * x * y + cosh(z));
  builder.add_force(x, -0.4 * builder.velocity(x) + sin(y));
  builder.add_force(z, -builder.velocity(z) * abs(builder.velocity(z)));
  const BuiltSystem coupled = builder.build(), damped = make_double_pendulum(0.3);
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    const VectorXd q = random_vector(random, 3, -1, 1), v = random_vector(random, 3, -2, 2);
    expect_power_identity(*coupled.system, q, v);
    expect_exact_jacobians(*coupled.system, 0, q, v);
    expect_power_identity(*damped.system, q.head(2), v.head(2));
  }
}

TEST(ExpressionSystem, TimeEntersMassGapsConstraintsAndSprings) {
  SystemBuilder builder;
  const Expression x = builder.add_coordinate("x"), y = builder.add_coordinate("y");
  const Expression t = builder.time();
  builder.set_mass(x, x, 2 + sin(t));
  builder.set_mass(y, y, 1 + t * t * x * x);
  builder.add_constraint("rod", x * x + y * y - t);
  builder.add_spring({.extension = x - 0.2 * cos(t), .stiffness = 100, .damping = 1});
  builder.add_contact({.name = "table",
                       .gap = y - 0.1 * sin(3 * t),
                       .tangents = {{1, 0}},
                       .surface_speeds = {2 * t},
                       .mu = 0.4});
  const BuiltSystem built = builder.build();
  const GeneralizedSystem& system = *built.system;
  const double t0 = 0.6;
  const VectorXd q = Eigen::Vector2d(0.5, -0.3), v = Eigen::Vector2d(1.5, 2.5);

  // p = (m_x v_x, m_y v_y): k = ∂T/∂q − dp/dt at v̇ = 0.
  const VectorXd force = force_of(system, t0, q, v);
  const double m_y_x = 2 * t0 * t0 * q[0], m_y_t = 2 * t0 * q[0] * q[0];
  EXPECT_NEAR(force[0], 0.5 * m_y_x * v[1] * v[1] - std::cos(t0) * v[0], 10 * kRounding);
  EXPECT_NEAR(force[1], -(m_y_x * v[0] + m_y_t) * v[1], 10 * kRounding);
  expect_exact_jacobians(system, t0, q, v);

  RowMatrixXd rows(1, 2);
  VectorXd drift(1), value(1);
  system.evaluate_constraint_rows(t0, q, rows, drift);
  EXPECT_EQ(rows, RowMatrixXd(2 * q.transpose()));
  EXPECT_EQ(drift[0], -1);
  system.evaluate_constraints(t0, q, value);
  EXPECT_NEAR(value[0], q.squaredNorm() - t0, kRounding);
  system.evaluate_spring_rows(t0, q, rows, drift);
  EXPECT_EQ(rows, (RowMatrixXd(1, 2) << 1, 0).finished());
  EXPECT_NEAR(drift[0], 0.2 * std::sin(t0), kRounding);
  system.evaluate_springs(t0, q, value);
  EXPECT_NEAR(value[0], q[0] - 0.2 * std::cos(t0), kRounding);
  system.evaluate_gaps(t0, q, value);
  EXPECT_NEAR(value[0], q[1] - 0.1 * std::sin(3 * t0), kRounding);

  RowMatrixXd contact_rows(2, 2);
  VectorXd contact_drift(2);
  system.evaluate_contact_rows(t0, q, 0, contact_rows, contact_drift);
  EXPECT_EQ(contact_rows, (RowMatrixXd(2, 2) << 0, 1, 1, 0).finished());
  EXPECT_NEAR(contact_drift[0], -0.3 * std::cos(3 * t0), kRounding);
  EXPECT_EQ(contact_drift[1], -2 * t0);
}

/// The woodpecker toy of Glocker & Studer 2005, Table I and equations (14)–(16), as formulas in
/// text.
class Woodpecker : public ::testing::Test {
 protected:
  Woodpecker() : system_(describe()) {}

  ExpressionSystemDescription describe() {
    ExpressionSystemDescription d;
    d.pool = std::make_shared<ExpressionPool>();
    d.coordinates = {"y", "phi_M", "phi_S"};
    SymbolTable symbols = make_symbol_table(d.pool, d.coordinates);
    for (const auto& [name, value] : parameters_) symbols.add(name, value);
    const auto parse = [&](const std::string& text) {
      return parse_expression(text, symbols, d.pool).expression.value();
    };
    const auto parse_row = [&](const std::vector<std::string>& texts) {
      std::vector<Expression> row;
      for (const std::string& text : texts) row.push_back(parse(text));
      return row;
    };
    d.mass = {parse_row({"m_S+m_M", "m_S*l_M", "m_S*l_G"}),
              parse_row({"m_S*l_M", "J_M+m_S*l_M^2", "m_S*l_M*l_G"}),
              parse_row({"m_S*l_G", "m_S*l_G*l_M", "J_S+m_S*l_G^2"})};
    d.potential = parse("(m_S+m_M)*g*y + m_S*g*(l_M*phi_M + l_G*phi_S) + c/2*(phi_M-phi_S)^2");
    d.contacts = {{.name = "beak",
                   .gap = parse("(l_M+l_G-l_S-r_O) - h_S*phi_S"),
                   .tangents = {parse_row({"1", "l_M", "l_G-l_S"})},
                   .surface_speeds = {},
                   .mu = 0.3,
                   .restitution = 0.5},
                  {.name = "lower",
                   .gap = parse("(r_M-r_O) + h_M*phi_M"),
                   .tangents = {parse_row({"1", "r_M", "0"})},
                   .surface_speeds = {},
                   .mu = 0.3},
                  {.name = "upper",
                   .gap = parse("(r_M-r_O) - h_M*phi_M"),
                   .tangents = {parse_row({"1", "r_M", "0"})},
                   .surface_speeds = {},
                   .mu = 0.3}};
    EXPECT_FALSE(find_asymmetric_mass(d));
    return d;
  }

  double at(const char* name) const { return parameters_.at(name); }

  const std::map<std::string, double> parameters_{
      {"r_O", 0.0025}, {"r_M", 0.0031}, {"h_M", 0.0058}, {"l_M", 0.010},  {"l_G", 0.015},
      {"h_S", 0.02},   {"l_S", 0.0201}, {"m_M", 0.0003}, {"m_S", 0.0045}, {"J_M", 5e-9},
      {"J_S", 7e-7},   {"c", 0.0056},   {"g", 9.81}};
  ExpressionSystem system_;
  const VectorXd q_ = Eigen::Vector3d(0, -0.1036, -0.2788);
  const VectorXd v_ = Eigen::Vector3d(-0.3411, 0, -7.4583);
};

TEST_F(Woodpecker, HasTheMassAndForceOfTheirEquation14) {
  const double m_S = at("m_S"), m_M = at("m_M"), l_M = at("l_M"), l_G = at("l_G"), g = at("g");
  const double bend = at("c") * (q_[1] - q_[2]);
  const Eigen::Vector3d h(-(m_S + m_M) * g, -bend - m_S * l_M * g, bend - m_S * l_G * g);
  EXPECT_LE((force_of(system_, 0, q_, v_) - h).cwiseAbs().maxCoeff(), 1e-17);
  Eigen::Matrix3d M;
  M << m_S + m_M, m_S * l_M, m_S * l_G,                         //
      m_S * l_M, at("J_M") + m_S * l_M * l_M, m_S * l_M * l_G,  //
      m_S * l_G, m_S * l_M * l_G, at("J_S") + m_S * l_G * l_G;
  EXPECT_LE((mass_of(system_, 0, q_) - M).cwiseAbs().maxCoeff(), 1e-18);
}

TEST_F(Woodpecker, HasTheGapsAndRowsOfTheirEquations15And16) {
  VectorXd gaps(3);
  system_.evaluate_gaps(0, q_, gaps);
  const double clearance = at("r_M") - at("r_O");
  EXPECT_NEAR(gaps[0], at("l_M") + at("l_G") - at("l_S") - at("r_O") - at("h_S") * q_[2], 1e-17);
  EXPECT_NEAR(gaps[1], clearance + at("h_M") * q_[1], 1e-17);
  EXPECT_NEAR(gaps[2], clearance - at("h_M") * q_[1], 1e-17);

  const double h_S = at("h_S"), h_M = at("h_M"), l_M = at("l_M"), r_M = at("r_M");
  RowMatrixXd expected[3] = {RowMatrixXd(2, 3), RowMatrixXd(2, 3), RowMatrixXd(2, 3)};
  expected[0] << 0, 0, -h_S, 1, l_M, at("l_G") - at("l_S");
  expected[1] << 0, h_M, 0, 1, r_M, 0;
  expected[2] << 0, -h_M, 0, 1, r_M, 0;
  for (int i = 0; i < 3; ++i) {
    RowMatrixXd rows(2, 3);
    VectorXd drift(2);
    system_.evaluate_contact_rows(0, q_, i, rows, drift);
    EXPECT_EQ(rows, expected[i]);
    EXPECT_EQ(drift, VectorXd(Eigen::Vector2d(0, 0)));
  }
}

TEST_F(Woodpecker, HasConstantJacobians) {
  const Jacobians exact = exact_jacobians(system_, 0, q_, v_);
  const double c = at("c");
  EXPECT_EQ(exact.k_q, (RowMatrixXd(3, 3) << 0, 0, 0, 0, -c, c, 0, c, -c).finished());
  EXPECT_EQ(exact.k_v, RowMatrixXd(RowMatrixXd::Zero(3, 3)));
}

TEST(ExpressionSystem, WritesIntoPartsOfLargerStorage) {
  const BuiltSystem built = make_double_pendulum();
  RowMatrixXd storage = RowMatrixXd::Constant(4, 5, 77);
  built.system->evaluate_mass(0, Eigen::Vector2d(0.1, 0.2), storage.block(1, 2, 2, 2));
  EXPECT_EQ((storage.array() == 77).count(), 16);
  EXPECT_EQ(storage.block(1, 2, 2, 2), mass_of(*built.system, 0, Eigen::Vector2d(0.1, 0.2)));
}

TEST(ExpressionSystem, FindsAMassMatrixThatIsNotSymmetric) {
  ExpressionSystemDescription d;
  d.pool = std::make_shared<ExpressionPool>();
  d.coordinates = {"x", "y"};
  const Expression x = Expression::symbol(d.pool, "x"), y = Expression::symbol(d.pool, "y");
  d.mass = {{2, sin(x) * cos(y) + cos(x) * sin(y)}, {sin(x + y), 2}};
  EXPECT_FALSE(find_asymmetric_mass(d));  // equal in value, not in form
  d.mass[1][0] = sin(x + 1.0001 * y);
  EXPECT_EQ(find_asymmetric_mass(d), (std::pair{1, 0}));

  // The symmetric part is used.
  d.mass = {{2, 0.5}, {0.25, 2}};
  EXPECT_EQ(mass_of(ExpressionSystem(d), 0, Eigen::Vector2d(0, 0))(0, 1), 0.375);
}

TEST(ExpressionSystem, ManyCoordinatesWork) {
  SystemBuilder builder;
  std::vector<Expression> x;
  Expression potential;
  for (int i = 0; i < 150; ++i) {
    x.push_back(builder.add_coordinate(fmt::format("x{}", i)));
    builder.set_mass(x[i], x[i], 1 + i);
    if (i > 0) potential += 0.5 * pow(x[i] - x[i - 1], 2);
  }
  builder.set_potential(potential);
  const BuiltSystem built = builder.build();
  VectorXd q = VectorXd::Zero(150);
  q[70] = 1;
  const VectorXd force = force_of(*built.system, 0, q, VectorXd::Zero(150));
  EXPECT_EQ(force[69], 1);
  EXPECT_EQ(force[70], -2);
  EXPECT_EQ(force[71], 1);
  EXPECT_EQ(force[72], 0);
}

TEST(ExpressionSystem, GyroscopicMatrixIsTheWorklessPartOfTheVelocityTerms) {
  // A bead on a rotating arm with a mass matrix full of coordinates.
  SystemBuilder builder;
  const Expression r = builder.add_coordinate("r", {0.7, 0.3}),
                   a = builder.add_coordinate("a", {0.4, -1.1}),
                   b = builder.add_coordinate("b", {-0.2, 0.8});
  builder.set_mass(r, r, 2.0 + sin(b) * sin(b));
  builder.set_mass(a, a, 3.0 + r * r);
  builder.set_mass(b, b, 4.0 + cos(a));
  builder.set_mass(r, a, 0.3 * sin(a) * r);
  builder.set_mass(a, b, 0.2 * r);
  const BuiltSystem built = builder.build();
  const GeneralizedSystem& system = *built.system;
  RowMatrixXd S(3, 3), ahead(3, 3), behind(3, 3);
  system.evaluate_gyroscopic(0, built.q, built.v, S);
  EXPECT_LE((S + S.transpose()).norm(), 1e-15);
  EXPECT_GT(S.norm(), 0.1);
  // k(v) = −½ Ṁ v − S v, with Ṁ by central differences along the motion.
  constexpr double step = 1e-5;
  system.evaluate_mass(0, built.q + step * built.v, ahead);
  system.evaluate_mass(0, built.q - step * built.v, behind);
  const RowMatrixXd mass_rate = (ahead - behind) / (2 * step);
  VectorXd force(3);
  system.evaluate_force(0, built.q, built.v, force);
  EXPECT_LE((force + 0.5 * mass_rate * built.v + S * built.v).norm(), 1e-9);
}

}  // namespace
}  // namespace stiction
