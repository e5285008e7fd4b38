// A step problem seen by its rows alone, in units in which every row has an effective mass of about
// one: find impulses x and velocities u = W x + q with
//
//   free row      u = 0                                   (T2) without bounds
//   bounded row   x = P_[lo,hi](x − u)                    (T2)
//   contact       K* ∋ u + μ‖u_T‖ n ⊥ x ∈ K               (T3), (T4) with the disc
//
// where W = S (R M̂⁻¹Rᵀ + C + K) S is the Delassus matrix (T6) with the scales S of (T8), kept as
// sparse blocks: one row block per bilateral row and one per contact, coupled when they share a
// mass block or an entry of K. Impulses and velocities both have the unit √J, and μ is μ s_N/s_T.
// W may be nonsymmetric and singular. Refuses box and polygon sections in space; with one tangent
// all sections are the same interval.
//
// This is the ground that the Newton, ADMM, interior point and polishing solvers share: products
// with W, projections and the residual they are driven by. It shares no code with the certificate.
// Storage is reused: no allocation once it has the size of the problem.
#pragma once

#include <algorithm>
#include <vector>

#include "stiction/base/kept_vector.h"
#include "stiction/problem/step_problem.h"
#include "stiction/solve/acceptance.h"

namespace stiction {

/// Square sparse matrix of small dense blocks with a symmetric pattern.
struct BlockMatrix {
  std::vector<int> row_start{0};    // first row of each row block, num_blocks + 1
  std::vector<int> entry_start{0};  // entries of row block i: [entry_start[i], entry_start[i + 1])
  std::vector<int> entry_block;     // column block of an entry, increasing within a row block
  std::vector<int> diagonal;        // the entry (i, i)
  std::vector<int> mirror;          // of an entry (i, j) the entry (j, i)
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
  void multiply(const double* x, double* y) const;
};

class FrictionBlocks {
 public:
  enum class Kind { kFree, kBounded, kContact };

  /// W may have this many numbers. A body with n contact rows brings n² of them, and factors of W
  /// as many again.
  static constexpr double kMostNumbers = 1e8;

  /// False if the problem has a section in space that is not a disc, or a singular mass block, or
  /// if W would be too large.
  /// `measure` says what `residual` imitates.
  bool assemble(const StepProblem& problem,
                StoppingMeasure measure = StoppingMeasure::kCertificate);

  int num_blocks() const { return W.num_blocks(); }
  int num_rows() const { return W.num_rows(); }
  int size(int block) const { return W.size(block); }

  /// u = W x + q.
  void compute_velocity(const ConstVectorRef& x, KeptVector& u) const;
  /// w = M̂⁻¹(p + Rᵀx), and x split into λ and r, in the units of the problem.
  void write_solution(const StepProblem& problem, const ConstVectorRef& x,
                      StepSolution& solution) const;
  /// The impulses of an earlier answer; zero if its sizes do not fit.
  void read_solution(const StepProblem& problem, const StepSolution& solution, KeptVector& x) const;

  /// Zeroes impulses that are mere rounding of the others: a body that nothing touches would creep.
  void clear_rounding(VectorRef x) const;

  /// Nearest point of the admissible impulses of one block.
  void project(int block, const double* z, double* out) const { project(block, mu[block], z, out); }
  /// The velocity that the impulse has to be complementary to: u, for contacts with μ‖u_T‖ added to
  /// its normal part.
  void shift(int block, const double* u, double* out) const { shift(block, mu[block], u, out); }

  /// What the measure of `assemble` will say of these impulses and velocities, up to rounding and
  /// the momentum, which write_solution keeps: the certificate (T21), (T22), or the published
  /// error. Infinite if not finite.
  double residual(const ConstVectorRef& x, const ConstVectorRef& u) const;

  BlockMatrix W;
  KeptVector q;               // velocities without impulses
  std::vector<Kind> kind;     // per block
  std::vector<double> mu;     // per block, 0 unless a contact
  std::vector<double> lower;  // per block, bounded rows only
  std::vector<double> upper;  //
  std::vector<double> scale;  // s > 0 per row: an impulse of the problem is s x, a velocity u / s

 private:
  struct Piece {
    int block;             // row block
    int mass;              // mass block
    const double* values;  // of the problem
    int moved_start;       // of M̂⁻¹Rᵀ in moved_, row of R by row of R
    int norm_start;        // of ‖R_i‖ in piece_norm_, in the norm of M̂⁻¹
  };
  /// What the certificate calls m: reach of the impulses on the most loaded mass, and biases.
  struct Background {
    double reach = 0, bias = 0;
    double of(double impulse) const { return std::max(reach * impulse, bias); }
  };

  struct SquareSums {
    double error = 0, impulse = 0, velocity = 0;
  };

  bool classify(const StepProblem& problem);
  void collect_pieces(const StepProblem& problem);
  void append_pieces(const BlockRows& rows, int first_block);
  double count_numbers() const;
  bool move_pieces(const StepProblem& problem);
  void build_pattern(const StepProblem& problem);
  void collect_coupling(const StepProblem& problem);
  void transpose_coupling();
  void collect_neighbours();
  void sort_pattern();
  void fill(const StepProblem& problem);
  void add_products(const StepProblem& problem, int block);
  void add_coupling(const StepProblem& problem, int block);
  void compute_free(const StepProblem& problem);
  void compute_scales();
  double spare_mobility(int block) const;
  void apply_scales();
  void measure_data(const StepProblem& problem);
  double measure_momentum(const StepProblem& problem);
  double measure_block(const StepProblem& problem, int block);
  void project(int block, double friction, const double* z, double* out) const;
  void shift(int block, double friction, const double* u, double* out) const;
  double certificate_residual(const ConstVectorRef& x, const ConstVectorRef& u) const;
  double certificate_defect(int block, const double* x, const double* u) const;
  double published_residual(const ConstVectorRef& x, const ConstVectorRef& u) const;
  double published_ratio(const SquareSums& rows, const SquareSums& contacts) const;
  double published_defect(int block, const double* x, const double* u) const;
  double largest_impulse(const ConstVectorRef& x) const;

  StoppingMeasure measure_ = StoppingMeasure::kCertificate;
  ProblemKind problem_kind_ = ProblemKind::kStepProblem;
  int num_bilateral_ = 0;
  std::vector<Piece> pieces_;  // by row block
  std::vector<int> block_piece_start_, mass_piece_start_, mass_pieces_;
  std::vector<double> mass_lu_, moved_, piece_norm_, mass_momentum_;
  std::vector<int> mass_swap_;
  std::vector<int> block_of_row_;
  std::vector<int> coupled_start_, coupled_, transposed_start_, transposed_;
  std::vector<int> neighbours_, mark_;
  std::vector<bool> is_moved_;    // per block: false if no impulse changes anything there
  std::vector<double> friction_;  // μ in the units of the problem
  KeptVector free_velocity_;
  Background row_background_, contact_background_;
  double data_cap_ = 0;                           // what impulses may count, see (T22)
  double bias_norm_ = 0, contact_bias_norm_ = 0;  // in the units of the problem
};

}  // namespace stiction
