#include "tests/solve/problem_families.h"

#include <cmath>

#include "tests/solve/disc_problem.h"
#include "tests/solve/random_problem.h"

namespace stiction::testing {

ContactStyle contact_style(std::uint64_t seed) {
  switch (seed % 4) {
    case 0:
      return {1, FrictionSection::disc()};
    case 1:
      return {2, FrictionSection::disc()};
    case 2:
      return {2, FrictionSection::polygon(4 + 2 * static_cast<int>(seed / 4 % 3))};
    default:
      return {2, FrictionSection::box()};
  }
}

void FamilyMaker::add_bodies(int count, int size, double ratio) {
  for (int b = 0; b < count; ++b) {
    const double mass = std::pow(ratio, random.uniform(0, 1));
    RowMatrixMap block = problem.add_mass_block(size);
    block = mass * MatrixXd::Identity(size, size);
    if (is_integer) continue;
    MatrixXd factor(size, size);
    for (double& x : factor.reshaped()) x = 0.3 * random.normal();
    block += mass * factor * factor.transpose();
  }
}

void FamilyMaker::add_pieces(BlockRows& rows) {
  const int first = random.integer(0, problem.num_blocks() - 1);
  const int second = random.integer(0, problem.num_blocks() - 1);
  add_piece(rows, first);
  if (second != first && random.chance(0.5)) add_piece(rows, second);
}

void FamilyMaker::add_contact(double mu) {
  problem.add_contact({.num_tangents = style.num_tangents,
                       .mu = mu,
                       .section = style.section,
                       .key = static_cast<std::uint64_t>(problem.num_contacts())});
  add_pieces(problem.contacts);
}

void FamilyMaker::add_copy(int model, double mu) {
  const BlockRows rows = problem.contacts;
  problem.add_contact({.num_tangents = rows.num_rows(model) - 1,
                       .mu = mu,
                       .section = problem.section[model],
                       .key = static_cast<std::uint64_t>(problem.num_contacts())});
  for (int e = rows.entry_start(model); e < rows.entry_start(model + 1); ++e)
    problem.contacts.add_entry(rows.entry_block(e), rows.entry_columns(e)) =
        rows.entry_matrix(model, e);
}

void FamilyMaker::add_joint(const StepProblem::BilateralRow& row) {
  problem.add_bilateral_row(row);
  add_pieces(problem.bilateral);
}

void FamilyMaker::push_bodies() {
  for (double& x : problem.p) x = number();
  for (int b = 0; b < problem.num_blocks(); ++b)
    problem.block_p(b) = (problem.mass_block(b) * problem.block_p(b)).eval();
}

void FamilyMaker::add_piece(BlockRows& rows, int block) {
  RowMatrixMap piece = rows.add_entry(block, problem.block_size(block));
  for (double& x : piece.reshaped()) x = number();
}

void set_coupling(StepProblem& problem, const MatrixXd& W) {
  problem.coupling.clear();
  for (int i = 0; i < W.rows(); ++i) {
    problem.coupling.add_row();
    for (int k = 0; k < W.cols(); ++k)
      if (W(i, k) != 0) problem.coupling.add_entry(k, W(i, k));
  }
}

StepProblem p_matrix(std::uint64_t seed) {
  Random random(seed + 101);
  const int n = random.integer(1, 12);
  MatrixXd M(n, n);
  StepProblem problem;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) M(i, k) = random.normal();
    M(i, i) = M.row(i).lpNorm<1>() * random.uniform(1.01, 2);
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
    problem.contact_bias[i] = random.normal();
  }
  set_coupling(problem, M);
  return problem;
}

StepProblem copositive(std::uint64_t seed) {
  StepProblem problem = random_problem(seed, {.max_contacts = 8,
                                              .max_bodies = 5,
                                              .max_bilateral = 3,
                                              .mass_ratio_max = 100,
                                              .allow_spatial = seed % 2 == 0,
                                              .allow_strange_units = false});
  if (seed % 4 == 0)
    for (FrictionSection& section : problem.section) section = FrictionSection::disc();
  return problem;
}

StepProblem condensed_family(std::uint64_t seed, int num_contacts, int rank, double skew) {
  const ContactStyle style = contact_style(seed);
  StepProblem problem = condensed_problem(seed, {.num_contacts = num_contacts,
                                                 .num_tangents = style.num_tangents,
                                                 .rank = rank * (1 + style.num_tangents),
                                                 .mu_max = 1,
                                                 .skew = skew});
  for (FrictionSection& section : problem.section) section = style.section;
  return problem;
}

StepProblem rank_deficient(std::uint64_t seed) { return condensed_family(seed, 6, 3, 0); }

StepProblem nonsymmetric(std::uint64_t seed) { return condensed_family(seed, 4, 5, 0.5); }

