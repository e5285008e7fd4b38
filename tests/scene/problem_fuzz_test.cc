// Damaged problem files: whatever is in them, reading ends soon, in little memory, with a problem
// without fault or with an error that names the file and what is wrong in it. Valid files of every
// kind are written in the checksummed format of our own files and in the old format of the public
// ones, and then damaged byte by byte or object by object. Seeded: a failure can be replayed.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <variant>

#include "stiction/base/error.h"
#include "stiction/problem/problem_file.h"
#include "stiction/scene/problem_reader.h"
#include "tests/sanitizers.h"
#include "tests/scene/problem_examples.h"

namespace stiction {
namespace {

/// Everything in a problem file: datasets by path, numbers as 32-bit integers or doubles.
using Dataset =
    std::variant<std::vector<int>, std::vector<double>, std::vector<std::uint64_t>, std::string>;
struct FileContent {
  std::vector<std::string> groups;  // parents first
  std::map<std::string, Dataset> datasets;
  bool is_dump = false;  // has the attributes of a step problem
};

template <class T>
std::vector<T> read_numbers(hid_t dataset, hid_t type) {
  const hid_t space = H5Dget_space(dataset);
  std::vector<T> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Sclose(space);
  if (!values.empty()) H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  return values;
}

Dataset read_dataset(hid_t file, const char* name) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(dataset);
  Dataset values;
  if (H5Tget_class(type) == H5T_STRING)
    values = std::string("a title");
  else if (H5Tget_class(type) == H5T_FLOAT)
    values = read_numbers<double>(dataset, H5T_NATIVE_DOUBLE);
  else if (H5Tget_size(type) == 8)
    values = read_numbers<std::uint64_t>(dataset, H5T_NATIVE_UINT64);
  else
    values = read_numbers<int>(dataset, H5T_NATIVE_INT);
  H5Tclose(type);
  H5Dclose(dataset);
  return values;
}

herr_t collect(hid_t file, const char* name, const H5L_info_t* /*info*/, void* data) {
  FileContent& content = *static_cast<FileContent*>(data);
  const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
  const bool is_group = H5Iget_type(object) == H5I_GROUP;
  H5Oclose(object);
  if (is_group)
    content.groups.emplace_back(name);
  else
    content.datasets[name] = read_dataset(file, name);
  return 0;
}

FileContent read_content(const std::string& path) {
  FileContent content;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, collect, &content);
  H5Fclose(file);
  content.is_dump = content.datasets.count("step_problem/p") > 0;
  return content;
}

void write_numbers(hid_t file, const std::string& name, hid_t type, hsize_t size,
                   const void* values) {
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  const hid_t dataset =
      H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (size > 0) H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(dataset);
  H5Sclose(space);
}

struct DatasetWriter {
  hid_t file;
  const std::string& name;
  void operator()(const std::vector<int>& x) const {
    write_numbers(file, name, H5T_NATIVE_INT, x.size(), x.data());
  }
  void operator()(const std::vector<double>& x) const {
    write_numbers(file, name, H5T_NATIVE_DOUBLE, x.size(), x.data());
  }
  void operator()(const std::vector<std::uint64_t>& x) const {
    write_numbers(file, name, H5T_NATIVE_UINT64, x.size(), x.data());
  }
  void operator()(const std::string& text) const {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, text.size() + 1);
    write_numbers(file, name, type, 1, text.c_str());
    H5Tclose(type);
  }
};

