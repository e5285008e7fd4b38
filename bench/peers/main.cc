// stiction_bench_peers: a heavy chain at a step of 1/60 s in the engines that are installed,
// measured alike. Prints one table per mass of the ball, or JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/peers/chain.h"
#include "bench/peers/chain_reference.h"

namespace stiction::bench {
namespace {

/// Beyond the first swing the ball's path depends on everything, and a distance says nothing.
constexpr double kComparedSeconds = 1.5;

struct Options {
  ChainScene scene;
  std::vector<double> ball_masses = {1e3, 1e6};  // [kg]
  std::string only;
  bool json = false;
};

struct Row {
  ChainResult result;
  double path_error = 0;  // relative to the rope
};

struct Table {
  ChainScene scene;
  ReferencePath reference;
  std::vector<Row> rows;
};

/// Those whose engine and settings contain the text.
ChainContenders select_contenders(const std::string& only) {
  ChainContenders selected;
  for (const ChainContender& contender : list_contenders())
    if ((contender.label.engine + ": " + contender.label.settings).find(only) != std::string::npos)
      selected.push_back(contender);
  return selected;
}

Table measure(const ChainScene& scene, const ChainContenders& contenders) {
  Table table{scene, compute_reference(scene, std::min(kComparedSeconds, scene.duration)), {}};
  for (const ChainContender& contender : contenders) {
    fmt::print(stderr, "{}: {}\n", contender.label.engine, contender.label.settings);
    ChainResult result = contender.run(scene);
    const double path_error = compute_path_error(scene, result.path, table.reference);
    table.rows.push_back({std::move(result), path_error});
  }
  return table;
}

double lasted_seconds(const Table& table, const Row& row) {
  return static_cast<double>(row.result.path.size()) * table.scene.h;
}

void print_table(const Table& table) {
  const ChainScene& scene = table.scene;
  const double scale = scene.energy_scale();
  fmt::print("## {} links of {:g} kg, ball {:g} kg, h = {:.5g} s, {:g} s\n\n", scene.links,
             scene.link_mass, scene.ball_mass, scene.h, scene.duration);
  fmt::print("Reference: {} substeps per h, energy drift {:.1e} m g L, path error {:.1e} m\n\n",
             table.reference.substeps, table.reference.energy_drift, table.reference.path_error);
  fmt::print("| {:18} | {:45} | {:>6} | {:>9} | {:>10} | {:>10} | {:>10} | {:>7} |\n", "engine",
             "settings", "lasted", "gap max", "gain / mgL", "end / mgL", "path error", "µs/step");
  fmt::print("|{:-<20}|{:-<47}|{:->8}|{:->11}|{:->12}|{:->12}|{:->12}|{:->9}|\n", "", "", ":", ":",
             ":", ":", ":", ":");
  for (const Row& row : table.rows) {
    const ChainResult& r = row.result;
    fmt::print(
        "| {:18} | {:45} | {:>6} | {:>9.2e} | {:>10.2e} | {:>+10.2e} | {:>10.2e} | {:>7.0f} |\n",
        r.engine, r.settings,
        r.finite ? "all" : fmt::format("{:.2f} s", lasted_seconds(table, row)), r.gap_max,
        r.energy_max_above_start / scale, (r.energy_end - r.energy_start) / scale, row.path_error,
        1e6 * r.wall_per_step);
  }
  fmt::print("\n");
}

nlohmann::json to_json(const Row& row) {
  const ChainResult& r = row.result;
  nlohmann::json path = nlohmann::json::array();
  for (const Eigen::Vector3d& p : r.path) path.push_back({p.x(), p.y(), p.z()});
  return {{"engine", r.engine},
          {"settings", r.settings},
          {"finite", r.finite},
          {"gap_max", r.gap_max},
          {"energy_start", r.energy_start},
          {"energy_max_above_start", r.energy_max_above_start},
          {"energy_end", r.energy_end},
          {"path_error", row.path_error},  // null where the run ended too early
          {"wall_per_step", r.wall_per_step},
          {"path", std::move(path)}};
}

nlohmann::json to_json(const Table& table) {
  const ChainScene& s = table.scene;
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : table.rows) rows.push_back(to_json(row));
  return {{"scene",
           {{"links", s.links},
            {"link_mass", s.link_mass},
            {"link_length", s.link_length},
            {"link_radius", s.link_radius},
            {"ball_mass", s.ball_mass},
            {"ball_radius", s.ball_radius},
            {"h", s.h},
            {"duration", s.duration}}},
          {"energy_scale", s.energy_scale()},
          {"reference",
           {{"substeps", table.reference.substeps},
            {"energy_drift", table.reference.energy_drift},
            {"path_error", table.reference.path_error}}},
          {"results", std::move(rows)}};
}

int run(const Options& options) {
  const ChainContenders contenders = select_contenders(options.only);
  if (contenders.empty()) fmt::print(stderr, "no engine: not installed when built, or --only\n");
  nlohmann::json report = nlohmann::json::array();
  for (const double ball_mass : options.ball_masses) {
    ChainScene scene = options.scene;
    scene.ball_mass = ball_mass;
    check_scene(scene);
    const Table table = measure(scene, contenders);
    if (options.json)
      report.push_back(to_json(table));
    else
      print_table(table);
  }
  if (options.json) fmt::print("{}\n", report.dump(1));
  return 0;
}

int run_program(int argc, char** argv) {
  CLI::App app{"Compares engines on a heavy chain", "stiction_bench_peers"};
  Options options;
  app.add_option("--links", options.scene.links, "number of rods");
  app.add_option("--ball-mass", options.ball_masses, "masses of the ball [kg], one table each");
  app.add_option("--step", options.scene.h, "step size h [s]");
  app.add_option("--duration", options.scene.duration, "[s]");
  app.add_option("--only", options.only, "run those whose 'engine: settings' contain this");
  app.add_flag("--json", options.json, "JSON with the ball's paths instead of tables");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}

}  // namespace
}  // namespace stiction::bench

int main(int argc, char** argv) {
  try {
    return stiction::bench::run_program(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "stiction_bench_peers: {}\n", error.what());
    return 2;
  }
}
