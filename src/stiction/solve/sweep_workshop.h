// What methods that are tried on a problem one after the other have in common: its layout, the
// scales of its residual, and the room that sweeps need. Large piles would otherwise be laid out
// again by every method, and every method would hold memory for them.
//
// A layout is known by the address of its problem. Who shares a workshop calls forget() when there
// is another problem, or other numbers, at that address.
#pragma once

#include <memory>
#include <vector>

#include "stiction/solve/contact_blocks.h"
#include "stiction/solve/gauss_seidel_residual.h"
#include "stiction/solve/gauss_seidel_state.h"
#include "stiction/solve/nsgs_acceleration.h"
#include "stiction/solve/nsgs_sweep.h"
#include "stiction/solve/sweep_focus.h"
#include "stiction/solve/sweep_packs.h"

namespace stiction {

/// What sweeps in packs need, in one precision.
template <class Real>
struct PackDesk {
  SweepPacks<Real> packs;
  NsgsAccelerator<Real> accelerator;
  bool is_laid_out = false;  // or found not to be possible
  bool is_possible = false;
};

struct SweepWorkshop {
  /// Fills blocks and residual, unless they are those of the problem. False if a mass block is
  /// singular or a local matrix is not finite. Workers must outlive the layout.
  bool lay_out(const StepProblem& problem, StoppingMeasure measure, WorkerPool* workers);
  /// The same without local problems of contacts, which packs have of their own; `complete` adds
  /// them before anything else reads them.
  bool lay_out_rows(const StepProblem& problem, StoppingMeasure measure, WorkerPool* workers);
  void complete();
  /// The order of sweeps, found unless it is known.
  const SweepOrder& find_order();
  /// Finds it, too, and lets the sweep begin anew.
  void begin_sweeps();
  /// Packs for the sweeps that have begun, unless they are known; false if there cannot be any, or
  /// they would not be worth while.
  template <class Real>
  bool lay_out(PackDesk<Real>& desk);
  /// Whether it is worth while to ask for them.
  bool may_be_packed() const;
  void forget() {
    problem_ = nullptr;
    is_start_measured = false;
  }
  /// Whether the state is that of these impulses, and its residual was measured.
  bool knows_start(const StepSolution& solution) const;

  ContactBlocks blocks;
  GaussSeidelResidual residual;
  SweepState state;
  NsgsSweep sweep;
  SweepFocus focus;
  PackDesk<double> double_packs;  // its accelerator also serves sweeps without packs
  PackDesk<float> single_packs;
  std::vector<double> weight;  // √ω per row
  std::vector<double> scale;   // of the motion of units, for packs
  std::vector<double> best;    // impulses of the best state seen
  /// Set by a method that leaves the state as it was started from, for the next one.
  bool is_start_measured = false;

 private:
  const StepProblem* problem_ = nullptr;  // of the layout
  bool is_complete_ = false;
  StoppingMeasure measure_ = StoppingMeasure::kCertificate;
  bool has_order_ = false;
};

/// The one given, or one of its own.
inline std::shared_ptr<SweepWorkshop> share_or_make(std::shared_ptr<SweepWorkshop> shared) {
  return shared != nullptr ? std::move(shared) : std::make_shared<SweepWorkshop>();
}

}  // namespace stiction
