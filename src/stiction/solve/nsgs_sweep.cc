#include "stiction/solve/nsgs_sweep.h"

#include <algorithm>

#include "stiction/solve/gauss_seidel_projection.h"
#include "stiction/solve/one_contact_visit.h"

namespace stiction {
namespace {

/// Visits in a row without notable change after which a unit is left out.
constexpr int kPatience = 3;

}  // namespace

void NsgsSweep::find_order(const ContactBlocks& blocks) { order_.find(blocks); }

void NsgsSweep::begin(const ContactBlocks& blocks) { memory_.assign(blocks.num_units(), {}); }

void NsgsSweep::run(const ContactBlocks& blocks, const SweepOrder& order, const Step& step,
                    SweepState& state) {
  const auto run_phase = [&](int phase) {
    const auto run_task = [&](int number, int) {
      const std::span<const int> units = order.task(phase, number);
      if (step.is_forward)
        for (auto i = units.begin(); i != units.end(); ++i) visit(blocks, *i, step, state);
      else
        for (auto i = units.rbegin(); i != units.rend(); ++i) visit(blocks, *i, step, state);
    };
    const int num_tasks = order.num_tasks(phase);
    if (blocks.workers() != nullptr)
      blocks.workers()->run(num_tasks, run_task);
    else
      for (int k = 0; k < num_tasks; ++k) run_task(k, 0);
  };
  const int n = order.num_phases();
  for (int k = 0; k < n; ++k) run_phase(step.is_forward ? k : n - 1 - k);
}

void NsgsSweep::visit(const ContactBlocks& blocks, int unit, const Step& step, SweepState& state) {
  if (!step.includes_quiet && memory_[unit].num_quiet >= kPatience) return;
  const int contact = unit - blocks.num_bilateral();
  if (contact < 0) return visit_bilateral(blocks, unit, step, state);
  switch (blocks.unit(unit).dim) {
    case 1:
      return visit_contact<1>(blocks, contact, step, state);
    case 2:
      return visit_contact<2>(blocks, contact, step, state);
    default:
      return visit_contact<3>(blocks, contact, step, state);
  }
}

/// `square` is that of the change of the impulse.
void NsgsSweep::note_change(const ContactBlocks& blocks, int unit, double square,
                            const Step& step) {
  if (square * blocks.omega(unit) > step.quiet_below * step.quiet_below)
    memory_[unit].num_quiet = 0;
  else
    ++memory_[unit].num_quiet;
}

void NsgsSweep::visit_bilateral(const ContactBlocks& blocks, int row, const Step& step,
                                SweepState& state) {
  double s;
  compute_unit_velocity<1>(blocks, row, state.u(), state.w(), &s);
  const double W = blocks.bilateral_W(row), old = state.x()[row];
  double x = old;
  (void)solve_bilateral_row(W, s - W * old, blocks.lower(row), blocks.upper(row), x);
  x = std::clamp(old + step.relaxation * (x - old), blocks.lower(row), blocks.upper(row));
  const double change = x - old;
  note_change(blocks, row, change * change, step);
  if (change != 0) apply_change<1>(blocks, row, &change, state);
}

template <int kDim>
void NsgsSweep::visit_contact(const ContactBlocks& blocks, int contact, const Step& step,
                              SweepState& state) {
  const OneContact& law = blocks.contact(contact);
  const int unit = blocks.num_bilateral() + contact;
  double u[kDim], r[kDim], change[kDim];
  compute_unit_velocity<kDim>(blocks, unit, state.u(), state.w(), u);
  const double* old = state.x() + blocks.unit(unit).row;
  for (int a = 0; a < kDim; ++a) r[a] = old[a];
  if (!law.visit<kDim>(u, r, memory_[unit].hint))
    step_by_projection(law, blocks.omega(unit), u, old, r);
  if (step.relaxation != 1) {
    double z[kDim];
    for (int a = 0; a < kDim; ++a) z[a] = old[a] + step.relaxation * (r[a] - old[a]);
    project_on_cone(law, z, r);
  }
  double square = 0;
  for (int a = 0; a < kDim; ++a) {
    change[a] = r[a] - old[a];
    square += change[a] * change[a];
  }
  note_change(blocks, unit, square, step);
  if (square > 0) apply_change<kDim>(blocks, unit, change, state);
}

}  // namespace stiction
