// A simulation as Python holds it. Adds to the engine's own what a caller from Python needs: arrays
// that show the present state, functions called before every step, and the interpreter's lock given
// back while the engine works.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "model_handle.h"
#include "stiction/model/rigid_body_system.h"
#include "stiction/record/recording_reader.h"
#include "stiction/sim/simulation.h"

namespace stiction::python {

class SimulationHandle {
 public:
  struct Extras {
    int threads = 1;
    double budget = 0;  // [s]
  };
  SimulationHandle(const Scene& scene, const Extras& extras);

  double step(const py::object& h);

  struct RunOptions {
    double duration = 0;
    int every = 1;
    std::string out{};             // a recording in a file, too; empty: none
    py::object stop = py::none();  // called before every step; true ends the run
    py::object tick = py::none();  // called now and then with the time, for progress
    double tick_interval = 0.1;    // [s]
  };
  /// Runs and keeps a recording until take_recording(), whether or not it ends well.
  bool run(const RunOptions& options);
  py::dict take_last_recording();

  void add_controller(const py::object& function) { controllers_.append(function); }
  void clear_controllers() { controllers_ = py::list(); }

  // Forces of the next step; they are gone after it.
  void apply_wrench(const std::string& body, const RigidBodySystem::Wrench& wrench);
  void apply_effort(const std::string& joint, double effort, const std::string& coordinate);
  void apply_force(const std::string& coordinate, double force);
  void apply_forces(const VectorXd& force);

  double joint_position(const std::string& joint, const std::string& coordinate) const;
  double joint_velocity(const std::string& joint, const std::string& coordinate) const;

  void set_state(const py::object& t, const py::object& q, const py::object& v);
  void restore(const std::string& path);

  const Simulation& simulation() const { return simulation_; }
  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  const SimulateSettings& settings() const { return settings_; }
  const py::array& q() const { return q_; }
  const py::array& v() const { return v_; }

 private:
  struct Numbers {
    VectorXd q, v;  // as recordings show them
  };
  /// A joint of a part of the model, and one of its coordinates.
  struct JointPlace {
    const RigidBodySystem* system = nullptr;
    const Model::Part* part = nullptr;
    int joint = 0;
    JointCoordinate coordinate = JointCoordinate::kAngle;
  };
  class Busy;

  JointPlace find_joint(const std::string& name, const std::string& coordinate) const;
  VectorXd effort_force(const JointPlace& place, double effort) const;
  void ask_controllers();
  void end_step();
  py::array view_of(VectorXd& numbers) const;

  std::string name_, text_;
  SimulateSettings settings_;
  Simulation simulation_;
  std::shared_ptr<Numbers> numbers_;
  py::array q_, v_;
  py::list controllers_;
  VectorXd input_;  // generalised force of the next step; one number per velocity
  bool has_input_ = false;
  std::unique_ptr<Recording> recording_;
  std::atomic<bool> is_busy_{false};
};

void bind_simulation(py::module_& module);

}  // namespace stiction::python
