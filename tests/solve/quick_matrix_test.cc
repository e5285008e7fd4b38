// M̂ + RᵀDR of a few bodies, of which those that one unit alone touches are eliminated by its rows,
// solves what a dense factorisation solves, whatever touches what.
#include "stiction/solve/quick_matrix.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <random>
#include <vector>

namespace stiction {
namespace {

constexpr int kSize = QuickMatrix::kSize;
using Mass = Eigen::Matrix<double, kSize, kSize, Eigen::RowMajor>;

class QuickMatrixTest : public ::testing::Test {
 protected:
  double number() { return normal_(random_); }

  void add_body(bool is_diagonal) {
    Mass mass = Mass::Zero();
    for (int k = 0; k < kSize; ++k) mass(k, k) = 1 + std::abs(number());
    if (!is_diagonal) {
      const Mass more = Mass::NullaryExpr([&] { return number(); });
      mass += 0.1 * more;  // not symmetric either
    }
    problem_.add_mass_block(kSize) = mass;
    is_diagonal_.push_back(is_diagonal ? 1 : 0);
    for (int k = 0; k < kSize; ++k) inverse_.push_back(1 / mass(k, k));
  }

  /// Between two bodies, or of one alone where the second is negative.
  void add_unit(int dim, int first, int second, double stiffness) {
    QuickMatrix::Place place;
    place.dim = dim;
    for (const int body : {first, second}) {
      if (body < 0) continue;
      std::vector<double>& rows = rows_.emplace_back(static_cast<std::size_t>(dim) * kSize);
      for (double& entry : rows) entry = number();
      place.body[place.num_pieces] = body;
      place.rows[place.num_pieces++] = rows.data();
    }
    places_.push_back(place);
    stiffness_.push_back(stiffness);
  }

  /// Of what holds; or of what slides along a direction, where normals drag tangents along.
  QuickMatrix::Local make_stiffness(std::size_t k) const {
    const double s = stiffness_[k];
    if (k % 2 == 0) return {s, 0, 0, 0, s, 0, 0, 0, s};
    const double mu = 0.4, x = 0.6, y = 0.8, across = 0.01 * s;
    return {s,
            0,
            0,
            -mu * x * s,
            across * (1 - x * x),
            -across * x * y,
            -mu * y * s,
            -across * x * y,
            across * (1 - y * y)};
  }

  MatrixXd make_dense() const {
    const int n = problem_.num_dofs();
    MatrixXd A = MatrixXd::Zero(n, n);
    for (int b = 0; b < problem_.num_blocks(); ++b)
      A.block(kSize * b, kSize * b, kSize, kSize) = problem_.mass_block(b);
    for (std::size_t k = 0; k < places_.size(); ++k) {
      if (stiffness_[k] == 0) continue;
      const QuickMatrix::Place& place = places_[k];
      MatrixXd R = MatrixXd::Zero(place.dim, n), D(place.dim, place.dim);
      for (int e = 0; e < place.num_pieces; ++e)
        R.middleCols(kSize * place.body[e], kSize) +=
            ConstRowMatrixMap(place.rows[e], place.dim, kSize);
      const QuickMatrix::Local own = make_stiffness(k);
      for (int a = 0; a < place.dim; ++a)
        for (int b = 0; b < place.dim; ++b) D(a, b) = own[3 * a + b];
      A += R.transpose() * D * R;
    }
    return A;
  }

  /// Rounding of a matrix whose largest numbers are `stiffness` times those of masses.
  void expect_solved(double stiffness) {
    matrix_.begin(problem_.num_blocks(), inverse_.data(), is_diagonal_.data(), places_);
    matrix_.set_masses(problem_);
    for (std::size_t k = 0; k < places_.size(); ++k)
      if (stiffness_[k] != 0) matrix_.add(static_cast<int>(k), make_stiffness(k));
    ASSERT_TRUE(matrix_.factor());
    VectorXd x = VectorXd::NullaryExpr(problem_.num_dofs(), [&] { return number(); });
    const VectorXd expected = make_dense().fullPivLu().solve(x);
    matrix_.solve(x.data());
    EXPECT_LE((x - expected).norm(), 1e-13 * stiffness * expected.norm());
  }

  std::mt19937_64 random_{5};
  std::normal_distribution<double> normal_;
  StepProblem problem_;
  std::vector<double> inverse_;
  std::vector<char> is_diagonal_;
  std::vector<std::vector<double>> rows_;
  std::vector<QuickMatrix::Place> places_;
  std::vector<double> stiffness_;
  QuickMatrix matrix_;
};

TEST_F(QuickMatrixTest, SolvesABodyThatOneContactHolds) {
  for (const double stiffness : {1.0, 1e6}) {
    add_body(true);
    add_unit(3, problem_.num_blocks() - 1, -1, stiffness);
  }
  expect_solved(1e6);
}

TEST_F(QuickMatrixTest, SolvesTwoBodiesThatTouchEachOtherOnly) {
  add_body(true);
  add_body(true);
  add_unit(3, 0, 1, 1e4);
  expect_solved(1e4);
}

TEST_F(QuickMatrixTest, SolvesBallsOnAPlate) {
  for (int b = 0; b < 8; ++b) add_body(b != 3);  // one whose mass is not diagonal
  for (int b = 1; b < 8; ++b) add_unit(b == 5 ? 1 : 3, b, 0, b == 6 ? 0 : 1e4);  // one is off
  add_unit(1, 0, -1, 1e4);
  expect_solved(1e4);
}

TEST_F(QuickMatrixTest, SolvesAnyGraph) {
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    problem_.clear();
    inverse_.clear();
    is_diagonal_.clear();
    rows_.clear();
    places_.clear();
    stiffness_.clear();
    std::uniform_int_distribution<int> num_bodies(1, QuickMatrix::kMaxBodies);
    const int n = num_bodies(random_);
    for (int b = 0; b < n; ++b) add_body(random_() % 4 != 0);
    std::uniform_int_distribution<int> body(0, n - 1), num_units(1, 2 * n);
    for (int k = num_units(random_); k > 0; --k) {
      const int first = body(random_), second = body(random_);
      add_unit(random_() % 3 == 0 ? 1 : 3, first, second == first ? -1 : second,
               random_() % 5 == 0 ? 0 : 1e2);
    }
    expect_solved(1e4);  // what is on top of each other in a graph is worse by another factor
  }
}

TEST_F(QuickMatrixTest, RefusesWhatIsNoNumber) {
  add_body(true);
  inverse_[4] = std::numeric_limits<double>::quiet_NaN();
  add_unit(3, 0, -1, 1);
  matrix_.begin(1, inverse_.data(), is_diagonal_.data(), places_);
  matrix_.set_masses(problem_);
  matrix_.add(0, make_stiffness(0));
  EXPECT_FALSE(matrix_.factor());
}

}  // namespace
}  // namespace stiction
