// Contacts in packs that a Gauss–Seidel sweep visits at once, one in each lane of a vector: four in
// double precision, eight in single. For problems that consist of contacts between rigid bodies
// with friction discs and nothing else: piles, walls, heaps of logs.
//
// A sweep in packs computes what one in the order of SweepOrder computes. A pack holds contacts
// that share no body, and of two contacts that share one the earlier is in an earlier pack: whoever
// is visited finds the velocities that it would have found. Contacts of a task (sweep_order.h) go,
// one after the other, into the first pack with room behind all packs of their bodies.
//
// Bodies are kept in coordinates in which their mass is one: with M̂ = L Lᵀ, w' = Lᵀw and J' = J L⁻ᵀ
//
//   u = J' w',   w' ← w' + J'ᵀ change,
//
// so that a contact needs its pieces once, not beside M̂⁻¹ times them, which halves what a sweep has
// to fetch. M̂ must be symmetric for that. See docs/solvers/nsgs.md for what it gains.
//
// Single precision has next to no room for units: there a contact counts impulses in D/√ω and
// velocities in D√ω, ω the trace of W, and bodies theirs in D, the largest motion of the problem
// [√J], so that J', W and all answers are about one. Velocities are known to 10⁻⁶ of the impulses
// at a body, which is plenty until a sweep changes next to nothing; whoever needs more goes on in
// double precision.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/contact_blocks.h"
#include "stiction/solve/gauss_seidel_state.h"
#include "stiction/solve/sweep_order.h"

namespace stiction {

/// Numbers of the contacts of a pack stand beside each other, one for each lane.
template <class Real>
struct alignas(64) SweepPack {
  static constexpr int kLanes = 32 / sizeof(Real);
  Real J[3][12][kLanes];  // columns of the first body, then of the second
  Real W[6][kLanes];      // 00, 01, 02, 11, 12, 22; compliance included
  Real inverse[6][kLanes];
  Real size[kLanes];  // ‖W‖
  Real mu[kLanes];
  Real rate[kLanes];  // of the square of a change to (T23)
  Real bias[3][kLanes];
  Real compliance[3][kLanes];
  /// Where velocities begin. A body behind all others, which does not move, stands for a missing
  /// one: every task has its own, since it is written like others.
  std::ptrdiff_t place[2][kLanes];
  int contact[kLanes];  // −1: there is none
};

/// `Real` is double or float.
template <class Real>
class SweepPacks {
 public:
  using Pack = SweepPack<Real>;

  /// False if there is anything but contacts with discs between bodies of six coordinates, coupling
  /// between rows, a mass block that is not symmetric, or a contact without W⁻¹ (in single
  /// precision: without a good one); then nothing below may be called. `blocks`, whose local
  /// problems are not asked for, and `order` must outlive the sweeps.
  bool lay_out(const StepProblem& problem, const ContactBlocks& blocks, const SweepOrder& order);

  void load(const SweepState& state);
  /// x and w of the state; its u follows from x.
  void store(SweepState& state) const;
  /// x alone.
  void store_impulses(SweepState& state) const;
  /// What motion of a contact is measured against, [√J] per contact, from now on.
  void set_scales(std::span<const double> scale);
  /// Contacts that slide are held back by this share of their way, in [0, 1), from now on.
  void set_hold(double share) { hold_ = static_cast<Real>(share); }
  /// Momentum: the next sweep begins from z + β (z − z'), where z is what the last one came to and
  /// z' what it was at the call before; from z where there is none. Threads do that for the part
  /// that they visit themselves. β in [0, 1).
  void carry_on(double beta);
  /// Does at once what the last call asked for, for whoever reads or stores the state now.
  void settle();
  /// Momentum begins anew.
  void forget_momentum() { has_image_ = is_due_ = false; }
  /// One sweep. Returns the largest change of an impulse in the terms of (T23), the square of what
  /// it moves relative to the scale of its contact: about the error that was there before.
  double run();
  /// Impulses, pack by pack, then velocities: affine in the impulses, as SweepState's.
  std::span<Real> values() { return {numbers(), kLineSize * lines_.size()}; }
  /// Where velocities begin in it.
  std::size_t first_velocity() const {
    return static_cast<std::size_t>(kLineSize) * first_body_line_;
  }
  /// √ω per impulse, in the units of the impulses.
  const std::vector<Real>& weigh();
  /// [√J] D in single precision, otherwise 1.
  double unit() const { return unit_; }
  int num_packs() const { return num_packs_; }
  std::span<const Pack> packs() const { return std::span(packs_).first(num_packs_); }

 private:
  static constexpr bool kIsSingle = sizeof(Real) == sizeof(float);
  static constexpr int kLanes = Pack::kLanes;
  static constexpr int kLineSize = 8;
  /// The velocity of a body and two zeros: a line of the cache, or half of one.
  struct alignas(kLineSize * sizeof(Real)) Line {
    Real value[kLineSize];
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

