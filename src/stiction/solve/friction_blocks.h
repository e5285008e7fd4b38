// A step problem seen by its rows alone: find impulses x and velocities u = W x + q with
//
//   free row      u = 0                                   (T2) without bounds
//   bounded row   x = P_[lo,hi](x − u)                    (T2)
//   contact       K* ∋ u + μ‖u_T‖ n ⊥ x ∈ K               (T3), (T4) with the disc
//
// where W = R M̂⁻¹Rᵀ + C + K is the Delassus matrix (T6), kept as sparse blocks: one row block per
// bilateral row and one per contact, coupled when they share a mass block or an entry of K. W may
// be nonsymmetric and singular. Refuses box and polygon sections in space; with one tangent all
// sections are the same interval.
//
// This is the ground that the Newton, ADMM and polishing solvers share: products with W,
// projections and the residual they are driven by. It shares no code with the certificate.
#pragma once

#include <Eigen/LU>
#include <vector>

#include "stiction/problem/step_problem.h"

namespace stiction {

/// Square sparse matrix of small dense blocks with a symmetric pattern.
struct BlockMatrix {
  std::vector<int> row_start{0};    // first row of each row block, num_blocks + 1
  std::vector<int> entry_start{0};  // entries of row block i: [entry_start[i], entry_start[i + 1])
  std::vector<int> entry_block;     // column block of an entry, increasing within a row block
  std::vector<int> diagonal;        // the entry (i, i)
  std::vector<int> value_start;     // of an entry in `values`; one more than entries
  std::vector<double> values;       // row-major blocks

  int num_blocks() const { return static_cast<int>(row_start.size()) - 1; }
  int num_rows() const { return row_start.back(); }
  int size(int block) const { return row_start[block + 1] - row_start[block]; }
  ConstRowMatrixMap entry(int block, int e) const {
    return {values.data() + value_start[e], size(block), size(entry_block[e])};
  }
  RowMatrixMap entry(int block, int e) {
    return {values.data() + value_start[e], size(block), size(entry_block[e])};
  }
  /// The entry (block, column); −1 if the pattern lacks it.
  int find(int block, int column) const;
  void multiply(const double* x, double* y) const;
};

class FrictionBlocks {
 public:
  enum class Kind { kFree, kBounded, kContact };

  /// False if the problem has a section in space that is not a disc, or a singular mass block.
  bool assemble(const StepProblem& problem);

  int num_blocks() const { return W.num_blocks(); }
  int num_rows() const { return W.num_rows(); }
  int size(int block) const { return W.size(block); }

  /// u = W x + q.
  void compute_velocity(const VectorXd& x, VectorXd& u) const;
  /// w = M̂⁻¹(p + Rᵀx), and x split into λ and r.
  void write_solution(const StepProblem& problem, const VectorXd& x, StepSolution& solution) const;
  /// The impulses of an earlier answer; zero if its sizes do not fit.
  void read_solution(const StepProblem& problem, const StepSolution& solution, VectorXd& x) const;

  /// Zeroes impulses that are mere rounding of the others: a body that nothing touches would creep.
  void clear_rounding(VectorXd& x) const;

  /// Nearest point of the admissible impulses of one block.
  void project(int block, const double* z, double* out) const;
  /// The velocity that the impulse has to be complementary to: u, for contacts with μ‖u_T‖ added to
  /// its normal part.
  void shift(int block, const double* u, double* out) const;

  /// Relative natural-map residual of impulses and velocities: the larger of that in energy units,
  /// where each block is scaled by its own effective mass, and that in the units of the problem.
  /// Both are relative to the impulses, too, and would vanish when impulses grow without bound
  /// against an infeasible problem; therefore the squared error relative to velocities counts, too.
  double residual(const VectorXd& x, const VectorXd& u) const;

  BlockMatrix W;
  VectorXd q;                    // velocities without impulses
  std::vector<Kind> kind;        // per block
  std::vector<double> mu;        // per block, 0 unless a contact
  std::vector<double> lower;     // per block, bounded rows only
  std::vector<double> upper;     //
  std::vector<double> mobility;  // ω > 0 per block: mean diagonal of W, the scale of u per x

 private:
  struct Piece {
    int block;             // row block
    int mass;              // mass block
    const double* values;  // of the problem
    int moved_start;       // of M̂⁻¹Rᵀ in moved_, column by column
  };
  bool classify(const StepProblem& problem);
  void collect_pieces(const StepProblem& problem);
  void append_pieces(const BlockRows& rows, int first_block);
  bool move_pieces(const StepProblem& problem);
  void build_pattern(const StepProblem& problem);
  void add_products(const StepProblem& problem);
  void add_coupling(const StepProblem& problem);
  void compute_free(const StepProblem& problem);
  void compute_mobility();
  double squared_defect(int block, const VectorXd& x, const VectorXd& u, double rho) const;

  std::vector<Piece> pieces_;  // by row block
  std::vector<int> mass_piece_start_, mass_pieces_;
  std::vector<Eigen::PartialPivLU<MatrixXd>> mass_lu_;
  std::vector<double> moved_;
  std::vector<int> block_of_row_;
  VectorXd free_velocity_;
  bool has_coupling_only_ = false;
};

}  // namespace stiction
