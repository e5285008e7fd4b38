#include "stiction/sim/comparison_reference.h"

#include <algorithm>
#include <cmath>

#include "stiction/base/check.h"

namespace stiction {

void ConfigurationSpace::move(VectorXd& q, const VectorXd& displacement) const {
  if (model_ != nullptr)
    model_->displace(q, displacement, 1, q);
  else
    q += displacement;
}

VectorXd ConfigurationSpace::difference(const VectorXd& from, const VectorXd& to) const {
  if (model_ == nullptr) return to - from;
  VectorXd displacement;
  model_->displacement(from, to, displacement);
  return displacement;
}

int ReferenceTrajectory::stride_for(const Model& model, double num_steps, double max_numbers) {
  const double numbers = num_steps * (1 + model.num_q() + model.num_v());
  return static_cast<int>(std::clamp(std::ceil(numbers / max_numbers), 1.0, 1e9));
}

void ReferenceTrajectory::on_step(const StepRecord& record) {
  // The first state is a start: events of the step before it concern nobody.
  if (!times_.empty())
    for (const StepEvent& event : record.events) keep_jump(event, record.state.t);
  if (times_.empty() || record.step % stride_ == 0) keep(record.state);
}

void ReferenceTrajectory::keep_jump(const StepEvent& event, double step_end) {
  if (event.kind != EventKind::kCollision && event.kind != EventKind::kFloor) return;
  // What a floor stands for may happen anywhere up to the end of the step.
  const double until = event.kind == EventKind::kFloor ? step_end : event.time;
  const std::size_t interval = times_.size() - 1;
  if (jumps_.empty() || jumps_.back().interval != interval)
    jumps_.push_back({interval, event.time, until});
  jumps_.back().last = std::max(jumps_.back().last, until);
}

void ReferenceTrajectory::finish(const State& last) {
  if (times_.empty() || last.t > times_.back()) keep(last);
}

void ReferenceTrajectory::keep(const State& state) {
  num_q_ = state.q.size();
  num_v_ = state.v.size();
  row_ = static_cast<std::size_t>(num_q_ + num_v_);
  times_.push_back(state.t);
  states_.insert(states_.end(), state.q.data(), state.q.data() + num_q_);
  states_.insert(states_.end(), state.v.data(), state.v.data() + num_v_);
  largest_coordinate_ = std::max(largest_coordinate_, state.q.lpNorm<Eigen::Infinity>());
  largest_velocity_ = std::max(largest_velocity_, state.v.lpNorm<Eigen::Infinity>());
}

void ReferenceTrajectory::interpolate(double t, std::size_t& cursor, State& out) const {
  ST_DEMAND(!times_.empty());
  const std::size_t last = times_.size() - 1;
  out.t = t;
  if (last == 0 || t >= times_[last]) {
    cursor = last;
    out.q = q(last);
    out.v = v(last);
    return;
  }
  if (cursor >= last || t < times_[cursor]) cursor = 0;
  while (cursor + 1 < last && t >= times_[cursor + 1]) ++cursor;
  if (const Jump* jump = find_jump(cursor))
    interpolate_jump(*jump, t, out);
  else
    interpolate_smooth(cursor, t, out);
}

const ReferenceTrajectory::Jump* ReferenceTrajectory::find_jump(std::size_t interval) const {
  const auto found =
      std::lower_bound(jumps_.begin(), jumps_.end(), interval,
                       [](const Jump& jump, std::size_t i) { return jump.interval < i; });
  return found != jumps_.end() && found->interval == interval ? &*found : nullptr;
}

void ReferenceTrajectory::interpolate_smooth(std::size_t i, double t, State& out) const {
  const double h = times_[i + 1] - times_[i];
  const double s = std::max(0.0, (t - times_[i]) / h);
  const auto v0 = v(i), v1 = v(i + 1);
  out.v = (1 - s) * v0 + s * v1;
  out.q = q(i);
  // The cubic of Hermite, exact to h⁴ where nothing jumps and nothing turns.
  const double a = s * s * (3 - 2 * s), b = s * (1 - s);
  space_.move(out.q, a * space_.difference(q(i), q(i + 1)) + h * b * ((1 - s) * v0 - s * v1));
}

void ReferenceTrajectory::extrapolate(std::size_t i, std::size_t interval, double t,
                                      State& out) const {
  const double s = t - times_[i];
  out.q = q(i);
  out.v = v(i);
  const bool is_smooth = interval < times_.size() - 1 && find_jump(interval) == nullptr;
  if (is_smooth)
    out.v += s / (times_[interval + 1] - times_[interval]) * (v(interval + 1) - v(interval));
  space_.move(out.q, 0.5 * s * (v(i) + out.v));
}

void ReferenceTrajectory::interpolate_jump(const Jump& jump, double t, State& out) const {
  const std::size_t i = jump.interval;
  const auto from_left = [&](double time, State& state) { extrapolate(i, i - 1, time, state); };
  const auto from_right = [&](double time, State& state) {
    extrapolate(i + 1, i + 1, time, state);
  };
  if (t < jump.first) return from_left(t, out);
  if (t >= jump.last) return from_right(t, out);
  State right;
  from_left(jump.first, out);
  from_right(jump.last, right);
  const double s = (t - jump.first) / (jump.last - jump.first);
  space_.move(out.q, s * space_.difference(out.q, right.q));
  out.v += s * (right.v - out.v);
}

void ErrorMeter::on_step(const StepRecord& record) {
  reference_.interpolate(record.state.t, cursor_, expected_);
  const double q_error = reference_.space().difference(expected_.q, record.state.q).norm();
  time_ += record.h;
  sum_.q_mean += record.h * q_error;
  sum_.v_mean += record.h * (record.state.v - expected_.v).norm();
  sum_.q_end = q_error;
}

TrajectoryError ErrorMeter::error() const {
  if (!(time_ > 0)) return sum_;
  return {.q_end = sum_.q_end, .q_mean = sum_.q_mean / time_, .v_mean = sum_.v_mean / time_};
}

}  // namespace stiction
