// All solutions of a small step problem, by trying every combination of states: bilateral rows at a
// bound or free; contacts open, sticking, or sliding along a vertex or an edge of their section. A
// state is a set of equations and inequalities; with polygons (and in the plane) they are linear in
// the impulses x, (s, u) = W x + a (T6), and the search is exhaustive. A disc adds the direction of
// sliding as an unknown, found by Newton's method from a grid of starts; that is thorough, no
// proof.
//
// Exponential in the number of rows: for up to four contacts in the plane, three in space. Dense,
// and written from (T1)–(T4) alone: it shares nothing with any solver or with the certificate.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "stiction/problem/step_problem.h"

namespace stiction::testing {

/// The problem in terms of impulses: (s, u) = W x + a, w = w_free + V x.
struct DenseProblem {
  explicit DenseProblem(const StepProblem& problem);
  MatrixXd W, V;
  VectorXd a, w_free;
};

/// Every solution that is alone in its state, and whether there are states with many.
struct Enumeration {
  struct Solution {
    VectorXd x;              // impulses, bilateral rows first
    double sensitivity = 0;  // ‖A⁻¹‖ of the equations of its state, rows of A of length one
  };
  std::vector<Solution> solutions;  // also one or more of every continuum
  bool has_continuum = false;
  bool is_complete = true;  // false: a disc slides, or a continuum was too large to search

  bool proves_that_none_exists() const { return is_complete && solutions.empty(); }
  /// Distance to the nearest solution over the distance that `residual` (relative) can explain.
  double relative_distance(const VectorXd& x, double scale, double residual) const;
};

class StateEnumerator {
 public:
  /// Inequalities may be violated by `slack`, in units of the problem (which are of order one).
  explicit StateEnumerator(const StepProblem& problem, double slack = 1e-9);
  Enumeration run();

 private:
  using Affine = Eigen::RowVectorXd;  // over (x, 1)
  struct State {
    std::vector<Affine> zero, nonnegative;
    int sliding_disc = -1;  // first row of a contact whose direction of sliding is unknown
    double mu = 0;
  };
  struct System {
    MatrixXd zero, nonnegative;  // rows over (x, 1)
    std::vector<const State*> discs;
  };

  Affine impulse(int row) const { return Affine::Unit(size_ + 1, row); }
  Affine velocity(int row) const;
  Affine constant(double value) const { return value * Affine::Unit(size_ + 1, size_); }

  void add_bilateral_states(const StepProblem& problem, int i);
  void add_contact_states(const StepProblem& problem, int j);
  void add_planar_states(int row, double mu);
  void add_polygon_states(int row, double mu, const std::vector<Eigen::Vector2d>& vertices);
  void add_disc_states(int row, double mu);
  State open(int row, int num_rows) const;

  System combine(const std::vector<int>& choice) const;
  bool is_feasible(const System& system, const VectorXd& x) const;
  void solve(const System& system);
  void search_continuum(const System& system, const VectorXd& start, const MatrixXd& kernel);
  void search_directions(const System& system);
  void find_directions(const System& system, VectorXd theta);
  void keep(const VectorXd& x, double sensitivity);

  DenseProblem dense_;
  int size_ = 0;
  double slack_;
  std::vector<std::vector<State>> blocks_;  // states of every row or contact
  Enumeration found_;
};

}  // namespace stiction::testing
