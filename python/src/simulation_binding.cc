#include <fmt/format.h>
#include <pybind11/stl.h>

#include "arrays.h"
#include "simulation_handle.h"

namespace stiction::python {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// A simulation on its way into a Python object. What can fail is done before that object exists:
/// one whose construction failed could still be looked at, by whoever shows the exception.
struct Prepared {
  std::unique_ptr<SimulationHandle> handle;
};

Eigen::Vector3d to_vector3(const py::object& object, const char* what) {
  if (object.is_none()) return Eigen::Vector3d::Zero();
  return to_vector(object, what, 3);
}

py::array contacts_of(const SimulationHandle& handle) {
  const Simulation& simulation = handle.simulation();
  std::vector<ContactRecord> rows;
  rows.reserve(simulation.contacts().size());
  for (const ContactOutcome& contact : simulation.contacts())
    rows.push_back(to_record(simulation.summary().steps, contact));
  return take_array(std::move(rows));
}

py::array events_of(const SimulationHandle& handle) {
  const Simulation& simulation = handle.simulation();
  std::vector<EventRecord> rows;
  for (const StepEvent& event : simulation.events())
    rows.push_back(to_record(simulation.summary().steps, event));
  return take_array(std::move(rows));
}

py::dict summary_of(const SimulationHandle& handle) {
  const RunSummary& summary = handle.simulation().summary();
  py::dict out;
  out["steps"] = summary.steps;
  out["contacts_max"] = summary.contacts_max;
  out["contacts_left_out_max"] = summary.reduced_max;
  out["residual_max"] = summary.residual_max;
  out["gap_min"] = summary.gap_min;
  out["joint_error_max"] = summary.joint_error_max;
  out["steps_above_tolerance"] = summary.steps_above_tolerance;
  out["retries"] = summary.retries;
  out["substeps"] = summary.substeps;
  out["rejected_substeps"] = summary.rejected_substeps;
  py::dict events;
  for (int i = 0; i < kNumEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    events[py::str(std::string(to_text(kind)))] = summary.count(kind);
  }
  out["events"] = events;
  return out;
}

void bind_evidence(py::module_& module) {
  py::class_<Certificate>(
      module, "Certificate",
      "How well one step meets its laws: residuals [-], the smallest gap [m], the\n"
      "largest joint error. Zero residuals are exact.")
      .def_readonly("momentum", &Certificate::momentum)
      .def_readonly("bilateral", &Certificate::bilateral)
      .def_readonly("cone", &Certificate::cone)
      .def_readonly("motion", &Certificate::motion)
      .def_readonly("gap", &Certificate::gap)
      .def_readonly("joint", &Certificate::joint)
      .def_property_readonly("residual", &Certificate::residual)
      .def("__repr__", [](const Certificate& c) {
        return fmt::format(
            "Certificate(residual={:.3g}, momentum={:.3g}, bilateral={:.3g}, cone={:.3g}, "
            "motion={:.3g}, gap={:.3g}, joint={:.3g})",
            c.residual(), c.momentum, c.bilateral, c.cone, c.motion, c.gap, c.joint);
      });
  py::class_<EnergyLedger>(
      module, "Energy",
      "The energy account [J]: what the system holds now, and what has come in\n"
      "or gone out since the start, by cause; losses are negative.")
      .def_property_readonly("kinetic", [](const EnergyLedger& e) { return e.now.kinetic; })
      .def_property_readonly("potential", [](const EnergyLedger& e) { return e.now.potential; })
      .def_property_readonly("spring", [](const EnergyLedger& e) { return e.now.spring; })
      .def_property_readonly("total", [](const EnergyLedger& e) { return e.now.total(); })
      .def_readonly("start", &EnergyLedger::start)
      .def_readonly("applied", &EnergyLedger::applied)
      .def_readonly("motor", &EnergyLedger::motor)
      .def_readonly("friction", &EnergyLedger::friction)
      .def_readonly("impact", &EnergyLedger::impact)
      .def_readonly("numerical", &EnergyLedger::numerical)
      .def("__repr__", [](const EnergyLedger& e) {
        return fmt::format(
            "Energy(total={:.6g}, kinetic={:.6g}, potential={:.6g}, spring={:.6g}, "
            "applied={:.3g}, motor={:.3g}, friction={:.3g}, impact={:.3g}, numerical={:.3g})",
            e.now.total(), e.now.kinetic, e.now.potential, e.now.spring, e.applied, e.motor,
            e.friction, e.impact, e.numerical);
      });
}

}  // namespace

