#include "stiction/app/experiments/html_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "stiction/app/experiments/number_text.h"

namespace stiction::experiments {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --paper: #fdfdfb; --ink: #1d2327; --quiet: #5f6b73;
  --line: #dcdfe0;
  --panel: #f3f4f2; --accent: #0b5fa5; --good: #17724a; --good-back: #dff2e6; --known: #7d5a00;
  --known-back: #fbf0cf; --bad: #a4262c; --bad-back: #fbe0e0; --open: #56606a;
  --open-back: #e8eaec; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181b; --ink: #e3e6e8; --quiet: #9aa5ad; --line: #30383d; --panel: #1c2226;
    --accent: #6cb4ee; --good: #7fd7a6; --good-back: #143726; --known: #ecca6b;
  --known-back: #3a2f0c;
    --bad: #ff9a9a; --bad-back: #471a1c; --open: #b3bcc4; --open-back: #2a3136; }
  figure svg { filter: invert(0.9) hue-rotate(180deg); } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", "Noto Sans", sans-serif; }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 84rem;
  margin: 0 auto; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 2rem 1rem 2rem 1.5rem;
  border-right: 1px solid var(--line); font-size: 0.9rem; }
nav a { display: flex; gap: 0.6rem; align-items: center; padding: 0.18rem 0.4rem;
  border-radius: 4px;
  color: inherit; text-decoration: none; }
nav a:hover, nav a:focus-visible { background: var(--panel); }
nav .id { color: var(--quiet); width: 2.1rem; flex: none; font-variant-numeric: tabular-nums; }
.dot { width: 0.6rem; height: 0.6rem; border-radius: 50%; margin-left: auto; flex: none; }
main { padding: 2rem 2.5rem 4rem; min-width: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 0.4rem; }
h2 { font-size: 1.35rem; margin: 0 0 0.2rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 0.5rem; }
section { padding-top: 2.2rem; margin-top: 2.2rem; border-top: 1px solid var(--line); }
.paper, .quiet { color: var(--quiet); font-size: 0.92rem; margin: 0.1rem 0 0.6rem; }
a { color: var(--accent); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; width: 100%; }
table.numbers { width: auto; font-variant-numeric: tabular-nums; }
.numbers td { white-space: nowrap; }
th, td { text-align: left; vertical-align: top; padding: 0.32rem 0.7rem;
  border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; }
thead tr:last-child th { border-bottom: 2px solid var(--line); }
.numbers td + td, .numbers th + th { text-align: right; }
.numbers th[colspan] { text-align: center; }
.numbers td.word { text-align: left; }
td.group, th.group { border-left: 1px solid var(--line); }
.here-good { color: var(--good); } .here-known { color: var(--known); }
  .here-bad { color: var(--bad); font-weight: 700; }
.verdict { display: inline-block; white-space: nowrap; padding: 0 0.5rem; border-radius: 1rem;
  font-size: 0.8rem; font-weight: 600; line-height: 1.5rem; }
.good { color: var(--good); background: var(--good-back); } .known { color: var(--known);
  background: var(--known-back); }
.bad { color: var(--bad); background: var(--bad-back); } .open { color: var(--open);
  background: var(--open-back); }
.dot.good { background: var(--good); } .dot.known { background: var(--known); }
  .dot.bad { background: var(--bad); }
.dot.open { background: var(--open); }
.remark { display: block; color: var(--quiet); font-size: 0.86rem; margin-top: 0.15rem; }
.tally { display: flex; flex-wrap: wrap; gap: 0.8rem; margin: 1.2rem 0; padding: 0;
  list-style: none; }
.tally li { padding: 0.6rem 1rem; border-radius: 8px; min-width: 8.5rem; }
.tally b { display: block; font-size: 1.6rem; line-height: 1.2; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(24rem, 1fr));
  gap: 1rem; }
figure { margin: 0; padding: 0.6rem; background: var(--panel); border-radius: 8px; }
figure svg { display: block; width: 100%; height: auto; border-radius: 4px; }
figcaption { font-size: 0.86rem; color: var(--quiet); padding: 0.4rem 0.2rem 0; }
code { font-size: 0.88em; }
.failure { padding: 0.8rem 1rem; border-radius: 8px; }
@media (max-width: 60rem) { .page { display: block; } nav { position: static; height: auto;
  border: 0;
  columns: 2; padding-bottom: 0; } main { padding: 1.5rem; }
  .figures { grid-template-columns: 1fr; } }
