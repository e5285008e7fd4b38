// Block LU factors for the step equations of joint systems,
//
//   M̂ w − Rᵀx = f,   R w + C x = g,
//
// with M̂ positive definite in blocks (xᵀM̂x > 0, not necessarily symmetric), C ≥ 0, and R any of
// the rows of a step problem. Mass blocks ("bodies") are eliminated first; what is left is
//
//   (S + C) x = g − R M̂⁻¹f,   S = R M̂⁻¹Rᵀ,
//
// a matrix of small dense blocks, one per pair of groups of rows that share a body (a group is all
// rows with the same bodies). It is positive semidefinite in the same sense, hence no exchange of
// pivots is needed, and it is factored in an order of least fill: a chain or a tree in time linear
// in the number of its bodies, a ladder of loops likewise. Eliminating bodies first keeps light
// bodies beside heavy ones accurate: S is a sum of mobilities, to which the lightest body gives
// most, and nothing cancels before the rows meet.
//
// The order depends on which rows touch which bodies and on nothing else, so that the same problem
// gives the same bits whatever was factored before. It is kept while the structure stays.
//
// Rows may depend on each other while C is zero. Then `damping` adds that share of its own diagonal
// entry to each row in the factors, never in the equations, and refinement becomes the proximal
// iteration from x = 0. It converges to the solution with the smallest Σ S_ii x_i², independent of
// the order and the units of rows.
//
// Refuses bodies with so many rows that S is no longer sparse: see kMaxWork.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "stiction/problem/step_problem.h"

namespace stiction {

class JointLu {
 public:
  /// Multiplications of a factorisation above which other methods are worth a try first.
  static constexpr std::int64_t kMaxWork = 100'000'000;

  /// Prepares for problems with the structure of this one; nothing to do if it is the last one's.
  /// False if it would take more than kMaxWork.
  [[nodiscard]] bool analyse(const StepProblem& problem);

  /// Factors with the marked rows (one mark per row, bilateral rows first); the others get no
  /// impulse. The problem has to stay as it is until the last solve. False if a mass block is not
  /// positive definite or a number is not finite.
  [[nodiscard]] bool factor(const StepProblem& problem, const std::vector<char>& active,
                            double damping = 0);

  /// Solves from f (num_dofs) and g (one per row of the problem; those of inactive rows do not
  /// count), without refinement. Read the answer by w() and x().
  void solve(const double* f, const double* g);
  /// One step of refinement. Returns the size of the correction relative to the answer, in the
  /// norm of the diagonal of S: where it is as small as rounding, more steps would only stir.
  double refine();

  const std::vector<double>& w() const { return w_; }
  double x(int row) const { return x_[slot_of_row_[row]]; }
  /// Diagonal entry of S + C of an active row.
  double weight(int row) const { return weight_[slot_of_row_[row]]; }

  /// Rows of the last factorisation whose pivot has cancelled to rounding: they depend on others
  /// and get no impulse. Increasing.
  const std::vector<int>& redundant_rows() const { return redundant_rows_; }

  /// ‖M̂w − p − Rᵀx‖ of one mass block over the norms of its terms, w and x in the order of the
  /// problem. Needs only the structure.
  double momentum_defect(const StepProblem& problem, int block, const StepSolution& solution) const;

  std::int64_t work() const { return work_; }
  std::size_t num_factor_entries() const { return blocks_.size() + bodies_data_.size(); }
  int num_analyses() const { return num_analyses_; }

