// A step problem laid out for Gauss–Seidel sweeps. Bilateral rows (units of one row) and contacts
// (units of one to three rows) come in one list, in the order of all rows. The state of a sweep is
//
//   x   impulses of all rows,
//   u   K x + diag(C) x + bias, the part of the row velocities that does not come from bodies,
//   w   M̂⁻¹(p + Rᵀx), the velocities of the bodies,
//
// so that a unit moves with u + R w (T6). A change of its impulse costs its own Jacobian pieces,
// stored next to M̂⁻¹ times them, and its own columns of K: nothing is ever assembled over pairs of
// contacts that meet at a body, and memory is linear in the number of contacts.
//
// K is kept by columns, in dense blocks of unit by unit. By rows a visit would have to gather all
// neighbours of a contact even if nothing changes; by columns open and settled contacts cost
// nothing, and the residual finds u ready.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "stiction/base/worker_pool.h"
#include "stiction/problem/step_problem.h"
#include "stiction/solve/one_contact.h"

namespace stiction {

class ContactBlocks {
 public:
  struct Unit {
    int row;             // first row, counted over bilateral and contact rows
    int dim;             // 1 for bilateral rows
    int entry_begin;     // pieces [entry_begin, entry_begin of the next unit)
    int coupling_begin;  // the same for the blocks of K in the columns of this unit
  };
  /// One Jacobian piece: dim × columns numbers of the problem, row by row, and where the rows of
  /// (M̂⁻¹Jᵀ)ᵀ are. Rigid bodies whose M̂ is diagonal have none: they follow from the Jacobian and
  /// six reciprocals, which are nearer than as many numbers again.
  struct Entry {
    int dof;
    int columns;
    int block;
    const double* jacobian;
    std::size_t moved;
    bool has_moved() const { return moved != kNowhere; }
  };
  static constexpr auto kNowhere = static_cast<std::size_t>(-1);
  /// A block of K: rows [row, row + num_rows) in the columns of the unit, stored column by column.
  struct Coupling {
    int row;
    int num_rows;
    std::size_t values;
  };

  /// Where a body and a unit meet, and the other body there.
  struct Meeting {
    int unit;
    int entry;
    int other;  // mass block, kNobody or kSeveral
  };
  static constexpr int kNobody = -1, kSeveral = -2;

  /// Fills everything from `problem`; keeps its storage. False if a mass block is singular or a
  /// local matrix is not finite. Problem and workers, if there are any, must outlive the layout:
  /// Jacobians stay where they are.
  bool assemble(const StepProblem& problem, WorkerPool* workers = nullptr);
  /// The same without local problems and their sizes: `contact`, `bilateral_W` and `omega` are
  /// what assemble_local adds.
  bool assemble_rows(const StepProblem& problem, WorkerPool* workers = nullptr);
  void assemble_local();

  int num_units() const { return static_cast<int>(units_.size()) - 1; }
  int num_bilateral() const { return num_bilateral_; }
  int num_rows() const { return num_rows_; }
  int num_dofs() const { return num_dofs_; }
  const Unit& unit(int i) const { return units_[i]; }
  const Entry& entry(int e) const { return entries_[e]; }
  const Coupling& coupling(int k) const { return couplings_[k]; }
  /// (M̂⁻¹Jᵀ)ᵀ of an entry that has it.
  const double* moved(const Entry& entry) const { return moved_.data() + entry.moved; }
  /// Of the diagonal M̂ of an entry that has not.
  const double* reciprocals(const Entry& entry) const { return reciprocals_.data() + entry.dof; }
  const double* coupling_values(int k) const {
    return coupling_values_.data() + couplings_[k].values;
  }
  /// J_a M̂⁻¹J_aᵀ per row of a piece, with room for three; finite.
  const double* entry_squares(int e) const {
    return entry_squares_.data() + 3 * static_cast<std::ptrdiff_t>(e);
  }
  /// The local problem of contact j = unit num_bilateral() + j.
  const OneContact& contact(int j) const { return contacts_[j]; }
  /// Diagonal of W of a bilateral row.
  double bilateral_W(int i) const { return bilateral_W_[i]; }
  /// The size of the diagonal block of W of a unit, by which impulses are made comparable; where
  /// that is not positive the largest entry of |K| in its rows; zero if no impulse can move it.
  double omega(int i) const { return omega_[i]; }
  double compliance(int row) const { return compliance_[row]; }
  double bias(int row) const { return bias_[row]; }
  double lower(int i) const { return lower_[i]; }
  double upper(int i) const { return upper_[i]; }
  /// M̂⁻¹p.
  const std::vector<double>& free_velocity() const { return free_velocity_; }
  bool has_coupling() const { return !couplings_.empty(); }
  bool has_bodies() const { return num_dofs_ > 0; }
  int num_blocks() const { return static_cast<int>(meeting_start_.size()) - 1; }
  /// The units that touch a mass block, in their order: sums over them have the same bits as if
  /// units were taken one after the other.
  std::span<const Meeting> meetings(int block) const {
    return std::span(meetings_).subspan(meeting_start_[block],
                                        meeting_start_[block + 1] - meeting_start_[block]);
  }
  /// Who shares out the work on this layout; none: one thread does it.
  WorkerPool* workers() const { return workers_; }