@media print { :root { --paper: #fff; --ink: #000; --quiet: #444; --line: #bbb; --panel: #fff; }
  .page { display: block; } nav { display: none; } main { padding: 0; } body { font-size: 10pt; }
  section { break-before: page; border: 0; margin: 0; padding: 0; } figure,
  tr { break-inside: avoid; }
  .figures { grid-template-columns: 1fr 1fr; } figure svg { filter: none; }
  .verdict, .tally li { border: 1px solid; } }
)css";

/// Colour and word of a verdict.
struct Look {
  const char *style, *word;
};

Look look_of(Verdict verdict, bool is_explained) {
  if (verdict == Verdict::kReproduced) return {"good", "reproduced"};
  if (verdict == Verdict::kNotCheckable) return {"open", "not checkable"};
  return is_explained ? Look{"known", "differs, explained"} : Look{"bad", "differs"};
}

/// The worst that happened.
const char* style_of(const Tally& tally) {
  if (tally.failed > 0) return "bad";
  if (tally.explained > 0) return "known";
  return tally.reproduced > 0 ? "good" : "open";
}

std::string deviation_text(const Cell& cell) {
  if (!cell.deviation) return "–";
  const std::string text = show(*cell.deviation, 2);
  if (*cell.deviation == 0) return "0";
  return text.starts_with("-") ? "−" + text.substr(1) : "+" + text;
}

std::string draw_head(const Table& table) {
  std::string first, second;
  const bool is_double = std::any_of(table.columns.begin(), table.columns.end(),
                                     [](const Column& column) { return column.has_printed; });
  for (const Column& column : table.columns) {
    if (!column.has_printed) {
      first += fmt::format("<th{}>{}</th>", is_double ? " rowspan=\"2\"" : "",
                           escaped_html(column.title));
      continue;
    }
    first += fmt::format("<th class=\"group\" colspan=\"3\">{}</th>", escaped_html(column.title));
    second += "<th class=\"group\">printed</th><th>here</th><th>deviation</th>";
  }
  return "<thead><tr>" + first + "</tr>" + (is_double ? "<tr>" + second + "</tr>" : "") +
         "</thead>";
}

std::string draw_cell(const Cell& cell, const Column& column) {
  const std::string text = escaped_html(cell.text);
  if (!column.has_printed)
    return (cell.value || cell.text == "–" ? "<td>" : "<td class=\"word\">") + text + "</td>";
  if (!cell.verdict) return fmt::format("<td class=\"group\"></td><td>{}</td><td></td>", text);
  return fmt::format("<td class=\"group\">{}</td><td class=\"here-{}\">{}</td><td>{}</td>",
                     escaped_html(cell.printed), look_of(*cell.verdict, cell.is_explained).style,
                     text, escaped_html(deviation_text(cell)));
}

