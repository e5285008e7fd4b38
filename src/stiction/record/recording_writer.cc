#include "stiction/record/recording_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "stiction/base/atomic_file.h"
#include "stiction/base/check.h"
#include "stiction/base/error.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/record/recording_format.h"

namespace stiction {
namespace {

constexpr std::chrono::milliseconds kMaxDelay{250};
/// Rows kept back at most. A flush costs some hundred microseconds, mostly system calls, whatever
/// the number of rows.
constexpr std::int64_t kMaxSteps = 4096;
constexpr std::size_t kMaxBytes = std::size_t{1} << 24;  // wide states, many contacts

/// The rows of one dataset that are not yet in the file.
template <class T>
class Column {
 public:
  Column(std::string object, int columns = Hdf5File::kNoColumns)
      : object_(std::move(object)), columns_(columns) {}

  void make(Hdf5File& file) const { file.make_table<T>(object_, columns_); }
  void open(Hdf5File& file) { table_.emplace(file, object_); }
  void close() { table_.reset(); }

  void push(T value) { pending_.push_back(value); }
  void push(std::span<const T> row) { pending_.insert(pending_.end(), row.begin(), row.end()); }
  std::size_t num_bytes() const { return pending_.size() * sizeof(T); }

  void flush(std::int64_t num_rows) {
    table_->append(std::span<const T>(pending_), num_rows);
    pending_.clear();
  }

 private:
  std::string object_;
  int columns_;
  std::optional<Hdf5Table> table_;
  std::vector<T> pending_;
};

struct ContactColumns {
  Column<std::int64_t> step{"contacts/step"};
  Column<int> a{"contacts/a"}, b{"contacts/b"};
  Column<std::uint64_t> id{"contacts/id"};
  Column<double> position{"contacts/position", 3}, normal{"contacts/normal", 3};
  Column<double> gap{"contacts/gap"}, impulse{"contacts/impulse", 3}, slip{"contacts/slip", 2};
  Column<int> status{"contacts/status"};

  template <class Function>
  void for_each(const Function& function) {
    function(step), function(a), function(b), function(id), function(position);
    function(normal), function(gap), function(impulse), function(slip), function(status);
  }

  void push(std::int64_t step_number, const ContactRow& contact) {
    step.push(step_number);
    a.push(contact.a);
    b.push(contact.b);
    id.push(contact.id);
    position.push(contact.position);
    normal.push(contact.normal);
    gap.push(contact.gap);
    impulse.push(contact.impulse);
    slip.push(contact.slip);
    status.push(static_cast<int>(contact.status));
  }
};

struct EventColumns {
  Column<std::int64_t> step{"events/step"};
  Column<double> time{"events/time"};
  Column<int> kind{"events/kind"};
  Column<std::int64_t> contact{"events/contact"};
  Column<double> energy{"events/energy"};

  template <class Function>
  void for_each(const Function& function) {
    function(step), function(time), function(kind), function(contact), function(energy);
  }

  void push(const EventRow& event) {
    step.push(event.step);
    time.push(event.time);
    kind.push(event.kind);
    contact.push(event.contact);
    energy.push(event.energy);
  }
};

std::vector<Column<double>> make_columns(const std::string& group,
                                         std::span<const std::string_view> names) {
  std::vector<Column<double>> columns;
  for (const std::string_view name : names) columns.emplace_back(group + std::string(name));
  return columns;
}

struct StepColumns {
  StepColumns(int num_q, int num_v, int num_joint_rows, int num_reactions)
      : q("q", num_q),
        v("v", num_v),
        joint_impulse("joints/impulse", num_joint_rows),
        reaction("joints/reaction", num_reactions) {}

  Column<double> time{"time"};
  Column<std::int64_t> step{"step"};
  Column<double> q, v, joint_impulse, reaction;
  std::vector<Column<double>> energy = make_columns("energy/", kEnergyNames);
  std::vector<Column<double>> certificate = make_columns("certificate/", kCertificateNames);
  Column<int> iterations{"solver/iterations"}, stage{"solver/stage"}, flagged{"solver/flagged"};
  Column<double> wall{"solver/wall"};
  std::vector<Column<double>> times = make_columns("times/", kTimeNames);

  /// In this order the columns reach the file, so that /time has no step that another one lacks.
  template <class Function>
  void for_each(const Function& function) {
    function(q), function(v), function(joint_impulse), function(reaction);
    for (auto& column : energy) function(column);
    for (auto& column : certificate) function(column);
    function(iterations), function(stage), function(wall), function(flagged);
    for (auto& column : times) function(column);
    function(step), function(time);
  }

