#include "stiction/app/experiments/result_json.h"

namespace stiction::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

std::optional<double> number_at(const Json& object, const char* key) {
  const Json& value = object.at(key);
  return value.is_null() ? std::nullopt : std::optional<double>(value.get<double>());
}

Verdict verdict_of(const Json& value) {
  const auto text = value.get<std::string>();
  for (const Verdict verdict : {Verdict::kReproduced, Verdict::kDiffers})
    if (to_text(verdict) == text) return verdict;
  return Verdict::kNotCheckable;
}

Json to_json(const Statement& statement) {
  return {{"claim", statement.claim},
          {"source", statement.source},
          {"printed", statement.printed},
          {"measured", statement.measured},
          {"value", or_null(statement.value)},
          {"low", or_null(statement.low)},
          {"high", or_null(statement.high)},
          {"verdict", to_text(statement.verdict)},
          {"explained", statement.is_explained},
          {"remark", statement.remark}};
}

Statement statement_from(const Json& object) {
  return {.claim = object.at("claim"),
          .source = object.at("source"),
          .printed = object.at("printed"),
          .measured = object.at("measured"),
          .value = number_at(object, "value"),
          .low = number_at(object, "low"),
          .high = number_at(object, "high"),
          .verdict = verdict_of(object.at("verdict")),
          .is_explained = object.at("explained"),
          .remark = object.at("remark")};
}

/// A cell without a printed number beside it is short.
Json to_json(const Cell& cell) {
  Json object{{"text", cell.text}};
  if (cell.value || cell.verdict) object["value"] = or_null(cell.value);
  if (!cell.verdict) return object;
  object["printed"] = cell.printed;
  object["deviation"] = or_null(cell.deviation);
  object["verdict"] = to_text(*cell.verdict);
  object["explained"] = cell.is_explained;
  return object;
}

Cell cell_from(const Json& object) {
  Cell cell;
  cell.text = object.at("text");
  if (object.contains("value")) cell.value = number_at(object, "value");
  if (!object.contains("verdict")) return cell;
  cell.printed = object.at("printed");
  cell.deviation = number_at(object, "deviation");
  cell.verdict = verdict_of(object.at("verdict"));
  cell.is_explained = object.at("explained");
  return cell;
}

Json to_json(const Table& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const Column& column : table.columns)
    columns.push_back({{"title", column.title}, {"has_printed", column.has_printed}});
  for (const std::vector<Cell>& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(to_json(cell));
    rows.push_back(cells);
  }
  return {{"title", table.title}, {"columns", columns}, {"rows", rows}};
}

Table table_from(const Json& object) {
  Table table;
  table.title = object.at("title");
  for (const Json& column : object.at("columns"))
    table.columns.push_back({column.at("title"), column.at("has_printed")});
  for (const Json& row : object.at("rows")) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const Json& cell : row) cells.push_back(cell_from(cell));
  }
  return table;
}

}  // namespace

Json to_json(const Tally& tally) {
  return {{"reproduced", tally.reproduced},
          {"differs, explained", tally.explained},
          {"differs", tally.failed},
          {"not checkable", tally.not_checkable}};
}

Json to_json(const Experiment& experiment, const Result& result) {
  Json object{{"id", experiment.id},         {"name", experiment.name},
              {"title", experiment.title},   {"paper", experiment.paper},
              {"scenes", experiment.scenes}, {"wall_s", result.wall},
              {"failure", result.failure},   {"verdicts", to_json(count_verdicts(result))},
              {"statements", Json::array()}, {"tables", Json::array()},
              {"figures", Json::array()},    {"notes", result.notes}};
  for (const Statement& statement : result.statements)
    object["statements"].push_back(to_json(statement));
  for (const Table& table : result.tables) object["tables"].push_back(to_json(table));
  for (const Figure& figure : result.figures)
    object["figures"].push_back({{"file", experiment.name + "/" + figure.name + ".svg"},
                                 {"name", figure.name},
                                 {"caption", figure.caption}});
  return object;
}

Result result_from_json(const Json& object) {
  Result result;
  result.wall = object.at("wall_s");
  result.failure = object.at("failure");
  result.notes = object.at("notes").get<std::vector<std::string>>();
  for (const Json& statement : object.at("statements"))
    result.statements.push_back(statement_from(statement));
  for (const Json& table : object.at("tables")) result.tables.push_back(table_from(table));
  for (const Json& figure : object.at("figures"))
    result.figures.push_back({figure.at("name"), figure.at("caption"), ""});
  return result;
}

}  // namespace stiction::experiments