/// In HDF5's oldest format, which has no checksums: damage reaches the reader.
void write_content(const std::string& path, const FileContent& content) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (const std::string& group : content.groups) {
    const hid_t id = H5Gcreate2(file, group.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group == "step_problem" && content.is_dump) {
      const hid_t space = H5Screate(H5S_SCALAR);
      const int version = 1;
      const double h = 0.5;
      const hid_t a = H5Acreate2(id, "version", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
      const hid_t b = H5Acreate2(id, "h", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(a, H5T_NATIVE_INT, &version);
      H5Awrite(b, H5T_NATIVE_DOUBLE, &h);
      H5Aclose(a);
      H5Aclose(b);
      H5Sclose(space);
    }
    H5Gclose(id);
  }
  for (const auto& [name, dataset] : content.datasets)
    std::visit(DatasetWriter{file, name}, dataset);
  H5Fclose(file);
}

// ------------------------------------------------------------------------------------ valid files

StepProblem make_dump() {
  StepProblem problem;
  problem.h = 0.5;
  for (const double mass : {2.0, 3.0}) problem.add_mass_block(3) = mass * MatrixXd::Identity(3, 3);
  problem.add_bilateral_row({.compliance = 0.1, .bias = 1, .lower = -1, .upper = 2});
  problem.bilateral.add_entry(0, 3).setOnes();
  problem.add_contact(
      {.num_tangents = 2, .mu = 0.5, .section = FrictionSection::polygon(8), .key = 3});
  problem.contacts.add_entry(0, 3).setOnes();
  problem.contacts.add_entry(1, 3).setIdentity();
  problem.add_contact({.num_tangents = 0, .mu = 0, .section = FrictionSection::disc(), .key = 4});
  problem.contacts.add_entry(1, 3).setOnes();
  for (int i = 0; i < problem.num_rows(); ++i) {
    problem.coupling.add_row();
    problem.coupling.add_entry(i, 0.5);
  }
  return problem;
}

struct FileKind {
  const char* name;
  void (*write)(const std::string& path);
};

const FileKind kKinds[] = {
    {"LocalTriplets",
     [](const std::string& path) {
       write_local(path, make_local_example(3, 2, 1), MatrixForm::kTriplets);
     }},
    {"LocalPlanarColumns",
     [](const std::string& path) {
       write_local(path, make_local_example(2, 2, 1), MatrixForm::kColumns);
     }},
    {"GlobalRows",
     [](const std::string& path) {
       write_global(path, make_global_example(2, 2), MatrixForm::kRows);
     }},
    {"GlobalTriplets",
     [](const std::string& path) {
       write_global(path, make_global_example(3, 0), MatrixForm::kTriplets);
     }},
    {"Lcp",
     [](const std::string& path) {
       write_lcp(path, make_lcp_example({1, 1, 1}, 3), "lcp");
     }},
    {"Mlcp",
     [](const std::string& path) {
       write_lcp(path, make_lcp_example({1, 0, 1}, 3), "mlcp");
     }},
    {"Dump", [](const std::string& path) { write_problem(path, make_dump()); }},
};

// ----------------------------------------------------------------------------------------- checks

/// For files of ten kilobytes. HDF5 itself may ask for gigabytes that it never touches; the
/// sanitizer touches their shadow.
constexpr long kAllowedKib = testing::kHasSanitizers ? std::numeric_limits<long>::max() : 64 * 1024;

long peak_memory_kib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class ProblemFuzz : public ::testing::TestWithParam<FileKind> {
 protected:
  static void SetUpTestSuite() {
    skip_hdf5_cleanup_at_exit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }

  std::string path() const { return folder_.file("damaged.hdf5"); }

  /// The complaint, or nothing where the damage left a problem.
  std::string read() const {
    try {
      EXPECT_EQ(find_fault(read_problem_file(path()).problem), "");
      return {};
    } catch (const Error& error) {  // any other exception fails the test
      EXPECT_NE(std::string(error.what()).find(path()), std::string::npos) << error.what();
      return error.what();
    }
  }

  /// Reads and expects that memory does not grow by more than a small file can ask for.
  std::string read_in_little_memory() const {
    const long before = peak_memory_kib();
    std::string complaint = read();
    EXPECT_LE(peak_memory_kib() - before, kAllowedKib);
    return complaint;
  }

  void expect_no_crash_from_damaged_bytes(const std::string& bytes, int num_trials,
                                          Random& random) {
    for (int trial = 0; trial < num_trials; ++trial) {
      SCOPED_TRACE(trial);
      std::string damaged = bytes;
      const int num_damages = random.integer(1, 6);
      for (int k = 0; k < num_damages; ++k) {
        const auto at = static_cast<std::size_t>(random.next() % bytes.size());
        damaged[at] =
            static_cast<char>(random.chance(0.5) ? damaged[at] ^ (1 << random.integer(0, 7))
                                                 : random.integer(0, 255));
      }
      write_bytes(path(), damaged);
      read_in_little_memory();
    }
  }

  /// The valid file with checksums, and the same content without.
  std::vector<std::string> both_formats() const {
    GetParam().write(path());
    const std::string modern = read_bytes(path());
    write_content(path(), read_content(path()));
    EXPECT_EQ(read(), "");
    return {modern, read_bytes(path())};
  }

  TemporaryFolder folder_;
};

TEST_P(ProblemFuzz, TruncatedFilesAreRefused) {
  for (const std::string& bytes : both_formats()) {
    const std::size_t stride = bytes.size() / 40 + 1;
    for (std::size_t size = 0; size < bytes.size(); size += stride) {
      write_bytes(path(), bytes.substr(0, size));
      // HDF5 may find all it needs where only the padding at the end is missing.
      const std::string complaint = read_in_little_memory();
      if (size < bytes.size() / 2) {
        EXPECT_NE(complaint, "") << size;
      }
    }
  }
}

TEST_P(ProblemFuzz, DamagedBytesNeverCrash) {
  Random random(11);
  for (const std::string& bytes : both_formats())
    expect_no_crash_from_damaged_bytes(bytes, 60, random);
}

class SlowProblemFuzz : public ProblemFuzz {};
TEST_P(SlowProblemFuzz, DamagedBytesNeverCrash) {
  Random random(12);
  for (const std::string& bytes : both_formats())
    expect_no_crash_from_damaged_bytes(bytes, 3000, random);
}

// -------------------------------------------------------------------------- damage to the content

template <class T>
T pick(const std::vector<T>& values, Random& random) {
  return values[static_cast<std::size_t>(random.integer(0, static_cast<int>(values.size()) - 1))];
}

/// One number, one size, one type or one object is not what it should be.
class Vandal {
 public:
  Vandal(FileContent& content, Random& random) : content_(content), random_(random) {}

  void strike() {
    auto victim = content_.datasets.begin();
    std::advance(victim, random_.integer(0, static_cast<int>(content_.datasets.size()) - 1));
    switch (random_.integer(0, 4)) {
      case 0:
        content_.datasets.erase(victim);
        break;
      case 1:
        change_type(victim->second);
        break;
      case 2:
        change_size(victim->second);
        break;
      default:
        change_value(victim->second);
        break;
    }
  }

 private:
  void change_type(Dataset& dataset) {
    if (auto* numbers = std::get_if<std::vector<double>>(&dataset)) {
      const std::vector<int> rounded(numbers->size(), 1);
      dataset = rounded;
    } else if (auto* integers = std::get_if<std::vector<int>>(&dataset); integers != nullptr) {
      const std::vector<double> widened(integers->begin(), integers->end());
      random_.chance(0.5) ? dataset = widened : dataset = std::string("text");
    } else {
      dataset = std::vector<double>{1.5};
    }
  }

  void change_size(Dataset& dataset) {
    const auto resize = [&](auto& values) {
      const int size = static_cast<int>(values.size());
      values.resize(pick<int>({0, std::max(0, size - 1), size + 1, 2 * size + 3}, random_));
    };
    std::visit(resize, dataset);
  }

  void change_value(Dataset& dataset) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr int kMost = std::numeric_limits<int>::max(), kLeast = std::numeric_limits<int>::min();
    if (auto* x = std::get_if<std::vector<double>>(&dataset); x != nullptr && !x->empty())
      (*x)[random_.next() % x->size()] = pick<double>(
          {std::nan(""), kInfinity, -kInfinity, -1.0, 0.0, 1e308, -1e308, 1e-308}, random_);
    if (auto* i = std::get_if<std::vector<int>>(&dataset); i != nullptr && !i->empty())
      (*i)[random_.next() % i->size()] =
          pick<int>({kMost, kLeast, -1, 0, 1, 2, 3, 5, 7, 100, 1 << 30, kMost - 1}, random_);
  }

  FileContent& content_;
  Random& random_;
};

