// What an audit found: for every law how often it was checked, its worst figure, and where. A
// figure is a violation in the unit of its law; a law is broken where a figure exceeds its
// tolerance, both finite. What is not a number breaks every law.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stiction {

enum class Law : std::uint8_t {
  kTime,             // steps follow each other, their phases fill them
  kQuaternions,      // of unit length
  kMotion,           // positions follow from velocities as the scheme says
  kMomentum,         // balance of every body                                            (T1)
  kJointRows,        // constraints, springs, velocity rows                              (T2)
  kEffortBounds,     // of motors and friction in joints                                 (T2)
  kCones,            // impulses inside the friction cones                               (T4)
  kComplementarity,  // an impulse only where nothing moves in or out                    (T3)
  kDissipation,      // friction dissipates most                                         (T4)
  kGaps,             // those recorded are those of the shapes
  kContactsFound,    // what touches has a contact
  kPenetration,      // no deeper than the scheme's own error
  kTunnelling,       // nothing passes through anything between two rows
  kEnergy,           // every entry of the ledger, and its closure                       (T30)
  kTotals,           // rows of a step are the sums of its phases
  kCertificate,      // recorded residuals are those of the step                         (T20–T22)
  kStatus,           // flags and the end of the run tell what happened
};
inline constexpr int kNumLaws = 17;
std::string_view to_text(Law law);
/// One sentence: what the law says.
std::string_view statement_of(Law law);

struct Finding {
  double figure = 0, tolerance = 0;
  std::int64_t step = -1;  // as in /step; −1: the recording as a whole
  double time = 0;         // [s]
  std::string where{};     // contact, joint, body and which quantity, with its unit
  double ratio() const;    // figure/tolerance; infinite for what is not a number
};

struct LawOutcome {
  std::int64_t checks = 0;
  std::int64_t broken = 0;                        // checks that failed
  Finding worst;                                  // by ratio
  Finding first_broken;                           // in order of time
  std::map<std::string, std::int64_t> unchecked;  // why, and how many steps
};

class AuditReport {
 public:
  /// Says where and what; names of things are made only where they matter.
  using Where = std::function<std::string()>;
  void begin_step(std::int64_t step, double time) {
    step_ = step;
    time_ = time;
  }
  template <class AnyWhere>
  void check(Law law, double figure, double tolerance, const AnyWhere& where) {
    const Finding finding{.figure = figure, .tolerance = tolerance, .step = step_, .time = time_};
    if (count(law, finding)) keep(law, finding, where());
  }
  /// Says why a law could not be checked, once per step.
  void skip(Law law, const std::string& reason);

  const LawOutcome& operator[](Law law) const { return outcomes_[static_cast<std::size_t>(law)]; }
  bool is_broken() const;
  // Of the row looked at last.
  std::int64_t step() const { return step_; }
  double time() const { return time_; }

  std::int64_t steps = 0;          // rows that were read
  std::vector<std::string> notes;  // about the recording as a whole

 private:
  /// Whether the finding is the worst so far or the first that breaks its law.
  bool count(Law law, const Finding& finding);
  void keep(Law law, Finding finding, std::string where);

  std::array<LawOutcome, kNumLaws> outcomes_;
  std::map<std::pair<Law, std::string>, std::int64_t> last_skip_;
  std::int64_t step_ = -1;
  double time_ = 0;
};

}  // namespace stiction
