// Reports of experiments: HTML that holds together whatever its texts are, JSON that reads back,
// Markdown tables; and the runner that fills them.
#include <gtest/gtest.h>

#include <mutex>
#include <stdexcept>

#include "stiction/app/experiments/html_report.h"
#include "stiction/app/experiments/markdown_report.h"
#include "stiction/app/experiments/result_json.h"
#include "stiction/app/experiments/result_store.h"
#include "stiction/app/experiments/runner.h"
#include "stiction/app/experiments/verdict.h"
#include "tests/base/temporary_folder.h"

namespace stiction::experiments {
namespace {

/// Texts that would break a careless report.
constexpr const char* kNasty = "<script>alert(\"x\")</script> & 'quote' | pipe";

Result nasty_result(Monitor& monitor) {
  monitor.report(0.5);
  Result result;
  result.statements = {judge({.claim = kNasty,
                              .source = kNasty,
                              .printed = kNasty,
                              .value = 2,
                              .measured = kNasty,
                              .expected = Range::exactly(1),
                              .explanation = Explanation{kNasty, Range::exactly(2)}}),
                       not_checkable(kNasty, "s", "p", kNasty)};
  result.tables = {{.title = kNasty,
                    .columns = {{kNasty}, {"n", true}},
                    .rows = {{label(kNasty), beside({.printed = {"1.0"}, .value = 1.5})}}}};
  result.figures = {{"figure", kNasty, "<svg xmlns='http://www.w3.org/2000/svg'></svg>"}};
  result.notes = {kNasty};
  return result;
}

Result failing_result(Monitor&) { throw std::runtime_error("no such luck"); }

Experiment make_experiment(const char* name, Result (*run)(Monitor&)) {
  return {"E0", name, kNasty, kNasty, kNasty, {"scene"}, run};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(ExperimentReport, HtmlEscapesEveryText) {
  EXPECT_EQ(escaped_html("<a b=\"c\">'&\x01"), "&lt;a b=&quot;c&quot;&gt;&#39;&amp; ");
  const Experiment experiment = make_experiment("nasty", nasty_result);
  Monitor monitor(false);
  Result result = nasty_result(monitor);
  result.failure = kNasty;
  const std::string html = to_html({{&experiment, result}}, find_surroundings(false));
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_GE(count_of(html, "&lt;script&gt;"), 10u);
  for (const char* tag : {"table", "tr", "td", "section", "figure", "nav", "main", "p", "span"})
    EXPECT_EQ(
        count_of(html, std::string("<") + tag + ">") + count_of(html, std::string("<") + tag + " "),
        count_of(html, std::string("</") + tag + ">"))
        << tag;
}

TEST(ExperimentReport, HtmlNeedsNothingFromElsewhere) {
  const Experiment experiment = make_experiment("nasty", nasty_result);
  Monitor monitor(false);
  std::string html = to_html({{&experiment, nasty_result(monitor)}}, find_surroundings(true));
  // The name space of SVG is a name, not an address.
  const std::string name_space = "http://www.w3.org/2000/svg";
  html.erase(html.find(name_space), name_space.size());
  for (const char* outside : {"http:", "https:", "src=", "@import", "url("})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_NE(html.find("href=\"#nasty\""), std::string::npos);
  EXPECT_NE(html.find("id=\"nasty\""), std::string::npos);
  EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(html.find("@media print"), std::string::npos);
}

TEST(ExperimentReport, MarkdownCellsKeepTheirColumns) {
  const Experiment experiment = make_experiment("nasty", nasty_result);
  Monitor monitor(false);
  const std::string text =
      to_markdown({{&experiment, nasty_result(monitor)}}, find_surroundings(false));
  EXPECT_EQ(escaped_markdown("a|b"), "a\\|b");
  EXPECT_EQ(text.find("<script"), text.find("\\<script") + 1);
  EXPECT_NE(text.find("differs, explained"), std::string::npos);
}

TEST(ExperimentReport, JsonReadsBack) {
  const Experiment experiment = make_experiment("nasty", nasty_result);
  Monitor monitor(false);
  const Result result = nasty_result(monitor);
  const auto object = to_json(experiment, result);
  const auto again =
      to_json(experiment, result_from_json(nlohmann::ordered_json::parse(object.dump())));
  EXPECT_EQ(object, again);
  EXPECT_EQ(object["statements"][0]["verdict"], "differs");
  EXPECT_EQ(object["statements"][0]["explained"], true);
  EXPECT_EQ(object["statements"][0]["value"], 2);
  EXPECT_EQ(object["tables"][0]["rows"][0][1]["printed"], "1.0");
}

TEST(ResultStore, KeepsWhatIsOfTheSameProgramAndVariant) {
  const TemporaryFolder folder;
  const Experiment experiment = make_experiment("nasty", nasty_result);
  Monitor monitor(false);
  const Result result = nasty_result(monitor);
  const ResultStore store(folder.file("out/deep"), "key");
  EXPECT_FALSE(store.load(experiment));
  store.save(experiment, result);
  const auto loaded = store.load(experiment);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(to_json(experiment, *loaded), to_json(experiment, result));
  EXPECT_EQ(loaded->figures[0].svg, result.figures[0].svg);
  EXPECT_FALSE(ResultStore(folder.file("out/deep"), "other key").load(experiment));
  EXPECT_NE(make_result_key(false, true), make_result_key(true, true));
  EXPECT_NE(make_result_key(false, true), make_result_key(false, false));
  store.write("nasty/result.json", "{\"key\": \"key\"");
  EXPECT_FALSE(store.load(experiment));
}

TEST(ExperimentRunner, RunsAllAndTellsOfThoseThatBreakOff) {
  const Experiment good = make_experiment("good", nasty_result),
                   bad = make_experiment("bad", failing_result);
  for (const int threads : {1, 3}) {
    std::vector<std::string> failures(4, "?");
    double share = 0;
    const bool is_complete = run_experiments(
        {&good, &bad, &good, &bad}, {.threads = threads},
        {.on_progress = [&](std::size_t, double s) { share = std::max(share, s); },
         .on_done = [&](std::size_t i, const Result& result) { failures[i] = result.failure; }});
    EXPECT_TRUE(is_complete);
    EXPECT_EQ(failures, (std::vector<std::string>{"", "no such luck", "", "no such luck"}));
    EXPECT_EQ(share, 0.5);
  }
}

TEST(ExperimentRunner, StopsWhenInterrupted) {
  const Experiment good = make_experiment("good", nasty_result);
  std::atomic<bool> is_interrupted{false};
  int done = 0;
  const bool is_complete =
      run_experiments({&good, &good, &good}, {.threads = 1, .is_interrupted = &is_interrupted},
                      {.on_progress = {}, .on_done = [&](std::size_t, const Result&) {
                         ++done;
                         is_interrupted = true;
                       }});
  EXPECT_FALSE(is_complete);
  EXPECT_EQ(done, 1);
}

TEST(ExperimentRunner, ThrowsWhatItsListenerThrows) {
  const Experiment good = make_experiment("good", nasty_result);
  EXPECT_THROW(
      run_experiments(
          {&good, &good}, {.threads = 2},
          {.on_progress = {},
           .on_done = [](std::size_t, const Result&) { throw std::runtime_error("full"); }}),
      std::runtime_error);
}

TEST(ExperimentList, HasEveryExperimentOfThePapers) {
  std::vector<std::string> ids;
  for (const Experiment& one : all_experiments()) {
    EXPECT_NE(one.run, nullptr);
    EXPECT_FALSE(one.scenes.empty()) << one.name;
    if (ids.empty() || ids.back() != one.id) ids.push_back(one.id);
  }
  std::vector<std::string> expected;
  for (int i = 1; i <= 12; ++i) expected.push_back("E" + std::to_string(i));
  EXPECT_EQ(ids, expected);
}

}  // namespace
}  // namespace stiction::experiments
