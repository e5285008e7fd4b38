// Verdicts on published numbers: what is printed is met or not, and planted errors are found.
#include "stiction/app/experiments/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "stiction/app/experiments/published.h"

namespace stiction::experiments {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Published, LastDigitIsThatOfTheText) {
  const auto expect = [](const char* text, double value, double digit) {
    const Printed printed{text};
    EXPECT_DOUBLE_EQ(printed.value(), value) << text;
    EXPECT_NEAR(printed.last_digit(), digit, 1e-12 * digit) << text;
  };
  expect("2.38e-3", 2.38e-3, 1e-5);
  expect("8.60e-7", 8.6e-7, 1e-9);
  expect("19.4046", 19.4046, 1e-4);
  expect("0.0700", 0.07, 1e-4);
  expect("70", 70, 1);
  expect("4e8", 4e8, 1e8);
}

/// All numbers of all tables.
std::vector<Printed> all_printed() {
  std::vector<Printed> all;
  for (const FourBallsRow& row : kFourBallsTable)
    for (const Printed& one : {row.velocity_error, row.position_error, row.variation})
      if (!one.text.empty()) all.push_back(one);
  for (const PendulumRow& row : kPendulumTable)
    all.insert(all.end(), {row.position, row.upper_rod, row.lower_rod});
  for (const BlockRow& row : kBlockTables) all.insert(all.end(), {row.scheme_1, row.scheme_2});
  return all;
}

TEST(Verdicts, EveryPrintedNumberIsMetByItselfAndNotByAPlantedOne) {
  ASSERT_EQ(all_printed().size(), 13u + 21u + 12u);
  for (const Printed& printed : all_printed()) {
    SCOPED_TRACE(printed.text);
    const double digit = printed.last_digit();
    for (const double sign : {-1.0, 1.0}) {
      const double within = printed.value() + sign * 0.9 * digit;
      const double planted = printed.value() + sign * 1.1 * digit;
      EXPECT_EQ(beside({.printed = printed, .value = within}).verdict, Verdict::kReproduced);
      EXPECT_EQ(beside({.printed = printed, .value = planted}).verdict, Verdict::kDiffers);
      EXPECT_FALSE(beside({.printed = printed, .value = planted}).is_explained);
      // Half a unit is what rounding to the printed digits leaves.
      EXPECT_EQ(beside({.printed = printed, .value = within, .units = 0.5}).verdict,
                Verdict::kDiffers);
    }
    EXPECT_EQ(beside({.printed = printed, .value = -printed.value()}).verdict, Verdict::kDiffers);
    EXPECT_EQ(beside({.printed = printed, .value = kNan}).verdict, Verdict::kDiffers);
  }
}

TEST(Verdicts, ARangeDecides) {
  const auto verdict = [](double value, Range range) {
    return judge({.claim = "",
                  .source = "",
                  .printed = "",
                  .value = value,
                  .measured = "",
                  .expected = range})
        .verdict;
  };
  EXPECT_EQ(verdict(1, Range::at_most(1)), Verdict::kReproduced);
  EXPECT_EQ(verdict(1 + 1e-15, Range::at_most(1)), Verdict::kDiffers);
  EXPECT_EQ(verdict(2, Range::at_least(2)), Verdict::kReproduced);
  EXPECT_EQ(verdict(5, Range::exactly(5)), Verdict::kReproduced);
  EXPECT_EQ(verdict(4, Range::exactly(5)), Verdict::kDiffers);
  EXPECT_EQ(verdict(kNan, {}), Verdict::kDiffers);
  EXPECT_EQ(verdict(std::numeric_limits<double>::infinity(), Range::at_most(1)), Verdict::kDiffers);
}

TEST(Verdicts, AnErratumExplainsItsOwnNumberOnly) {
  Claim claim{.claim = "last of Table 10.2",
              .source = "Table 10.2",
              .printed = "3.959e-8",
              .value = 4.409e-8,
              .measured = "4.409e-8",
              .expected = Range::around(3.959e-8, 1e-11),
              .explanation = Explanation{"misprint", Range::around(4.409e-8, 1e-11)}};
  Statement statement = judge(claim);
  EXPECT_EQ(statement.verdict, Verdict::kDiffers);
  EXPECT_TRUE(statement.is_explained);
  EXPECT_FALSE(statement.is_failure());
  EXPECT_EQ(statement.remark, "misprint");
  claim.value = 5e-8;  // neither what is printed nor what is right
  statement = judge(claim);
  EXPECT_EQ(statement.verdict, Verdict::kDiffers);
  EXPECT_TRUE(statement.is_failure());
  EXPECT_EQ(statement.remark, "");
  claim.value = 3.959e-8;
  EXPECT_EQ(judge(claim).verdict, Verdict::kReproduced);
}

Table table_of(std::vector<Cell> cells) {
  Table table{.title = "t", .columns = {{"x", true}}, .rows = {}};
  for (Cell& cell : cells) table.rows.push_back({std::move(cell)});
  return table;
}

TEST(Verdicts, ATableIsAsGoodAsItsWorstNumber) {
  const Cell good = beside({.printed = {"1.0"}, .value = 1.02});
  const Cell known =
      beside({.printed = {"1.0"}, .value = 1.3, .explained_by = Range::around(1.3, 0.1)});
  const Cell bad = beside({.printed = {"1.0"}, .value = 1.3});
  Statement statement = judge_table("all", "T", table_of({good, good, label("–")}));
  EXPECT_EQ(statement.verdict, Verdict::kReproduced);
  EXPECT_EQ(statement.measured, "2 of 2 met");
  statement = judge_table("all", "T", table_of({good, known}), "erratum");
  EXPECT_EQ(statement.verdict, Verdict::kDiffers);
  EXPECT_TRUE(statement.is_explained);
  EXPECT_EQ(statement.remark, "erratum");
  statement = judge_table("all", "T", table_of({good, known, bad}), "erratum");
  EXPECT_TRUE(statement.is_failure());
  EXPECT_EQ(statement.measured, "1 of 3 met");
  EXPECT_EQ(judge_table("none", "T", table_of({label("–")})).verdict, Verdict::kNotCheckable);
}

TEST(Verdicts, AreCounted) {
  Result result;
  result.statements = {judge({.claim = "",
                              .source = "",
                              .printed = "",
                              .value = 1,
                              .measured = "",
                              .expected = Range::exactly(1)}),
                       judge({.claim = "",
                              .source = "",
                              .printed = "",
                              .value = 2,
                              .measured = "",
                              .expected = Range::exactly(1)}),
                       not_checkable("", "", "", "pictures only")};
  Tally tally = count_verdicts(result);
  EXPECT_EQ(tally.reproduced, 1);
  EXPECT_EQ(tally.failed, 1);
  EXPECT_EQ(tally.not_checkable, 1);
  EXPECT_EQ(tally.explained, 0);
  result.failure = "broke off";
  EXPECT_EQ(count_verdicts(result).failed, 2);
}

TEST(Verdicts, CellsAreWrittenLikeThePrintedNumber) {
  EXPECT_EQ(beside({.printed = {"2.38e-3"}, .value = 0.0023821}).text, "2.382e-3");
  EXPECT_EQ(beside({.printed = {"19.4046"}, .value = 19.40461, .extra_digits = 0}).text, "19.4046");
  EXPECT_NEAR(*beside({.printed = {"0.5"}, .value = 0.75}).deviation, 0.25, 1e-15);
}

}  // namespace
}  // namespace stiction::experiments
