#include "stiction/app/experiments/markdown_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "stiction/app/experiments/number_text.h"

namespace stiction::experiments {
namespace {

std::string word_of(Verdict verdict, bool is_explained) {
  return is_explained ? "differs, explained" : std::string(to_text(verdict));
}

std::string draw_statements(const Result& result) {
  std::string text = "| statement | where | printed | here | verdict |\n|---|---|---|---|---|\n";
  for (const Statement& statement : result.statements) {
    const std::string remark = statement.remark.empty() ? "" : " *" + statement.remark + "*";
    text += fmt::format("| {} | {} | {} | {} | {} |\n", escaped_markdown(statement.claim + remark),
                        escaped_markdown(statement.source), escaped_markdown(statement.printed),
                        escaped_markdown(statement.measured),
                        word_of(statement.verdict, statement.is_explained));
  }
  return text;
}

std::string draw_table(const Table& table) {
  std::string head = "|", rule = "|", body;
  for (const Column& column : table.columns) {
    const std::string title = escaped_markdown(column.title);
    head += column.has_printed ? fmt::format(" {} printed | here | deviation |", title)
                               : fmt::format(" {} |", title);
    rule += column.has_printed ? "---|---|---|" : "---|";
  }
  for (const std::vector<Cell>& row : table.rows) {
    body += "|";
    for (std::size_t i = 0; i < std::min(row.size(), table.columns.size()); ++i) {
      const Cell& cell = row[i];
      if (!table.columns[i].has_printed)
        body += fmt::format(" {} |", escaped_markdown(cell.text));
      else if (!cell.verdict)
        body += fmt::format(" | {} | |", escaped_markdown(cell.text));
      else
        body += fmt::format(" {} | {} | {}{} |", escaped_markdown(cell.printed),
                            escaped_markdown(cell.text),
                            cell.deviation ? show(*cell.deviation, 2) : "–",
                            *cell.verdict == Verdict::kReproduced
                                ? ""
                                : " (" + word_of(*cell.verdict, cell.is_explained) + ")");
    }
    body += "\n";
  }
  return fmt::format("\n**{}**\n\n{}\n{}\n{}", escaped_markdown(table.title), head, rule, body);
}

}  // namespace

std::string escaped_markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '[' || c == '_' || c == '`') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string to_markdown(const std::vector<Finished>& all, const Surroundings& surroundings) {
  Tally sum;
  std::string overview =
      "| experiment | reproduced | differs, explained | differs | not checkable | time [s] |\n"
      "|---|---|---|---|---|---|\n";
  for (const Finished& one : all) {
    const Tally tally = count_verdicts(one.result);
    sum += tally;
    overview +=
        fmt::format("| {} {} | {} | {} | {} | {} | {} |\n", one.experiment->id,
                    escaped_markdown(one.experiment->title), tally.reproduced, tally.explained,
                    tally.failed, tally.not_checkable, show_seconds(one.result.wall));
  }
  std::string text = fmt::format(
      "# Published experiments, rerun\n\nWritten by `stiction reproduce`, not by hand; see "
      "[reproduce.md](../reproduce.md).\n\n- {}\n- {} statements: {} reproduced, {} differ and are "
      "explained, {} differ, {} not checkable\n\n{}",
      to_text(surroundings), sum.all(), sum.reproduced, sum.explained, sum.failed,
      sum.not_checkable, overview);
  for (const Finished& one : all) {
    text += fmt::format(
        "\n## {} {}\n\n{}. {}\n\n", one.experiment->id, escaped_markdown(one.experiment->title),
        escaped_markdown(one.experiment->paper), escaped_markdown(one.experiment->about));
    if (!one.result.failure.empty())
      text += fmt::format("Did not finish: {}\n\n", escaped_markdown(one.result.failure));
    text += draw_statements(one.result);
    for (const Table& table : one.result.tables) text += draw_table(table);
    for (const std::string& note : one.result.notes) text += "\n" + escaped_markdown(note) + "\n";
  }
  return text;
}

}  // namespace stiction::experiments
