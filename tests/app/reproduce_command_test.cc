// stiction reproduce: a fast experiment from end to end, what is kept between calls, bad input; and
// all experiments, quick, behind the label slow.
#include <filesystem>
#include <fstream>

#include "tests/app/program.h"

namespace stiction {
namespace {

class ReproduceCommand : public ProgramTest {
 protected:
  std::string text_of(const std::string& name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write_text(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(file(name)); }
};
using SlowReproduceCommand = ReproduceCommand;

TEST_F(ReproduceCommand, RunsOneExperimentFromEndToEnd) {
  const auto result = stiction({"reproduce", "damped-pair", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto object = parse_json(result.out);
  EXPECT_EQ(object["variant"], "quick");
  EXPECT_EQ(object["status"], "reproduced");
  ASSERT_EQ(object["experiments"].size(), 1u);
  const auto& one = object["experiments"][0];
  EXPECT_EQ(one["name"], "damped-pair");
  EXPECT_EQ(one["id"], "E4");
  EXPECT_EQ(one["failure"], "");
  EXPECT_EQ(one["verdicts"]["differs"], 0);
  EXPECT_GE(one["verdicts"]["reproduced"], 5);
  // The remark on Figure 5 cannot hold for the printed data: it differs, with its reason.
  EXPECT_GE(one["verdicts"]["differs, explained"], 1);
  for (const auto& statement : one["statements"]) {
    EXPECT_FALSE(statement["claim"].empty());
    EXPECT_FALSE(statement["measured"].empty());
    EXPECT_EQ(statement["explained"], statement["remark"] != "") << statement;
  }
  EXPECT_EQ(parse_json(text_of("reproduce/results.json")), object);
  for (const auto& figure : one["figures"]) {
    const std::string svg = text_of("reproduce/" + figure["file"].get<std::string>());
    EXPECT_EQ(svg.rfind("<svg", 0), 0u) << figure;
    EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
    EXPECT_NE(text_of("reproduce/index.html").find(svg), std::string::npos) << figure;
  }
  EXPECT_GE(one["figures"].size(), 4u);
}

TEST_F(ReproduceCommand, KeepsWhatIsDone) {
  auto result = stiction({"reproduce", "damped-pair", "--out", "here"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("damped-pair"), std::string::npos);
  EXPECT_NE(result.out.find("report  here/index.html"), std::string::npos) << result.out;
  const std::string first = text_of("here/damped-pair/result.json");
  result = stiction({"reproduce", "E4", "--out", "here"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");  // nothing was run
  EXPECT_EQ(text_of("here/damped-pair/result.json"), first);
  // Another experiment joins it in the report.
  result = stiction({"reproduce", "e7", "--out", "here", "--quiet"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out + result.err, "");
  EXPECT_EQ(parse_json(text_of("here/results.json"))["experiments"].size(), 2u);
  // A damaged result, a missing figure and --again are reasons to run.
  write_text("here/damped-pair/result.json", first.substr(0, first.size() / 2));
  EXPECT_NE(stiction({"reproduce", "E4", "--out", "here"}).err, "");
  std::filesystem::remove(file("here/damped-pair/figure-3.svg"));
  EXPECT_NE(stiction({"reproduce", "E4", "--out", "here"}).err, "");
  EXPECT_TRUE(exists("here/damped-pair/figure-3.svg"));
  EXPECT_NE(stiction({"reproduce", "E4", "--out", "here", "--again"}).err, "");
}

TEST_F(ReproduceCommand, ExitsWithThreeWhereSomethingDiffersWithoutReason) {
  ASSERT_EQ(stiction({"reproduce", "damped-pair", "--quiet"}).exit_code, 0);
  // Planted: one verdict of the result that is kept.
  auto object = nlohmann::ordered_json::parse(text_of("reproduce/damped-pair/result.json"));
  auto& statement = object["result"]["statements"][0];
  ASSERT_EQ(statement["verdict"], "reproduced");
  statement["verdict"] = "differs";
  statement["measured"] = "planted";
  write_text("reproduce/damped-pair/result.json", object.dump());
  const auto result = stiction({"reproduce", "damped-pair"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.out.find("damped-pair differs: "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("here planted"), std::string::npos) << result.out;
  EXPECT_EQ(parse_json(text_of("reproduce/results.json"))["status"], "differs");
}

TEST_F(ReproduceCommand, BadInputIsToldAndNothingIsWritten) {
  auto result = stiction({"reproduce", "woodpeker"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("unknown experiment 'woodpeker', did you mean 'woodpecker'?"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(stiction({"reproduce", "E13"}).exit_code, 2);
  EXPECT_EQ(stiction({"reproduce", "all", "--threads", "0"}).exit_code, 2);
  result = stiction({"reproduce", "damped-pair", "--docs", "."});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("--docs"), std::string::npos);
  EXPECT_EQ(stiction({"reproduce", "all", "--docs", "nowhere"}).exit_code, 2);
  EXPECT_EQ(files(), std::vector<std::string>{});
  write_text("occupied", "");
  result = stiction({"reproduce", "damped-pair", "--out", "occupied"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("occupied"), std::string::npos) << result.err;
}

TEST_F(ReproduceCommand, AnInterruptKeepsWhatIsDone) {
  const auto result = stiction({"reproduce", "damped-pair", "wheel-loader", "--threads", "2"},
                               {.signal = SIGINT, .signal_when = [this] {
                                  return exists("reproduce/damped-pair/result.json");
                                }});
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_NE(result.err.find("interrupted with 1 of 2 experiments done"), std::string::npos)
      << result.err;
  EXPECT_FALSE(exists("reproduce/wheel-loader/result.json"));
  EXPECT_EQ(stiction({"reproduce", "damped-pair"}).err, "");
}

TEST_F(ReproduceCommand, IsListed) {
  const auto names = lines_of(stiction({"list", "experiments"}).out);
  EXPECT_EQ(names.size(), 20u);
  EXPECT_EQ(names.front(), "woodpecker");
}

TEST_F(SlowReproduceCommand, MeetsEveryAttainableStatementQuickly) {
  std::filesystem::create_directory(file("docs"));
  const auto result = stiction({"reproduce", "all", "--json", "--docs", "docs"}, {.timeout = 3000});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto object = parse_json(result.out);
  EXPECT_EQ(object["experiments"].size(), 20u);
  for (const auto& one : object["experiments"])
    for (const auto& statement : one["statements"])
      EXPECT_TRUE(statement["verdict"] != "differs" || statement["explained"]) << statement.dump(1);
  EXPECT_NE(text_of("docs/experiments.md").find("## E12 "), std::string::npos);
}

}  // namespace
}  // namespace stiction
