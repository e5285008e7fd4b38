#include "stiction/app/experiments/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stiction::experiments {
namespace {

/// 1.23e-5 instead of 1.23e-05, as papers write it.
std::string without_leading_zeros(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::size_t digit = e + 2;  // after the sign
  while (digit + 1 < text.size() && text[digit] == '0') text.erase(digit, 1);
  if (text[e + 1] == '+') text.erase(e + 1, 1);
  return text;
}

/// A minus sign instead of a hyphen before numbers, exponents left alone.
std::string with_minus_signs(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
    const bool is_number = i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
    out += text[i] == '-' && begins && is_number ? "−" : std::string(1, text[i]);
  }
  return out;
}

/// In the notation of the printed number.
std::string like_printed(double value, const Printed& printed, int extra_digits) {
  const bool is_scientific = printed.text.find('e') != std::string_view::npos;
  const std::string_view mantissa = printed.text.substr(0, printed.text.find('e'));
  const std::size_t point = mantissa.find('.');
  const int decimals =
      point == std::string_view::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
  return is_scientific
             ? without_leading_zeros(fmt::format("{:.{}e}", value, decimals + extra_digits))
             : fmt::format("{:.{}f}", value, decimals + extra_digits);
}

std::optional<double> finite(double x) {
  return std::isfinite(x) ? std::optional<double>(x) : std::nullopt;
}

}  // namespace

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kReproduced:
      return "reproduced";
    case Verdict::kDiffers:
      return "differs";
    case Verdict::kNotCheckable:
      break;
  }
  return "not checkable";
}

Tally& Tally::operator+=(const Tally& other) {
  reproduced += other.reproduced;
  explained += other.explained;
  failed += other.failed;
  not_checkable += other.not_checkable;
  return *this;
}

Tally count_verdicts(const Result& result) {
  Tally tally;
  for (const Statement& statement : result.statements) {
    if (statement.verdict == Verdict::kReproduced)
      ++tally.reproduced;
    else if (statement.verdict == Verdict::kNotCheckable)
      ++tally.not_checkable;
    else
      ++(statement.is_explained ? tally.explained : tally.failed);
  }
  if (!result.failure.empty()) ++tally.failed;
  return tally;
}

Statement judge(const Claim& claim) {
  Statement statement{.claim = claim.claim,
                      .source = claim.source,
                      .printed = claim.printed,
                      .measured = with_minus_signs(claim.measured),
                      .value = finite(claim.value),
                      .low = finite(claim.expected.low),
                      .high = finite(claim.expected.high),
                      .remark = {}};
  if (claim.expected.contains(claim.value)) {
    statement.verdict = Verdict::kReproduced;
    return statement;
  }
  statement.verdict = Verdict::kDiffers;
  if (claim.explanation && claim.explanation->range.contains(claim.value)) {
    statement.is_explained = true;
    statement.remark = claim.explanation->text;
  }
  return statement;
}

Statement not_checkable(std::string claim, std::string source, std::string printed,
                        std::string why) {
  return {.claim = std::move(claim),
          .source = std::move(source),
          .printed = std::move(printed),
          .measured = "–",
          .value = {},
          .low = {},
          .high = {},
          .verdict = Verdict::kNotCheckable,
          .remark = std::move(why)};
}

Cell beside(const Beside& entry) {
  // A unit of the last digit and half of it are no binary numbers.
  constexpr double kRounding = 1 + 1e-9;
  Cell cell;
  cell.text = with_minus_signs(like_printed(entry.value, entry.printed, entry.extra_digits));
  cell.value = finite(entry.value);
  cell.printed = entry.printed.text;
  cell.deviation = finite(entry.value - entry.printed.value());
  const Range met =
      Range::around(entry.printed.value(), entry.units * entry.printed.last_digit() * kRounding);
  cell.verdict = met.contains(entry.value) ? Verdict::kReproduced : Verdict::kDiffers;
  cell.is_explained = *cell.verdict == Verdict::kDiffers && entry.explained_by &&
                      entry.explained_by->contains(entry.value);
  return cell;
}

Cell label(std::string text) {
  Cell cell;
  cell.text = std::move(text);
  return cell;
}

Cell number(double value, std::string text) {
  Cell cell;
  cell.text = with_minus_signs(without_leading_zeros(std::move(text)));
  cell.value = finite(value);
  return cell;
}

Statement judge_table(std::string claim, std::string source, const Table& table,
                      std::string explanation) {
  int all = 0, met = 0, explained = 0;
  for (const std::vector<Cell>& row : table.rows)
    for (const Cell& cell : row) {
      if (!cell.verdict) continue;
      ++all;
      if (*cell.verdict == Verdict::kReproduced) ++met;
      if (cell.is_explained) ++explained;
    }
  Statement statement{.claim = std::move(claim),
                      .source = std::move(source),
                      .printed = fmt::format("{} numbers", all),
                      .measured = fmt::format("{} of {} met", met, all),
                      .value = met,
                      .low = all,
                      .high = all,
                      .remark = {}};
  if (all == 0) return statement;
  statement.verdict = met == all ? Verdict::kReproduced : Verdict::kDiffers;
  if (met < all && met + explained == all) {
    statement.is_explained = true;
    statement.remark = std::move(explanation);
  }
  return statement;
}

}  // namespace stiction::experiments
