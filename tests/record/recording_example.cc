#include "tests/record/recording_example.h"

#include <gtest/gtest.h>
#include <cmath>

namespace stiction {

RecordingLayout example_layout() {
  return {.name = "woodpecker",
          .scene = "{\n  \"generalized\": {}\n}\n",
          .scheme = "midpoint",
          .solver = "lemke",
          .version = "0.1.0",
          .h = 1e-4,
          .q_names = {"y", "phi_M", "phi_S"},
          .v_names = {"v.y", "v.phi_M", "v.phi_S"},
          .joint_names = {"rod 1", "rod 2"},
          .contact_names = {"beak", "sleeve"},
          .event_kinds = {"collision", "floor"}};
}

EventRow example_event(std::int64_t step, int i) {
  const double x = 0.1 * static_cast<double>(step);
  return {.step = step, .time = 1e-4 * x + i, .kind = i, .contact = i - 1, .energy = -x / (i + 1)};
}

ExampleRow::ExampleRow(std::int64_t step) {
  const double x = 0.1 * static_cast<double>(step);
  q_ = {x, std::sin(x), -x / 3};
  v_ = {x + 1, std::cos(x), 1 / (x + 1)};
  joints_ = {x * x, -x * x};
  for (int i = 0; i < step % 3; ++i)
    contacts_.push_back({.a = i,
                         .b = static_cast<int>(step),
                         .id = ~static_cast<std::uint64_t>(step) - static_cast<unsigned>(i),
                         .position = {x, x + 1, x + 2},
                         .normal = {0, x, 1},
                         .gap = -x,
                         .impulse = {x, x / 2, x / 3},
                         .slip = {x / 5, x / 7},
                         .status = static_cast<ContactStatus>((step + i) % 3),
                         .accumulated_slip = {x / 11, -x / 13}});
  row_ = {.step = step, .time = 1e-4 * static_cast<double>(step)};
  for (int i = 0; i < 8; ++i) row_.energy.at(i) = x + i;
  for (int i = 0; i < 5; ++i) row_.certificate.at(i) = 1e-9 * x * i;
  row_.iterations = static_cast<int>(step % 17);
  row_.stage = static_cast<int>(step % 2);
  row_.wall = 1e-6 * x;
  row_.flagged = static_cast<int>(step % 5);
  row_.q = q_, row_.v = v_, row_.joint_impulses = joints_, row_.contacts = contacts_;
}

const StepRow& ExampleRow::row() const { return row_; }

namespace {

std::vector<double> row_of(const RowMatrixXd& matrix, Eigen::Index k) {
  return {matrix.row(k).begin(), matrix.row(k).end()};
}

template <class Span>
std::vector<double> as_vector(const Span& span) {
  return {span.begin(), span.end()};
}

void expect_example_contacts(const RecordedContacts& contacts, std::int64_t first,
                             const StepRow& row) {
  for (std::size_t i = 0; i < row.contacts.size(); ++i) {
    const auto k = first + static_cast<std::int64_t>(i);
    const ContactRow& c = row.contacts[i];
    ASSERT_EQ(contacts.step[k], row.step);
    ASSERT_EQ(contacts.a[k], c.a);
    ASSERT_EQ(contacts.b[k], c.b);
    ASSERT_EQ(contacts.id[k], c.id);
    ASSERT_EQ(row_of(contacts.position, k), as_vector(c.position));
    ASSERT_EQ(row_of(contacts.normal, k), as_vector(c.normal));
    ASSERT_EQ(contacts.gap[k], c.gap);
    ASSERT_EQ(row_of(contacts.impulse, k), as_vector(c.impulse));
    ASSERT_EQ(row_of(contacts.slip, k), as_vector(c.slip));
    ASSERT_EQ(contacts.status[k], c.status);
    ASSERT_EQ(row_of(contacts.accumulated_slip, k), as_vector(c.accumulated_slip));
  }
}

/// Events of all rows are there, and at most some of the step that follows.
void expect_example_events(const RecordedEvents& events, std::int64_t num_rows) {
  std::int64_t next = 0;
  for (std::int64_t step = 0; step <= num_rows; ++step)
    for (int i = 0; i < num_example_events(step); ++i, ++next) {
      if (step == num_rows && next == events.size()) return;
      ASSERT_LT(next, events.size());
      const EventRow event = example_event(step, i);
      ASSERT_EQ(events.step[next], event.step);
      ASSERT_EQ(events.time[next], event.time);
      ASSERT_EQ(events.kind[next], event.kind);
      ASSERT_EQ(events.contact[next], event.contact);
      ASSERT_EQ(events.energy[next], event.energy);
    }
  EXPECT_EQ(next, events.size());
}

}  // namespace

void expect_example_prefix(const Recording& recording) {
  for (std::int64_t k = 0; k < recording.num_rows(); ++k) {
    const ExampleRow example(k);
    const StepRow& row = example.row();
    ASSERT_EQ(recording.step[k], row.step);
    ASSERT_EQ(recording.time[k], row.time);
    ASSERT_EQ(row_of(recording.q, k), as_vector(row.q));
    ASSERT_EQ(row_of(recording.v, k), as_vector(row.v));
    ASSERT_EQ(row_of(recording.joint_impulses, k), as_vector(row.joint_impulses));
    ASSERT_EQ(row_of(recording.energy, k), as_vector(row.energy));
    ASSERT_EQ(row_of(recording.certificate, k), as_vector(row.certificate));
    ASSERT_EQ(recording.iterations[k], row.iterations);
    ASSERT_EQ(recording.stage[k], row.stage);
    ASSERT_EQ(recording.wall[k], row.wall);
    ASSERT_EQ(recording.flagged[k], row.flagged);
    const std::int64_t first = recording.contacts.row_start[k];
    ASSERT_EQ(recording.contacts.row_start[k + 1] - first, std::ssize(row.contacts));
    ASSERT_NO_FATAL_FAILURE(expect_example_contacts(recording.contacts, first, row));
  }
  EXPECT_EQ(recording.contacts.row_start.back(), recording.contacts.size());
  expect_example_events(recording.events, recording.num_rows());
}

void append_examples(RecordingWriter& writer, std::int64_t first, std::int64_t last) {
  for (std::int64_t step = first; step < last; ++step) {
    for (int i = 0; i < num_example_events(step); ++i) writer.append_event(example_event(step, i));
    writer.append(ExampleRow(step).row());
  }
}

}  // namespace stiction
