#include "stiction/sim/sleepers.h"

#include <algorithm>

namespace stiction {
namespace {

void append(const SchemeMemory& from, SchemeMemory& to) {
  to.keys.insert(to.keys.end(), from.keys.begin(), from.keys.end());
  to.contacts.insert(to.contacts.end(), from.contacts.begin(), from.contacts.end());
  to.contact_forces.insert(to.contact_forces.end(), from.contact_forces.begin(),
                           from.contact_forces.end());
  to.slips.insert(to.slips.end(), from.slips.begin(), from.slips.end());
}

/// Phases that contacts at rest have impulses in.
bool is_step(const StepPhase& phase) {
  return phase.length > 0 &&
         (phase.kind == PhaseKind::kStep || phase.kind == PhaseKind::kPositionLevel ||
          phase.kind == PhaseKind::kLinearPositionLevel);
}

}  // namespace

void Sleepers::begin_step(const ContactModel& model, const State& state, bool looks_for_rest) {
  is_still_.clear();
  for (const Model::Block& block : model.blocks())
    is_still_.push_back(state.v.segment(block.v_offset, block.size).isZero(0) ? 1 : 0);
  solver_->begin_step(is_still_, looks_for_rest);
}

// -------------------------------------------------------------------------------------------------
// Waking

void Sleepers::tell(ContactModel& model) const { model.set_asleep(is_asleep_); }

void Sleepers::wake(int index, ContactModel& model, SchemeMemory& memory) {
  Group& group = groups_[index];
  if (!group.is_in_use) return;
  for (int b = 0; b < static_cast<int>(is_asleep_.size()); ++b)
    if (solver_->group_of(b) == index) is_asleep_[b] = 0;
  solver_->wake(index);
  append(group.memory, memory);
  group.is_in_use = false;
  num_asleep_ -= group.num_blocks;
  ++num_wakes_;
  tell(model);
}

bool Sleepers::wake_met(ContactModel& model, SchemeMemory& memory) {
  if (num_asleep_ == 0 || model.met_sleepers().empty()) return false;
  for (const int block : model.met_sleepers())
    if (is_asleep_[block] != 0) wake(solver_->group_of(block), model, memory);
  return true;
}

bool Sleepers::wake_changed(ContactModel& model, SchemeMemory& memory) {
  if (solver_->changed_groups().empty()) return false;
  for (const int group : solver_->changed_groups()) wake(group, model, memory);
  return true;
}

void Sleepers::wake_all(ContactModel& model, SchemeMemory& memory) {
  for (int g = 0; g < static_cast<int>(groups_.size()); ++g) wake(g, model, memory);
}

// -------------------------------------------------------------------------------------------------
// While they sleep

void Sleepers::complete(SolveStage& stage, StepResult& result) const {
  for (const Group& group : groups_) {
    if (!group.is_in_use) continue;
    stage.include(group.certificate);
    result.contacts.insert(result.contacts.end(), group.contacts.begin(), group.contacts.end());
    for (int i = 0; i < result.phases.size(); ++i) {
      if (!is_step(result.phases[i])) continue;
      auto& contacts = result.phases[i].contacts;
      contacts.insert(contacts.end(), group.phase_contacts.begin(), group.phase_contacts.end());
    }
  }
}

void Sleepers::complete(SchemeMemory& memory) const {
  for (const Group& group : groups_)
    if (group.is_in_use) append(group.memory, memory);
}

// -------------------------------------------------------------------------------------------------
// Falling asleep

void Sleepers::join_rows(const BlockRows& rows) {
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i) + 1; e < rows.entry_start(i + 1); ++e)
      sets_.join(rows.entry_block(rows.entry_start(i)), rows.entry_block(e));
}

/// Blocks that any contact, open ones included, or any row holds together, by their roots; is_kept_
/// of a root tells that something of it keeps the group awake.
void Sleepers::find_groups(const ContactModel& model, const StepResult& result) {
  const int num_blocks = static_cast<int>(model.blocks().size());
  sets_.reset(num_blocks);
  for (int j = 0; j < model.num_contacts(); ++j)
    if (const auto [a, b] = model.blocks_of_contact(j); a >= 0 && b >= 0) sets_.join(a, b);
  join_rows(solver_->last_step()->bilateral);
  join_rows(solver_->last_step()->contacts);
  is_kept_.assign(num_blocks, 0);
  const auto keep_awake = [&](int block) {
    if (block >= 0) is_kept_[sets_.root(block)] = 1;
  };
  for (int b = 0; b < num_blocks; ++b)
    if (!solver_->rests(b) || !solver_->is_steady(b) || is_asleep_[b] != 0) keep_awake(b);
  for (int j = 0; j < model.num_contacts(); ++j) {
    const auto [a, b] = model.blocks_of_contact(j);
    if (a == ContactModel::kDriven) keep_awake(b);
    if (b == ContactModel::kDriven) keep_awake(a);
  }
  // A belt under a body at rest does work in every step.
  for (const ContactOutcome& contact : result.contacts) {
    if (contact.contact < 0 || (contact.slip[0] == 0 && contact.slip[1] == 0)) continue;
    const auto [a, b] = model.blocks_of_contact(contact.contact);
    keep_awake(a);
    keep_awake(b);
  }
}

