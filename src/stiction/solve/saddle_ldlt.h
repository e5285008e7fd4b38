// LDLᵀ factors of the saddle matrix of chosen rows of a step problem,
//
//   M̂ w − Rᵀx = f,   R w + C x = g      or, with y = −x,     [M̂ Rᵀ; R −C] (w; y) = (f; g),
//
// M̂ symmetric positive definite in blocks of any size, C ≥ 0. Rows may be bilateral rows and rows
// of contacts in any selection. Multifrontal over the graph of bodies and rows
// (constraint_graph.h): trees factor in linear time, leaves first.
//
// Rows may depend on each other while C is zero. A row whose pivot has cancelled against its own
// scale is named by redundant_rows() and gets no impulse; the others then carry the load, and the
// equation of the row holds as far as the right hand side is consistent.
//
// What changes is found by comparing numbers: only the fronts of changed nodes and those above them
// are factored again, with the same result, bit by bit, as from scratch. A row that is switched off
// keeps its place, so that switching rows needs no new analysis; a new row takes a free place
// beside rows with the same bodies. Everything else is analysed anew.
//
// Refuses nonsymmetric M̂: SaddleLu factors the Delassus matrix of those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/constraint_graph.h"

namespace stiction {

struct LdltPanel;

class SaddleLdlt {
 public:
  enum class Status {
    kFactored,
    kNonsymmetric,  // a mass block is not symmetric
    kIndefinite,    // a mass block is not positive definite, or a number is not finite
  };

  /// What is kept beside the factors, about three times their size in packings.
  enum class Memory {
    kPartial,  // what fronts hand to each other: a change refactors only what depends on it
    kLean,     // nothing: any change refactors everything
  };
  explicit SaddleLdlt(Memory memory = Memory::kPartial) : is_lean_(memory == Memory::kLean) {}

  /// Prepares for the rows marked (one mark per row of the problem, bilateral rows first). Nothing
  /// to do, and no allocation, if rows, bodies and order are the same as before.
  void analyse(const StepProblem& problem, const std::vector<char>& candidates);

  /// Factors with the marked rows, which need not be those of the analysis: see above.
  /// `extra_compliance` (empty, or one number per row of the problem) is added to C.
  [[nodiscard]] Status factor(const StepProblem& problem, const std::vector<char>& active,
                              const std::vector<double>& extra_compliance = {});

  enum class Refinement {
    kFull,       // until every equation holds to rounding
    kNone,       // one pass: loses the digits by which pivots are small
    kContinued,  // one pass that corrects the last solution, for right-hand sides that settle
  };

  /// Solves for w (num_dofs) and x (one per row of the problem, zero for inactive and redundant
  /// ones) from f and g of the same sizes. Entries of g of inactive rows do not count.
  void solve(const std::vector<double>& f, const std::vector<double>& g, std::vector<double>& w,
             std::vector<double>& x, Refinement refinement = Refinement::kFull);

  /// Rows of the last factorisation that depend on others, increasing.
  const std::vector<int>& redundant_rows() const { return redundant_rows_; }

  int num_fronts() const { return static_cast<int>(fronts_.size()); }
  int fronts_refactored() const { return fronts_refactored_; }
  /// Multiplications of the last factorisation.
  std::int64_t flops() const { return flops_; }
  /// Numbers in the factors.
  std::size_t num_factor_entries() const { return panels_.size(); }
  int num_analyses() const { return num_analyses_; }

 private:
  struct Front {
    int first_node = 0, num_nodes = 0;  // in elimination order
    int first_pivot = 0, num_pivots = 0, num_rows = 0;
    int rest_begin = 0;  // into rest_ and relative_: rows that are not pivots
    int parent = -1;
    int child_begin = 0, child_end = 0;
    int item_begin = 0, item_end = 0;
    std::size_t panel = 0, update = 0, weight = 0;
    std::int64_t flops = 0;
  };
  /// A dense block of the matrix that goes into the pivot columns of a front.
  struct Item {
    enum class Kind : char { kMass, kCompliance, kJacobian, kTransposed };
    Kind kind;
    int node;                   // whose numbers these are
    int row, column;            // in the front, of the first number
    int num_rows, num_columns;  // of the stored block
    int stride;
    std::size_t value;
  };

  void rebuild(const StepProblem& problem, const std::vector<char>& candidates);
  bool is_same_order(const StepProblem& problem);
  void find_structure();
  void postorder(const std::vector<std::vector<int>>& children);
  void form_fronts();
  void link_fronts();
  void list_items();
  void append_items(int place, const std::vector<int>& local);
  void lay_out();
  void lay_out_fronts();
  bool place_rows(const StepProblem& problem, const std::vector<char>& active);
  bool load(const StepProblem& problem, const std::vector<char>& active,
            const std::vector<double>& extra);
  bool load_bodies(const StepProblem& problem);
  void load_group(const StepProblem& problem, int g, const std::vector<char>& active,
                  const std::vector<double>& extra);
  bool has_compliance_left() const;
  bool has_unsafe_pivot(const StepProblem& problem);
  Status factor_fronts();
  bool refactor(int f);
  void assemble(const Front& front, const Item& item);
  void add_child(const Front& child, const Front& front, double* target);
  LdltPanel panel_of(const Front& front);
  void name_redundant_rows();
  void store(std::size_t at, double value, int node) {
    if (values_[at] == value) return;
    values_[at] = value;
    is_changed_[node] = 1;
  }
  void solve_once();
  void refine();
  void add_correction();
  double compute_residual();
  double subtract_group(int g);

  ConstraintGraph graph_;
  std::vector<int> order_, position_;        // node at a place of the elimination; its inverse
  std::vector<int> start_;                   // first permuted unknown of a place
  std::vector<std::vector<int>> structure_;  // later places that a place updates
  std::vector<int> parent_;
  std::vector<Front> fronts_;
  std::vector<int> rest_, relative_, children_;
  std::vector<Item> items_;
  std::vector<std::size_t> value_start_;  // of the numbers of a node
  std::vector<double> values_;            // M̂ by bodies; R, then C, by groups
  std::vector<char> is_changed_;          // per node
  std::vector<char> is_stale_;            // per front
  std::vector<char> is_row_;              // per permuted unknown
  std::vector<double> panels_, updates_, weights_, pivot_, inverse_;
  std::vector<double> own_update_;  // of the front at hand, if updates_ is a stack
  std::vector<double> packed_;      // one row while it is loaded
  std::vector<int> redundant_rows_;
  std::vector<char> active_slot_;
  std::vector<double> unknown_, right_side_, residual_, size_, gather_;  // by body dofs, then slots
  std::vector<double> permuted_;
  std::vector<int> natural_;  // place of a permuted unknown among body dofs, then slots
  int fronts_refactored_ = 0, num_analyses_ = 0;
  std::int64_t flops_ = 0;
  bool is_lean_ = false;      // updates_ is a stack
  bool is_exact_ = false;     // the graph was built for the present rows, not only fitted
  bool is_factored_ = false;  // panels belong to values_
  bool has_failed_ = false;   // the last time
};

}  // namespace stiction
