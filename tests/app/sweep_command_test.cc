// stiction sweep: the table is that of the study, whoever runs it and however often it is killed.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "stiction/base/hdf5_file.h"
#include "tests/app/sweep_test.h"

namespace stiction {
namespace {

class Sweep : public SweepTest {};

const std::string kSmall =
    R"("simulate": {"duration": 0.02}, "draws": 3, "seed": 5, "watch": ["phi_S"],
       "vary": {"c_phi": {"from": 0.005, "to": 0.006, "count": 3}, "m_S": {"normal": [0.0045, 1e-4]}})";

TEST_F(Sweep, WritesOneRowPerRunWithItsValuesAndCertificate) {
  const SubprocessResult result =
      stiction({"sweep", study(kSmall), "--out", file("out"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(parse_json(result.out)["done"], 9);
  EXPECT_EQ(parse_json(result.out)["status"], "complete");
  const std::vector<std::string> lines = lines_of(text("out/results.csv"));
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_TRUE(lines[0].starts_with("run,c_phi,m_S,status,steps,"));
  EXPECT_TRUE(lines[0].ends_with(",min.phi_S,max.phi_S,mean.phi_S"));
  EXPECT_TRUE(lines[1].starts_with("0,0.005,0.004"));
  EXPECT_TRUE(lines[9].starts_with("8,0.006,0.004"));
  // The same draw at every point of the grid.
  const auto mass = [&](int line) {
    return lines[line].substr(0, lines[line].find(",complete")).substr(lines[line].find(',', 2));
  };
  EXPECT_EQ(mass(1), mass(4));
  EXPECT_NE(mass(1), mass(2));
  EXPECT_EQ(lines_of(text("out/failures.csv")).size(), 1U);
}

TEST_F(Sweep, TablesDoNotDependOnWorkersOrInterruptions) {
  ASSERT_EQ(stiction({"sweep", study(kSmall), "--out", file("one"), "--workers", "1"}).exit_code,
            0);
  ASSERT_EQ(stiction({"sweep", study(kSmall), "--out", file("five"), "--workers", "5"}).exit_code,
            0);
  // Journals cut anywhere, as a kill leaves them: what is whole is kept, the rest is run again.
  const std::string journal = text("one/journal.txt");
  const std::size_t header = journal.find('\n') + 1;
  for (const std::size_t size : {header, header + 7, journal.size() / 2, journal.size() - 1}) {
    std::filesystem::create_directories(file("cut"));
    std::ofstream(file("cut/journal.txt"), std::ios::binary) << journal.substr(0, size);
    const SubprocessResult result =
        stiction({"sweep", study(kSmall), "--out", file("cut"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string kept = journal.substr(header, size > header ? size - header : 0);
    EXPECT_EQ(parse_json(result.out)["resumed"], std::count(kept.begin(), kept.end(), '\n'));
    EXPECT_EQ(text("cut/results.csv"), text("one/results.csv"));
    std::filesystem::remove_all(file("cut"));
  }
  EXPECT_EQ(text("five/results.csv"), text("one/results.csv"));
  const Hdf5File one = Hdf5File::open(file("one/results.h5")),
                 five = Hdf5File::open(file("five/results.h5"));
  for (const char* column : {"run", "m_S", "residual_max", "energy_end", "final.y", "max.phi_S"}) {
    const std::string object = std::string("results/") + column;
    EXPECT_EQ(one.read<double>(object), five.read<double>(object));
    EXPECT_EQ(one.read<double>(object).size(), 9U);
  }
}

TEST_F(Sweep, KilledItGoesOn) {
  const std::string path = study(
      R"("simulate": {"duration": 0.2}, "vary": {"c_phi": {"from": 0.005, "to": 0.006, "count": 40}})");
  const auto has_some = [&] { return lines_of(text("out/journal.txt")).size() > 4; };
  SubprocessOptions options;
  options.signal = SIGKILL;
  options.signal_when = has_some;
  stiction({"sweep", path, "--out", file("out")}, options);
  EXPECT_FALSE(has_file("out/results.csv"));
  const SubprocessResult result = stiction({"sweep", path, "--out", file("out"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(parse_json(result.out)["resumed"], 3);
  EXPECT_EQ(lines_of(text("out/results.csv")).size(), 41U);
}

TEST_F(Sweep, FailuresAreKeptApartAndExplained) {
  const std::string path = study(
      R"("simulate": {"duration": 0.02}, "vary": {"m_S": {"values": [0.0045, -1]},
         "simulate.tol": {"values": [1e-9, 1e-300]}})");
  const SubprocessResult result = stiction({"sweep", path, "--out", file("out")});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(lines_of(text("out/results.csv")).size(), 2U);
  const std::string failures = text("out/failures.csv");
  EXPECT_EQ(lines_of(failures).size(), 4U);
  EXPECT_NE(failures.find("rejected"), std::string::npos) << failures;
  EXPECT_NE(failures.find("must be > 0"), std::string::npos) << failures;
}

TEST_F(Sweep, RunsThatTakeTooLongAreEndedAndTheOthersGoOn) {
  const std::string path =
      study(R"("time_limit": 0.5, "vary": {"simulate.duration": {"values": [0.001, 1e5, 0.002]}})");
  const SubprocessResult result = stiction({"sweep", path, "--out", file("out")});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(num_lines("out/results.csv"), 3);
  EXPECT_NE(text("out/failures.csv").find("1,1e5,time limit,the run took longer than 0.5 s"),
            std::string::npos)
      << text("out/failures.csv");
}

TEST_F(Sweep, ARunThatCrashesIsALineOfItsOwn) {
  const std::string path =
      study(R"("vary": {"simulate.duration": {"values": [0.001, 1e5, 0.002]}})");
  const SubprocessResult result =
      stiction({"sweep", path, "--out", file("out"), "--workers", "2"}, crash_after(3));
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(num_lines("out/results.csv"), 3);
  EXPECT_NE(text("out/failures.csv").find("1,1e5,crashed,"), std::string::npos)
      << text("out/failures.csv");
}

TEST_F(Sweep, BadStudiesAreToldAllAtOnceAndNothingIsWritten) {
  struct Case {
    const char* text;
    std::vector<const char*> messages;
  };
  for (
      const Case& one : std::vector<Case>{
          {R"("vary": {"mux": {"values": [1]}})", {"no such parameter"}},
          {R"("vary": {"g": {"values": [1, 1]}})", {"is there twice"}},
          {R"("vary": {"g": {"from": 1, "to": 1, "count": 3}, "m_S": {"uniform": [2, 1]}}, "draws": 1)",
           {"goes from 1 to 1", "first must be less"}},
          {R"("vary": {"g": {"from": -1, "to": 1, "count": 3, "spacing": "log"}})",
           {"both ends must be > 0"}},
          {R"("vary": {"g": {"values": [1], "normal": [1, 1]}})",
           {"has both 'values' and 'normal'"}},
          {R"("vary": {"g": {"normal": [1, 1]}})", {"how many times"}},
          {R"("vary": {"g": {"values": [1]}}, "draws": 2)", {"nothing is drawn"}},
          {R"("vary": {"g": {"values": [1]}, "generalized.parameters.g": {"values": [2]}})",
           {"is the same value of the scene as 'g'"}},
          {R"("vary": {"g": {"values": [1]}}, "watch": ["phi_s"])", {"did you mean 'phi_S'"}},
          {R"("vary": {"g": {"values": [1]}}, "simulate": {"hh": 1})", {"unknown key 'hh'"}},
          {R"("vary": {"g": {"valeus": [1]}})", {"did you mean 'values'"}},
          {R"("vary": {})", {"vary"}}}) {
    const SubprocessResult result = stiction({"sweep", study(one.text), "--out", file("out")});
    EXPECT_EQ(result.exit_code, 2) << one.text;
    for (const char* message : one.messages)
      EXPECT_NE(result.err.find(message), std::string::npos) << one.text << "\n" << result.err;
    EXPECT_FALSE(has_file("out"));
  }
}

TEST_F(Sweep, AnotherStudyDoesNotGoOnInItsFolder) {
  ASSERT_EQ(stiction({"sweep", study(kSmall), "--out", file("out")}).exit_code, 0);
  const SubprocessResult result = stiction(
      {"sweep", study(R"("simulate": {"duration": 0.01}, "vary": {"g": {"values": [9.81]}})"),
       "--out", file("out")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("belongs to another study"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace stiction