  void push(const StepRow& row) {
    time.push(row.time);
    step.push(row.step);
    q.push(row.q);
    v.push(row.v);
    joint_impulse.push(row.joint_impulses);
    reaction.push(row.reactions);
    for (std::size_t i = 0; i < energy.size(); ++i) energy[i].push(row.energy[i]);
    for (std::size_t i = 0; i < certificate.size(); ++i) certificate[i].push(row.certificate[i]);
    iterations.push(row.iterations);
    stage.push(row.stage);
    wall.push(row.wall);
    for (std::size_t i = 0; i < times.size(); ++i) times[i].push(row.times[i]);
    flagged.push(row.flagged);
  }
};

void check_size(const char* what, std::size_t size, std::size_t expected) {
  if (size != expected)
    throw InputError(fmt::format("{} of a recorded step has {} entries, its layout has {}", what,
                                 size, expected));
}

/// What does not change while the steps come in.
void write_description(Hdf5File& file, const RecordingLayout& layout) {
  file.write_attribute("/", "format", recording_format::kFormat);
  file.write_attribute("/", "format_version", recording_format::kVersion);
  file.write_attribute("/", "version", layout.version);
  file.write_attribute("/", "name", layout.name);
  file.write_attribute("/", "scheme", layout.scheme);
  file.write_attribute("/", "solver", layout.solver);
  file.write_attribute("/", "h", layout.h);
  file.write_text("scene", layout.scene);
  for (const char* group :
       {"contacts", "joints", "energy", "certificate", "solver", "times", "events"})
    file.make_group(group);
}

void write_names(Hdf5File& file, const RecordingLayout& layout) {
  file.write_attribute("q", "names", std::span(layout.q_names));
  file.write_attribute("v", "names", std::span(layout.v_names));
  file.write_attribute("joints/impulse", "names", std::span(layout.joint_names));
  file.write_attribute("joints/reaction", "names", std::span(layout.reaction_names));
  file.write_attribute("contacts", "names", std::span(layout.contact_names));
  file.write_attribute("events", "kinds", std::span(layout.event_kinds));
  const std::vector<std::string> commit_names = {"steps", "contacts", "bytes"};
  file.write_attribute("commit", "names", std::span(commit_names));
}

}  // namespace

class RecordingWriter::File {
 public:
  File(const std::string& path, const RecordingLayout& layout);

  void push(const StepRow& row);
  void push_event(const EventRow& event);
  void flush();
  void close(std::string_view status);
  bool is_full() const { return num_steps_ >= kMaxSteps || num_bytes_ >= kMaxBytes; }

 private:
  void check_row(const StepRow& row) const;
  void check_event(const EventRow& event) const;
  void check_sound() const;
  void commit();
  /// All columns but that of the counts, in the order in which they reach the file.
  template <class Function>
  void for_each_column(const Function& function) {
    events_.for_each(function);
    contacts_.for_each(function);
    steps_.for_each(function);
  }

  std::size_t num_q_, num_v_, num_joint_rows_, num_reactions_, num_event_kinds_;
  std::int64_t last_step_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_event_step_ = std::numeric_limits<std::int64_t>::min();

