// LU factors of S = A W + B for a sparse block matrix W with symmetric pattern and block-diagonal A
// and B that change from solve to solve: the Schur complement of the saddle matrix [M̂ −Rᵀ; AR AK+B]
// on its rows. M̂ is block diagonal, so that it is always eliminated first and for good; what
// changes in an iteration (regularisation, contact status) lies in A and B alone.
//
// Multifrontal: approximate minimum degree on the graph of blocks, elimination tree, supernodes,
// dense fronts. The analysis is done once per pattern and the storage is kept. Pivots are exchanged
// inside a front only; that is stable where the symmetric part of S is not far from positive
// definite, which W + B with B > 0 is. A pivot that vanishes against its front is replaced by a
// tiny one and counted: rows that depend on others are thereby named, and the caller refines or
// regularises.
#pragma once

#include <limits>
#include <vector>

#include "stiction/base/worker_pool.h"
#include "stiction/solve/friction_blocks.h"
#include "stiction/solve/minimum_degree.h"

namespace stiction {

class SaddleLu {
 public:
  /// Workers, if there are any, share out fronts that do not wait for each other; bits are the
  /// same. They must outlive the factors.
  explicit SaddleLu(WorkerPool* workers = nullptr) : workers_(workers) {}

  /// Ordering and symbolic factors for the pattern of W; nothing to do if it is the same as before.
  /// False if a factorisation would cost more than `max_flops`, counted as the square of the
  /// factors' numbers per pivot; then no storage is taken for another pattern, and factors that
  /// there were are lost.
  bool analyse(const BlockMatrix& W, double max_flops = std::numeric_limits<double>::infinity());
  /// Factors A W + B. Both hold 9 numbers per block: a 3×3 row-major matrix whose upper left part
  /// counts when the block is smaller.
  /// False if a number is not finite.
  bool factor(const BlockMatrix& W, const std::vector<double>& A, const std::vector<double>& B);
  /// Factors W + B; an empty B is zero, and blocks may then have any size.
  bool factor(const BlockMatrix& W, const std::vector<double>& B);
  /// x ← S⁻¹x.
  void solve(VectorRef x);

  /// Pivots of the last factorisation that had to be replaced, and the rows they belong to.
  const std::vector<int>& replaced_rows() const { return replaced_rows_; }
  /// Numbers in the factors.
  std::size_t num_factor_entries() const { return factor_size_; }

 private:
  struct Front {
    int first_node = 0, num_nodes = 0;  // pivot blocks in elimination order
    int parent = -1;
    int num_pivots = 0;     // scalar pivots
    int num_rows = 0;       // scalar size of the front
    int row_begin = 0;      // into front_rows_, num_rows − num_pivots update rows
    int swap_begin = 0;     // into swaps_, also the first permuted row of the pivots
    std::size_t lower = 0;  // num_rows × num_pivots: L and the pivot block
    std::size_t upper = 0;  // num_pivots × (num_rows − num_pivots): U
  };
  /// The elimination tree, by places in the order before the postorder; scratch of the analysis.
  struct Tree {
    std::vector<int> start, rows;          // places that k updates, from start[k] on
    std::vector<int> parent;               // that of roots is one more than all
    std::vector<int> last_child, sibling;  // the child before it, −1 if none
    std::vector<int> mark;                 // the last place that had a row
    std::vector<int> postorder, order;
  };
  void form_dense_front(const BlockMatrix& W);
  bool find_structure(const BlockMatrix& W, double max_entries);
  bool merge_structures(const BlockMatrix& W, double max_entries);
  void find_postorder();
  void move_structures();
  void form_fronts();
  void connect_fronts();
  bool lay_out(const BlockMatrix& W, double max_entries);
  void lay_out_updates();
  void list_levels();
  /// What a thread needs to factor a front.
  struct Desk {
    std::vector<double> front;
    std::vector<int> local;  // permuted row → row of the front
  };
  bool is_shared_out() const;
  bool factor_front(const BlockMatrix& W, int front, Desk& desk);
  void assemble_front(const BlockMatrix& W, const Front& front, Desk& desk,
                      Eigen::Map<MatrixXd> F) const;
  void scatter_block(const BlockMatrix& W, int i, int e, int row, int column,
                     Eigen::Map<MatrixXd> F) const;
  void add_update(const Front& child, const double* update, const Desk& desk,
                  Eigen::Map<MatrixXd> F) const;
  bool eliminate(Front& front, Eigen::Map<MatrixXd> F);
  bool factor_pivots(const Front& front, Eigen::Map<MatrixXd> F);
  void factor_panel(const Front& front, Eigen::Map<MatrixXd> F, int begin, int end, double scale);

  std::vector<int> pattern_start_, pattern_block_, pattern_rows_;  // of the last analysis
  std::vector<int> block_at_, place_of_;                           // elimination order of blocks
  std::vector<int> permuted_start_;                                // first permuted row of a block
  std::vector<int> parent_, front_of_;
  // Later blocks (by place) that a block updates, one list after the other.
  std::vector<int> structure_start_, structure_;
  MinimumDegree minimum_degree_;
  Tree tree_;
  std::vector<Front> fronts_;
  std::vector<int> front_rows_;  // permuted rows of the update part
  std::vector<int> child_start_, children_;
  std::vector<double> factors_;
  std::vector<double> updates_;              // of fronts to their parents
  std::vector<std::size_t> update_at_;       // where they are
  std::vector<Desk> desks_;                  // one per thread
  std::vector<int> level_start_, by_level_;  // fronts whose children are all of lower levels
  std::vector<char> is_replaced_;            // per permuted row
  std::vector<int> swaps_;
  std::vector<int> original_row_;  // of a permuted row
  std::vector<int> replaced_rows_;
  std::size_t factor_size_ = 0;  // at least, where there were too many
  bool is_laid_out_ = false;
  const std::vector<double>*A_ = nullptr, *B_ = nullptr;  // during factor only
  WorkerPool* workers_ = nullptr;
  KeptVector work_, gather_;
};

}  // namespace stiction
