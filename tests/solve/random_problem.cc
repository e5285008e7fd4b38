#include "tests/solve/random_problem.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stiction/base/random.h"

namespace stiction::testing {

namespace {

class RandomProblemMaker {
 public:
  RandomProblemMaker(std::uint64_t seed, const RandomProblemOptions& options)
      : random_(seed * 0x9e3779b97f4a7c15u + 1), options_(options) {}

  StepProblem make() {
    is_integer_ = random_.chance(0.4);
    is_nonsymmetric_ = random_.chance(0.3);
    has_compliance_ = random_.chance(0.4);
    max_ratio_ = random_.chance(0.4) ? options_.mass_ratio_max : 10;
    add_masses();
    const int num_bilateral = random_.chance(0.5) ? random_.integer(0, options_.max_bilateral) : 0;
    for (int i = 0; i < num_bilateral; ++i) add_bilateral();
    const int num_contacts = random_.integer(1, options_.max_contacts);
    for (int j = 0; j < num_contacts; ++j) add_contact();
    add_momentum();
    if (random_.chance(0.1) && options_.allow_strange_units) change_units();
    return problem_;
  }

 private:
  struct RowBlock {
    std::vector<int> blocks;
    std::vector<RowMatrixXd> pieces;
  };

  double number() { return is_integer_ ? random_.integer(-1, 1) : random_.normal(); }

  void add_masses() {
    const int num_bodies = random_.integer(1, options_.max_bodies);
    for (int b = 0; b < num_bodies; ++b) add_mass(random_.integer(1, 6));
    if (random_.chance(0.3)) add_mass(random_.integer(7, 12));
  }

  void add_mass(int size) {
    const double mass = std::pow(max_ratio_, random_.uniform(0, 1));
    MatrixXd factor(size, size), skew(size, size);
    for (int i = 0; i < size; ++i)
      for (int k = 0; k < size; ++k) {
        factor(i, k) = 0.3 * random_.normal();
        skew(i, k) = is_nonsymmetric_ ? 0.5 * random_.normal() : 0;
      }
    const MatrixXd coupling = factor * factor.transpose() + skew - skew.transpose();
    RowMatrixMap block = problem_.add_mass_block(size);
    block = MatrixXd::Identity(size, size) * mass;
    if (!is_integer_ || is_nonsymmetric_) block += mass * coupling;
  }

  RowBlock random_rows(int num_rows) {
    RowBlock rows;
    rows.blocks.push_back(random_.integer(0, problem_.num_blocks() - 1));
    const int other = random_.integer(0, problem_.num_blocks() - 1);
    if (random_.chance(0.5) && other != rows.blocks[0]) rows.blocks.push_back(other);
    for (const int block : rows.blocks) {
      RowMatrixXd piece(num_rows, problem_.block_size(block));
      for (int i = 0; i < piece.size(); ++i) piece.data()[i] = number();
      rows.pieces.push_back(piece);
    }
    return rows;
  }

  static void append(BlockRows& target, const RowBlock& rows) {
    for (std::size_t e = 0; e < rows.blocks.size(); ++e)
      target.add_entry(rows.blocks[e], static_cast<int>(rows.pieces[e].cols())) = rows.pieces[e];
  }

  static bool is_zero(const RowBlock& rows) {
    return std::all_of(rows.pieces.begin(), rows.pieces.end(),
                       [](const RowMatrixXd& piece) { return piece.isZero(0); });
  }

  double compliance(double probability) {
    if (!has_compliance_ || !random_.chance(probability)) return 0;
    return std::pow(10.0, random_.uniform(-6, 1));
  }

  void add_bilateral() {
    RowBlock rows = random_rows(1);
    if (!joints_.empty() && random_.chance(0.25)) {
      rows = joints_[random_.integer(0, static_cast<int>(joints_.size()) - 1)];
      for (RowMatrixXd& piece : rows.pieces) piece *= is_integer_ ? -1.0 : random_.normal();
    }
    rows.pieces[0](0, 0) +=
        1e-3 * (is_zero(rows) ? 1 : 0);  // a joint that holds nothing is a fault
    joints_.push_back(rows);
    StepProblem::BilateralRow row{.compliance = compliance(0.5)};
    if (row.compliance > 0) row.bias = random_.normal();
    if (random_.chance(0.35)) bound(row);
    problem_.add_bilateral_row(row);
    append(problem_.bilateral, rows);
  }

