// stiction_bench_scenes: the same scenes in the engines that are installed, one thread, a step of
// 1/60 s; time and accuracy, measured alike. Prints one table per scene; --out writes JSON and
// pictures.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "bench/scenes/report.h"
#include "bench/scenes/scenes.h"
#include "bench/scenes/trial.h"

namespace stiction::bench {
namespace {

struct Options {
  std::string scenes = ".*", contenders = ".*";
  std::string out;
  double seconds = 0;  // 0: those of the scene
  TrialLimits limits;
  bool lists = false;
};

bool has_match(const std::string& text, const std::string& expression) {
  return std::regex_search(text, std::regex(expression, std::regex::icase));
}

/// "Rolling plate" is rolling-plate.svg.
std::string file_name_of(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

class Program {
 public:
  explicit Program(const Options& options) : options_(options) {
    for (SceneContender& contender : list_scene_contenders())
      if (has_match(contender.name(), options.contenders))
        contenders_.push_back(std::move(contender));
    if (!options.out.empty()) std::filesystem::create_directories(options.out);
  }

  int run() {
    if (contenders_.empty()) fmt::print(stderr, "no engine of that name was built in\n");
    for (SceneCase& scene : select(list_scene_cases())) {
      SceneReport report{scene.description, scene.error_names, {}};
      if (options_.lists) continue;
      for (const SceneContender& contender : contenders_)
        report.trials.push_back(run_one(scene, contender));
      show(to_table(report));
      json_["scenes"].push_back(to_json(report));
      write(file_name_of(report.scene.name) + ".svg", to_work_precision_svg(report));
      write_tables();
    }
    run_scaling();
    if (options_.lists)
      for (const SceneContender& contender : contenders_) fmt::print("{}\n", contender.name());
    return 0;
  }

 private:
  /// Those whose names match, as long as they are to be.
  std::vector<SceneCase> select(std::vector<SceneCase> cases) const {
    std::vector<SceneCase> selected;
    for (SceneCase& scene : cases) {
      if (!has_match(scene.description.name, options_.scenes)) continue;
      if (options_.lists) fmt::print("{}: {}\n", scene.description.name, scene.description.claim);
      if (options_.seconds > 0) {
        scene.description.duration = options_.seconds;
        scene.description.settled_from =
            std::min(scene.description.settled_from, options_.seconds / 2);
      }
      selected.push_back(std::move(scene));
    }
    return selected;
  }

  TrialResult run_one(const SceneCase& scene, const SceneContender& contender) const {
    fmt::print(stderr, "{}: {}\n", scene.description.name, contender.name());
    return run_trial_apart(scene, contender, options_.limits);
  }

  /// Who was stopped or failed is not given more bodies.
  void run_scaling() {
    std::vector<SceneReport> reports;
    std::vector<SceneCase> cases = select(list_scaling_cases());
    if (options_.lists || cases.empty()) return;
    for (const SceneCase& scene : cases) {
      SceneReport report{scene.description, scene.error_names, {}};
      for (std::size_t c = 0; c < contenders_.size(); ++c) {
        if (reports.empty() || reports.back().trials[c].trouble.empty()) {
          report.trials.push_back(run_one(scene, contenders_[c]));
        } else {
          report.trials.push_back({.contender = contenders_[c].name(),
                                   .setting = contenders_[c].setting,
                                   .trouble = "not tried"});
        }
      }
      json_["scaling"].push_back(to_json(report));
      reports.push_back(std::move(report));
    }
    show(to_scaling_table(reports));
    write("scaling.svg", to_scaling_svg(reports));
    write_tables();
  }

  void show(const std::string& table) {
    tables_ += table + "\n";
    fmt::print("{}\n", table);
    std::fflush(stdout);
  }

  void write_tables() const {
    write("scenes.md", tables_);
    write("scenes.json", json_.dump(1) + "\n");
  }

  void write(const std::string& name, const std::string& text) const {
    if (options_.out.empty()) return;
    const std::filesystem::path path = std::filesystem::path(options_.out) / name;
    std::ofstream file(path);
    file << text;
    if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
  }

  Options options_;
  SceneContenders contenders_;
  nlohmann::json json_;
  std::string tables_;
};

int run_program(int argc, char** argv) {
  CLI::App app{"Compares engines on scenes with contact", "stiction_bench_scenes"};
  Options options;
  app.add_option("--scenes", options.scenes, "those whose name has a match of this expression");
  app.add_option("--contenders", options.contenders, "the same for engines and settings");
  app.add_option("--seconds", options.seconds, "simulated time instead of that of the scene [s]");
  app.add_option("--limit", options.limits.seconds,
                 "processor time that a contender gets for a scene [s]");
  app.add_option("--out", options.out, "folder for tables, JSON and pictures");
  app.add_flag("--list", options.lists, "say what there is and run nothing");
  CLI11_PARSE(app, argc, argv);
  return Program(options).run();
}

}  // namespace
}  // namespace stiction::bench

int main(int argc, char** argv) {
  try {
    return stiction::bench::run_program(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "stiction_bench_scenes: {}\n", error.what());
    return 2;
  }
}
