#include "stiction/record/recording_writer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <thread>

#include "stiction/base/error.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/base/random.h"
#include "tests/base/file_size_limit.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/recording_example.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

TEST(RecordingWriter, RoundTripIsBitExact) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  RecordingWriter writer(path, example_layout());
  append_examples(writer, 0, 10000);  // beyond the rows that are kept back
  writer.close("complete");

  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.num_rows(), 10000);
  expect_example_prefix(recording);
  EXPECT_EQ(recording.status, "complete");
  EXPECT_EQ(folder.file_names().size(), 1U);
}

TEST(RecordingWriter, KeepsTheDescription) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  const RecordingLayout layout = example_layout();
  RecordingWriter(path, layout).close("rejected");
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.num_rows(), 0);
  EXPECT_EQ(recording.name, layout.name);
  EXPECT_EQ(recording.scene, layout.scene);
  EXPECT_EQ(recording.scheme, layout.scheme);
  EXPECT_EQ(recording.solver, layout.solver);
  EXPECT_EQ(recording.version, layout.version);
  EXPECT_EQ(recording.h, layout.h);
  EXPECT_EQ(recording.q_names, layout.q_names);
  EXPECT_EQ(recording.v_names, layout.v_names);
  EXPECT_EQ(recording.joint_names, layout.joint_names);
  EXPECT_EQ(recording.contact_names, layout.contact_names);
  EXPECT_EQ(recording.events.kinds, layout.event_kinds);
  EXPECT_EQ(recording.status, "rejected");
}

TEST(RecordingWriter, DatasetsHaveTheDocumentedNamesAndSizes) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  RecordingWriter writer(path, example_layout());
  append_examples(writer, 0, 6);  // 0 + 1 + 2 + 0 + 1 + 2 contacts
  writer.close("complete");
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Shape per_step{1, 6, 1}, per_contact{1, 6, 1};
  for (const char* name :
       {"time", "step", "solver/iterations", "solver/stage", "solver/wall", "solver/flagged"})
    EXPECT_EQ(file.shape(name), per_step) << name;
  for (const auto name : kEnergyNames)
    EXPECT_EQ(file.shape("energy/" + std::string(name)), per_step) << name;
  for (const auto name : kCertificateNames)
    EXPECT_EQ(file.shape("certificate/" + std::string(name)), per_step) << name;
  EXPECT_EQ(file.shape("q"), (Hdf5Shape{2, 6, 3}));
  EXPECT_EQ(file.shape("v"), (Hdf5Shape{2, 6, 3}));
  EXPECT_EQ(file.shape("joints/impulse"), (Hdf5Shape{2, 6, 2}));
  for (const char* name : {"step", "a", "b", "id", "gap", "status"})
    EXPECT_EQ(file.shape(std::string("contacts/") + name), per_contact) << name;
  for (const char* name : {"position", "normal", "impulse"})
    EXPECT_EQ(file.shape(std::string("contacts/") + name), (Hdf5Shape{2, 6, 3})) << name;
  EXPECT_EQ(file.shape("contacts/slip"), (Hdf5Shape{2, 6, 2}));
  EXPECT_EQ(file.shape("contacts/accumulated_slip"), (Hdf5Shape{2, 6, 2}));
  for (const char* name : {"step", "time", "kind", "contact", "energy"})
    EXPECT_EQ(file.shape(std::string("events/") + name), (Hdf5Shape{1, 4, 1})) << name;
  EXPECT_EQ(file.shape("events/complete").rows, file.shape("commit").rows);
  EXPECT_EQ(file.shape("commit").columns, 3);  // as readers without events expect
  EXPECT_EQ(file.read_texts_attribute("events", "kinds"), example_layout().event_kinds);
  EXPECT_EQ(file.read_text("scene"), example_layout().scene);
  EXPECT_EQ(file.read_texts_attribute("q", "names"), example_layout().q_names);
  EXPECT_EQ(file.read_int_attribute("/", "format_version"), 1);
}

TEST(RecordingWriter, TakesSystemsWithoutJointsContactsOrCoordinates) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  RecordingWriter writer(path, {});
  for (int i = 0; i < 5000; ++i) writer.append({.step = i, .time = 0.5 * i});
  writer.close("complete");
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.num_rows(), 5000);
  EXPECT_EQ(recording.q.cols(), 0);
  EXPECT_EQ(recording.time[4999], 2499.5);
}

