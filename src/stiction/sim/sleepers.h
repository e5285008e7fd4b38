// Bodies that sleep: groups that are at rest to the precision of (T37), meet nothing that moves,
// and whose step problem is the same numbers in every step. They take no part in steps until one
// of these numbers changes or something comes near. What observers see of them, contacts with
// their impulses and certificates, is what it was in the step that they fell asleep in.
//
// Whether a group sleeps or is solved again in every step cannot be seen in any result: awake it
// has the same answer to the bit (RestingSolver). So nothing is lost when it is woken in vain.
#pragma once

#include <vector>

#include "stiction/base/disjoint_sets.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/resting_solver.h"

namespace stiction {

class Sleepers {
 public:
  explicit Sleepers(RestingSolver& solver) : solver_(&solver) {}

  int num_asleep() const { return num_asleep_; }  // blocks
  std::int64_t num_wakes() const { return num_wakes_; }

  /// Before a step from `state` is tried.
  void begin_step(const ContactModel& model, const State& state, bool looks_for_rest);

  /// Wakes those that the last detection saw meet something, or whose problem has changed. Their
  /// contacts go back to `memory`. True if there were any: contacts are to be detected again.
  bool wake_met(ContactModel& model, SchemeMemory& memory);
  bool wake_changed(ContactModel& model, SchemeMemory& memory);
  void wake_all(ContactModel& model, SchemeMemory& memory);

  /// Adds what sleeps to the outcome of a step.
  void complete(SolveStage& stage, StepResult& result) const;
  /// Adds what is remembered of contacts that sleep.
  void complete(SchemeMemory& memory) const;
  /// After a step was taken, before complete(): puts to sleep what may be. `result` is that of the
  /// step, with its end in `end`.
  void settle(ContactModel& model, const SolveStage& stage, const State& end,
              const StepResult& result);

 private:
  struct Group {
    bool is_in_use = false;
    int num_blocks = 0;
    std::vector<ContactOutcome> contacts;
    std::vector<PhaseContact> phase_contacts;
    SchemeMemory memory;
    Certificate certificate;
  };

  void join_rows(const BlockRows& rows);
  void find_groups(const ContactModel& model, const StepResult& result);
  bool make_groups();
  void furnish_groups(const ContactModel& model, const SolveStage& stage, const State& end,
                      const StepResult& result);
  void wake(int group, ContactModel& model, SchemeMemory& memory);
  void tell(ContactModel& model) const;

  RestingSolver* solver_;
  std::vector<Group> groups_;  // numbered like those of the solver
  int num_asleep_ = 0;
  std::int64_t num_wakes_ = 0;
  std::vector<char> is_asleep_;           // per block
  std::vector<char> is_still_, is_kept_;  // scratch, per block
  DisjointSets sets_;                     // of blocks
  std::vector<int> members_, new_groups_;
  std::vector<std::pair<std::uint64_t, int>> group_of_key_;
  KeptVector gaps_;
};

}  // namespace stiction
