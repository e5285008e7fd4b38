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
  Column<double> accumulated_slip{"contacts/accumulated_slip", 2};

  template <class Function>
  void for_each(const Function& function) {
    function(step), function(a), function(b), function(id), function(position);
    function(normal), function(gap), function(impulse), function(slip), function(status);
    function(accumulated_slip);
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
    accumulated_slip.push(contact.accumulated_slip);
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

/// Rows of steps in which a controller held a force.
struct ControlColumns {
  explicit ControlColumns(int num_v) : force("controls/force", num_v) {}

  Column<std::int64_t> step{"controls/step"};
  Column<double> force;
  std::int64_t pending = 0;  // rows not yet in the file

  template <class Function>
  void for_each(const Function& function) {
    function(force), function(step);
  }
  void push(std::int64_t step_number, std::span<const double> held_force) {
    step.push(step_number);
    force.push(held_force);
    ++pending;
  }
  void flush() {
    for_each([&](auto& column) { column.flush(pending); });
    pending = 0;
  }
};

struct PhaseColumns {
  PhaseColumns(int num_q, int num_v, int num_joint_rows, bool has_turning)
      : joint_impulse("phases/impulse", num_joint_rows),
        turning("phases/turning", has_turning ? num_joint_rows : 0),
        q("phases/states/q", num_q),
        v("phases/states/v", num_v),
        contact_turning("phases/contacts/turning", has_turning ? 3 : 0),
        has_turning(has_turning) {}

  Column<std::int64_t> step{"phases/step"};
  Column<int> kind{"phases/kind"};
  Column<double> time{"phases/time"}, length{"phases/length"}, share{"phases/share"};
  Column<std::int64_t> state{"phases/state"}, rows{"phases/rows"};
  Column<double> joint_impulse, turning, q, v;
  Column<std::int64_t> phase{"phases/contacts/phase"};
  Column<std::uint64_t> id{"phases/contacts/id"};
  Column<int> shape_a{"phases/contacts/shape_a"}, shape_b{"phases/contacts/shape_b"};
  Column<double> point{"phases/contacts/point", 3}, normal{"phases/contacts/normal", 3};
  Column<double> gap{"phases/contacts/gap"}, impulse{"phases/contacts/impulse", 3};
  Column<double> contact_turning;
  bool has_turning;
  // In the file, and not yet in it:
  std::array<std::int64_t, recording_format::kPhaseCounts> committed = {}, pending = {};

  template <class Function>
  void for_each(const Function& function) {
    for_each_with_rows([&](auto& column, std::int64_t) { function(column); });
  }
  /// With the number of rows that wait in it.
  template <class Function>
  void for_each_with_rows(const Function& function) {
    const auto [phases, contacts, states] = pending;
    function(q, states), function(v, states);
    function(phase, contacts), function(id, contacts), function(shape_a, contacts);
    function(shape_b, contacts), function(point, contacts), function(normal, contacts);
    function(gap, contacts), function(impulse, contacts), function(contact_turning, contacts);
    function(kind, phases), function(time, phases), function(length, phases);
    function(share, phases), function(state, phases), function(rows, phases);
    function(joint_impulse, phases), function(turning, phases), function(step, phases);
  }

  /// Where the state will be in the file; −1 if there is none.
  std::int64_t push_state(std::span<const double> state_q, std::span<const double> state_v) {
    if (state_q.empty()) return -1;
    q.push(state_q);
    v.push(state_v);
    return committed[2] + pending[2]++;
  }

  void push(std::int64_t step_number, const PhaseRow& row) {
    const std::int64_t place = committed[0] + pending[0]++;
    step.push(step_number);
    kind.push(row.kind);
    time.push(row.time);
    length.push(row.length);
    share.push(row.share);
    state.push(push_state(row.q, row.v));
    rows.push(push_state(row.rows_q, row.rows_v));
    joint_impulse.push(row.joint_impulses);
    if (has_turning) turning.push(row.turning);
    for (const PhaseContactRow& contact : row.contacts) {
      phase.push(place);
      id.push(contact.id);
      shape_a.push(contact.shape_a);
      shape_b.push(contact.shape_b);
      point.push(contact.point);
      normal.push(contact.normal);
      gap.push(contact.gap);
      impulse.push(contact.impulse);
      if (has_turning) contact_turning.push(contact.turning);
    }
    pending[1] += static_cast<std::int64_t>(row.contacts.size());
  }

  void flush() {
    for_each_with_rows([](auto& column, std::int64_t num_rows) { column.flush(num_rows); });
    for (std::size_t i = 0; i < committed.size(); ++i) committed[i] += std::exchange(pending[i], 0);
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
       {"contacts", "joints", "energy", "certificate", "solver", "times", "events", "phases",
        "phases/contacts", "phases/states", "settings", "controls"})
    file.make_group(group);
  if (layout.has_commands) {
    file.make_group("commands");
    file.make_table<std::int64_t>("commands/step");
    file.make_table<double>("commands/time");
    file.make_text_table("commands/text", recording_format::kMaxCommandSize);
  }
  if (!layout.friction.empty()) file.write_attribute("settings", "friction", layout.friction);
  for (const auto& [name, value] : layout.settings) file.write_attribute("settings", name, value);
}

void write_names(Hdf5File& file, const RecordingLayout& layout) {
  file.write_attribute("q", "names", std::span(layout.q_names));
  file.write_attribute("v", "names", std::span(layout.v_names));
  file.write_attribute("joints/impulse", "names", std::span(layout.joint_names));
  file.write_attribute("joints/reaction", "names", std::span(layout.reaction_names));
  file.write_attribute("contacts", "names", std::span(layout.contact_names));
  file.write_attribute("events", "kinds", std::span(layout.event_kinds));
  file.write_attribute("phases", "kinds", std::span(layout.phase_kinds));
  const std::vector<std::string> commit_names = {"steps", "contacts", "bytes"};
  file.write_attribute("commit", "names", std::span(commit_names));
}

}  // namespace

