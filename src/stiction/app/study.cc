#include "stiction/app/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "stiction/app/simulation_options.h"
#include "stiction/base/fnv_hash.h"
#include "stiction/base/random.h"
#include "stiction/base/text.h"
#include "stiction/base/version.h"
#include "stiction/base/whole_file.h"
#include "stiction/scene/json_text.h"
#include "stiction/scene/quantity_reader.h"
#include "stiction/scene/schema.h"

namespace stiction {
namespace {

/// More runs than this are a mistake of the study, not a plan.
constexpr double kMaxRuns = 1e7;

/// Last values of all coordinates are kept by themselves up to so many columns.
constexpr std::size_t kMaxFinals = 100;

constexpr std::string_view kSchema = R"({
  "description": "a study is one object: {\"study\": 1, \"scene\": …, \"vary\": {…}}",
  "type": "object",
  "required": ["study", "scene", "vary"],
  "properties": {
    "study": {"description": "version of the study format; write \"study\": 1", "const": 1},
    "name": {"description": "short name of the study; default: the name of its file", "type": "string"},
    "description": {"description": "free text", "type": "string"},
    "scene": {"description": "scene file, relative to the study", "type": "string"},
    "simulate": {"description": "keys of the scene's \"simulate\" that all runs have instead", "type": "object"},
    "draws": {"description": "how many times every point of the grid is run with values drawn at random, an integer of at least 1",
              "type": "integer", "minimum": 1},
    "seed": {"description": "where the draws begin, an integer of at least 0; default 0", "type": "integer", "minimum": 0},
    "time_limit": {"description": "wall time for a run [s], greater than 0; default: none", "type": "number", "exclusiveMinimum": 0},
    "final": {"description": "names of coordinates and velocities whose last values the table has; default: all, if there are at most 100",
              "type": "array", "items": {"description": "a name as in recordings", "type": "string"}},
    "watch": {"description": "names of coordinates and velocities whose least, greatest and mean values the table has",
              "type": "array", "items": {"description": "a name as in recordings", "type": "string"}},
    "vary": {
      "description": "what the runs differ in: {\"mu\": {\"values\": [0.1, 0.2]}, \"bodies.cart.mass\": {\"from\": 1, \"to\": 2, \"count\": 5}}",
      "type": "object",
      "minProperties": 1,
      "additionalProperties": {
        "description": "one of {\"values\": […]}, {\"from\", \"to\", \"count\"}, {\"uniform\": [low, high]}, {\"log_uniform\": [low, high]}, {\"normal\": [mean, deviation]}",
        "type": "object",
        "properties": {
          "values": {"description": "the values, one after the other", "type": "array", "minItems": 1},
          "from": {"description": "first value of a range", "type": "number"},
          "to": {"description": "last value of a range", "type": "number"},
          "count": {"description": "how many values a range has, an integer of at least 1", "type": "integer", "minimum": 1},
          "spacing": {"description": "\"linear\" (default) or \"log\"", "enum": ["linear", "log"]},
          "uniform": {"description": "drawn between two bounds, [low, high]", "type": "array", "minItems": 2, "maxItems": 2, "items": {"description": "a bound", "type": "number"}},
          "log_uniform": {"description": "its logarithm is drawn between those of two bounds, [low, high]", "type": "array", "minItems": 2, "maxItems": 2, "items": {"description": "a bound", "type": "number"}},
          "normal": {"description": "drawn from a normal distribution, [mean, deviation]", "type": "array", "minItems": 2, "maxItems": 2, "items": {"description": "a number", "type": "number"}}
        },
        "additionalProperties": false
      }
    }
  },
  "additionalProperties": false
})";

std::optional<std::string> read_text(const std::string& path, Diagnostics& diagnostics) {
  std::string reason;
  auto text = try_read_file(path, reason);
  if (!text) diagnostics.error({}, "", reason);
  return text;
}

