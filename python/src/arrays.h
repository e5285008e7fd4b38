// Numbers between Python and the engine: arrays that Python gets own their storage, numbers that
// Python gives are checked before they are used.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stiction/base/linear_algebra.h"
#include "stiction/record/recording_reader.h"
#include "stiction/scheme/scheme.h"

namespace stiction::python {

namespace py = pybind11;

/// Rows of structured arrays; fields as in recordings.
struct ContactRecord {
  std::int64_t step;
  std::int32_t a, b;
  std::uint64_t id;
  double position[3], normal[3], gap, impulse[3], slip[2];
  std::int32_t status;
  double accumulated_slip[2];
};
struct EventRecord {
  std::int64_t step;
  double time;
  std::int32_t kind;
  std::int64_t contact;
  double energy;
};

/// Must be called once, before any structured array is made.
void register_records();

/// An array that takes over a container with data() and keeps it as long as it lives.
template <class T, class Container>
py::array_t<T> take_array(Container&& values, std::vector<py::ssize_t> shape) {
  auto owned = std::make_unique<std::decay_t<Container>>(std::forward<Container>(values));
  T* data = const_cast<T*>(owned->data());
  py::capsule keeper(owned.release(),
                     [](void* p) { delete static_cast<std::decay_t<Container>*>(p); });
  return py::array_t<T>(std::move(shape), data, keeper);
}

template <class T>
py::array_t<T> take_array(std::vector<T>&& values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return take_array<T>(std::move(values), {size});
}

inline py::array_t<double> take_array(RowMatrixXd&& values) {
  const py::ssize_t rows = values.rows(), columns = values.cols();
  return take_array<double>(std::move(values), {rows, columns});
}

ContactRecord to_record(std::int64_t step, const ContactOutcome& contact);
EventRecord to_record(std::int64_t step, const StepEvent& event);

/// Everything of a recording as a dictionary of arrays, which takes its storage.
py::dict take_recording(Recording&& recording);

/// Real, finite numbers in an array of this shape. Throws InputError (or TypeError for what is no
/// number) that begins with `what`.
py::array_t<double> to_numbers(const py::handle& object, const std::string& what,
                               const std::vector<py::ssize_t>& shape);
VectorXd to_vector(const py::handle& object, const std::string& what, int size);

}  // namespace stiction::python
