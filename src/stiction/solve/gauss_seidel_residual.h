// How far a state of Gauss–Seidel sweeps is from a solution, in the measure that decides when to
// stop; only what is asked for is computed. Close to the judge of acceptance.h, never the same
// code: that one has the last word, this one says when it is worth asking.
#pragma once

#include "stiction/solve/acceptance.h"
#include "stiction/solve/gauss_seidel_published.h"
#include "stiction/solve/gauss_seidel_relative.h"
#include "stiction/solve/gauss_seidel_state.h"

namespace stiction {

class GaussSeidelResidual {
 public:
  /// `problem` must outlive the evaluations.
  void prepare(const StepProblem& problem, const ContactBlocks& blocks, StoppingMeasure measure);
  /// Of a consistent state; infinite if a number is not finite, and where the motion of a row (T23)
  /// is beyond `largest_motion`, as soon as that is found.
  [[nodiscard]] double evaluate(const ContactBlocks& blocks, const SweepState& state,
                                double largest_motion = kInfinity);
  /// The same without the motion of single rows (T23).
  [[nodiscard]] double evaluate_impulses(const ContactBlocks& blocks, const SweepState& state,
                                         double largest_motion = kInfinity);

  /// What was measured last, without published errors.
  const RelativeMeasure::Levels& last_levels() const { return last_levels_; }
  /// The error of a unit's motion (T23), as it was measured last.
  double motion(int unit) const { return relative_.motion(unit); }
  /// What list_scales needs, without an evaluation; whether most bodies move.
  bool measure_data(const ContactBlocks& blocks, const SweepState& state) {
    relative_.measure_data(blocks, state.w());
    return relative_.moves(blocks);
  }
  /// What it is relative to (RelativeMeasure).
  void list_scales(const ContactBlocks& blocks, std::vector<double>& out) const {
    relative_.list_scales(blocks, out);
  }
  /// Measures it anew for some units, in the scales of the last evaluation; the largest.
  double measure_motion_again(const ContactBlocks& blocks, const SweepState& state,
                              std::span<const int> units) {
    return relative_.measure_motion_again(blocks, state.x(), state.u(), state.w(), units);
  }

 private:
  RelativeMeasure::Levels measure_levels(const ContactBlocks& blocks, const SweepState& state,
                                         double largest_motion);
  double include_published(double level, const ContactBlocks& blocks, const SweepState& state);

  StoppingMeasure measure_ = StoppingMeasure::kCertificate;
  RelativeMeasure::Levels last_levels_;
  RelativeMeasure relative_;
  PublishedMeasure published_;
};

}  // namespace stiction
