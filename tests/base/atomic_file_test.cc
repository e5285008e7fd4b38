#include "stiction/base/atomic_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "stiction/base/error.h"
#include "tests/base/file_size_limit.h"
#include "tests/base/temporary_folder.h"

namespace stiction {
namespace {

TEST(AtomicFile, AppearsOnlyOnCommit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.txt");
  write_bytes(path, "old");
  AtomicFile file(path);
  file.write("new ");
  file.write("text");
  EXPECT_EQ(read_bytes(path), "old");
  file.commit();
  EXPECT_EQ(read_bytes(path), "new text");
  EXPECT_EQ(folder.file_names().size(), 1U);
}

TEST(AtomicFile, LeavesNothingBehindWithoutCommit) {
  const TemporaryFolder folder;
  { AtomicFile(folder.file("a.txt")).write("half"); }
  EXPECT_TRUE(folder.file_names().empty());
}

TEST(AtomicFile, TwoWritersOfOneFileDoNotMeet) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.txt");
  AtomicFile first(path), second(path);
  first.write("1");
  second.write("2");
  first.commit();
  EXPECT_EQ(read_bytes(path), "1");
  second.commit();
  EXPECT_EQ(read_bytes(path), "2");
}

TEST(AtomicFile, FollowsLinks) {
  const TemporaryFolder folder;
  write_bytes(folder.file("real"), "old");
  std::filesystem::create_symlink("real", folder.file("link"));
  AtomicFile file(folder.file("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(read_bytes(folder.file("real")), "new");
}

TEST(AtomicFile, WritesDevicesDirectly) {
  AtomicFile file("/dev/null");
  file.write("text");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFile, NamesFileAndReason) {
  const TemporaryFolder folder;
  const std::string missing = folder.file("no/a.txt");
  EXPECT_EQ(message_of<IoError>([&] { AtomicFile file(missing); }),
            "cannot create '" + missing + "': No such file or directory");
  const std::string itself = folder.file("");
  EXPECT_EQ(message_of<IoError>([&] { AtomicFile file(itself); }),
            "cannot write '" + itself + "': Is a directory");
}

TEST(AtomicFile, ReportsFullDevice) {
  const auto write = [] {
    AtomicFile file("/dev/full");
    file.write("text");
    file.commit();
  };
  EXPECT_EQ(message_of<IoError>(write), "cannot write '/dev/full': No space left on device");
}

TEST(AtomicFile, KeepsOldFileWhenDiskIsFull) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.txt");
  write_bytes(path, "old");
  const auto write = [&] {
    const std::string message = message_of<IoError>([&] {
      AtomicFile file(path);
      file.write(std::string(100000, 'x'));
      file.commit();
    });
    return message == "cannot write '" + path + "': File too large" ? 0 : 1;
  };
  EXPECT_EQ(run_with_file_size_limit(4096, write), 0);
  EXPECT_EQ(read_bytes(path), "old");
  EXPECT_EQ(folder.file_names().size(), 1U);
}

}  // namespace
}  // namespace stiction