class StudyReader {
 public:
  explicit StudyReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void read(const SceneValue& root, Study& study) const {
    if (const SceneValue name = root["name"]; name.is_string()) {
      study.name = name.node->string;
      // It names the folder of the results.
      if (study.name.find('/') != std::string::npos || study.name.starts_with('.'))
        diagnostics_.error(name.node->position, name.path,
                           "is not the name of a folder: without '/', not with '.' first");
    }
    if (root["simulate"].is_object())
      for (const JsonMember& member : root["simulate"].node->members)
        study.simulate.push_back({"simulate." + member.key, to_json_line(member.node)});
    if (root["seed"]) study.seed = static_cast<std::uint64_t>(root["seed"].node->number);
    if (root["time_limit"]) study.time_limit = root["time_limit"].node->number;
    for (const JsonMember& member : root["vary"].node->members)
      study.axes.push_back(read_axis({&member.node, member_path("vary", member.key)}, member.key));
    read_draws(root, study);
    if (!diagnostics_.has_errors() && !(count_runs(study) <= kMaxRuns))
      fault(root["vary"], fmt::format("makes {:.3g} runs, at most {:.0e} are allowed",
                                      count_runs(study), kMaxRuns));
  }

 private:
  void fault(const SceneValue& value, std::string message, std::string help = {}) const {
    diagnostics_.error(value.node->position, value.path, std::move(message), std::move(help));
  }

  static double count_runs(const Study& study) {
    double count = static_cast<double>(study.draws);
    for (const StudyAxis& axis : study.axes)
      if (axis.kind == StudyAxis::Kind::kGrid) count *= static_cast<double>(axis.values.size());
    return count;
  }

  StudyAxis read_axis(const SceneValue& value, const std::string& path) const {
    using Kind = StudyAxis::Kind;
    StudyAxis axis{.path = path, .kind = Kind::kGrid, .values = {}};
    std::vector<const char*> ways;
    for (const char* way : {"values", "from", "uniform", "log_uniform", "normal"})
      if (value[way]) ways.push_back(way);
    if (ways.size() != 1) {
      fault(value,
            ways.empty() ? "says nothing about its values"
                         : fmt::format("has both '{}' and '{}'", ways[0], ways[1]),
            "write one of values, from with to and count, uniform, log_uniform, normal");
      return axis;
    }
    const std::string_view way = ways.front();
    if (way != "from")
      for (const char* key : {"to", "count", "spacing"})
        if (value[key]) fault(value[key], fmt::format("belongs to 'from', not to '{}'", way));
    if (way == "values")
      read_values(value["values"], axis);
    else if (way == "from")
      read_range(value, axis);
    else
      read_distribution(value[ways.front()],
                        way == "uniform"       ? Kind::kUniform
                        : way == "log_uniform" ? Kind::kLogUniform
                                               : Kind::kNormal,
                        axis);
    return axis;
  }

  void read_values(const SceneValue& values, StudyAxis& axis) const {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < values.node->items.size(); ++i) {
      const SceneValue item = values.item(i);
      if (item.is_array() || item.is_object() || item.node->is_null()) {
        fault(item, "is " + describe(*item.node) + ", expected a number, a text or true or false");
        continue;
      }
      axis.values.push_back(to_json_line(*item.node));
      const std::string same =
          item.node->is_number() ? to_text(item.node->number) : axis.values.back();
      if (!seen.insert(same).second) fault(item, "is there twice");
    }
  }

  void read_range(const SceneValue& value, StudyAxis& axis) const {
    if (!value["to"] || !value["count"]) {
      fault(value, "a range needs 'from', 'to' and 'count'");
      return;
    }
    const double from = value["from"].node->number, to = value["to"].node->number;
    const double count = value["count"].node->number;
    const bool is_log = value["spacing"].is_string() && value["spacing"].node->string == "log";
    if (count == 1 ? from != to : from == to)
      fault(value["count"], fmt::format("is {}, but the range goes from {} to {}", count,
                                        to_text(from), to_text(to)));
    else if (count > kMaxRuns)
      fault(value["count"], fmt::format("is {}, at most {:.0e} are allowed", count, kMaxRuns));
    else if (is_log && !(from > 0 && to > 0))
      fault(value["spacing"],
            fmt::format("is \"log\", but the range goes from {} to {}", to_text(from), to_text(to)),
            "both ends must be > 0");
    else
      for (int i = 0; i < static_cast<int>(count); ++i) {
        const double s = count == 1 ? 0 : i / (count - 1);
        // The ends are met exactly.
        const double x = i == 0           ? from
                         : i + 1 == count ? to
                         : is_log ? std::exp(std::log(from) + s * (std::log(to) - std::log(from)))
                                  : from + s * (to - from);
        axis.values.push_back(to_text(x));
      }
  }

  void read_distribution(const SceneValue& pair, StudyAxis::Kind kind, StudyAxis& axis) const {
    axis.kind = kind;
    axis.first = pair.item(0).node->number;
    axis.second = pair.item(1).node->number;
    const std::string found = fmt::format("{} and {}", to_text(axis.first), to_text(axis.second));
    if (kind == StudyAxis::Kind::kNormal) {
      if (!(axis.second > 0))
        fault(pair, "has the deviation " + to_text(axis.second) + ", must be > 0");
    } else if (!(axis.first < axis.second)) {
      fault(pair, "has the bounds " + found + ", the first must be less than the second");
    } else if (kind == StudyAxis::Kind::kLogUniform && !(axis.first > 0)) {
      fault(pair, "has the bounds " + found + ", both must be > 0");
    }
  }

  void read_draws(const SceneValue& root, Study& study) const {
    const bool has_draws = std::ranges::any_of(
        study.axes, [](const StudyAxis& axis) { return axis.kind != StudyAxis::Kind::kGrid; });
    if (has_draws && !root["draws"])
      fault(root["vary"], "draws values at random, but does not say how many times",
            "write \"draws\": N beside \"vary\"");
    if (!has_draws && root["draws"])
      fault(root["draws"], "is given, but nothing is drawn at random");
    if (!has_draws && root["seed"]) fault(root["seed"], "is given, but nothing is drawn at random");
    if (root["draws"]) study.draws = static_cast<std::int64_t>(root["draws"].node->number);
  }

  Diagnostics& diagnostics_;
};