bool names_an_object(const std::string& complaint) {
  for (const char* part : {"fclib_", "lcp", "step_problem", "solution", "mass block", "contact",
                           "bilateral", "coupling", "friction section", "': p "})
    if (complaint.find(part) != std::string::npos) return true;
  return false;
}

TEST_P(ProblemFuzz, DamagedContentIsRefusedByNameOrIsAProblem) {
  GetParam().write(path());
  const FileContent valid = read_content(path());
  Random random(13);
  int num_refused = 0;
  for (int trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(trial);
    FileContent damaged = valid;
    Vandal(damaged, random).strike();
    write_content(path(), damaged);
    const std::string complaint = read_in_little_memory();
    if (complaint.empty()) continue;
    ++num_refused;
    EXPECT_TRUE(names_an_object(complaint)) << complaint;
    EXPECT_EQ(complaint.find('\n'), std::string::npos) << complaint;
  }
  EXPECT_GE(num_refused, 30);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ProblemFuzz, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });
INSTANTIATE_TEST_SUITE_P(Slow, SlowProblemFuzz, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

// ---------------------------------------------------------------------- announced but not there

class HugeProblemFile : public ProblemFuzz {
 protected:
  /// q of a local problem with `size` entries announced, in one piece or in chunks, and none
  /// written. HDF5 would hand out zeros for them.
  void announce(hsize_t size, bool is_chunked, bool is_packed) const {
    write_local(path(), make_local_example(3, 2, 1));
    FileContent content = read_content(path());
    content.datasets.erase("fclib_local/vectors/q");
    write_content(path(), content);
    const hid_t file = H5Fopen(path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE),
                space = H5Screate_simple(1, &size, nullptr);
    const hsize_t chunk = 1024;
    if (is_chunked) H5Pset_chunk(creation, 1, &chunk);
    if (is_packed) H5Pset_deflate(creation, 9);
    H5Dclose(H5Dcreate2(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                        creation, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(creation);
    H5Fclose(file);
  }
};

TEST_F(HugeProblemFile, AnnouncedSizesAreNotAllocated) {
  for (const hsize_t size : {hsize_t{6}, hsize_t{3} << 20, hsize_t{3} << 40})
    for (const bool is_chunked : {false, true}) {
      SCOPED_TRACE(size);
      announce(size, is_chunked, false);
      EXPECT_NE(read_in_little_memory().find("'fclib_local/vectors/q'"), std::string::npos);
    }
  announce(hsize_t{3} << 40, true, true);
  EXPECT_NE(read_in_little_memory().find("'fclib_local/vectors/q'"), std::string::npos);
}

TEST_F(HugeProblemFile, HugeDimensionsOfMatricesAreNotAllocated) {
  write_local(path(), make_local_example(2, 2, 1), MatrixForm::kColumns);
  const FileContent valid = read_content(path());
  for (const char* name : {"m", "n", "nz", "nzmax"})
    for (const int value : {1 << 30, std::numeric_limits<int>::max()}) {
      FileContent damaged = valid;
      damaged.datasets[std::string("fclib_local/W/") + name] = std::vector<int>{value};
      write_content(path(), damaged);
      const std::string complaint = read_in_little_memory();
      const bool may_be_wrong = name == std::string("nzmax");  // room that was allocated, unused
      EXPECT_EQ(complaint.empty(), may_be_wrong) << name << ": " << complaint;
    }
}

TEST_F(HugeProblemFile, ThingsThatAreNoFilesAreRefused) {
  EXPECT_NE(read(), "");  // missing
  write_bytes(path(), "");
  EXPECT_NE(read().find("not an HDF5 file"), std::string::npos);
  write_bytes(path(), std::string(100000, '\0'));
  EXPECT_NE(read().find("not an HDF5 file"), std::string::npos);
  write_bytes(path(), "{\"scene\": 1}\n");
  EXPECT_NE(read().find("not an HDF5 file"), std::string::npos);
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_NE(read().find("Is a directory"), std::string::npos) << read();
}

TEST_F(HugeProblemFile, GroupsInPlaceOfListsAreRefused) {
  write_local(path(), make_local_example(3, 2, 1));
  const FileContent valid = read_content(path());
  for (const auto& [name, dataset] : valid.datasets) {
    FileContent damaged = valid;
    damaged.datasets.erase(name);
    damaged.groups.push_back(name);
    write_content(path(), damaged);
    const bool may_be_odd =
        name == "fclib_local/info/title" || name == "fclib_local/W/nzmax" || name == "solution/u";
    EXPECT_EQ(read().empty(), may_be_odd) << name << ": " << read();
  }
}

}  // namespace
}  // namespace stiction