  /// Whether it is too large for the cache of a core, so that numbers should be asked for ahead.
  bool is_large() const { return num_units() > 500; }
  /// Asks for the numbers of a contact, unit num_bilateral() + j, which will be read soon.
  void ask_for(int j) const;

  /// u and w of given impulses, from scratch.
  void compute_state(const double* x, double* u, double* w) const;

 private:
  void lay_out(const StepProblem& problem);
  void find_diagonal_blocks(const StepProblem& problem);
  void place_units(const StepProblem& problem, const BlockRows& rows, int first, int first_entry);
  void place_moved();
  void list_meetings(int num_blocks);
  bool factor_mass(const StepProblem& problem);
  bool factor_block(const StepProblem& problem, int block);
  void divide_by_diagonal(const StepProblem& problem, int block);
  void compute_inverse_column(const StepProblem& problem, int block, int i);
  void prepare_large_columns(const StepProblem& problem, const BlockRows& rows, int first_unit);
  void fill_entries(const StepProblem& problem, const BlockRows& rows, int first_unit);
  void fill_entry(const StepProblem& problem, int dim, const Entry& entry);
  const double* find_moved(const Entry& entry, int dim, double* room) const;
  void assemble_coupling(const RowCoupling& coupling);
  void count_coupling(const RowCoupling& coupling);
  bool is_blockwise(const RowCoupling& coupling, int i) const;
  void count_block(int i, int j);
  Coupling& place_block(int i, int j);
  void fill_coupling_row(const RowCoupling& coupling, int i, int row);
  void fill_coupling_blocks(const RowCoupling& coupling, int i);
  bool assemble_squares();
  bool find_squares(int i);
  void assemble_unit(int i);
  void compute_local_matrix(int i, double* W) const;
  void assemble_omega(int i);
  const PolygonTable* find_table(const FrictionSection& section) const;
  void ask_for_meetings(int block) const;
  void ask_for_pieces(int block, const double* x) const;
  void push_block(int block, const double* x, double* w) const;
  void push_rows(int i, const double* x, double* u) const;

  const StepProblem* problem_ = nullptr;
  int num_bilateral_ = 0, num_rows_ = 0, num_dofs_ = 0;
  std::vector<Unit> units_;  // one more than there are, for the ends
  std::vector<int> unit_of_row_;
  std::vector<Entry> entries_;
  std::vector<double> moved_;
  std::vector<double> entry_squares_;
  std::vector<Coupling> couplings_;
  std::vector<double> coupling_values_;
  std::vector<OneContact> contacts_;
  std::vector<double> bilateral_W_, omega_;
  std::vector<double> compliance_, bias_;  // of all rows; u = … + bias
  std::vector<double> lower_, upper_;
  std::vector<double> free_velocity_;
  std::vector<double> mass_lu_;
  std::vector<double> mass_inverse_;  // columns of M̂⁻¹; of large blocks those in has_column_
  std::vector<char> has_column_;      // per degree of freedom
  std::vector<char> is_diagonal_;     // per block: M̂, if it is small
  std::vector<double> reciprocals_;   // of the diagonals of these
  std::vector<int> meeting_start_;    // per block, and the end
  std::vector<Meeting> meetings_;
  std::size_t num_moved_ = 0;                                // in moved_
  bool has_large_blocks_ = false, has_other_sizes_ = false;  // than six
  WorkerPool* workers_ = nullptr;
  std::vector<int> mass_swap_;
  /// Of assemble_coupling, per unit.
  struct Column {
    int last_seen;      // last unit that had a block in its columns
    int next_block;     // where the next block goes
    int diagonal;       // its own block, −1: none
    bool is_blockwise;  // its rows hold whole blocks of K, in order
    std::size_t next_value;
  };
  std::vector<Column> columns_;
  std::deque<PolygonTable> tables_;  // addresses stay valid
};

}  // namespace stiction
