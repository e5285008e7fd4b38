#include "stiction/problem/problem_file.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>

#include "stiction/base/error.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/base/random.h"
#include "tests/base/file_size_limit.h"
#include "tests/base/temporary_folder.h"

/// HDF5 itself loses memory when it meets a damaged file; asked for by the leak sanitizer.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace stiction {
namespace {

void fill(RowMatrixMap matrix, Random& random) {
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.normal();
}

/// Without fault: mass blocks are a dominant diagonal plus something unsymmetric.
StepProblem make_problem(std::uint64_t seed) {
  Random random(seed);
  StepProblem problem;
  problem.h = random.uniform(0, 0.1);
  for (const int size : {3, 6, 1}) {
    RowMatrixMap block = problem.add_mass_block(size);
    fill(block, random);
    block.diagonal().array() += 20;
  }
  for (double& p : problem.p) p = random.normal();
  for (int i = 0; i < 4; ++i) {
    problem.add_bilateral_row({0.1 * i, random.normal(), i % 2 ? -StepProblem::kUnbounded : -1.5,
                               i < 2 ? StepProblem::kUnbounded : 2.0});
    fill(problem.bilateral.add_entry(0, 3), random);
    if (i > 1) fill(problem.bilateral.add_entry(1, 6), random);
  }
  const FrictionSection sections[] = {FrictionSection::disc(), FrictionSection::box(),
                                      FrictionSection::polygon(8)};
  for (int i = 0; i < 3; ++i) {
    problem.add_contact({i, 0.3 * i, sections[i], ~std::uint64_t{0} - static_cast<unsigned>(i)});
    fill(problem.contacts.add_entry(1, 6), random);
    if (i > 0) fill(problem.contacts.add_entry(2, 1), random);
  }
  for (double& b : problem.contact_bias) b = random.normal();
  for (double& c : problem.contact_compliance) c = random.uniform();
  return problem;
}

TEST(ProblemFile, RoundTripIsLossless) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const StepProblem problem = make_problem(seed);
    ASSERT_EQ(find_fault(problem), "");
    write_problem(folder.file("p.h5"), problem);
    EXPECT_EQ(read_problem(folder.file("p.h5")), problem);
  }
  EXPECT_EQ(folder.file_names().size(), 1U);
}

TEST(ProblemFile, EmptyProblemRoundTrips) {
  const TemporaryFolder folder;
  write_problem(folder.file("p.h5"), StepProblem());
  EXPECT_EQ(read_problem(folder.file("p.h5")), StepProblem());
}

TEST(ProblemFile, FaultIsReportedWithFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.h5");
  StepProblem problem = make_problem(1);
  problem.mu[1] = -0.5;
  write_problem(path, problem);
  EXPECT_EQ(message_of<InputError>([&] { read_problem(path); }),
            "step problem '" + path + "': contact 1 has the friction coefficient -0.5");
  problem = make_problem(1);
  problem.p[2] = std::numeric_limits<double>::quiet_NaN();
  write_problem(path, problem);
  EXPECT_EQ(message_of<InputError>([&] { read_problem(path); }),
            "step problem '" + path + "': p is not finite");
}

TEST(ProblemFile, OtherFilesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.h5");
  EXPECT_EQ(message_of<IoError>([&] { read_problem(path); }),
            "cannot open '" + path + "': No such file or directory");
  write_bytes(path, "");
  Hdf5File::create(path, path).close();
  EXPECT_EQ(message_of<InputError>([&] { read_problem(path); }),
            "'" + path + "' is not a step problem of this program");
}

TEST(ProblemFile, UnwritableTargetIsReportedAndOldFileKept) {
  const TemporaryFolder folder;
  const std::string missing = folder.file("no/p.h5"), path = folder.file("p.h5");
  EXPECT_EQ(message_of<IoError>([&] { write_problem(missing, StepProblem()); }),
            "cannot create '" + missing + "': No such file or directory");
  write_problem(path, make_problem(1));
  const auto write = [&] {
    return message_of<IoError>([&] { write_problem(path, make_problem(2)); }) ==
                   "cannot write '" + path + "': File too large"
               ? 0
               : 1;
  };
  EXPECT_EQ(run_with_file_size_limit(2000, write), 0);
  EXPECT_EQ(read_problem(path), make_problem(1));
  EXPECT_EQ(folder.file_names().size(), 1U);
}

/// A problem file made by hand, with one list replaced by another one.
struct HandMade {
  std::vector<int> block_size{2};
  std::vector<double> mass{1, 0, 0, 1}, p{0, 0};
  std::vector<int> bilateral_entries{1}, bilateral_block{0}, bilateral_columns{2};
  std::vector<double> bilateral_values{1, 0}, row{0};
  std::vector<int> rows{2}, entries{1}, block{0}, columns{2}, kind{0}, sides{0};
  std::vector<double> values{1, 0, 0, 1}, contact_rows{0, 0}, mu{0.5};
  std::vector<std::uint64_t> key{7};
  int version = 1;

  void write(const std::string& path) const;
};

