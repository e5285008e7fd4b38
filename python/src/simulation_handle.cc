#include "simulation_handle.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "arrays.h"
#include "stiction/app/simulation_options.h"
#include "stiction/base/text.h"
#include "stiction/record/recording_memory.h"
#include "stiction/record/recording_observer.h"

namespace stiction::python {
namespace {

SimulationOptions make_options(const SimulateSettings& settings,
                               const SimulationHandle::Extras& extras) {
  SimulateSettings with_threads = settings;
  with_threads.collision.num_threads = extras.threads;
  SimulationOptions options = to_simulation_options(with_threads);
  options.budget = extras.budget;
  return options;
}

/// Observers leave the simulation with the run, however it ends.
class Attached {
 public:
  Attached(Simulation& simulation, StepObserver& observer)
      : simulation_(simulation), observer_(observer) {
    simulation_.add_observer(observer_);
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() { simulation_.remove_observer(observer_); }

 private:
  Simulation& simulation_;
  StepObserver& observer_;
};

/// As Python converts numbers, with its own words where it cannot.
double to_number(const py::object& value) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

std::string_view status_of(const Simulation& simulation, bool has_ended) {
  if (!has_ended) return "interrupted";
  return simulation.summary().steps_above_tolerance > 0 ? "above tolerance" : "complete";
}

}  // namespace

/// Between the beginning and the end of a step nobody else may step: not another thread, and not a
/// function that the step itself calls.
class SimulationHandle::Busy {
 public:
  explicit Busy(SimulationHandle& handle) : handle_(handle) {
    if (handle_.is_busy_.exchange(true))
      throw Error(
          "this simulation is in the middle of a step: another thread steps it, or a "
          "function that the step calls");
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { handle_.is_busy_ = false; }

 private:
  SimulationHandle& handle_;
};

SimulationHandle::SimulationHandle(const Scene& scene, const Extras& extras)
    : name_(scene.name),
      text_(scene.text),
      settings_(scene.simulate),
      simulation_(scene.model, make_options(scene.simulate, extras)),
      numbers_(std::make_shared<Numbers>()),
      input_(VectorXd::Zero(simulation_.model().num_v())) {
  simulation_.model().record(simulation_.state(), numbers_->q, numbers_->v);
  q_ = view_of(numbers_->q);
  v_ = view_of(numbers_->v);
}

/// Read-only, and valid as long as somebody holds it.
py::array SimulationHandle::view_of(VectorXd& numbers) const {
  auto keeper = std::make_unique<std::shared_ptr<Numbers>>(numbers_);
  py::capsule base(keeper.release(),
                   [](void* p) { delete static_cast<std::shared_ptr<Numbers>*>(p); });
  py::array_t<double> view(numbers.size(), numbers.data(), base);
  view.attr("setflags")(py::arg("write") = false);
  return view;
}

void SimulationHandle::ask_controllers() {
  for (const py::handle& controller : controllers_) {
    const py::object force = controller(py::cast(this));
    if (!force.is_none())
      apply_forces(to_vector(force, "force of a controller", static_cast<int>(input_.size())));
  }
  if (has_input_) simulation_.set_held_force(input_);
}

void SimulationHandle::end_step() {
  if (has_input_) {
    input_.setZero();
    has_input_ = false;
    simulation_.set_held_force({});
  }
  simulation_.model().record(simulation_.state(), numbers_->q, numbers_->v);
}

double SimulationHandle::step(const py::object& h) {
  const double length = h.is_none() ? simulation_.options().h : to_number(h);
  const Busy busy(*this);
  struct AtEnd {
    SimulationHandle& handle;
    ~AtEnd() { handle.end_step(); }
  } at_end{*this};
  ask_controllers();
  const py::gil_scoped_release unlocked;
  return simulation_.step(length);
}

bool SimulationHandle::run(const RunOptions& options) {
  const Busy busy(*this);
  simulation_.check_duration(options.duration);
  if (options.every < 1) throw InputError(fmt::format("every is {}, must be >= 1", options.every));
  recording_ = std::make_unique<Recording>();
  const RecordingLayout layout = make_recording_layout(simulation_, name_, text_, options.every);
  RecordingObserver memory(std::make_unique<RecordingMemory>(layout, *recording_), simulation_,
                           options.every);
  std::unique_ptr<RecordingObserver> file;
  if (!options.out.empty())
    file =
        std::make_unique<RecordingObserver>(options.out, simulation_, name_, text_, options.every);
  const auto close = [&](std::string_view status) {
    memory.close(simulation_, status);
    if (file) file->close(simulation_, status);
  };

  using Clock = std::chrono::steady_clock;
  const auto interval = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(options.tick_interval));
  Clock::time_point next_tick = Clock::now() + interval;
  const bool asks_every_step = py::len(controllers_) > 0 || !options.stop.is_none();
  const auto should_stop = [&] {
    const bool is_due = Clock::now() >= next_tick;
    if (!is_due && !asks_every_step && !has_input_) return false;
    const py::gil_scoped_acquire lock;
    if (is_due) {
      next_tick = Clock::now() + interval;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (!options.tick.is_none()) options.tick(simulation_.state().t);
    }
    end_step();  // of the step before
    if (asks_every_step) ask_controllers();
    return !options.stop.is_none() && options.stop(py::cast(this)).cast<bool>();
  };