/// A number that is as good as drawn, from the seed, the draw and the name of what is drawn: adding
/// a parameter to a study leaves the draws of the others alone.
Random random_of(const Study& study, std::int64_t draw, const std::string& path) {
  std::uint64_t mixed = Random(study.seed).next();
  for (const char c : path) mixed = Random(mixed ^ static_cast<unsigned char>(c)).next();
  return Random(Random(mixed ^ static_cast<std::uint64_t>(draw)).next());
}

double draw_value(const StudyAxis& axis, Random random) {
  switch (axis.kind) {
    case StudyAxis::Kind::kLogUniform:
      return std::exp(random.uniform(std::log(axis.first), std::log(axis.second)));
    case StudyAxis::Kind::kNormal:
      return axis.first + axis.second * random.normal();
    default:
      return random.uniform(axis.first, axis.second);
  }
}

/// All paths are places of the scene, each of its own.
void check_paths(const Study& study, const SceneValue& vary, Diagnostics& diagnostics) {
  const auto replace = [&](const StudyAxis& a, const StudyAxis* b, Diagnostics& faults) {
    std::vector<SceneOverride> overrides{{a.path, "1"}};
    if (b != nullptr) overrides.push_back({b->path, "2"});
    return override_scene(study.scene_text, overrides, faults);
  };
  const auto place = [&](const StudyAxis& axis) { return vary.node->find(axis.path)->position; };
  for (const StudyAxis& axis : study.axes) {
    Diagnostics faults(study.scene_path);
    if (replace(axis, nullptr, faults)) continue;
    for (const Diagnostic& fault : faults.all())
      diagnostics.error(place(axis), member_path("vary", axis.path), fault.message, fault.help);
  }
  if (diagnostics.has_errors()) return;
  Diagnostics none(study.scene_path);
  for (std::size_t i = 0; i < study.axes.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const StudyAxis &a = study.axes[k], &b = study.axes[i];
      // Two values in two places: their order does not matter.
      const auto a_last = override_scene(study.scene_text, {{b.path, "2"}, {a.path, "1"}}, none);
      if (a_last && replace(a, &b, none) != a_last)
        diagnostics.error(place(b), member_path("vary", b.path),
                          fmt::format("is the same value of the scene as '{}'", a.path));
    }
}

void read_names(const SceneValue& list, const std::vector<std::string>& known,
                Diagnostics& diagnostics, std::vector<std::string>& names) {
  if (!list.is_array()) return;
  for (std::size_t i = 0; i < list.node->items.size(); ++i) {
    const SceneValue item = list.item(i);
    const std::string& name = item.node->string;
    if (std::find(known.begin(), known.end(), name) == known.end())
      diagnostics.error(item.node->position, item.path,
                        fmt::format("the scene has no coordinate '{}'", name),
                        suggestion(name, known));
    else if (std::find(names.begin(), names.end(), name) != names.end())
      diagnostics.error(item.node->position, item.path, fmt::format("'{}' is there twice", name));
    names.push_back(name);
  }
}

