#include "stiction/record/recording_reader.h"

#include <gtest/gtest.h>

#include "stiction/base/error.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/base/random.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/recording_example.h"

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
    const std::size_t stride = bytes.size() / 400;
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
    for (int i = 0; i < 200; ++i) {
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