  static bool is_packable(const StepProblem& problem, const ContactBlocks& blocks);
  static bool is_packable(const StepProblem& problem, const ContactBlocks& blocks, int contact);
  bool choose_unit();
  double contact_unit(int contact) const { return contact_unit_[contact]; }
  bool list_contact_units();
  static double trace(const ContactBlocks& blocks, int contact);
  void number_bodies(const SweepOrder& order);
  bool scale_bodies(const StepProblem& problem);
  static bool take_roots(const StepProblem& problem, int block, Body& body);
  static bool invert_roots(Body& body);
  bool factor_body(const StepProblem& problem, Body& body);
  void list_ends();
  void form_packs(const SweepOrder& order);
  /// The packs of one task while contacts are placed, numbered from zero.
  struct TaskPacks {
    std::vector<std::array<int, kLanes>> contact;
    std::vector<int> count, room;  // contacts in it, and where to look for room
    int num_packs() const { return static_cast<int>(count.size()); }
    void clear();
    int find_room(int pack);
    void add(int number, int pack);
  };
  void form_task(std::span<const int> contacts, TaskPacks& packs);
  void append_packs(const TaskPacks& packs);
  void make_room();
  static void clear_piece(Pack& pack, int side, int lane, std::ptrdiff_t nobody);
  static void clear_local(Pack& pack, int lane);
  static void clear_lane(Pack& pack, int lane, std::ptrdiff_t nobody);
  bool fill_packs();
  void fill_pack(int pack);
  void ask_for(int pack, int lane) const;
  void fill_lane(int pack, int lane);
  bool fill_local(Pack& pack, int count) const;
  void scale_piece(const Body& body, const double* jacobian, double* out) const;
  void scale_velocity(const Body& body, const double* w, double* out) const;
  void restore_velocity(const Body& body, const Real* from, double* w) const;
  void run_by_two();
  void run_by_all();
  void run_task(int task);
  void carry_on_slab(int slab);
  void carry_on_bodies(int slab);
  void carry_on_task(int task);
  void carry_on_numbers(std::ptrdiff_t first, std::ptrdiff_t end);
  /// All lines as one array.
  Real* numbers() { return reinterpret_cast<Real*>(lines_.data()); }
  const Real* numbers() const { return reinterpret_cast<const Real*>(lines_.data()); }
  static constexpr int kImpulses = 3 * kLanes;  // of a pack
  Real* impulses(int pack) { return numbers() + std::ptrdiff_t{kImpulses} * pack; }
  const Real* impulses(int pack) const { return numbers() + std::ptrdiff_t{kImpulses} * pack; }
  std::ptrdiff_t nobody(int pack) const {
    return static_cast<std::ptrdiff_t>(kLineSize) * (num_bodies_ + task_of_[pack]);
  }
  Real* velocities() { return numbers() + first_velocity(); }

  const StepProblem* problem_ = nullptr;
  const ContactBlocks* blocks_ = nullptr;
  double unit_ = 1;
  std::vector<Pack> packs_;  // the first num_packs_ are in use
  int num_packs_ = 0;
  const SweepOrder* order_ = nullptr;
  std::vector<int> task_start_;  // in packs
  std::vector<int> task_of_;     // per pack
  std::vector<Line> lines_;
  int first_body_line_ = 0;
  std::vector<int> body_of_;     // per mass block; −1: no contact touches it
  std::vector<int> block_of_;    // per body
  std::vector<int> body_start_;  // per slab, and the end: bodies by the slab that visits them first
  std::vector<Body> bodies_;
  std::vector<double> factors_;
  std::vector<double> motion_;  // of choose_unit
  std::vector<Real> weight_;
  std::vector<TaskPacks> forming_;  // per task
  std::vector<int> count_;          // per pack: contacts in it
  std::vector<int> last_pack_;      // per body, among those of the task that visits it
  std::vector<Ends> ends_;          // per contact of the problem
  std::vector<double> contact_unit_;
  std::vector<double> task_change_;
  int num_bodies_ = 0;
  Real hold_ = 0;
  std::vector<Line> image_;  // z', line by line
  Real momentum_ = 0;
  bool has_image_ = false, is_due_ = false;
};

/// Impulses and velocities as SweepPacks has them.
template <class Real>
struct PackState {
  Real* x;        // of the first pack
  Real* w;        // of the first body
  Real hold = 0;  // see SweepPacks::set_hold
};

/// Visits packs one after the other. Returns the largest change.
template <class Real>
double visit_packs(std::span<const SweepPack<Real>> packs, const PackState<Real>& state);
/// The same, to the bit, with the vectors of 16 bytes that every processor has.
template <class Real>
double visit_packs_by_halves(std::span<const SweepPack<Real>> packs, const PackState<Real>& state);

}  // namespace stiction
