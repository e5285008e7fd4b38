// stiction sweep under MPI: the same study, the same tables.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/app/sweep_test.h"

namespace stiction {
namespace {

class SweepRanks : public SweepTest {
 protected:
  void SetUp() override {
#ifndef STICTION_MPIRUN
    GTEST_SKIP() << "the program is built without MPI";
#endif
  }

  SubprocessResult run_ranks([[maybe_unused]] int count, std::vector<std::string> arguments,
                             SubprocessOptions options = {}) const {
    std::vector<std::string> all;
#ifdef STICTION_MPIRUN
    all = {STICTION_MPIRUN,       "--allow-run-as-root", "--oversubscribe", "-n",
           std::to_string(count), STICTION_PROGRAM};
#endif
    all.insert(all.end(), arguments.begin(), arguments.end());
    options.folder = file("");
    return run_subprocess(all, options);
  }
};

TEST_F(SweepRanks, TablesAreThoseOfOneWorker) {
  const std::string path = study(
      R"("simulate": {"duration": 0.01}, "draws": 2, "seed": 5, "vary": {"c_phi": {"normal": [0.0056, 1e-4]},
         "m_S": {"values": [0.0045, -1, 0.005, 0.006]}})");
  ASSERT_EQ(stiction({"sweep", path, "--out", file("one"), "--workers", "1"}).exit_code, 3);
  for (const int count : {2, 3}) {
    const SubprocessResult result =
        run_ranks(count, {"sweep", path, "--out", file("ranks"), "--json"});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_EQ(parse_json(result.out)["done"], 6) << result.err;
    for (const char* table : {"results.csv", "failures.csv"})
      EXPECT_EQ(text(std::string("ranks/") + table), text(std::string("one/") + table));
    std::filesystem::remove_all(file("ranks"));
  }
}

TEST_F(SweepRanks, ACrashEndsOneRunOnly) {
  const std::string path =
      study(R"("vary": {"simulate.duration": {"values": [0.001, 1e5, 0.002]}})");
  const SubprocessResult result =
      run_ranks(2, {"sweep", path, "--out", file("out")}, crash_after(3));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(num_lines("out/results.csv"), 3) << result.err;
  EXPECT_NE(text("out/failures.csv").find("1,1e5,crashed,"), std::string::npos)
      << text("out/failures.csv");
}

TEST_F(SweepRanks, ATimeLimitEndsOneRunOnly) {
  const std::string path =
      study(R"("time_limit": 0.5, "vary": {"simulate.duration": {"values": [0.001, 1e5, 0.002]}})");
  const SubprocessResult result = run_ranks(2, {"sweep", path, "--out", file("out")});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(num_lines("out/results.csv"), 3) << result.err;
  EXPECT_NE(text("out/failures.csv").find("1,1e5,time limit,"), std::string::npos)
      << text("out/failures.csv");
}

TEST_F(SweepRanks, KilledTheyGoOn) {
  const std::string path = study(
      R"("simulate": {"duration": 0.2}, "vary": {"c_phi": {"from": 0.005, "to": 0.006, "count": 40}})");
  ASSERT_EQ(stiction({"sweep", path, "--out", file("one")}).exit_code, 0);
  SubprocessOptions options;
  options.signal = SIGKILL;  // of mpirun; the ranks and their runs go with it
  options.signal_when = [&] {
    return has_file("out/journal.txt") && num_lines("out/journal.txt") > 4;
  };
  run_ranks(3, {"sweep", path, "--out", file("out")}, options);
  EXPECT_FALSE(has_file("out/results.csv"));
  // Ranks notice by themselves that mpirun is gone; until then the journal is theirs.
  SubprocessResult result;
  for (int i = 0; i < 100; ++i) {
    result = stiction({"sweep", path, "--out", file("out"), "--json"});
    if (result.exit_code == 0) break;
    ASSERT_NE(result.err.find("in use"), std::string::npos) << result.err;
    ::usleep(100000);
  }
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(parse_json(result.out)["resumed"], 3);
  EXPECT_EQ(text("out/results.csv"), text("one/results.csv"));
}

TEST_F(SweepRanks, BadStudiesAreToldOnceAndNothingIsWritten) {
  const SubprocessResult result =
      run_ranks(2, {"sweep", study(R"("vary": {"mux": {"values": [1]}})"), "--out", file("out")});
  EXPECT_EQ(result.exit_code, 2);
  const std::string message = "no such parameter";
  const std::size_t first = result.err.find(message);
  EXPECT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(message, first + 1), std::string::npos) << result.err;
  EXPECT_FALSE(has_file("out"));
}

}  // namespace
}  // namespace stiction