 private:
  /// A mass block, the rows that touch it, and where they go.
  struct Body {
    int block = 0, size = 0, dof = 0, num_rows = 0;
    int touch_begin = 0, touch_end = 0;  // into touches_
    int source_begin = 0;                // into sources_, num_rows of them
    int target_begin = 0;                // into targets_, one per pair of touches
    std::size_t data = 0;                // into bodies_data_: LU of M̂, R, M̂⁻¹Rᵀ
  };
  /// The rows of a group in a body: `count` of them from row `local` of the body on.
  struct Touch {
    int place, local, count, slot;
  };
  /// Where the numbers of a row are found in a problem.
  struct Source {
    int row, entry, offset;
  };
  /// A dense part of a block of S.
  struct Target {
    std::size_t at;
    int stride;
  };
  /// A group in the order of elimination, with the groups that come later and share its fill.
  struct Pivot {
    int slot = 0, size = 0, rest = 0;  // rest: rows of all later groups
    int later_begin = 0, later_end = 0;
    int target_begin = 0;
    std::size_t diagonal = 0, upper = 0, lower = 0;  // into blocks_
  };
  struct Later {
    int place, slot, size, local;
  };

  bool is_same_structure(const StepProblem& problem) const;
  void copy_structure(const StepProblem& problem);
  void form_groups();
  void connect_groups();
  void order_groups();
  void eliminate_symbolically(int group);
  void lay_out_pivots();
  void lay_out_bodies(const StepProblem& problem);
  void list_sources(const StepProblem& problem);
  void list_pivot_targets();
  Target find_target(int row_place, int column_place) const;
  void count_work();

  const double* row_values(const StepProblem& problem, const Source& source) const;
  void load_rows(const Body& body);
  template <int kSize, int kRows>
  bool eliminate_body(const Body& body);
  void add_mobility(const Body& body, const double* W);
  void load_diagonal(double damping);
  template <int kSize>
  bool eliminate_pivot(const Pivot& pivot);
  template <int kSize>
  void update_rest(const Pivot& pivot);
  void name_redundant_rows();

  template <bool kIsFirst>
  void correct();
  template <int kSize, int kRows, bool kIsFirst>
  void start_body(const Body& body);
  template <int kSize>
  void find_momentum_defect(const Body& body, const double* R, double* momentum);
  template <int kSize, int kRows>
  void finish_body(const Body& body);
  template <int kSize>
  void substitute_forward(const Pivot& pivot);
  template <int kSize>
  void substitute_back(const Pivot& pivot);

  // Structure.
  std::vector<int> dof_start_{0};
  std::vector<int> touch_start_{0}, touched_;  // bodies of each row
  std::vector<int> contact_rows_;              // of each contact
  int num_bilateral_ = 0;
  std::vector<int> sorted_rows_, group_start_, group_of_row_;
  std::vector<std::vector<int>> neighbours_, groups_of_body_;  // grow only
  std::vector<std::pair<int, int>> heap_;                      // degree, group
  std::vector<int> place_of_group_, group_at_, merged_;
  std::vector<int> slot_of_row_, row_of_slot_;
  std::vector<Body> bodies_;
  std::vector<int> body_of_block_;
  std::vector<Touch> touches_;
  std::vector<Source> sources_;
  std::vector<Target> targets_, pivot_targets_;
  std::vector<Pivot> pivots_;
  std::vector<Later> later_;
  int largest_body_rows_ = 0;
  std::int64_t work_ = 0;
  int num_analyses_ = 0;
  bool is_analysed_ = false, is_too_large_ = false;

  // Numbers.
  const StepProblem* problem_ = nullptr;
  std::vector<double> blocks_, bodies_data_, scratch_;
  std::vector<double> weight_, compliance_, inverse_;  // by slots; inverse 0: redundant
  std::vector<char> is_active_;                        // by slots
  bool are_all_active_ = true;
  std::vector<char> splits_;  // per mass block: linear and angular part are not coupled
  std::vector<int> redundant_rows_;
  std::vector<double> f_, g_, w_, x_;             // right-hand side and answer
  std::vector<double> step_w_, step_x_, defect_;  // of a correction; defect_ by slots
  std::vector<double> moved_defect_;              // R M̂⁻¹ of the defects of momentum, by slots
};

}  // namespace stiction