  PendingFile pending_;
  Hdf5File file_;
  StepColumns steps_;
  ContactColumns contacts_;
  EventColumns events_;
  Column<std::int64_t> complete_events_{recording_format::kEventsComplete};
  std::optional<Hdf5Table> commit_, status_;
  std::int64_t num_steps_ = 0;     // not yet in the file
  std::int64_t num_contacts_ = 0;  // not yet in the file
  std::int64_t num_events_ = 0;    // not yet in the file
  std::size_t num_bytes_ = 0;      // not yet in the file
  std::array<std::int64_t, recording_format::kCommitColumns> committed_ = {};
  std::int64_t committed_events_ = 0;
  bool is_sound_ = true;  // false once an exception has left the columns with unequal lengths
};

RecordingWriter::File::File(const std::string& path, const RecordingLayout& layout)
    : num_q_(layout.q_names.size()),
      num_v_(layout.v_names.size()),
      num_joint_rows_(layout.joint_names.size()),
      num_reactions_(layout.reaction_names.size()),
      num_event_kinds_(layout.event_kinds.size()),
      pending_(path),
      file_(Hdf5File::create(pending_.temporary_path(), path)),
      steps_(static_cast<int>(num_q_), static_cast<int>(num_v_), static_cast<int>(num_joint_rows_),
             static_cast<int>(num_reactions_)) {
  write_description(file_, layout);
  const auto make = [&](const auto& column) { column.make(file_); };
  for_each_column(make);
  make(complete_events_);
  file_.make_table<std::int64_t>("commit", recording_format::kCommitColumns);
  file_.make_text_table("status", recording_format::kMaxStatusSize);
  write_names(file_, layout);

  file_.start_append_only();
  const auto open = [&](auto& column) { column.open(file_); };
  for_each_column(open);
  open(complete_events_);
  commit_.emplace(file_, "commit");
  status_.emplace(file_, "status");
  status_->append_text(recording_format::kRunning);
  commit();
  pending_.commit();
}

void RecordingWriter::File::check_row(const StepRow& row) const {
  check_size("q", row.q.size(), num_q_);
  check_size("v", row.v.size(), num_v_);
  check_size("joint_impulses", row.joint_impulses.size(), num_joint_rows_);
  check_size("reactions", row.reactions.size(), num_reactions_);
  if (row.step <= last_step_)
    throw InputError(
        fmt::format("recorded step {} does not come after step {}", row.step, last_step_));
}

void RecordingWriter::File::check_event(const EventRow& event) const {
  if (event.kind < 0 || static_cast<std::size_t>(event.kind) >= num_event_kinds_)
    throw InputError(fmt::format("kind of a recorded event is {}, its layout has {} kinds",
                                 event.kind, num_event_kinds_));
  if (event.step < last_event_step_ || event.step <= last_step_)
    throw InputError(fmt::format("recorded event of step {} comes after step {}", event.step,
                                 std::max(last_event_step_, last_step_)));
}

void RecordingWriter::File::check_sound() const {
  if (!is_sound_)
    throw IoError(
        fmt::format("cannot write '{}': an earlier step could not be written", file_.path()));
}

void RecordingWriter::File::push(const StepRow& row) {
  check_sound();
  check_row(row);
  is_sound_ = false;
  last_step_ = row.step;
  steps_.push(row);
  for (const ContactRow& contact : row.contacts) contacts_.push(row.step, contact);
  ++num_steps_;
  num_contacts_ += static_cast<std::int64_t>(row.contacts.size());
  num_bytes_ += (num_q_ + num_v_ + num_joint_rows_ + num_reactions_) * sizeof(double) +
                row.contacts.size() * sizeof(ContactRow);
  is_sound_ = true;
}

void RecordingWriter::File::push_event(const EventRow& event) {
  check_sound();
  check_event(event);
  is_sound_ = false;
  last_event_step_ = event.step;
  events_.push(event);
  ++num_events_;
  num_bytes_ += sizeof(EventRow);
  is_sound_ = true;
}

/// All rows first, then the row that counts them: a process that dies in between leaves rows that
/// nobody has counted, and readers ignore them.
void RecordingWriter::File::flush() {
  check_sound();
  if (num_steps_ == 0 && num_events_ == 0) return;
  is_sound_ = false;
  events_.for_each([&](auto& column) { column.flush(num_events_); });
  contacts_.for_each([&](auto& column) { column.flush(num_contacts_); });
  steps_.for_each([&](auto& column) { column.flush(num_steps_); });
  committed_[0] += std::exchange(num_steps_, 0);
  committed_[1] += std::exchange(num_contacts_, 0);
  committed_events_ += std::exchange(num_events_, 0);
  num_bytes_ = 0;
  commit();
  is_sound_ = true;
}

void RecordingWriter::File::commit() {
  complete_events_.push(committed_events_);
  complete_events_.flush(1);
  file_.flush();
  committed_[2] = file_.bytes_on_disk();
  commit_->append(std::span<const std::int64_t>(committed_), 1);
  file_.flush();
}

void RecordingWriter::File::close(std::string_view status) {
  flush();
  status_->append_text(status);
  file_.flush();
  const auto close = [](auto& column) { column.close(); };
  for_each_column(close);
  close(complete_events_);
  commit_.reset();
  status_.reset();
  file_.close();
}

RecordingWriter::RecordingWriter(const std::string& path, const RecordingLayout& layout)
    : file_(std::make_unique<File>(path, layout)),
      next_flush_(std::chrono::steady_clock::now() + kMaxDelay) {}

RecordingWriter::~RecordingWriter() {
  if (!file_) return;
  try {
    close("interrupted");
  } catch (...) {
    // The file is as good as it can be, and a destructor has nobody to tell.
  }
}

void RecordingWriter::append(const StepRow& row) {
  ST_DEMAND(file_ != nullptr);
  file_->push(row);
  flush_if_due();
}

void RecordingWriter::append_event(const EventRow& event) {
  ST_DEMAND(file_ != nullptr);
  file_->push_event(event);
  flush_if_due();
}

void RecordingWriter::flush_if_due() {
  if (file_->is_full() || std::chrono::steady_clock::now() >= next_flush_) flush();
}

void RecordingWriter::flush() {
  ST_DEMAND(file_ != nullptr);
  file_->flush();
  next_flush_ = std::chrono::steady_clock::now() + kMaxDelay;
}

void RecordingWriter::close(std::string_view status) {
  ST_DEMAND(file_ != nullptr);
  if (status.size() > static_cast<std::size_t>(recording_format::kMaxStatusSize))
    throw InputError(fmt::format("status of a recording has {} bytes, at most {} are allowed",
                                 status.size(), recording_format::kMaxStatusSize));
  const std::unique_ptr<File> file = std::move(file_);
  file->close(status);
}

}  // namespace stiction