StepProblem duplicate_contacts(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.add_bodies(2, 6);
  for (int j = 0; j < 3; ++j) maker.add_contact(maker.random.uniform(0, 1));
  for (int j = 0; j < 4; ++j) {
    const int model = maker.random.integer(0, 2);
    maker.add_copy(model, maker.problem.mu[model]);
  }
  maker.push_bodies();
  return maker.problem;
}

StepProblem mass_ratio(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.add_bodies(5, 3, 1e8);
  for (int j = 0; j < 5; ++j) maker.add_contact(maker.random.uniform(0, 0.8));
  maker.push_bodies();
  return maker.problem;
}

StepProblem friction_range(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.add_bodies(3, 4);
  for (int j = 0; j < 5; ++j)
    maker.add_contact(maker.random.chance(0.2) ? 0 : std::pow(10, maker.random.uniform(-3, 1)));
  maker.push_bodies();
  return maker.problem;
}

StepProblem zero_data(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.is_integer = true;
  maker.add_bodies(3, 3);
  for (int j = 0; j < 5; ++j) maker.add_contact(maker.random.integer(0, 2) * 0.5);
  if (maker.random.chance(0.8)) maker.push_bodies();
  return maker.problem;
}

StepProblem signed_bias(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.add_bodies(4, 6);
  for (int j = 0; j < 4; ++j) maker.add_contact(maker.random.uniform(0, 1));
  maker.push_bodies();
  for (double& b : maker.problem.contact_bias) b = 2 * maker.random.normal();
  return maker.problem;
}

StepProblem strange_units(std::uint64_t seed) {
  StepProblem problem = signed_bias(seed);
  Random random(seed + 501);
  const double mass = std::pow(10.0, random.integer(-9, 9));
  const double speed = std::pow(10.0, random.integer(-9, 9));
  for (double& x : problem.mass_values) x *= mass;
  for (double& x : problem.p) x *= mass * speed;
  for (double& x : problem.contact_bias) x *= speed;
  return problem;
}

StepProblem trivial(std::uint64_t seed) {
  FamilyMaker maker(seed);
  if (seed % 3 == 0) return maker.problem;
  maker.add_bodies(2, 3);
  maker.push_bodies();
  if (seed % 3 == 1) return maker.problem;
  for (int j = 0; j < 2; ++j) maker.add_contact(0.5);
  for (int j = 0; j < 2; ++j)  // far from touching: u_N > 0 without any impulse
    maker.problem.contact_bias[maker.problem.contacts.row_start(j)] = 100;
  return maker.problem;
}

StepProblem bilateral_only(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.add_bodies(3, 6);
  for (int i = 0; i < 4; ++i)
    maker.add_joint(
        {.compliance = maker.random.chance(0.3) ? 0.1 : 0, .bias = maker.random.normal()});
  StepProblem& problem = maker.problem;
  if (seed % 2 == 0) {
    const BlockRows rows = problem.bilateral;
    problem.add_bilateral_row({.compliance = 0, .bias = problem.bias[0]});
    problem.compliance[0] = 0;
    for (int e = rows.entry_start(0); e < rows.entry_start(1); ++e)
      problem.bilateral.add_entry(rows.entry_block(e), rows.entry_columns(e)) =
          rows.entry_matrix(0, e);
  }
  maker.push_bodies();
  return problem;
}

StepProblem bounded_only(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.add_bodies(3, 4);
  for (int i = 0; i < 6; ++i) {
    StepProblem::BilateralRow row{.bias = maker.random.normal()};
    const double start = maker.random.normal();
    const int kind = maker.random.integer(0, 3);
    if (kind != 1) row.lower = start;
    if (kind != 0) row.upper = start + (kind == 3 ? 0 : maker.random.uniform(0, 2));
    maker.add_joint(row);
  }
  maker.push_bodies();
  return maker.problem;
}

StepProblem machine(std::uint64_t seed) {
  FamilyMaker maker(seed);
  maker.add_bodies(4, 6);
  for (int i = 0; i < 2; ++i) maker.add_joint({.bias = maker.random.normal()});
  maker.add_joint({.bias = maker.random.normal(), .lower = -0.3, .upper = 0.3});
  for (int j = 0; j < 4; ++j) maker.add_contact(maker.random.uniform(0, 1));
  maker.push_bodies();
  for (double& b : maker.problem.contact_bias) b = 0.5 * maker.random.normal();
  return maker.problem;
}

std::vector<ProblemFamily> problem_families() {
  return {{"p_matrix", p_matrix},
          {"copositive", copositive},
          {"rank_deficient", rank_deficient},
          {"nonsymmetric", nonsymmetric},
          {"duplicate_contacts", duplicate_contacts},
          {"mass_ratio", mass_ratio},
          {"friction_range", friction_range},
          {"zero_data", zero_data},
          {"signed_bias", signed_bias},
          {"strange_units", strange_units},
          {"trivial", trivial},
          {"bilateral_only", bilateral_only},
          {"bounded_only", bounded_only},
          {"machine", machine}};
}

}  // namespace stiction::testing