TEST(RecordingWriter, TakesThousandsOfNames) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  RecordingLayout layout;
  for (int i = 0; i < 7000; ++i) layout.q_names.push_back("brick" + std::to_string(i) + ".qw");
  const std::vector<double> q(7000, 0.25);
  RecordingWriter writer(path, layout);
  for (int i = 0; i < 50; ++i) writer.append({.step = i, .q = q});
  writer.close("complete");
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.q_names, layout.q_names);
  EXPECT_TRUE((recording.q.array() == 0.25).all());
}

TEST(RecordingWriter, IsReadableWhileItGrows) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  RecordingWriter writer(path, example_layout());
  EXPECT_EQ(read_recording(path).num_rows(), 0);
  for (std::int64_t step = 0; step < 5000; step += 500) {
    append_examples(writer, step, step + 500);
    writer.flush();
    const Recording recording = read_recording(path);
    EXPECT_EQ(recording.num_rows(), step + 500);
    EXPECT_EQ(recording.status, "running");
    expect_example_prefix(recording);
  }
}

TEST(RecordingWriter, FlushesByTime) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  RecordingWriter writer(path, example_layout());
  append_examples(writer, 0, 11);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  append_examples(writer, 11, 12);  // a step without events, which would be flushed ahead of it
  EXPECT_EQ(read_recording(path).num_rows(), 12);
}

TEST(RecordingWriter, DestructorKeepsAllRowsAsInterrupted) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  {
    RecordingWriter writer(path, example_layout());
    append_examples(writer, 0, 10);
  }
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.num_rows(), 10);
  EXPECT_EQ(recording.status, "interrupted");
  expect_example_prefix(recording);
}

TEST(RecordingWriter, RowsThatDoNotFitAreRefusedAndTheRecordingGoesOn) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  RecordingWriter writer(path, example_layout());
  append_examples(writer, 0, 5);
  EXPECT_EQ(message_of<InputError>([&] { writer.append({.step = 5}); }),
            "q of a recorded step has 0 entries, its layout has 3");
  EXPECT_EQ(message_of<InputError>([&] { writer.append(ExampleRow(4).row()); }),
            "recorded step 4 does not come after step 4");
  append_examples(writer, 5, 8);
  writer.close("complete");
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.num_rows(), 8);
  expect_example_prefix(recording);
}

TEST(RecordingWriter, EventsThatDoNotFitAreRefusedAndTheRecordingGoesOn) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  RecordingWriter writer(path, example_layout());
  append_examples(writer, 0, 5);
  EXPECT_EQ(message_of<InputError>([&] { writer.append_event({.step = 5, .kind = 2}); }),
            "kind of a recorded event is 2, its layout has 2 kinds");
  EXPECT_EQ(message_of<InputError>([&] { writer.append_event({.step = 5, .kind = -1}); }),
            "kind of a recorded event is -1, its layout has 2 kinds");
  EXPECT_EQ(message_of<InputError>([&] { writer.append_event({.step = 4}); }),
            "recorded event of step 4 comes after step 4");
  append_examples(writer, 5, 8);
  writer.close("complete");
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.num_rows(), 8);
  expect_example_prefix(recording);
}

TEST(RecordingWriter, EventsAreSafeWithoutARowOfTheirStep) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  RecordingWriter writer(path, {.event_kinds = {"collision"}});
  writer.append({.step = 0});
  for (int step = 1; step < 1000; ++step) writer.append_event({.step = step, .time = 0.5 * step});
  writer.flush();
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.num_rows(), 1);
  ASSERT_EQ(recording.events.size(), 999);
  EXPECT_EQ(recording.events.step.back(), 999);
  EXPECT_EQ(recording.events.time.back(), 499.5);
  EXPECT_EQ(recording.events.contact.back(), -1);
}

TEST(RecordingWriter, UnwritablePlacesAreReportedAtOnce) {
  const TemporaryFolder folder;
  const std::string missing = folder.file("no/r.h5");
  EXPECT_EQ(message_of<IoError>([&] { RecordingWriter(missing, {}); }),
            "cannot create '" + missing + "': No such file or directory");
  EXPECT_EQ(message_of<IoError>([&] { RecordingWriter(folder.file(""), {}); }),
            "cannot write '" + folder.file("") + "': Is a directory");
  EXPECT_EQ(message_of<IoError>([&] { RecordingWriter("/dev/null", {}); }),
            "cannot write '/dev/null': it is not a regular file");
}

TEST(RecordingWriter, OldRecordingSurvivesWhenTheNewOneCannotBeCreated) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  {
    RecordingWriter writer(path, example_layout());
    append_examples(writer, 0, 10);
  }
  const auto create = [&] {
    return message_of<IoError>([&] { RecordingWriter(path, example_layout()); }) ==
                   "cannot write '" + path + "': File too large"
               ? 0
               : 1;
  };
  EXPECT_EQ(run_with_file_size_limit(3000, create), 0);
  EXPECT_EQ(read_recording(path).num_rows(), 10);
  EXPECT_EQ(folder.file_names().size(), 1U);
}

