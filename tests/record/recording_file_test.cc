// Ranges of a recording on the disk, and a recording that grows.
#include "stiction/record/recording_file.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>

#include "stiction/base/error.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/recording_example.h"

namespace stiction {
namespace {

TEST(RecordingFile, RangesAreThoseOfTheWholeRecording) {
  const TemporaryFolder folder;
  {
    RecordingWriter writer(folder.file("r.h5"), example_layout());
    append_examples(writer, 0, 50);
    writer.close("complete");
  }
  const Recording whole = read_recording(folder.file("r.h5"));
  const RecordingFile file(folder.file("r.h5"));
  ASSERT_EQ(file.num_rows(), whole.num_rows());
  EXPECT_EQ(file.contact_start(), whole.contacts.row_start);
  EXPECT_EQ(file.description().q_names, whole.q_names);
  EXPECT_EQ(file.extent().events, whole.events.size());
  const std::vector<double> q = file.read<double>("q", 7, 20);
  const std::vector<double> column = file.read_column("q", 1, 7, 20);
  ASSERT_EQ(q.size(), 20 * whole.q_names.size());
  for (int i = 0; i < 20; ++i) {
    for (int k = 0; k < 3; ++k) EXPECT_EQ(q[3 * i + k], whole.q(7 + i, k));
    EXPECT_EQ(column[i], whole.q(7 + i, 1));
  }
  EXPECT_FALSE(file.is_growing());
  EXPECT_THROW(std::ignore = file.read<double>("q", 40, 20), IoError);
}

TEST(RecordingFile, FollowsAWriterAndSeesItsEnd) {
  const TemporaryFolder folder;
  RecordingWriter writer(folder.file("r.h5"), example_layout());
  append_examples(writer, 0, 10);
  writer.flush();
  RecordingFile file(folder.file("r.h5"));
  EXPECT_TRUE(file.is_growing());
  EXPECT_EQ(file.num_rows(), 10);
  EXPECT_FALSE(file.refresh());
  append_examples(writer, 10, 25);
  EXPECT_TRUE((writer.flush(), file.refresh()));
  EXPECT_EQ(file.num_rows(), 25);
  writer.close("interrupted");
  EXPECT_TRUE(file.refresh());
  EXPECT_FALSE(file.is_growing());
  EXPECT_EQ(file.description().status, "interrupted");
  EXPECT_EQ(file.contact_start(), read_recording(folder.file("r.h5")).contacts.row_start);
}

/// Reads of rows assume as many columns as there are names.
TEST(RecordingFile, TablesOfAnotherWidthAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("r.h5");
  {
    RecordingWriter writer(path, example_layout());
    append_examples(writer, 0, 50);
    writer.close("complete");
  }
  for (const char* object : {"q", "contacts/impulse"}) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_EQ(H5Ldelete(file, object, H5P_DEFAULT), 0);
    const std::array<hsize_t, 2> shape = {50, 1};
    const hid_t space = H5Screate_simple(2, shape.data(), nullptr);
    H5Dclose(
        H5Dcreate2(file, object, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(file);
    EXPECT_ANY_THROW(RecordingFile{path}) << object;
  }
}

}  // namespace
}  // namespace stiction