class RecordingWriter::File {
 public:
  File(const std::string& path, const RecordingLayout& layout);

  void push(const StepRow& row);
  void push_event(const EventRow& event);
  void push_command(const CommandRow& command);
  void flush();
  void close(std::string_view status);
  bool is_full() const { return num_steps_ >= kMaxSteps || num_bytes_ >= kMaxBytes; }

 private:
  void check_row(const StepRow& row) const;
  void check_event(const EventRow& event) const;
  void check_phase(const PhaseRow& phase) const;
  void check_sound() const;
  void commit();
  /// All columns but that of the counts, in the order in which they reach the file.
  template <class Function>
  void for_each_column(const Function& function) {
    events_.for_each(function);
    contacts_.for_each(function);
    phases_.for_each(function);
    controls_.for_each(function);
    steps_.for_each(function);
  }

  std::size_t num_q_, num_v_, num_joint_rows_, num_reactions_, num_event_kinds_, num_phase_kinds_;
  std::int64_t last_step_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_event_step_ = std::numeric_limits<std::int64_t>::min();

  PendingFile pending_;
  Hdf5File file_;
  StepColumns steps_;
  ContactColumns contacts_;
  EventColumns events_;
  PhaseColumns phases_;
  ControlColumns controls_;
  Column<std::int64_t> complete_events_{recording_format::kEventsComplete};
  Column<std::int64_t> complete_phases_{recording_format::kPhasesComplete,
                                        recording_format::kPhaseCounts};
  std::optional<Hdf5Table> commit_, status_;
  std::optional<Hdf5Table> command_step_, command_time_, command_text_;
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
      num_phase_kinds_(layout.phase_kinds.size()),
      pending_(path),
      file_(Hdf5File::create(pending_.temporary_path(), path)),
      steps_(static_cast<int>(num_q_), static_cast<int>(num_v_), static_cast<int>(num_joint_rows_),
             static_cast<int>(num_reactions_)),
      phases_(static_cast<int>(num_q_), static_cast<int>(num_v_), static_cast<int>(num_joint_rows_),
              layout.has_turning),
      controls_(static_cast<int>(num_v_)) {
  write_description(file_, layout);
  const auto make = [&](const auto& column) { column.make(file_); };
  for_each_column(make);
  make(complete_events_);
  make(complete_phases_);
  file_.make_table<std::int64_t>("commit", recording_format::kCommitColumns);
  file_.make_text_table("status", recording_format::kMaxStatusSize);
  write_names(file_, layout);

  file_.start_append_only();
  const auto open = [&](auto& column) { column.open(file_); };
  for_each_column(open);
  open(complete_events_);
  open(complete_phases_);
  commit_.emplace(file_, "commit");
  status_.emplace(file_, "status");
  if (layout.has_commands) {
    command_step_.emplace(file_, "commands/step");
    command_time_.emplace(file_, "commands/time");
    command_text_.emplace(file_, "commands/text");
  }
  status_->append_text(recording_format::kRunning);
  commit();
  pending_.commit();
}

void RecordingWriter::File::check_row(const StepRow& row) const {
  check_size("q", row.q.size(), num_q_);
  check_size("v", row.v.size(), num_v_);
  check_size("joint_impulses", row.joint_impulses.size(), num_joint_rows_);
  check_size("reactions", row.reactions.size(), num_reactions_);
  for (const PhaseRow& phase : row.phases) check_phase(phase);
  if (!row.held_force.empty()) check_size("held_force", row.held_force.size(), num_v_);
  if (row.step <= last_step_)
    throw InputError(
        fmt::format("recorded step {} does not come after step {}", row.step, last_step_));
}

void RecordingWriter::File::check_phase(const PhaseRow& phase) const {
  if (phase.kind < 0 || static_cast<std::size_t>(phase.kind) >= num_phase_kinds_)
    throw InputError(fmt::format("kind of a recorded phase is {}, its layout has {} kinds",
                                 phase.kind, num_phase_kinds_));
  for (const auto& q : {phase.q, phase.rows_q})
    if (!q.empty()) check_size("q of a phase", q.size(), num_q_);
  for (const auto& v : {phase.v, phase.rows_v})
    if (!v.empty()) check_size("v of a phase", v.size(), num_v_);
  check_size("joint_impulses of a phase", phase.joint_impulses.size(), num_joint_rows_);
  if (phases_.has_turning) check_size("turning of a phase", phase.turning.size(), num_joint_rows_);
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
  for (const PhaseRow& phase : row.phases) {
    phases_.push(row.step, phase);
    num_bytes_ += (phase.joint_impulses.size() + phase.turning.size() + phase.q.size() +
                   phase.v.size() + phase.rows_q.size() + phase.rows_v.size()) *
                      sizeof(double) +
                  phase.contacts.size() * sizeof(PhaseContactRow);
  }
  if (!row.held_force.empty()) controls_.push(row.step, row.held_force);
  ++num_steps_;
  num_contacts_ += static_cast<std::int64_t>(row.contacts.size());
  num_bytes_ += (num_q_ + num_v_ + num_joint_rows_ + num_reactions_ + row.held_force.size()) *
                    sizeof(double) +
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

/// Not counted by /commit: a reader takes as many as are complete, and those of steps that are.
void RecordingWriter::File::push_command(const CommandRow& command) {
  ST_DEMAND(command_text_.has_value());
  if (command.text.size() > static_cast<std::size_t>(recording_format::kMaxCommandSize))
    throw InputError(fmt::format("command has {} bytes, at most {} are allowed",
                                 command.text.size(), recording_format::kMaxCommandSize));
  flush();
  is_sound_ = false;
  command_text_->append_text(command.text);
  command_time_->append(std::span<const double>(&command.time, 1), 1);
  command_step_->append(std::span<const std::int64_t>(&command.step, 1), 1);
  file_.flush();
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
  phases_.flush();
  controls_.flush();
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
  complete_phases_.push(std::span<const std::int64_t>(phases_.committed));
  complete_phases_.flush(1);
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
  close(complete_phases_);
  for (auto* table : {&commit_, &status_, &command_step_, &command_time_, &command_text_})
    table->reset();
  file_.close();
}

RecordingWriter::RecordingWriter(const std::string& path, const RecordingLayout& layout)
    : file_(std::make_unique<File>(path, layout)),
      next_flush_(std::chrono::steady_clock::now() + max_delay_) {}

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

void RecordingWriter::append_command(const CommandRow& command) {
  ST_DEMAND(file_ != nullptr);
  file_->push_command(command);
}

void RecordingWriter::flush_if_due() {
  if (file_->is_full() || std::chrono::steady_clock::now() >= next_flush_) flush();
}

void RecordingWriter::flush() {
  ST_DEMAND(file_ != nullptr);
  file_->flush();
  next_flush_ = std::chrono::steady_clock::now() + max_delay_;
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
