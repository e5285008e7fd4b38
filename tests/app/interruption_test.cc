// Runs that end before their time: signals, a killed process, a full disk. The recording stays
// readable, and what it holds is an exact prefix of the run.
#include <fmt/format.h>

#include <csignal>
#include <filesystem>

#include "stiction/record/recording_reader.h"
#include "tests/app/program.h"

namespace stiction {
namespace {

/// A run of 1e12 steps, or as many as asked for.
constexpr double kStep = 1e-6;  // [s]

std::vector<std::string> long_run(const std::string& recording, double num_steps = 1e12) {
  return {"run",        example("bouncing-ball"),
          "--h",        fmt::format("{}", kStep),
          "--duration", fmt::format("{}", kStep * num_steps),
          "--out",      recording};
}

class Interruption : public ProgramTest {
 protected:
  /// The table of `recording` must be that of an uninterrupted run, up to where it ends.
  void expect_clean_prefix(const std::string& recording) const {
    const std::vector<std::string> part = table(recording);
    ASSERT_GT(part.size(), 100u);
    const auto num_steps = static_cast<double>(part.size() + 10);
    ASSERT_EQ(stiction(long_run("whole.h5", num_steps)).exit_code, 0);
    const std::vector<std::string> whole = table("whole.h5");
    ASSERT_GT(whole.size(), part.size());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin()));
  }
};

TEST_F(Interruption, SignalsEndTheRunInOrder) {
  for (const int signal : {SIGINT, SIGTERM}) {
    auto arguments = long_run("r.h5");
    arguments.insert(arguments.end(), {"--json", "--save", "state.h5"});
    std::filesystem::remove(file("r.h5"));
    const auto result =
        stiction(arguments, {.signal = signal, .signal_when = is_well_under_way("r.h5")});
    EXPECT_EQ(result.exit_code, 130);
    EXPECT_EQ(parse_json(result.out)["status"], "interrupted");
    const Recording recording = read_recording(file("r.h5"));
    EXPECT_EQ(recording.status, "interrupted");
    EXPECT_EQ(recording.num_rows(), parse_json(result.out)["steps"].get<int>() + 1);
    EXPECT_TRUE(has_file("state.h5"));
    EXPECT_GT(table("r.h5").size(), 1000u);
  }
}

TEST_F(Interruption, KilledRunLeavesACleanPrefix) {
  const auto result =
      stiction(long_run("r.h5"), {.signal = SIGKILL, .signal_when = is_well_under_way("r.h5")});
  EXPECT_EQ(result.exit_code, -SIGKILL);
  expect_clean_prefix("r.h5");
}

TEST_F(Interruption, FullDiskLeavesACleanPrefix) {
  const auto result = stiction(long_run("r.h5"), {.file_size_limit = 4'000'000});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("r.h5"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("File too large"), std::string::npos) << result.err;
  expect_clean_prefix("r.h5");
}

TEST_F(Interruption, DiskThatIsFullFromTheStartLeavesNothing) {
  const auto result = stiction(long_run("r.h5"), {.file_size_limit = 100});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("r.h5"), std::string::npos) << result.err;
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(Interruption, ProgressIsShownOnTerminalsOnly) {
  const auto run = [&](std::vector<std::string> more, bool has_terminal) {
    auto arguments = long_run("r.h5");
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::filesystem::remove(file("r.h5"));
    const auto began = std::chrono::steady_clock::now();
    // The bar waits 0.2 s before it appears.
    return stiction(arguments,
                    {.has_terminal = has_terminal, .signal = SIGINT, .signal_when = [=, this] {
                       return is_well_under_way("r.h5")() &&
                              std::chrono::steady_clock::now() - began >
                                  std::chrono::milliseconds(700);
                     }});
  };
  const std::string shown = run({}, true).err;
  EXPECT_NE(shown.find("steps/s"), std::string::npos) << shown;
  EXPECT_NE(shown.find(" %  t = "), std::string::npos) << shown;
  EXPECT_TRUE(shown.ends_with("\r\x1b[K")) << "the bar is not removed";
  EXPECT_EQ(run({"--quiet"}, true).err, "");
  EXPECT_EQ(run({}, false).err, "");
}

}  // namespace
}  // namespace stiction
