// Whole files and hashes.
#include "stiction/base/whole_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "stiction/base/fnv_hash.h"
#include "tests/base/temporary_folder.h"

namespace stiction {
namespace {

TEST(WholeFile, GivesEveryByte) {
  const TemporaryFolder folder;
  std::string bytes(100000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i);
  std::ofstream(folder.file("a"), std::ios::binary) << bytes;
  EXPECT_EQ(try_read_file(folder.file("a")), bytes);
  std::ofstream(folder.file("empty"), std::ios::binary).flush();
  EXPECT_EQ(try_read_file(folder.file("empty")), "");
}

TEST(WholeFile, SaysWhyThereIsNothing) {
  const TemporaryFolder folder;
  std::string reason;
  EXPECT_FALSE(try_read_file(folder.file("none"), reason));
  EXPECT_EQ(reason, "cannot be read: No such file or directory");
  EXPECT_FALSE(try_read_file(folder.file(""), reason));
  EXPECT_EQ(reason, "is a folder, expected a file");
}

// The test vectors of the algorithm's authors, for 64 bits.
TEST(FnvHash, IsThePublishedOne) {
  const auto of = [](std::string_view text) {
    FnvHash hash;
    hash.add(text);
    return hash.value();
  };
  EXPECT_EQ(of(""), 0xcbf29ce484222325u);
  EXPECT_EQ(of("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(of("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace stiction