  try {
    const Attached in_memory(simulation_, memory);
    std::unique_ptr<Attached> in_file;
    if (file) in_file = std::make_unique<Attached>(simulation_, *file);
    ask_controllers();  // forces that were applied before the run act in its first step
    bool has_ended = false;
    {
      const py::gil_scoped_release unlocked;
      bool is_first = true;
      has_ended = simulation_.run(options.duration, [&] {
        if (!std::exchange(is_first, false)) return should_stop();
        const py::gil_scoped_acquire lock;
        return !options.stop.is_none() && options.stop(py::cast(this)).cast<bool>();
      });
    }
    end_step();
    close(status_of(simulation_, has_ended || !options.stop.is_none()));
    return has_ended;
  } catch (const StepRejected&) {
    end_step();
    close("rejected");
    throw;
  } catch (...) {
    end_step();
    close("interrupted");
    throw;
  }
}

py::dict SimulationHandle::take_last_recording() {
  if (!recording_) throw Error("there is no recording to take");
  const std::unique_ptr<Recording> taken = std::move(recording_);
  return take_recording(std::move(*taken));
}

void SimulationHandle::apply_forces(const VectorXd& force) {
  input_ += force;
  has_input_ = true;
}

void SimulationHandle::apply_force(const std::string& coordinate, double force) {
  if (!std::isfinite(force)) throw InputError(fmt::format("force is {}, must be finite", force));
  std::vector<std::string> known;
  for (const Model::Part& part : simulation_.model().parts())
    for (int i = 0; i < part.system->num_v(); ++i) {
      known.push_back(part.system->name_of_velocity(i));
      if (known.back() != coordinate) continue;
      input_[part.v_offset + i] += force;
      has_input_ = true;
      return;
    }
  throw InputError(
      fmt::format("no coordinate '{}'; {}", coordinate, suggestion(coordinate, known)));
}

void SimulationHandle::apply_wrench(const std::string& body,
                                    const RigidBodySystem::Wrench& wrench) {
  if (!wrench.force.allFinite() || !wrench.torque.allFinite() || !wrench.point.allFinite())
    throw InputError(fmt::format("force, torque and point of '{}' must be finite", body));
  std::vector<std::string> known;
  const State& state = simulation_.state();
  for (const Model::Part& part : simulation_.model().parts()) {
    const auto* system = dynamic_cast<const RigidBodySystem*>(part.system.get());
    if (system == nullptr) continue;
    const auto& bodies = system->description().bodies;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      known.push_back(bodies[i].name);
      if (bodies[i].name != body) continue;
      system->add_wrench(state.t, state.q.segment(part.q_offset, system->num_q()),
                         static_cast<int>(i), wrench,
                         input_.segment(part.v_offset, system->num_v()));
      has_input_ = true;
      return;
    }
  }
  throw InputError(fmt::format("no body '{}'; {}", body, suggestion(body, known)));
}

SimulationHandle::JointPlace SimulationHandle::find_joint(const std::string& name,
                                                          const std::string& coordinate) const {
  std::vector<std::string> known;
  for (const Model::Part& part : simulation_.model().parts()) {
    const auto* system = dynamic_cast<const RigidBodySystem*>(part.system.get());
    if (system == nullptr) continue;
    const auto& joints = system->description().joints;
    for (std::size_t i = 0; i < joints.size(); ++i) {
      known.push_back(joints[i].name);
      if (joints[i].name != name) continue;
      std::vector<std::string> coordinates;
      for (const JointCoordinate one : joint_coordinates(joints[i].type)) {
        coordinates.emplace_back(name_of(one));
        if (coordinate.empty() || coordinate == name_of(one))
          return {system, &part, static_cast<int>(i), one};
      }
      throw InputError(coordinates.empty()
                           ? fmt::format("joint '{}' has no coordinate", name)
                           : fmt::format("joint '{}' has no coordinate '{}'; {}", name, coordinate,
                                         suggestion(coordinate, coordinates)));
    }
  }
  throw InputError(fmt::format("no joint '{}'; {}", name, suggestion(name, known)));
}

VectorXd SimulationHandle::effort_force(const JointPlace& place, double effort) const {
  const State& state = simulation_.state();
  VectorXd force = VectorXd::Zero(state.v.size());
  place.system->add_joint_effort(
      state.t, state.q.segment(place.part->q_offset, place.system->num_q()), place.joint,
      place.coordinate, effort, force.segment(place.part->v_offset, place.system->num_v()));
  return force;
}

void SimulationHandle::apply_effort(const std::string& joint, double effort,
                                    const std::string& coordinate) {
  if (!std::isfinite(effort)) throw InputError(fmt::format("effort is {}, must be finite", effort));
  apply_forces(effort_force(find_joint(joint, coordinate), effort));
}

double SimulationHandle::joint_position(const std::string& joint,
                                        const std::string& coordinate) const {
  const JointPlace place = find_joint(joint, coordinate);
  if (!has_value(place.coordinate))
    throw InputError(
        fmt::format("joint '{}': '{}' has a rate, but no value", joint, name_of(place.coordinate)));
  const State& state = simulation_.state();
  return place.system->joint_coordinate(
      state.t, state.q.segment(place.part->q_offset, place.system->num_q()), place.joint,
      place.coordinate);
}

/// The generalised force of a unit effort is the row of the coordinate's rate.
double SimulationHandle::joint_velocity(const std::string& joint,
                                        const std::string& coordinate) const {
  return effort_force(find_joint(joint, coordinate), 1).dot(simulation_.state().v);
}

void SimulationHandle::set_state(const py::object& t, const py::object& q, const py::object& v) {
  const Busy busy(*this);
  State state = simulation_.state();
  if (!t.is_none()) state.t = to_number(t);
  const VectorXd recorded_q =
      q.is_none() ? numbers_->q : to_vector(q, "q", static_cast<int>(numbers_->q.size()));
  const VectorXd recorded_v =
      v.is_none() ? numbers_->v : to_vector(v, "v", static_cast<int>(numbers_->v.size()));
  simulation_.model().adopt_recorded(recorded_q, recorded_v, state);
  simulation_.set_state(state);
  end_step();
}

void SimulationHandle::restore(const std::string& path) {
  const Busy busy(*this);
  simulation_.restore(path);
  end_step();
}

}  // namespace stiction::python