/// The scene as all runs share it, and what names its model has.
bool check_scene(const SceneValue& root, Study& study, Diagnostics& diagnostics,
                 Diagnostics& scene_diagnostics) {
  const auto text = override_scene(study.scene_text, study.simulate, scene_diagnostics);
  if (!text) return false;
  // A start that does not fit may do so with other values: every run looks for itself.
  const auto scene = read_scene(*text, known_names(), scene_diagnostics, {.project_start = true});
  if (!scene) return false;
  check_paths(study, root["vary"], diagnostics);
  std::vector<std::string> known = scene->model.q_names();
  for (std::string& name : scene->model.v_names()) known.push_back(std::move(name));
  read_names(root["final"], known, diagnostics, study.finals);
  read_names(root["watch"], known, diagnostics, study.watch);
  if (!root["final"] && known.size() <= kMaxFinals) study.finals = known;
  return true;
}

}  // namespace

std::int64_t Study::num_grid_points() const {
  std::int64_t count = 1;
  for (const StudyAxis& axis : axes)
    if (axis.kind == StudyAxis::Kind::kGrid) count *= static_cast<std::int64_t>(axis.values.size());
  return count;
}

std::vector<std::string> Study::values_of(std::int64_t run) const {
  const std::int64_t draw = run % draws;
  std::int64_t point = run / draws;
  std::vector<std::string> values(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const StudyAxis& axis = axes[i];
    if (axis.kind != StudyAxis::Kind::kGrid) {
      values[i] = to_text(draw_value(axis, random_of(*this, draw, axis.path)));
      continue;
    }
    const auto size = static_cast<std::int64_t>(axis.values.size());
    values[i] = axis.values[static_cast<std::size_t>(point % size)];
    point /= size;
  }
  return values;
}

std::optional<std::string> Study::scene_of(std::int64_t run, Diagnostics& diagnostics) const {
  std::vector<SceneOverride> overrides = simulate;
  const std::vector<std::string> values = values_of(run);
  for (std::size_t i = 0; i < axes.size(); ++i) overrides.push_back({axes[i].path, values[i]});
  return override_scene(scene_text, overrides, diagnostics);
}

/// Over all that decides what the table holds.
std::uint64_t Study::fingerprint() const {
  FnvHash hash;
  const auto add = [&hash](std::string_view text) {
    hash.add(text);
    hash.add_byte(0xff);
  };
  add(version());
  add(scene_text);
  for (const SceneOverride& one : simulate) add(one.path + "=" + one.value);
  for (const StudyAxis& axis : axes) {
    add(fmt::format("{} {} {} {}", axis.path, static_cast<int>(axis.kind), axis.first,
                    axis.second));
    for (const std::string& value : axis.values) add(value);
  }
  add(fmt::format("{} {} {}", draws, seed, time_limit));
  for (const std::string& name : finals) add(name);
  add("watch");
  for (const std::string& name : watch) add(name);
  return hash.value();
}

std::optional<Study> read_study(const std::string& path, Diagnostics& diagnostics,
                                Diagnostics& scene_diagnostics) {
  const auto text = read_text(path, diagnostics);
  if (!text) return std::nullopt;
  const std::optional<JsonNode> document = parse_json(*text, diagnostics);
  if (!document || !SceneSchema(kSchema).validate(*document, diagnostics) ||
      diagnostics.has_errors())
    return std::nullopt;
  const SceneValue root{&*document, ""};
  Study study;
  const std::filesystem::path file(path);
  study.name = file.stem().string();
  StudyReader(diagnostics).read(root, study);
  study.scene_path = (file.parent_path() / root["scene"].node->string).string();
  scene_diagnostics = Diagnostics(study.scene_path);
  if (auto scene_text = read_text(study.scene_path, scene_diagnostics)) {
    study.scene_text = std::move(*scene_text);
    if (!check_scene(root, study, diagnostics, scene_diagnostics)) return std::nullopt;
  }
  if (diagnostics.has_errors() || scene_diagnostics.has_errors()) return std::nullopt;
  return study;
}

}  // namespace stiction
