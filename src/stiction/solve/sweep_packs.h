// Contacts in packs of four that a Gauss–Seidel sweep visits at once, one in each lane of a vector.
// For problems that consist of contacts between rigid bodies with friction discs and nothing else:
// piles, walls, heaps of logs.
//
// A sweep in packs computes what one in the order of the units computes. A pack holds contacts that
// share no body, and of two contacts that share one the earlier is in an earlier pack: whoever is
// visited finds the velocities that it would have found. Contacts of a task (sweep_order.h) go, one
// after the other, into the first pack with room behind all packs of their bodies.
//
// Bodies are kept in coordinates in which their mass is one: with M̂ = L Lᵀ, w' = Lᵀw and J' = J L⁻ᵀ
//
//   u = J' w',   w' ← w' + J'ᵀ change,
//
// so that a contact needs its pieces once, not beside M̂⁻¹ times them, which halves what a sweep has
// to fetch. M̂ must be symmetric for that. See docs/solvers/nsgs.md for what it gains.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/contact_blocks.h"
#include "stiction/solve/gauss_seidel_state.h"
#include "stiction/solve/sweep_order.h"

namespace stiction {

/// Numbers of the contacts of a pack stand beside each other, one for each lane.
struct alignas(64) SweepPack {
  static constexpr int kLanes = 4;
  double J[3][12][kLanes];  // columns of the first body, then of the second
  double W[6][kLanes];      // 00, 01, 02, 11, 12, 22; compliance included
  double inverse[6][kLanes];
  double mu[kLanes];
  double rate[kLanes];  // ω over the square of the scale
  double bias[3][kLanes];
  double compliance[3][kLanes];
  /// Where velocities begin. A body behind all others, which does not move, stands for a missing
  /// one: every task has its own, since it is written like others.
  std::ptrdiff_t place[2][kLanes];
  int contact[kLanes];  // −1: there is none
};

class SweepPacks {
 public:
  /// False if there is anything but contacts with discs between bodies of six coordinates, coupling
  /// between rows, a mass block that is not symmetric, or a contact without W⁻¹; then nothing below
  /// may be called. `blocks` must outlive the sweeps.
  bool lay_out(const StepProblem& problem, const ContactBlocks& blocks, const SweepOrder& order);

  /// Those contacts of `whole` that are in `order`, in that order, with their bodies, as they are
  /// now. What becomes of them goes back by return_to(); load and store are for a whole only.
  void select(const SweepPacks& whole, const SweepOrder& order);
  void return_to(SweepPacks& whole) const;

  void load(const SweepState& state);
  /// x and w of the state; its u follows from x.
  void store(SweepState& state) const;
  /// What motion of a contact is measured against, [√J] per contact, from now on.
  void set_scales(std::span<const double> scale);
  /// One sweep. Returns the largest change of an impulse in the terms of (T23), the square of what
  /// it moves relative to the scale of its contact: about the error that was there before.
  double run();
  /// The change of a contact by the last sweep.
  double change(int contact) const { return change_of(lane_of_[contact]); }

  /// Impulses, pack by pack, then velocities: affine in the impulses, as SweepState's.
  std::span<double> values() { return {numbers(), kLineSize * lines_.size()}; }
  /// Where velocities begin in it.
  std::size_t first_velocity() const {
    return static_cast<std::size_t>(kLineSize) * first_body_line_;
  }
  /// √ω per impulse.
  const std::vector<double>& weight() const { return weight_; }
  int num_packs() const { return num_packs_; }
  std::span<const SweepPack> packs() const { return std::span(packs_).first(num_packs_); }
  int num_contacts() const { return num_contacts_; }