void HandMade::write(const std::string& path) const {
  write_bytes(path, "");
  Hdf5File file = Hdf5File::create(path, path);
  const auto list = [&]<class T>(const std::string& name, const std::vector<T>& values_of_list) {
    file.write("step_problem/" + name, std::span<const T>(values_of_list));
  };
  file.make_group("step_problem");
  file.make_group("step_problem/bilateral");
  file.make_group("step_problem/contacts");
  file.write_attribute("step_problem", "version", version);
  file.write_attribute("step_problem", "h", 0.01);
  list("block_size", block_size), list("mass", mass), list("p", p);
  list("bilateral/num_entries", bilateral_entries), list("bilateral/entry_block", bilateral_block);
  list("bilateral/entry_columns", bilateral_columns), list("bilateral/values", bilateral_values);
  for (const char* name : {"compliance", "bias", "lower", "upper"})
    list(std::string("bilateral/") + name, row);
  list("contacts/num_rows", rows), list("contacts/num_entries", entries);
  list("contacts/entry_block", block), list("contacts/entry_columns", columns);
  list("contacts/values", values), list("contacts/compliance", contact_rows);
  list("contacts/bias", contact_rows), list("contacts/mu", mu);
  list("contacts/section_kind", kind), list("contacts/section_sides", sides);
  list("contacts/key", key);
  file.close();
}

TEST(ProblemFile, HostileIndicesAndSizesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.h5");
  HandMade().write(path);
  EXPECT_NO_THROW(read_problem(path));

  constexpr int kHuge = std::numeric_limits<int>::max();
  const auto refuses = [&](auto change) {
    HandMade changed;
    change(changed);
    changed.write(path);
    const std::string message = message_of<InputError>([&] { read_problem(path); });
    return message.find(path) != std::string::npos;
  };
  for (const int bad : {-1, 0, 1, 3, kHuge, -kHuge}) {
    SCOPED_TRACE(bad);
    EXPECT_TRUE(refuses([&](HandMade& f) { f.block_size[0] = bad; }));
    EXPECT_TRUE(refuses([&](HandMade& f) { f.bilateral_columns[0] = bad; }));
    EXPECT_TRUE(refuses([&](HandMade& f) { f.columns[0] = bad; }));
    EXPECT_TRUE(refuses([&](HandMade& f) { f.rows[0] = bad; }));
    EXPECT_TRUE(refuses([&](HandMade& f) { f.sides[0] = bad == 0 ? 4 : bad; }));
    EXPECT_TRUE(refuses([&](HandMade& f) { f.kind = {1}, f.sides[0] = bad; }));
    EXPECT_TRUE(bad == 0 || refuses([&](HandMade& f) { f.block[0] = bad; }));
    EXPECT_TRUE(bad == 0 || refuses([&](HandMade& f) { f.bilateral_block[0] = bad; }));
    EXPECT_TRUE(bad == 1 || refuses([&](HandMade& f) { f.entries[0] = bad; }));
    EXPECT_TRUE(bad == 1 || refuses([&](HandMade& f) { f.bilateral_entries[0] = bad; }));
    EXPECT_TRUE(bad == 1 || refuses([&](HandMade& f) { f.version = bad; }));
    EXPECT_TRUE(bad == 0 || refuses([&](HandMade& f) { f.kind[0] = bad == 1 ? 4 : bad; }));
  }
  EXPECT_TRUE(refuses([](HandMade& f) { f.mass.pop_back(); }));
  EXPECT_TRUE(refuses([](HandMade& f) { f.p.push_back(0); }));
  EXPECT_TRUE(refuses([](HandMade& f) { f.key.clear(); }));
  EXPECT_TRUE(refuses([](HandMade& f) { f.mu.push_back(0); }));
  EXPECT_TRUE(refuses([](HandMade& f) { f.contact_rows.pop_back(); }));
  EXPECT_TRUE(refuses([](HandMade& f) { f.row.push_back(0); }));
  EXPECT_TRUE(refuses([](HandMade& f) { f.block.push_back(0), f.columns.push_back(2); }));
  EXPECT_TRUE(refuses([](HandMade& f) {  // the same block twice in one row block
    f.entries = {2}, f.block = {0, 0}, f.columns = {2, 2}, f.values.resize(8);
  }));
}

TEST(ProblemFile, TruncatedOrDamagedFilesNeverCrash) {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.h5");
  const StepProblem problem = make_problem(3);
  write_problem(path, problem);
  const std::string bytes = read_bytes(path);
  for (std::size_t size = 0; size < bytes.size(); size += 37) {
    write_bytes(path, bytes.substr(0, size));
    EXPECT_THROW(read_problem(path), Error) << size;
  }
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    const auto place = static_cast<std::size_t>(random.integer(0, int(bytes.size()) - 1));
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << random.integer(0, 7)));
    write_bytes(path, damaged);
    try {
      EXPECT_EQ(find_fault(read_problem(path)), "");
    } catch (const Error&) {
      // Refusing is as good.
    }
  }
}

}  // namespace
}  // namespace stiction