std::string draw_table(const Table& table) {
  std::string html =
      fmt::format("<h3>{}</h3>\n<div class=\"wide\"><table class=\"numbers\">{}<tbody>",
                  escaped_html(table.title), draw_head(table));
  for (const std::vector<Cell>& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < std::min(row.size(), table.columns.size()); ++i)
      html += draw_cell(row[i], table.columns[i]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string draw_statement(const Statement& statement) {
  const Look look = look_of(statement.verdict, statement.is_explained);
  const std::string remark =
      statement.remark.empty()
          ? ""
          : fmt::format("<span class=\"remark\">{}</span>", escaped_html(statement.remark));
  return fmt::format(
      "<tr><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td>"
      "<td><span class=\"verdict {}\">{}</span></td></tr>\n",
      escaped_html(statement.claim), remark, escaped_html(statement.source),
      escaped_html(statement.printed), escaped_html(statement.measured), look.style, look.word);
}

std::string draw_statements(const Result& result) {
  if (result.statements.empty()) return {};
  std::string html =
      "<h3>Statements</h3>\n<div class=\"wide\"><table><thead><tr><th>statement</th><th>where</th>"
      "<th>printed</th><th>here</th><th>verdict</th></tr></thead><tbody>\n";
  for (const Statement& statement : result.statements) html += draw_statement(statement);
  return html + "</tbody></table></div>\n";
}

std::string draw_figures(const Result& result) {
  if (result.figures.empty()) return {};
  std::string html = "<h3>Figures</h3>\n<div class=\"figures\">\n";
  for (const Figure& figure : result.figures)
    html += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", figure.svg,
                        escaped_html(figure.caption));
  return html + "</div>\n";
}

std::string draw_section(const Finished& one) {
  const Experiment& experiment = *one.experiment;
  std::string scenes;
  for (const std::string& scene : experiment.scenes)
    scenes += fmt::format("{}<code>examples/{}.json</code>", scenes.empty() ? "" : ", ",
                          escaped_html(scene));
  std::string html = fmt::format(
      "<section id=\"{0}\">\n<h2>{1} {2}</h2>\n<p class=\"paper\">{3}</p>\n<p>{4}</p>\n"
      "<p class=\"quiet\">{5} · {6} s · <code>stiction reproduce {0}</code></p>\n",
      escaped_html(experiment.name), escaped_html(experiment.id), escaped_html(experiment.title),
      escaped_html(experiment.paper), escaped_html(experiment.about), scenes,
      show_seconds(one.result.wall));
  if (!one.result.failure.empty())
    html += fmt::format("<p class=\"failure bad\">Did not finish: {}</p>\n",
                        escaped_html(one.result.failure));
  html += draw_statements(one.result);
  for (const Table& table : one.result.tables) html += draw_table(table);
  for (const std::string& note : one.result.notes)
    html += fmt::format("<p class=\"quiet\">{}</p>\n", escaped_html(note));
  return html + draw_figures(one.result) + "</section>\n";
}

std::string draw_navigation(const std::vector<Finished>& all) {
  std::string html = "<nav aria-label=\"Experiments\"><a href=\"#top\"><b>Overview</b></a>\n";
  for (const Finished& one : all)
    html += fmt::format(
        "<a href=\"#{}\"><span class=\"id\">{}</span>{}<span class=\"dot {}\"></span></a>\n",
        escaped_html(one.experiment->name), escaped_html(one.experiment->id),
        escaped_html(one.experiment->title), style_of(count_verdicts(one.result)));
  return html + "</nav>\n";
}

std::string draw_tally(const Tally& tally) {
  const auto item = [](const char* style, int count, const char* word) {
    return fmt::format("<li class=\"{}\"><b>{}</b>{}</li>", style, count, word);
  };
  return "<ul class=\"tally\">" + item("good", tally.reproduced, "reproduced") +
         item("known", tally.explained, "differ, explained") + item("bad", tally.failed, "differ") +
         item("open", tally.not_checkable, "not checkable") + "</ul>\n";
}

std::string draw_count(int count) {
  return count > 0 ? std::to_string(count) : "<span class=\"quiet\">·</span>";
}

std::string draw_overview(const std::vector<Finished>& all, const Surroundings& surroundings) {
  Tally sum;
  std::string rows;
  for (const Finished& one : all) {
    const Tally tally = count_verdicts(one.result);
    sum += tally;
    rows += fmt::format(
        "<tr><td>{} <a href=\"#{}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td></tr>\n",
        escaped_html(one.experiment->id), escaped_html(one.experiment->name),
        escaped_html(one.experiment->title), draw_count(tally.reproduced),
        draw_count(tally.explained), draw_count(tally.failed), draw_count(tally.not_checkable),
        show_seconds(one.result.wall));
  }
  return fmt::format(
             "<h1 id=\"top\">Published experiments, rerun</h1>\n<p class=\"quiet\">{}</p>\n"
             "<p>Every number below was computed in this run and compared with what the paper "
             "prints, "
             "at the precision of the printed digits or within a bound that follows from the data. "
             "<b>Differs, explained</b> means that the number deviates and is what a known erratum "
             "or "
             "a stated difference makes of it.</p>\n",
             escaped_html(to_text(surroundings))) +
         draw_tally(sum) +
         "<div class=\"wide\"><table class=\"numbers\"><thead><tr><th>experiment</th>"
         "<th>reproduced</th><th>explained</th><th>differs</th><th>not checkable</th>"
         "<th>time [s]</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

}  // namespace

std::string escaped_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // Control characters have no place in HTML.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return out;
}

std::string to_html(const std::vector<Finished>& all, const Surroundings& surroundings) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Published experiments, rerun by Stiction {}</title>\n<style>{}</style>\n</head>\n"
      "<body>\n<div class=\"page\">\n",
      escaped_html(surroundings.version), kStyle);
  html += draw_navigation(all) + "<main>\n" + draw_overview(all, surroundings);
  for (const Finished& one : all) html += draw_section(one);
  return html + "</main>\n</div>\n</body>\n</html>\n";
}

}  // namespace stiction::experiments
