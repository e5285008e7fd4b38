// A step as the sequence of problems that it was made of: what whoever wants to check its laws has
// to know beside its end. Kept only where somebody asks for it (StepResult::phases).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stiction/model/model.h"

namespace stiction {

/// Which equations a phase satisfies.
enum class PhaseKind : std::uint8_t {
  kStep,             // the scheme's own, over a step or substep
  kImpact,           // h = 0: Newton's law, or compression by Poisson's                  (T25)
  kDecompression,    // h = 0, follows kImpact                                            (T26)
  kInelasticImpact,  // h = 0, restitution 0 throughout
  kPositionLevel,    // gaps and constraints at the end of the step, q̂ iterated            (T19)
  kLinearPositionLevel,  // the same with q̂ = q + h v
  kMidpoint,             // implicit midpoint rule, iterated                                  (T31)
  kVelocityProjection,   // h = 0: velocities that joints allow, after kMidpoint
  kProjection,           // of positions onto constraints and gaps; has no impulses
};
inline constexpr int kNumPhaseKinds = 9;
std::string_view to_text(PhaseKind kind);

/// A contact of a phase, where its rows were evaluated.
struct PhaseContact {
  std::uint64_t key = 0;
  int shape_a = -1, shape_b = -1;          // by their number; −1: a contact with a name
  std::array<double, 3> point{0, 0, 0};    // [m] world; zero without shapes, as the next
  std::array<double, 3> normal{0, 0, 0};   // from b to a
  double gap = 0;                          // [m]
  std::array<double, 3> impulse{0, 0, 0};  // [N s] of the whole problem
  std::array<double, 3> turning{0, 0, 0};  // [N] that geometric stiffness was made of  (T28)
};

struct StepPhase {
  PhaseKind kind = PhaseKind::kStep;
  double length = 0;  // [s] of the problem
  double share = 1;   // of it that was used: an event may cut it short
  State start;
  /// Where rows were evaluated, for kinds that iterate: t is that of the rows, v the velocity that
  /// the iteration started from. Empty q for all others.
  State rows;
  std::vector<double> joint_impulses;  // [N s] per joint row, of the whole problem
  std::vector<double> turning;         // [N] per joint row that geometric stiffness was made of
  std::vector<PhaseContact> contacts;

  /// Takes this one for a new phase; storage is kept.
  void begin(PhaseKind new_kind, const State& new_start) {
    kind = new_kind;
    length = 0;
    share = 1;
    start.t = new_start.t;
    start.q = new_start.q;
    start.v = new_start.v;
    rows.q.resize(0);
    rows.v.resize(0);
    turning.clear();
    joint_impulses.clear();
    contacts.clear();
  }
};

/// Phases of one step, with storage that is reused.
class PhaseLog {
 public:
  bool is_on = false;

  void clear() { size_ = 0; }
  int size() const { return size_; }
  const StepPhase& operator[](int i) const { return phases_[i]; }
  StepPhase& operator[](int i) { return phases_[i]; }
  StepPhase& add(PhaseKind kind, const State& start) {
    if (size_ == static_cast<int>(phases_.size())) phases_.emplace_back();
    phases_[size_].begin(kind, start);
    return phases_[size_++];
  }

 private:
  std::vector<StepPhase> phases_;
  int size_ = 0;
};

}  // namespace stiction
