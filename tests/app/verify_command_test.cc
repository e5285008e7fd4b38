// stiction verify: what it prints, its exit status, and files that it cannot verify.
#include <hdf5.h>

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
  write_bytes(file("cut.h5"), bytes.substr(0, bytes.size() / 2));
  const auto result = stiction({"verify", "cut.h5"});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_NE(result.err.find("truncated"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(std::to_string(bytes.size() / 2)), std::string::npos) << result.err;
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
