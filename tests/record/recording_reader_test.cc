#include "stiction/record/recording_reader.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include "stiction/base/error.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/base/random.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/recording_example.h"
#include "tests/sanitizers.h"

/// HDF5 itself loses memory when it meets a damaged file; asked for by the leak sanitizer.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace stiction {
namespace {

std::string read_message(const std::string& path) {
  return message_of<Error>([&] { read_recording(path); });
}

TEST(RecordingReader, RefusesWhatIsNoRecording) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  EXPECT_EQ(read_message(path), "cannot open '" + path + "': No such file or directory");
  write_bytes(path, "time,y\n0,1\n");
  EXPECT_EQ(read_message(path), "'" + path + "' is not an HDF5 file");
  Hdf5File::create(path, path).close();
  EXPECT_EQ(read_message(path), "'" + path + "' is not a recording of this program");
}

TEST(RecordingReader, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  const auto make = [&](int version) {
    write_bytes(path, "");
    Hdf5File file = Hdf5File::create(path, path);
    file.write_attribute("/", "format", "stiction recording");
    file.write_attribute("/", "format_version", version);
    file.close();
  };
  make(2);
  EXPECT_EQ(read_message(path),
            "recording '" + path + "': its format version is 2, this program reads version 1");
  make(1);
  EXPECT_EQ(read_message(path), "'" + path + "' has no dataset 'commit'");
}

/// Changes a closed recording with HDF5's own functions.
template <class Change>
void change_file(const std::string& path, const Change& change) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  change(file);
  ASSERT_GE(H5Fclose(file), 0);
}

template <class T>
void overwrite(hid_t file, const char* object, hid_t type, const std::vector<T>& values) {
  const hid_t dataset = H5Dopen2(file, object, H5P_DEFAULT);
  EXPECT_GE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Dclose(dataset);
}

/// A closed example of six steps with four events.
std::string small_example(const TemporaryFolder& folder) {
  const std::string path = folder.file("small.h5");
  RecordingWriter writer(path, example_layout());
  append_examples(writer, 0, 6);
  writer.close("complete");
  return path;
}

TEST(RecordingReader, ReadsRecordingsFromBeforeThereWereEvents) {
  const TemporaryFolder folder;
  const std::string path = small_example(folder);
  change_file(path, [](hid_t file) {
    H5Ldelete(file, "events", H5P_DEFAULT);
    H5Ldelete(file, "solver/flagged", H5P_DEFAULT);
  });
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.num_rows(), 6);
  EXPECT_EQ(recording.contacts.size(), 6);
  EXPECT_EQ(recording.events.size(), 0);
  EXPECT_TRUE(recording.events.kinds.empty());
  EXPECT_TRUE(recording.flagged.empty());
}

TEST(RecordingReader, ReadsRecordingsFromBeforeSlipWasAccumulated) {
  const TemporaryFolder folder;
  const std::string path = small_example(folder);
  change_file(path, [](hid_t file) { H5Ldelete(file, "contacts/accumulated_slip", H5P_DEFAULT); });
  const Recording recording = read_recording(path);
  ASSERT_EQ(recording.contacts.accumulated_slip.rows(), 6);
  EXPECT_TRUE(recording.contacts.accumulated_slip.array().isNaN().all());
}

TEST(RecordingReader, RefusesEventsThatContradictThemselves) {
  const TemporaryFolder folder;
  const auto refusal = [&](const auto& change) {
    const std::string path = small_example(folder);
    change_file(path, change);
    const std::string message = read_message(path), prefix = "recording '" + path + "': ";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  };
  EXPECT_EQ(refusal([](hid_t file) {
              overwrite<int>(file, "events/kind", H5T_NATIVE_INT, {0, 1, 2, 0});
            }),
            "'events/kind' contains 2, but 'kinds' has 2 names");
  EXPECT_EQ(refusal([](hid_t file) {
              overwrite<long long>(file, "events/step", H5T_NATIVE_LLONG, {1, 1, 4, 3});
            }),
            "the numbers in 'events/step' decrease");
  EXPECT_EQ(refusal([](hid_t file) {
              overwrite<long long>(file, "events/complete", H5T_NATIVE_LLONG, {5, 4});
            }),
            "the rows of 'events/complete' decrease");
  EXPECT_EQ(refusal([](hid_t file) {
              overwrite<long long>(file, "events/complete", H5T_NATIVE_LLONG, {0, 5});
            }),
            "'events/step' has 4 rows, the last flush counts 5");
}

/// Bytes of an example of 3000 steps, flushed now and then: closed, or as a killed writer leaves
/// it.
std::string example_bytes(const TemporaryFolder& folder, bool is_closed) {
  const std::string path = folder.file("example.h5");
  RecordingWriter writer(path, example_layout());
  for (std::int64_t step = 0; step < 3000; step += 250) {
    append_examples(writer, step, step + 250);
    writer.flush();
  }
  if (is_closed) writer.close("complete");
  return read_bytes(path);
}

TEST(RecordingReader, TruncatedFilesGiveAnErrorOrAPrefix) {
  const TemporaryFolder folder;
  const std::string path = folder.file("cut.h5");
  for (const bool is_closed : {true, false}) {
    const std::string bytes = example_bytes(folder, is_closed);
    int num_prefixes = 0;
    const std::size_t stride = bytes.size() / testing::fewer_sanitized(400, 4);
    for (std::size_t size = 0; size < bytes.size(); size += stride) {
      SCOPED_TRACE(size);
      write_bytes(path, bytes.substr(0, size));
      try {
        const Recording recording = read_recording(path);
        expect_example_prefix(recording);
        if (recording.num_rows() > 0) ++num_prefixes;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      }
    }
    // HDF5 refuses a closed file that lost its end; one that was left open still has its start.
    EXPECT_EQ(num_prefixes > 0, !is_closed) << num_prefixes;
  }
}

TEST(RecordingReader, DamagedFilesNeverCrash) {
  const TemporaryFolder folder;
  const std::string path = folder.file("damaged.h5");
  Random random(3);
  for (const bool is_closed : {true, false}) {
    const std::string bytes = example_bytes(folder, is_closed);
    for (int i = 0; i < testing::fewer_sanitized(200, 4); ++i) {
      std::string damaged = bytes;
      // Structure lies mostly in the first part of the file, numbers in the rest.
      const int last = static_cast<int>(bytes.size()) / (i % 2 ? 1 : 20) - 1;
      const auto place = static_cast<std::size_t>(random.integer(0, last));
      damaged[place] = static_cast<char>(damaged[place] ^ (1 << random.integer(0, 7)));
      write_bytes(path, damaged);
      const std::string message = read_message(path);
      EXPECT_TRUE(message.empty() || message.find(path) != std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace stiction
