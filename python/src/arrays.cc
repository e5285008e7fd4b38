#include "arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/error.h"

namespace stiction::python {
namespace {

std::string to_text(const std::vector<py::ssize_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

py::dict take_columns(const RowMatrixXd& matrix, std::span<const std::string_view> names) {
  py::dict columns;
  for (std::size_t i = 0; i < names.size() && matrix.cols() > 0; ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    std::vector<double> values(static_cast<std::size_t>(matrix.rows()));
    for (Eigen::Index k = 0; k < matrix.rows(); ++k)
      values[static_cast<std::size_t>(k)] = matrix(k, column);
    columns[py::str(std::string(names[i]))] = take_array(std::move(values));
  }
  return columns;
}

py::array take_contacts(const RecordedContacts& contacts) {
  std::vector<ContactRecord> rows(static_cast<std::size_t>(contacts.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ContactRecord& row = rows[i];
    const auto k = static_cast<Eigen::Index>(i);
    row = {};
    row.step = contacts.step[i];
    row.a = contacts.a[i];
    row.b = contacts.b[i];
    row.id = contacts.id[i];
    row.gap = contacts.gap[i];
    row.status = static_cast<std::int32_t>(contacts.status[i]);
    for (int j = 0; j < 3; ++j) {
      row.position[j] = contacts.position(k, j);
      row.normal[j] = contacts.normal(k, j);
      row.impulse[j] = contacts.impulse(k, j);
    }
    for (int j = 0; j < 2; ++j) {
      row.slip[j] = contacts.slip(k, j);
      row.accumulated_slip[j] = contacts.accumulated_slip(k, j);
    }
  }
  return take_array(std::move(rows));
}

py::array take_events(const RecordedEvents& events) {
  std::vector<EventRecord> rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(events.size()); ++i)
    rows.push_back(
        {events.step[i], events.time[i], events.kind[i], events.contact[i], events.energy[i]});
  return take_array(std::move(rows));
}

}  // namespace

void register_records() {
  PYBIND11_NUMPY_DTYPE(ContactRecord, step, a, b, id, position, normal, gap, impulse, slip, status,
                       accumulated_slip);
  PYBIND11_NUMPY_DTYPE(EventRecord, step, time, kind, contact, energy);
}

ContactRecord to_record(std::int64_t step, const ContactOutcome& contact) {
  ContactRecord row = {};
  row.step = step;
  row.a = contact.place.a;
  row.b = contact.place.b;
  row.id = contact.key;
  std::copy_n(contact.place.position.data(), 3, row.position);
  std::copy_n(contact.place.normal.data(), 3, row.normal);
  row.gap = contact.gap;
  std::copy_n(contact.impulse.data(), 3, row.impulse);
  std::copy_n(contact.slip.data(), 2, row.slip);
  row.status = static_cast<std::int32_t>(contact.status);
  std::copy_n(contact.accumulated_slip.data(), 2, row.accumulated_slip);
  return row;
}

EventRecord to_record(std::int64_t step, const StepEvent& event) {
  return {step, event.time, static_cast<std::int32_t>(event.kind),
          event.contact < 0 ? -1 : static_cast<std::int64_t>(event.key), event.energy_change};
}

py::dict take_recording(Recording&& recording) {
  py::dict out;
  out["name"] = recording.name;
  out["scene"] = recording.scene;
  out["scheme"] = recording.scheme;
  out["solver"] = recording.solver;
  out["version"] = recording.version;
  out["status"] = recording.status;
  out["h"] = recording.h;
  const auto texts = [](const std::vector<std::string>& names) {
    py::list list;
    for (const std::string& name : names) list.append(name);
    return list;
  };
  out["q_names"] = texts(recording.q_names);
  out["v_names"] = texts(recording.v_names);
  out["joint_names"] = texts(recording.joint_names);
  out["reaction_names"] = texts(recording.reaction_names);
  out["contact_names"] = texts(recording.contact_names);
  out["event_kinds"] = texts(recording.events.kinds);
  out["step"] = take_array(std::move(recording.step));
  out["time"] = take_array(std::move(recording.time));
  out["q"] = take_array(std::move(recording.q));
  out["v"] = take_array(std::move(recording.v));
  out["joint_impulses"] = take_array(std::move(recording.joint_impulses));
  out["reactions"] = take_array(std::move(recording.reactions));
  out["energy"] = take_columns(recording.energy, kEnergyNames);
  out["certificate"] = take_columns(recording.certificate, kCertificateNames);
  out["times"] = take_columns(recording.times, kTimeNames);
  out["iterations"] = take_array(std::move(recording.iterations));
  out["stage"] = take_array(std::move(recording.stage));
  out["wall"] = take_array(std::move(recording.wall));
  out["flagged"] = take_array(std::move(recording.flagged));
  out["contacts"] = take_contacts(recording.contacts);
  out["events"] = take_events(recording.events);
  return out;
}

py::array_t<double> to_numbers(const py::handle& object, const std::string& what,
                               const std::vector<py::ssize_t>& shape) {
  const py::array any = py::array::ensure(object);
  if (!any) {
    PyErr_Clear();
    throw py::type_error(fmt::format("{} is no array of numbers", what));
  }
  const char kind = any.dtype().kind();
  if (kind != 'f' && kind != 'i' && kind != 'u' && kind != 'b')
    throw py::type_error(fmt::format("{} has dtype {}, must be real numbers", what,
                                     std::string(py::str(any.dtype()))));
  const std::vector<py::ssize_t> found(any.shape(), any.shape() + any.ndim());
  if (found != shape)
    throw InputError(
        fmt::format("{} has shape {}, must have {}", what, to_text(found), to_text(shape)));
  auto numbers = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(any);
  if (!numbers) throw py::error_already_set();
  const double* data = numbers.data();
  for (py::ssize_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(data[i]))
      throw InputError(fmt::format("{} holds {} at {}, must be finite", what, data[i], i));
  return numbers;
}

VectorXd to_vector(const py::handle& object, const std::string& what, int size) {
  const py::array_t<double> numbers = to_numbers(object, what, {size});
  return ConstVectorMap(numbers.data(), size);
}

}  // namespace stiction::python