/// Whether there are new groups.
bool Sleepers::make_groups() {
  const int num_blocks = sets_.size();
  new_groups_.assign(num_blocks, -1);  // of roots
  members_.clear();
  bool has_new = false;
  for (int b = 0; b < num_blocks; ++b)
    if (is_kept_[sets_.root(b)] == 0) members_.push_back(b);
  std::stable_sort(members_.begin(), members_.end(),
                   [&](int a, int b) { return sets_.root(a) < sets_.root(b); });
  for (std::size_t first = 0; first < members_.size();) {
    std::size_t last = first;
    while (last < members_.size() && sets_.root(members_[last]) == sets_.root(members_[first]))
      ++last;
    const int index = solver_->put_to_sleep(std::span(members_).subspan(first, last - first));
    if (index >= static_cast<int>(groups_.size())) groups_.resize(index + 1);
    Group& group = groups_[index];
    group.is_in_use = true;
    group.num_blocks = static_cast<int>(last - first);
    group.contacts.clear();
    group.phase_contacts.clear();
    group.memory = {};
    group.certificate = {};
    new_groups_[sets_.root(members_[first])] = index;
    num_asleep_ += group.num_blocks;
    for (std::size_t k = first; k < last; ++k) is_asleep_[members_[k]] = 1;
    has_new = true;
    first = last;
  }
  return has_new;
}

/// What observers are to see of new groups.
void Sleepers::furnish_groups(const ContactModel& model, const SolveStage& stage, const State& end,
                              const StepResult& result) {
  const auto group_of = [&](int block) { return block < 0 ? -1 : new_groups_[sets_.root(block)]; };
  const auto group_of_contact = [&](int j) {
    const auto [a, b] = model.blocks_of_contact(j);
    return std::max(group_of(a), group_of(b));
  };
  ContactEvaluator::compute_gaps(model, end.t, end.q, gaps_);
  model.raise_gaps(end, gaps_);
  group_of_key_.clear();
  const SchemeMemory& memory = result.memory;
  for (int j = 0; j < model.num_contacts(); ++j) {
    const int index = group_of_contact(j);
    if (index < 0) continue;
    Group& group = groups_[index];
    group_of_key_.emplace_back(model.contact_key(j), index);
    group.certificate.gap = std::min(group.certificate.gap, gaps_[j]);
    group.memory.keys.push_back(model.contact_key(j));
    if (!memory.contacts.empty()) group.memory.contacts.push_back(memory.contacts[j]);
    if (!memory.contact_forces.empty())
      for (int i = 0; i < 3; ++i)
        group.memory.contact_forces.push_back(memory.contact_forces[3 * j + i]);
    group.memory.slips.push_back(memory.slips[j]);
  }
  for (const ContactOutcome& contact : result.contacts) {
    const int index = contact.contact < 0 ? -1 : group_of_contact(contact.contact);
    if (index < 0) continue;
    groups_[index].contacts.push_back(contact);
    groups_[index].contacts.back().contact = -1;
  }
  for (const SolveStage::PartCertificate& part : stage.part_certificates())
    if (const int index = group_of(part.first_block); index >= 0)
      groups_[index].certificate.include(part.certificate);
  std::sort(group_of_key_.begin(), group_of_key_.end());
  for (int i = 0; i < result.phases.size(); ++i) {
    if (!is_step(result.phases[i])) continue;
    for (const PhaseContact& contact : result.phases[i].contacts) {
      const auto found =
          std::lower_bound(group_of_key_.begin(), group_of_key_.end(), std::pair(contact.key, 0));
      if (found != group_of_key_.end() && found->first == contact.key)
        groups_[found->second].phase_contacts.push_back(contact);
    }
  }
}

void Sleepers::settle(ContactModel& model, const SolveStage& stage, const State& end,
                      const StepResult& result) {
  if (solver_->last_step() == nullptr || !solver_->has_resting_blocks()) return;
  is_asleep_.resize(model.blocks().size(), 0);
  const auto may_sleep = [&](int b) { return solver_->rests(b) && is_asleep_[b] == 0; };
  bool has_candidate = false;
  for (int b = 0; b < static_cast<int>(is_asleep_.size()); ++b)
    has_candidate = has_candidate || may_sleep(b);
  if (!has_candidate) return;
  find_groups(model, result);
  if (!make_groups()) return;
  solver_->keep_new_groups();
  furnish_groups(model, stage, end, result);
  tell(model);
}

}  // namespace stiction
