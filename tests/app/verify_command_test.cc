// stiction verify: what it prints, its exit status, and files that it cannot verify.
#include <fmt/format.h>
#include <hdf5.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/app/program.h"

namespace stiction {
namespace {

using VerifyCommand = ProgramTest;

/// Changes one number of a dataset of doubles in place.
void change_number(const std::string& path, const char* dataset, std::size_t index, double factor) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
  ASSERT_GE(set, 0);
  const hid_t space = H5Dget_space(set);
  std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  ASSERT_LT(index, values.size());
  H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  values[index] *= factor;
  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
}

/// Sets one number of a list of integers, whatever their width.
void change_integer(const std::string& path, const char* dataset, std::size_t index,
                    std::int64_t value) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
  ASSERT_GE(set, 0);
  const hid_t space = H5Dget_space(set);
  std::vector<std::int64_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  ASSERT_LT(index, values.size());
  H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  values[index] = value;
  H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
}

TEST_F(VerifyCommand, SaysThatEveryLawHolds) {
  ASSERT_EQ(
      stiction({"run", example("woodpecker"), "--duration", "0.02", "--out", "r.h5"}).exit_code, 0);
  const auto result = stiction({"verify", "r.h5"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("holds   momentum"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("verified"), std::string::npos);
  const auto json = parse_json(stiction({"verify", "r.h5", "--json"}).out);
  EXPECT_EQ(json["status"], "verified");
  EXPECT_EQ(json["rows"], 201);
  EXPECT_EQ(json["laws"].size(), 17u);
}

TEST_F(VerifyCommand, NamesTheLawAndTheStepThatBreaksIt) {
  ASSERT_EQ(stiction({"run", example("incline"), "--duration", "0.05", "--out", "r.h5"}).exit_code,
            0);
  change_number(file("r.h5"), "/phases/contacts/impulse", 3 * 20, 1.001);  // normal, step 21
  const auto result = stiction({"verify", "r.h5", "--json"});
  EXPECT_EQ(result.exit_code, 4);
  const auto json = parse_json(result.out);
  EXPECT_EQ(json["status"], "broken");
  for (const auto& law : json["laws"])
    if (law["law"] == "momentum") {
      EXPECT_EQ(law["broken"], 1);
      EXPECT_EQ(law["first_broken"]["step"], 21);
    }
}

TEST_F(VerifyCommand, FollowsWhatTheCommandLineOverruled) {
  ASSERT_EQ(stiction({"run", example("two-bars"), "--duration", "0.05", "--scheme", "trapezoidal-2",
                      "--h", "0.01", "--every", "2", "--projection", "on", "--out", "r.h5"})
                .exit_code,
            0);
  const auto result = stiction({"verify", "r.h5"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("not checkable"), std::string::npos) << result.out;
}

TEST_F(VerifyCommand, SaysWhereAFileThatLostItsEndEnds) {
  ASSERT_EQ(
      stiction({"run", example("woodpecker"), "--duration", "0.1", "--out", "r.h5"}).exit_code, 0);
  const std::string bytes = read_bytes(file("r.h5"));
  // All that was written in a quarter of a second is there or not: the start, or the whole.
  const std::size_t most = bytes.size() - 1;
  write_bytes(file("cut.h5"), bytes.substr(0, most));
  const auto result = stiction({"verify", "cut.h5"});
  EXPECT_NE(result.exit_code, 4) << result.out;
  EXPECT_NE((result.out + result.err).find(fmt::format("{} of {} bytes", most, bytes.size())),
            std::string::npos)
      << result.out << result.err;
  // Without its tables there is nothing left.
  write_bytes(file("cut.h5"), bytes.substr(0, 3000));
  EXPECT_EQ(stiction({"verify", "cut.h5"}).exit_code, 2);
}

TEST_F(VerifyCommand, RefusesFilesThatHaveNothingToVerify) {
  write_bytes(file("text.h5"), "time,x\n");
  ASSERT_EQ(stiction({"run", example("incline"), "--no-recording", "--save", "checkpoint.h5",
                      "--dump", "dump.h5", "--dump-step", "3", "--duration", "0.01"})
                .exit_code,
            0);
  const hid_t foreign =
      H5Fcreate(file("foreign.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(foreign);
  ASSERT_EQ(
      stiction({"run", example("incline"), "--duration", "0.01", "--out", "bare.h5"}).exit_code, 0);
  const hid_t bare = H5Fopen(file("bare.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(H5Ldelete(bare, "scene", H5P_DEFAULT), 0);
  H5Fclose(bare);
  ASSERT_EQ(
      stiction({"run", example("incline"), "--duration", "0.01", "--out", "old.h5"}).exit_code, 0);
  const hid_t old = H5Fopen(file("old.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const int version = 7;
  const hid_t attribute = H5Aopen(old, "format_version", H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_INT, &version);
  H5Aclose(attribute);
  H5Fclose(old);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"none.h5", "none.h5"},          {"text.h5", "not an HDF5 file"},
      {"checkpoint.h5", "checkpoint"}, {"foreign.h5", "foreign.h5"},
      {"dump.h5", "/solution"},        {"bare.h5", "does not contain its scene"},
      {"old.h5", "version is 7"}};
  for (const auto& [name, words] : cases) {
    const auto result = stiction({"verify", name});
    EXPECT_EQ(result.exit_code, 2) << name << result.out;
    EXPECT_NE(result.err.find(words), std::string::npos) << name << ": " << result.err;
  }
}

/// Overwrites an attribute of /settings.
void set_setting(const std::string& path, const char* name, double value) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t group = H5Gopen2(file, "settings", H5P_DEFAULT);
  ASSERT_GE(H5Adelete(group, name), 0);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute =
      H5Acreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value), 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Gclose(group);
  H5Fclose(file);
}

/// Puts a table of zeros in the place of a dataset.
void replace_table(const std::string& path, const char* dataset, hsize_t columns) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t old = H5Dopen2(file, dataset, H5P_DEFAULT), old_space = H5Dget_space(old);
  hsize_t extent[2] = {0, 0};
  H5Sget_simple_extent_dims(old_space, extent, nullptr);
  H5Sclose(old_space);
  H5Dclose(old);
  ASSERT_GE(H5Ldelete(file, dataset, H5P_DEFAULT), 0);
  extent[1] = columns;
  const hid_t space = H5Screate_simple(2, extent, nullptr);
  const hid_t set =
      H5Dcreate2(file, dataset, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(set, 0);
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(file);
}

TEST_F(VerifyCommand, RefusesNumbersThatRecordingsDoNotHave) {
  const auto record = [&](const char* scene) {
    ASSERT_EQ(stiction({"run", example(scene), "--duration", "0.01", "--out", "r.h5"}).exit_code,
              0);
  };
  const auto expect_refused = [&](const std::string& words) {
    const auto result = stiction({"verify", "r.h5"});
    EXPECT_EQ(result.exit_code, 2) << words << result.out;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  };
  for (const auto& [name, value] :
       {std::pair("every", 1e300), std::pair("every", 0.0), std::pair("jacobians", 3.0),
        std::pair("gyroscopic", -1.0), std::pair("gyroscopic", std::nan("")),
        std::pair("tolerance", 0.0), std::pair("nonlinear", 0.5)}) {
    record("incline");
    set_setting(file("r.h5"), name, value);
    expect_refused(std::string("setting '") + name + "'");
  }
  record("incline");
  change_integer(file("r.h5"), "/contacts/status", 3, 7);
  expect_refused("'contacts/status' contains 7");
  record("incline");
  change_integer(file("r.h5"), "/step", 3, std::numeric_limits<std::int64_t>::max());
  expect_refused("step number");
  record("heavy-chain");
  replace_table(file("r.h5"), "/phases/turning", 1);
  expect_refused("'phases/turning'");
}

TEST_F(VerifyCommand, RefusesOptionsThatMeanNothing) {
  ASSERT_EQ(stiction({"run", example("incline"), "--duration", "0.01", "--out", "r.h5"}).exit_code,
            0);
  for (const char* tolerance : {"0", "-1e-8", "nan", "inf"})
    EXPECT_EQ(stiction({"verify", "r.h5", "--tol", tolerance}).exit_code, 2) << tolerance;
  EXPECT_EQ(stiction({"verify", "r.h5", "--friction", "nonsense"}).exit_code, 2);
}

TEST_F(VerifyCommand, DoesNotCallVerifiedWhatItCouldNotCheck) {
  ASSERT_EQ(stiction({"run", example("incline"), "--duration", "0.01", "--out", "r.h5"}).exit_code,
            0);
  const hid_t old = H5Fopen(file("r.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(H5Ldelete(old, "phases", H5P_DEFAULT), 0);
  H5Fclose(old);
  const auto text = stiction({"verify", "r.h5"});
  EXPECT_NE(text.out.find("verified in part; not checked: momentum"), std::string::npos)
      << text.out;
  const auto json = parse_json(stiction({"verify", "r.h5", "--json"}).out);
  EXPECT_EQ(json["status"], "verified in part");
  EXPECT_EQ(json["not_checked"][0], "momentum");
  // No flush is complete: there are no rows.
  const hid_t empty = H5Fopen(file("r.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t commit = H5Dopen2(empty, "commit", H5P_DEFAULT);
  const hsize_t none[2] = {0, 3};
  ASSERT_GE(H5Dset_extent(commit, none), 0);
  H5Dclose(commit);
  H5Fclose(empty);
  const auto result = stiction({"verify", "r.h5"});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_NE(result.err.find("no complete step"), std::string::npos) << result.err;
}

TEST_F(VerifyCommand, TakesExportedFrictionProblems) {
  ASSERT_EQ(stiction({"run", example("dominoes"), "--friction", "disc", "--duration", "0.02",
                      "--out", "r.h5"})
                .exit_code,
            0);
  ASSERT_EQ(stiction({"export", "r.h5", "--fclib", "global.hdf5", "--step", "5"}).exit_code, 0);
  EXPECT_EQ(stiction({"verify", "global.hdf5"}).exit_code, 0);
  EXPECT_EQ(stiction({"solve", "global.hdf5"}).exit_code, 0);
  change_number(file("global.hdf5"), "/solution/r", 0, 2);
  EXPECT_EQ(stiction({"verify", "global.hdf5"}).exit_code, 4);
  // What yields is condensed; what is no disc has a guess and no solution.
  ASSERT_EQ(
      stiction({"run", example("squeezed-box"), "--duration", "0.1", "--out", "s.h5"}).exit_code,
      0);
  const auto exported = stiction({"export", "s.h5", "--fclib", "local.hdf5", "--step", "3"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(stiction({"solve", "local.hdf5"}).exit_code, 0);
  const auto missing = stiction({"export", "r.h5", "--fclib", "x.hdf5", "--step", "5000"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("no step 5000"), std::string::npos);
}

}  // namespace
}  // namespace stiction