  // A row bounded on one side behaves like a contact, whose bias has to be on the solvable side.
  void bound(StepProblem::BilateralRow& row) {
    const double start = random_.chance(0.5) ? 0 : random_.normal();
    switch (random_.integer(0, 3)) {
      case 0:
        row.lower = start;
        row.bias = -std::abs(row.bias);
        break;
      case 1:
        row.upper = start;
        row.bias = std::abs(row.bias);
        break;
      case 2:
        row.lower = start - random_.uniform() * (random_.chance(0.2) ? 1e8 : 1);
        row.upper = start + random_.uniform();
        row.bias = random_.normal();
        break;
      default:
        row.lower = row.upper = start;
        break;
    }
  }

  void add_contact() {
    const int num_tangents = options_.allow_spatial ? random_.integer(0, 2) : random_.integer(0, 1);
    RowBlock rows = random_rows(1 + num_tangents);
    if (!contacts_.empty()) imitate(rows);
    contacts_.push_back(rows);
    const double mu = random_.chance(0.15)  ? 0
                      : random_.chance(0.3) ? 0.5
                                            : random_.uniform(0, options_.mu_max);
    problem_.add_contact({.num_tangents = static_cast<int>(rows.pieces[0].rows()) - 1,
                          .mu = mu,
                          .section = random_.chance(0.2)
                                         ? FrictionSection::box()
                                         : FrictionSection::polygon(2 * random_.integer(2, 4)),
                          .key = static_cast<std::uint64_t>(problem_.num_contacts())});
    append(problem_.contacts, rows);
    const int start = problem_.contacts.row_start(problem_.num_contacts() - 1);
    problem_.contact_compliance[start] = compliance(0.3);
    if (random_.chance(0.15)) problem_.contact_bias[start] = random_.uniform();
    for (int i = start + 1; i < problem_.num_contact_rows(); ++i)
      problem_.contact_compliance[i] = compliance(0.3);
  }

  // Coincident contacts, parallel normals, and contacts that nothing can move.
  void imitate(RowBlock& rows) {
    const double choice = random_.uniform();
    const RowBlock& model = contacts_[random_.integer(0, static_cast<int>(contacts_.size()) - 1)];
    if (choice < 0.15) rows = model;
    if (choice >= 0.15 && choice < 0.35) {
      const auto num_rows = rows.pieces[0].rows();
      rows = model;
      for (RowMatrixXd& piece : rows.pieces) {
        const RowMatrixXd normal = piece.row(0);
        piece.resize(num_rows, normal.cols());
        for (int i = 0; i < piece.size(); ++i) piece.data()[i] = number();
        piece.row(0) = normal;
      }
    }
    if (choice > 0.97)
      for (RowMatrixXd& piece : rows.pieces) piece.setZero();
  }

  void add_momentum() {
    if (random_.chance(0.1)) return;
    for (int b = 0; b < problem_.num_blocks(); ++b) {
      if (random_.chance(0.1)) continue;
      VectorXd velocity(problem_.block_size(b));
      for (double& x : velocity) x = number();
      problem_.block_p(b) = problem_.mass_block(b) * velocity;
    }
  }

  // Impulses in units of `mass * speed`, velocities in units of `speed`.
  void change_units() {
    const double mass = std::pow(10.0, random_.integer(-12, 12));
    const double speed = std::pow(10.0, random_.integer(-12, 12));
    const auto scale = [](std::vector<double>& values, double factor) {
      for (double& x : values) x *= factor;
    };
    scale(problem_.mass_values, mass);
    scale(problem_.p, mass * speed);
    scale(problem_.compliance, 1 / mass);
    scale(problem_.contact_compliance, 1 / mass);
    scale(problem_.bias, speed);
    scale(problem_.contact_bias, speed);
    scale(problem_.lower, mass * speed);
    scale(problem_.upper, mass * speed);
  }

  Random random_;
  RandomProblemOptions options_;
  StepProblem problem_;
  std::vector<RowBlock> joints_, contacts_;
  bool is_integer_ = false;  // entries −1, 0, 1: exact degeneracy
  bool is_nonsymmetric_ = false;
  bool has_compliance_ = false;
  double max_ratio_ = 1;
};

}  // namespace

StepProblem random_problem(std::uint64_t seed, const RandomProblemOptions& options) {
  return RandomProblemMaker(seed, options).make();
}

}  // namespace stiction::testing
