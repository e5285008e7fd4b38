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
#include "stiction/solve/pack_focus.h"
#include "stiction/solve/sweep_focus.h"
#include "stiction/solve/sweep_packs.h"

namespace stiction {

struct SweepWorkshop {
  /// Fills blocks and residual, unless they are those of the problem. False if a mass block is
  /// singular or a local matrix is not finite. Workers must outlive the layout.
  bool lay_out(const StepProblem& problem, StoppingMeasure measure, WorkerPool* workers);
  /// Finds the order of the sweep, and the packs that it may be made in, unless they are known, and
  /// lets the sweep begin anew.
  void begin_sweeps();
  /// Whether `packs` may be used.
  bool has_packs() const { return has_packs_; }
  void forget() { problem_ = nullptr; }

  ContactBlocks blocks;
  GaussSeidelResidual residual;
  SweepState state;
  NsgsSweep sweep;
  NsgsAccelerator accelerator;
  SweepFocus focus;
  SweepPacks packs;
  PackFocus pack_focus;
  std::vector<double> weight;  // √ω per row
  std::vector<double> scale;   // of the motion of units, for packs
  std::vector<double> best;    // impulses of the best state seen

 private:
  const StepProblem* problem_ = nullptr;  // of the layout
  StoppingMeasure measure_ = StoppingMeasure::kCertificate;
  bool has_order_ = false, has_packs_ = false;
};

/// The one given, or one of its own.
inline std::shared_ptr<SweepWorkshop> share_or_make(std::shared_ptr<SweepWorkshop> shared) {
  return shared != nullptr ? std::move(shared) : std::make_shared<SweepWorkshop>();
}

}  // namespace stiction