 private:
  static constexpr int kLineSize = 8;
  /// A line of the cache: the velocity of a body and two zeros.
  struct alignas(64) Line {
    double value[kLineSize];
  };
  struct alignas(32) Change {
    double value[SweepPack::kLanes];
  };
  /// How velocities and pieces of a body are scaled. Masses are diagonal or have a factor L.
  struct Body {
    int dof = 0;
    int factor = -1;                          // place of L in factors_, row by row; −1: diagonal
    double root[6] = {}, reciprocal[6] = {};  // of the diagonal of L
  };
  static constexpr int kBodySize = 6, kFactorSize = kBodySize * kBodySize;
  /// Bodies of a contact, −1: none.
  struct Ends {
    int body[2] = {-1, -1};
  };
  static constexpr int kNone = -1;

  static bool is_packable(const ContactBlocks& blocks);
  bool scale_bodies(const StepProblem& problem);
  bool factor_body(const StepProblem& problem, int block, Body& body);
  void list_ends();
  void form_packs(const SweepOrder& order);
  void place(int contact, int first_pack);
  void make_room();
  int find_room(int pack);
  static void clear_piece(SweepPack& pack, int side, int lane, std::ptrdiff_t nobody);
  static void clear_lane(SweepPack& pack, int lane, std::ptrdiff_t nobody);
  void fill_pack(int pack);
  void fill_lane(int pack, int lane);
  void copy_lane(const SweepPacks& whole, int pack, int lane);
  void scale_piece(const Body& body, const double* jacobian, double* out) const;
  void scale_velocity(const Body& body, const double* w, double* out) const;
  void restore_velocity(const Body& body, const double* from, double* w) const;
  void weigh();
  /// All lines as one array.
  double* numbers() { return reinterpret_cast<double*>(lines_.data()); }
  const double* numbers() const { return reinterpret_cast<const double*>(lines_.data()); }
  static constexpr int kImpulses = 3 * SweepPack::kLanes;  // of a pack
  double* impulses(int pack) { return numbers() + std::ptrdiff_t{kImpulses} * pack; }
  const double* impulses(int pack) const { return numbers() + std::ptrdiff_t{kImpulses} * pack; }
  double change_of(int lane) const {
    return changes_[lane / SweepPack::kLanes].value[lane % SweepPack::kLanes];
  }
  std::ptrdiff_t nobody(int pack) const {
    return static_cast<std::ptrdiff_t>(kLineSize) * (num_bodies_ + task_of_[pack]);
  }
  double* velocities() { return numbers() + first_velocity(); }

  const ContactBlocks* blocks_ = nullptr;
  std::vector<SweepPack> packs_;  // the first num_packs_ are in use
  int num_packs_ = 0;
  std::vector<int> phase_start_;  // in tasks
  std::vector<int> task_start_;   // in packs
  std::vector<int> task_of_;      // per pack
  std::vector<Line> lines_;
  int first_body_line_ = 0;
  std::vector<int> body_of_;  // per mass block; −1: no contact touches it
  std::vector<Body> bodies_;
  std::vector<double> factors_;
  std::vector<double> weight_;
  std::vector<int> count_, room_;  // per pack: contacts in it, and where to look for room
  std::vector<int> last_pack_;     // per body
  std::vector<Ends> ends_;         // per contact of the problem
  std::vector<int> lane_of_;       // per contact of the problem: its number among all lanes
  std::vector<int> origin_;        // of a selection: the number of a body in the whole
  std::vector<int> local_of_;      // and the other way round
  std::vector<double> task_change_;
  std::vector<Change> changes_;  // per pack, by the last sweep
  int num_bodies_ = 0, num_contacts_ = 0;
};

/// Impulses and velocities as SweepPacks has them, and what becomes of the changes.
struct PackState {
  double* x;       // of the first pack
  double* w;       // of the first body
  double* change;  // of the first lane
};

/// Visits packs one after the other. Returns the largest change.
double visit_packs(const ContactBlocks& blocks, std::span<const SweepPack> packs,
                   const PackState& state);
/// The same, to the bit, with the vectors of two numbers that every processor has.
double visit_packs_by_two(const ContactBlocks& blocks, std::span<const SweepPack> packs,
                          const PackState& state);

}  // namespace stiction