void bind_simulation(py::module_& module) {
  bind_evidence(module);
  using Handle = SimulationHandle;
  py::class_<Prepared>(module, "Prepared")
      .def(
          py::init([](const ModelHandle& model, const Pairs& simulate, int threads, double budget) {
            return Prepared{std::make_unique<Handle>(
                make_scene(model, simulate), Handle::Extras{.threads = threads, .budget = budget})};
          }));
  py::class_<Handle>(module, "Simulation")
      .def(py::init([](Prepared& prepared) { return std::move(prepared.handle); }))
      .def("step", &Handle::step, py::arg("h") = py::none(),
           "One step of length h [s]; without h, of the length that the simulation was made with.\n"
           "h = 0 is a pure impact. Returns the length taken, which is shorter after a retry.\n"
           "Raises StepRejected if the step misses the tolerance; the state is as before then.")
      .def("_run",
           [](Handle& handle, double duration, int every, std::string out, py::object stop,
              py::object tick) {
             return handle.run({.duration = duration,
                                .every = every,
                                .out = std::move(out),
                                .stop = std::move(stop),
                                .tick = std::move(tick)});
           })
      .def("_take_recording", &Handle::take_last_recording)
      .def("add_controller", &Handle::add_controller, py::arg("function"),
           "Calls function(sim) before every step. It may apply forces to the next step, and may\n"
           "return a generalised force [N, N m], one number per free velocity, or None.")
      .def("clear_controllers", &Handle::clear_controllers, "No more functions before steps.")
      .def(
          "apply_wrench",
          [](Handle& handle, const std::string& body, const py::object& force,
             const py::object& torque, const py::object& point) {
            handle.apply_wrench(body, {.force = to_vector3(force, "force"),
                                       .torque = to_vector3(torque, "torque"),
                                       .point = to_vector3(point, "point")});
          },
          py::arg("body"), py::arg("force") = py::none(), py::arg("torque") = py::none(),
          py::arg("point") = py::none(),
          "A force [N] at a point [m] of the body's frame and a torque [N m], both in world axes,\n"
          "during the next step.")
      .def(
          "apply_effort", &Handle::apply_effort, py::arg("joint"), py::arg("effort"),
          py::arg("coordinate") = "",
          "An effort [N m or N] along a coordinate of a joint during the next step, on its second\n"
          "body, with the reaction on the first.")
      .def("apply_force", &Handle::apply_force, py::arg("coordinate"), py::arg("force"),
           "A generalised force on one coordinate during the next step.")
      .def("joint_position", &Handle::joint_position, py::arg("joint"), py::arg("coordinate") = "",
           "A coordinate of a joint [rad or m]; angles without jumps.")
      .def("joint_velocity", &Handle::joint_velocity, py::arg("joint"), py::arg("coordinate") = "",
           "The rate of a coordinate of a joint [rad/s or m/s].")
      .def("set_state", &Handle::set_state, py::arg("t") = py::none(), py::arg("q") = py::none(),
           py::arg("v") = py::none(),
           "Goes on from another state, in the order of q_names and v_names; what is not given\n"
           "stays. The energy account begins anew. Raises InputError if the simulation could not\n"
           "start there; nothing is changed then.")
      .def(
          "save",
          [](const Handle& handle, const std::string& path) { handle.simulation().save(path); },
          py::arg("path"), "Writes a checkpoint.")
      .def("restore", &Handle::restore, py::arg("path"))
      .def_property_readonly("name", &Handle::name)
      .def_property_readonly("scene", &Handle::text)
      .def_property_readonly("q", &Handle::q,
                             "Positions, in the order of q_names: a read-only view that always\n"
                             "shows the present. Copy it to keep it.")
      .def_property_readonly("v", &Handle::v, "Velocities, in the order of v_names; likewise.")
      .def_property_readonly(
          "t", [](const Handle& h) { return h.simulation().state().t; }, "Time [s].")
      .def_property_readonly(
          "h", [](const Handle& h) { return h.simulation().options().h; }, "Length of a step [s].")
      .def_property_readonly(
          "duration", [](const Handle& h) { return h.settings().duration; },
          "Duration [s] that the scene asks for.")
      .def_property_readonly("every", [](const Handle& h) { return h.settings().every; })
      .def_property_readonly("scheme",
                             [](const Handle& h) { return h.simulation().options().scheme; })
      .def_property_readonly("solver",
                             [](const Handle& h) { return h.simulation().options().solver; })
      .def_property_readonly("tolerance",
                             [](const Handle& h) { return h.simulation().options().tolerance; })
      .def_property_readonly("q_names",
                             [](const Handle& h) { return h.simulation().model().q_names(); })
      .def_property_readonly("v_names",
                             [](const Handle& h) { return h.simulation().model().v_names(); })
      .def_property_readonly(
          "joint_names", [](const Handle& h) { return h.simulation().model().joint_row_names(); })
      .def_property_readonly(
          "num_velocities", [](const Handle& h) { return h.simulation().model().num_v(); },
          "How many free velocities there are: the size of a generalised force.")
      .def_property_readonly("contacts", &contacts_of,
                             "Contacts of the last step, a structured array.")
      .def_property_readonly("events", &events_of,
                             "What was located within the last step, a structured array.")
      .def_property_readonly(
          "_joint_impulses",
          [](const Handle& h) {
            return take_array(std::vector<double>(h.simulation().joint_impulses()));
          })
      .def_property_readonly("certificate",
                             [](const Handle& h) { return h.simulation().certificate(); })
      .def_property_readonly("energy", [](const Handle& h) { return h.simulation().energy(); })
      .def_property_readonly("summary", &summary_of, "Worst figures of all steps, a dictionary.")
      .def_property_readonly(
          "notes", [](const Handle& h) { return h.simulation().notes(); },
          "What the scheme leaves out of the model, in sentences.");
}

}  // namespace stiction::python
