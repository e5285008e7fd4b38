// The fine run that others are measured against, kept in memory, and the measure itself,
// defined in docs/compare.md. A run is compared at the ends of its own steps, so that only
// the reference is ever interpolated and a coarse run is charged with nothing but its own error.
#pragma once

#include <cstddef>
#include <vector>

#include "stiction/sim/simulation.h"

namespace stiction {

/// Configurations apart from each other by displacements: of a model, or plainly by differences.
class ConfigurationSpace {
 public:
  ConfigurationSpace() = default;
  explicit ConfigurationSpace(const Model& model) : model_(&model) {}
  /// Moves q by a displacement.
  void move(VectorXd& q, const VectorXd& displacement) const;
  VectorXd difference(const VectorXd& from, const VectorXd& to) const;

 private:
  const Model* model_ = nullptr;
};

/// Distance of a run from the reference, 2-norms in the coordinates' own units.
struct TrajectoryError {
  double q_end = 0;   // at the end of the duration
  double q_mean = 0;  // in the mean over time
  double v_mean = 0;  // likewise; velocities jump, so that their maximum would not converge
};

/// States of a run at the ends of its steps, and between them q by cubic and v by linear
/// interpolation; where a collision was located between them, both are continued from either side
/// up to its time.
class ReferenceTrajectory final : public StepObserver {
 public:
  /// Keeps every `stride`-th step; see `stride_for`.
  explicit ReferenceTrajectory(int stride, ConfigurationSpace space = {})
      : stride_(stride), space_(space) {}

  /// The smallest stride that keeps `num_steps` states of `model` within `max_numbers` doubles.
  static int stride_for(const Model& model, double num_steps, double max_numbers);

  void on_step(const StepRecord& record) override;
  /// Keeps the last state too, whatever the stride.
  void finish(const State& last);

  int stride() const { return stride_; }
  std::size_t size() const { return times_.size(); }
  /// The largest |q_i| and |v_i| of all states kept.
  double largest_coordinate() const { return largest_coordinate_; }
  double largest_velocity() const { return largest_velocity_; }

  const ConfigurationSpace& space() const { return space_; }
  /// The state at `t`, which is taken into the range of the trajectory. `cursor` remembers where
  /// the last search ended; times that ascend are found in constant time. Needs one state.
  void interpolate(double t, std::size_t& cursor, State& out) const;

 private:
  /// Collisions located between two states that follow each other.
  struct Jump {
    std::size_t interval = 0;    // after the state of this index
    double first = 0, last = 0;  // [s]
  };

  void keep(const State& state);
  void keep_jump(const StepEvent& event, double step_end);
  const Jump* find_jump(std::size_t interval) const;
  void interpolate_smooth(std::size_t i, double t, State& out) const;
  void interpolate_jump(const Jump& jump, double t, State& out) const;
  /// From state i with the acceleration of `interval`, which is taken as 0 where that has a jump or
  /// does not exist.
  void extrapolate(std::size_t i, std::size_t interval, double t, State& out) const;
  ConstVectorMap q(std::size_t i) const { return {states_.data() + i * row_, num_q_}; }
  ConstVectorMap v(std::size_t i) const { return {states_.data() + i * row_ + num_q_, num_v_}; }

  int stride_;
  ConfigurationSpace space_;
  Eigen::Index num_q_ = 0, num_v_ = 0;
  std::size_t row_ = 0;  // numbers per state
  std::vector<double> times_;
  std::vector<double> states_;  // q, v of one state after the other
  std::vector<Jump> jumps_;     // ascending, one per interval at most
  double largest_coordinate_ = 0, largest_velocity_ = 0;
};

/// Observes a run and adds up its distance from the reference.
class ErrorMeter final : public StepObserver {
 public:
  explicit ErrorMeter(const ReferenceTrajectory& reference) : reference_(reference) {}
  void on_step(const StepRecord& record) override;
  /// Of what was observed so far.
  TrajectoryError error() const;

 private:
  const ReferenceTrajectory& reference_;
  std::size_t cursor_ = 0;
  State expected_;
  double time_ = 0;      // [s] observed
  TrajectoryError sum_;  // the means times `time_`
};

}  // namespace stiction