/// Writes until the disk is full; 0 if the message is right and every later call throws too.
int write_until_full(const std::string& path, int rows_per_flush) {
  RecordingWriter writer(path, example_layout());
  const std::string message = message_of<IoError>([&] {
    for (std::int64_t step = 0;; step += rows_per_flush) {
      append_examples(writer, step, step + rows_per_flush);
      writer.flush();
    }
  });
  if (message != "cannot write '" + path + "': File too large") return 1;
  const std::string again = message_of<IoError>([&] { writer.flush(); });
  return again.empty() ? 2 : 0;
}

TEST(RecordingWriter, FullDiskKeepsEveryCompleteFlush) {
  const TemporaryFolder folder;
  Random random(11);
  for (int i = 0; i < testing::fewer_sanitized(60, 4); ++i) {
    const long limit = random.integer(40000, 1500000);
    const int rows_per_flush = random.integer(1, 300);
    SCOPED_TRACE(::testing::Message()
                 << limit << " bytes, " << rows_per_flush << " rows per flush");
    const std::string path = folder.file("r.h5");
    const auto write = [&] { return write_until_full(path, rows_per_flush); };
    std::filesystem::remove(path);
    const int result = run_with_file_size_limit(limit, write);
    if (!std::filesystem::exists(path)) continue;  // too small for the empty recording
    EXPECT_EQ(result, 0);
    const Recording recording = read_recording(path);
    EXPECT_EQ(recording.num_rows() % rows_per_flush, 0);
    EXPECT_EQ(recording.status, "running");
    expect_example_prefix(recording);
  }
}

/// Appends for ever, flushing after random numbers of rows, so that kills often hit a flush. The
/// number of flushed rows goes to `flushed` after every flush.
[[noreturn]] void append_for_ever(const std::string& path, unsigned seed, int flushed) {
  Random random(seed);
  RecordingWriter writer(path, example_layout());
  const int mean = 1 << random.integer(0, 9);
  for (std::int64_t step = 0;;) {
    const std::int64_t next = step + random.integer(1, 2 * mean);
    append_examples(writer, step, next);
    writer.flush();
    step = next;
    if (::write(flushed, &step, sizeof step) != sizeof step) ::_exit(1);
  }
}

/// The last number that a killed child has sent; 0 if none.
std::int64_t last_number(int pipe) {
  std::int64_t last = 0;
  for (std::int64_t value = 0; ::read(pipe, &value, sizeof value) == sizeof value;) last = value;
  return last;
}

/// Kills a child in the middle of its writing; returns the rows that it had safely flushed.
std::int64_t write_and_kill(const std::string& path, unsigned seed) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    try {
      append_for_ever(path, seed, ends[1]);
    } catch (...) {
      ::_exit(kUncaught);
    }
  }
  ::close(ends[1]);
  // Two of three are killed in the middle of their steps, however slow the machine; the others at
  // any time since their birth.
  std::int64_t flushed = 0;
  if (seed % 3 != 0) {
    EXPECT_EQ(::read(ends[0], &flushed, sizeof flushed), static_cast<ssize_t>(sizeof flushed));
  }
  // Read in the background: a full pipe would stop the child.
  std::thread reader([&] { flushed = std::max(flushed, last_number(ends[0])); });
  std::this_thread::sleep_for(std::chrono::microseconds(Random(seed).integer(5000, 120000)));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  reader.join();
  ::close(ends[0]);
  EXPECT_TRUE(WIFSIGNALED(status));
  return flushed;
}

TEST(RecordingWriter, KilledProcessLeavesEveryFlushedStep) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  int num_readable = 0;
  constexpr int kKills = testing::fewer_sanitized(30, 3);
  for (unsigned seed = 0; seed < kKills; ++seed) {
    SCOPED_TRACE(seed);
    std::filesystem::remove(path);
    const std::int64_t flushed = write_and_kill(path, seed);
    if (!std::filesystem::exists(path)) continue;  // killed before it was created
    const std::string before = read_bytes(path);
    const Recording recording = read_recording(path);
    EXPECT_GE(recording.num_rows(), flushed);
    EXPECT_EQ(recording.status, "running");
    expect_example_prefix(recording);
    EXPECT_EQ(read_bytes(path), before) << "reading changed the file";
    ++num_readable;
  }
  EXPECT_GE(num_readable, kKills * 2 / 3);
}

}  // namespace
}  // namespace stiction
