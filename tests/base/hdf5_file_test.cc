#include "stiction/base/hdf5_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <limits>

#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"
#include "tests/base/file_size_limit.h"
#include "tests/base/temporary_folder.h"

namespace stiction {
namespace {

const std::vector<double> kNumbers = {
    0.1, -0.0, std::numeric_limits<double>::infinity(), 5e-324, 1.7976931348623157e308, -1};

Hdf5File make_file(const std::string& path) {
  write_bytes(path, "");
  return Hdf5File::create(path, path);
}

template <class T>
void expect_list_round_trip(const TemporaryFolder& folder, const std::vector<T>& values) {
  const std::string path = folder.file("list.h5");
  Hdf5File file = make_file(path);
  file.write("x", std::span<const T>(values));
  file.close();
  EXPECT_EQ(Hdf5File::open(path).read<T>("x"), values);
}

TEST(Hdf5File, ListsComeBackBitByBit) {
  const TemporaryFolder folder;
  expect_list_round_trip(folder, kNumbers);
  expect_list_round_trip(folder, std::vector<double>{});
  expect_list_round_trip(folder, std::vector<int>{1, -2, std::numeric_limits<int>::min()});
  expect_list_round_trip(folder, std::vector<std::int64_t>{std::int64_t{1} << 60, -1});
  expect_list_round_trip(folder, std::vector<std::uint64_t>{~std::uint64_t{0}, 0});
}

TEST(Hdf5File, TablesAndGroupsComeBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file("table.h5");
  Hdf5File file = make_file(path);
  file.make_group("g");
  file.write("g/table", std::span<const double>(kNumbers), 2);
  file.close();

  const Hdf5File read = Hdf5File::open(path);
  EXPECT_EQ(read.shape("g/table"), (Hdf5Shape{2, 3, 2}));
  EXPECT_EQ(read.read<double>("g/table"), kNumbers);
  EXPECT_EQ(read.read_rows<double>("g/table", 1), (std::vector<double>{0.1, -0.0}));
  EXPECT_TRUE(read.has("g"));
  EXPECT_FALSE(read.has("g/other"));
  EXPECT_FALSE(read.has("nothing/there"));
}

TEST(Hdf5File, TextsComeBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file("text.h5");
  const std::string long_text(300000, 'x');
  Hdf5File file = make_file(path);
  file.write_text("empty", "");
  file.write_text("long", long_text);
  file.write_text("greek", "μν ⊥ λ\nline");
  file.close();

  const Hdf5File read = Hdf5File::open(path);
  EXPECT_EQ(read.read_text("empty"), "");
  EXPECT_EQ(read.read_text("long"), long_text);
  EXPECT_EQ(read.read_text("greek"), "μν ⊥ λ\nline");
}

TEST(Hdf5File, AttributesComeBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file("attributes.h5");
  // Far beyond the 64 kB that old versions of the format allow for an attribute.
  std::vector<std::string> many;
  for (int i = 0; i < 20000; ++i) many.push_back("body" + std::to_string(i) + ".x");
  const std::vector<std::string> none, odd = {"", "ä", "a longer one"};
  Hdf5File file = make_file(path);
  file.make_group("g");
  file.write_attribute("/", "number", 0.1);
  file.write_attribute("/", "integer", -7);
  file.write_attribute("g", "text", "some text");
  file.write_attribute("g", "many", std::span(many));
  file.write_attribute("g", "none", std::span(none));
  file.write_attribute("g", "odd", std::span(odd));
  file.close();

  const Hdf5File read = Hdf5File::open(path);
  EXPECT_EQ(read.read_double_attribute("/", "number"), 0.1);
  EXPECT_EQ(read.read_int_attribute("/", "integer"), -7);
  EXPECT_EQ(read.read_text_attribute("g", "text"), "some text");
  EXPECT_EQ(read.read_texts_attribute("g", "many"), many);
  EXPECT_EQ(read.read_texts_attribute("g", "none"), none);
  EXPECT_EQ(read.read_texts_attribute("g", "odd"), odd);
  EXPECT_FALSE(read.has_attribute("g", "number"));
}

TEST(Hdf5File, GrowingTablesAreReadableWhileTheyGrow) {
  const TemporaryFolder folder;
  const std::string path = folder.file("growing.h5");
  Hdf5File file = make_file(path);
  file.make_table<double>("x", 2);
  file.make_table<int>("empty", 0);
  file.make_text_table("log", 8);
  file.start_append_only();
  Hdf5Table x(file, "x"), empty(file, "empty"), log(file, "log");
  std::vector<double> expected;
  for (int i = 0; i < 3000; ++i) {  // crosses chunks
    const std::vector<double> row = {0.1 * i, -i * 1.0};
    expected.insert(expected.end(), row.begin(), row.end());
    x.append(std::span<const double>(row), 1);
    if (i % 1000 != 999) continue;
    empty.append(std::span<const int>(), 1000);
    log.append_text("mark");
    file.flush();
    const Hdf5File reader = Hdf5File::open(path);
    EXPECT_TRUE(reader.was_left_open());
    EXPECT_EQ(reader.read<double>("x"), expected);
    EXPECT_EQ(reader.shape("empty"), (Hdf5Shape{2, i + 1, 0}));
    EXPECT_EQ(reader.read_texts("log").back(), "mark");
  }
  file.close();
  EXPECT_FALSE(Hdf5File::open(path).was_left_open());
  EXPECT_EQ(Hdf5File::open(path).read<double>("x"), expected);
}

TEST(Hdf5File, NoAppendRewritesMetadataAcrossPages) {
  const TemporaryFolder folder;
  const std::string path = folder.file("growing.h5");
  const std::vector<std::string> names(3000, "a name that makes a long attribute");
  Hdf5File file = make_file(path);
  std::vector<std::string> objects;
  for (int i = 0; i < 30; ++i) {
    objects.push_back("x" + std::to_string(i));
    file.make_table<double>(objects.back(), 1000);  // few rows per chunk
    file.write_attribute(objects.back(), "names", std::span(names));
  }
  file.start_append_only();
  std::vector<Hdf5Table> tables;
  for (const std::string& object : objects) tables.emplace_back(file, object);
  const std::vector<double> rows(1000, 1.0);
  for (int i = 0; i < 1000; ++i) {
    for (Hdf5Table& table : tables) table.append(std::span<const double>(rows), 1);
    file.flush();
  }
  EXPECT_EQ(file.num_divided_writes(), 0);
}

TEST(Hdf5File, OpenFailuresNameFileAndReason) {
  const TemporaryFolder folder;
  const auto open_message = [](const std::string& path) {
    return message_of<IoError>([&] { Hdf5File::open(path); });
  };
  const std::string path = folder.file("x.h5");
  EXPECT_EQ(open_message(path), "cannot open '" + path + "': No such file or directory");
  EXPECT_EQ(open_message(folder.file("")), "cannot open '" + folder.file("") + "': Is a directory");
  write_bytes(path, "");
  EXPECT_EQ(open_message(path), "'" + path + "' is not an HDF5 file");
  write_bytes(path, "{\"json\": 1}");
  EXPECT_EQ(open_message(path), "'" + path + "' is not an HDF5 file");
  if (::geteuid() == 0) return;  // nothing is forbidden to root
  std::filesystem::permissions(path, std::filesystem::perms::none);
  EXPECT_EQ(open_message(path), "cannot open '" + path + "': Permission denied");
}

TEST(Hdf5File, MissingObjectsAreNamed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  Hdf5File file = make_file(path);
  file.make_group("g");
  file.write("x", std::span<const double>(kNumbers));
  file.write_text("text", "words");
  file.close();
  const Hdf5File read = Hdf5File::open(path);
  EXPECT_EQ(message_of<IoError>([&] { (void)read.read<double>("g/y"); }),
            "'" + path + "' has no dataset 'g/y'");
  EXPECT_EQ(message_of<IoError>([&] { (void)read.read_text_attribute("g", "a"); }),
            "'" + path + "' has no attribute 'a' of 'g'");
  EXPECT_EQ(message_of<IoError>([&] { (void)read.read<int>("x"); }),
            "'x' in '" + path + "' is not a list or table of integers of the right size");
  EXPECT_EQ(message_of<IoError>([&] { (void)read.read<double>("text"); }),
            "'text' in '" + path + "' is not a list or table of numbers");
  EXPECT_EQ(message_of<IoError>([&] { (void)read.read_text("x"); }),
            "'x' in '" + path + "' is not a fixed-length text");
  EXPECT_FALSE(message_of<IoError>([&] { (void)read.read<double>("g"); }).empty());
}

TEST(Hdf5File, WriteFailuresNameTheReason) {
  const TemporaryFolder folder;
  const std::string path = folder.file("full.h5");
  const auto write = [&] {
    Hdf5File file = make_file(path);
    const std::vector<double> values(100000, 1.0);
    const std::string message = message_of<IoError>([&] {
      file.write("x", std::span<const double>(values));
      file.flush();
    });
    return message == "cannot write '" + path + "': File too large" ? 0 : 1;
  };
  EXPECT_EQ(run_with_file_size_limit(50000, write), 0);
}

TEST(Hdf5File, NeverOpensTruncatedFilesAsComplete) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5"), cut = folder.file("cut.h5");
  Hdf5File file = make_file(path);
  file.write("x", std::span<const double>(kNumbers));
  file.close();
  const std::string bytes = read_bytes(path);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write_bytes(cut, bytes.substr(0, size));
    EXPECT_THROW(Hdf5File::open(cut), IoError) << size;
  }
}

}  // namespace
}  // namespace stiction
