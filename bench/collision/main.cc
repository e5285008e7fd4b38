// stiction_bench_collision: collision detection of the same scenes by us, Bullet and FCL, as far as
// they are installed, in one process. Prints tables; --json FILE writes the numbers too. What uses
// one thread is measured in processor time, what uses more by the clock on the wall.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/collision/accuracy.h"
#include "bench/collision/broad_table.h"
#include "bench/collision/contender.h"
#include "bench/collision/packed_scene.h"
#include "bench/collision/terrain_table.h"

namespace stiction::bench {
namespace {

struct Options {
  std::string only, scene, json_path;
  int num_frames = 50, num_rounds = 3;
  int largest = 100'000, most_triangles = 1'000'000;
  int largest_for_peers = 10'000;  // with ten times as many one of them takes more than 20 GB
  bool skips_scenes = false, skips_scaling = false, skips_broad = false, skips_terrain = false;
};

struct Row {
  std::string contender;
  FrameTimes times;  // [s] per frame
  FrameReport report;
  Accuracy accuracy;
  double total() const { return times.broad + times.narrow; }
};

struct Table {
  std::string scene;
  int num_bodies = 0;
  bool has_accuracy = false;
  std::vector<Row> rows;
};

/// Round by round in turn, so that a busy machine is busy for all; the best round counts, and of it
/// the mean, since work that is put off is work too. Returns the frame that comes next.
int measure_times(const PackedScene& scene, const Options& options,
                  std::vector<std::unique_ptr<Contender>>& contenders, std::vector<Row>& rows) {
  std::vector<Pose> poses;
  int frame = 0;
  for (int round = -1; round < options.num_rounds; ++round) {  // the first to warm up
    const int num_frames = round < 0 ? std::min(10, options.num_frames) : options.num_frames;
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      FrameTimes sum;
      for (int k = 0; k < num_frames; ++k) {
        scene.update_poses(frame + k, poses);
        const FrameTimes times = contenders[c]->detect(poses);
        sum.broad += times.broad / num_frames;
        sum.narrow += times.narrow / num_frames;
      }
      if (round == 0 || (round > 0 && sum.broad + sum.narrow < rows[c].total()))
        rows[c].times = sum;
    }
    frame += num_frames;
  }
  return frame;
}

Table measure(const PackedScene& scene, const Options& options, bool checks_accuracy) {
  fmt::print(stderr, "{}: {} bodies\n", scene.name(), scene.num_bodies());
  Table table{scene.name(), scene.num_bodies(), checks_accuracy, {}};
  std::vector<std::unique_ptr<Contender>> contenders;
  for (const ContenderEntry& entry : list_contenders()) {
    const bool is_ours = entry.name.starts_with("Stiction");
    if (entry.name.find(options.only) == std::string::npos && !is_ours) continue;
    if (!is_ours && scene.num_bodies() > options.largest_for_peers) continue;
    contenders.push_back(entry.make(scene));
    table.rows.push_back({.contender = entry.name, .times = {}, .report = {}, .accuracy = {}});
  }
  const int next_frame = measure_times(scene, options, contenders, table.rows);
  std::vector<Pose> poses;
  scene.update_poses(next_frame, poses);
  const std::vector<BodyGap> truth =
      checks_accuracy ? compute_true_gaps(scene, poses) : std::vector<BodyGap>();
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    (void)contenders[c]->detect(poses);
    table.rows[c].report = contenders[c]->report();
    if (checks_accuracy)
      table.rows[c].accuracy = compute_accuracy(truth, table.rows[c].report.gaps);
  }
  return table;
}

void print_table(const Table& table) {
  fmt::print("## {}: {} bodies", table.scene, table.num_bodies);
  if (table.has_accuracy)
    fmt::print(", {} pairs overlap", table.rows.front().accuracy.num_touching);
  fmt::print("\n\n| {:28} | {:>8} | {:>9} | {:>9} | {:>6} | {:>7} | {:>8} |", "µs per frame",
             "broad", "narrow", "both", "ratio", "pairs", "contacts");
  if (table.has_accuracy) fmt::print(" {:>9} | {:>6} | {:>7} |", "gap error", "missed", "phantom");
  fmt::print("\n|{:-<30}|{:->10}|{:->11}|{:->11}|{:->8}|{:->9}|{:->10}|", "", ":", ":", ":", ":",
             ":", ":");
  if (table.has_accuracy) fmt::print("{:->11}|{:->8}|{:->9}|", ":", ":", ":");
  fmt::print("\n");
  for (const Row& row : table.rows) {
    fmt::print("| {:28} | {:>8.0f} | {:>9.0f} | {:>9.0f} | {:>6.2f} | {:>7} | {:>8} |",
               row.contender, 1e6 * row.times.broad, 1e6 * row.times.narrow, 1e6 * row.total(),
               row.total() / table.rows.front().total(), row.report.num_pairs,
               row.report.num_contacts);
    if (table.has_accuracy)
      fmt::print(" {:>9.1e} | {:>6} | {:>7} |", row.accuracy.worst_error, row.accuracy.num_missed,
                 row.accuracy.num_phantom);
    fmt::print("\n");
  }
  fmt::print("\n");
}

void print_broad(const std::vector<BroadRow>& rows) {
  fmt::print("## Broad phase alone, {} thread(s)\n\n", rows.front().num_threads);
  fmt::print("| {:12} | {:11} | {:>7} | {:>9} | {:>9} | {:>9} | {:>9} | {:>7} |\n", "boxes",
             "moving", "number", "µs/step", "ns/box", "pairs/box", "kept/box", "rebuilt");
  fmt::print("|{:-<14}|{:-<13}|{:->9}|{:->11}|{:->11}|{:->11}|{:->11}|{:->9}|\n", "", "", ":", ":",
             ":", ":", ":", ":");
  for (const BroadRow& row : rows)
    fmt::print(
        "| {:12} | {:11} | {:>7} | {:>9.1f} | {:>9.1f} | {:>9.2f} | {:>9.2f} | {:>5.0f} % |\n",
        row.arrangement, row.motion, row.num_boxes, 1e6 * row.seconds,
        1e9 * row.seconds / row.num_boxes, row.pairs_per_box, row.candidates_per_box,
        100 * row.rebuilt);
  fmt::print("\n");
}

void print_terrain(const std::vector<TerrainRow>& rows) {
  fmt::print("## Bodies on a mesh, {} thread(s)\n\n", rows.front().num_threads);
  fmt::print("| {:>9} | {:>7} | {:>9} | {:>9} | {:>9} | {:>7} | {:>13} | {:>14} | {:>12} |\n",
             "triangles", "bodies", "mesh [s]", "first [s]", "ms/frame", "µs/body", "contacts/body",
             "bytes/triangle", "bytes/body");
  fmt::print("|{:->11}|{:->9}|{:->11}|{:->11}|{:->11}|{:->9}|{:->15}|{:->16}|{:->14}|\n", ":", ":",
             ":", ":", ":", ":", ":", ":", ":");
  for (const TerrainRow& row : rows)
    fmt::print(
        "| {:>9} | {:>7} | {:>9.3f} | {:>9.4f} | {:>9.2f} | {:>7.2f} | {:>13.2f} | {:>14.0f} | "
        "{:>12.0f} |\n",
        row.num_triangles, row.num_bodies, row.build_seconds, row.first_seconds, 1e3 * row.seconds,
        1e6 * row.seconds / row.num_bodies, row.contacts_per_body,
        row.mesh_bytes / row.num_triangles, row.bytes / row.num_bodies);
  fmt::print("\n");
}

nlohmann::json to_json(const Table& table) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : table.rows) {
    nlohmann::json entry = {{"contender", row.contender},
                            {"broad_seconds", row.times.broad},
                            {"narrow_seconds", row.times.narrow},
                            {"ratio_to_ours", row.total() / table.rows.front().total()},
                            {"pairs", row.report.num_pairs},
                            {"contacts", row.report.num_contacts}};
    if (table.has_accuracy) {
      entry["worst_gap_error"] = row.accuracy.worst_error;
      entry["overlapping_pairs"] = row.accuracy.num_touching;
      entry["missed_pairs"] = row.accuracy.num_missed;
      entry["phantom_pairs"] = row.accuracy.num_phantom;
    }
    rows.push_back(std::move(entry));
  }
  return {{"scene", table.scene}, {"bodies", table.num_bodies}, {"results", std::move(rows)}};
}

nlohmann::json to_json(const BroadRow& row) {
  return {{"boxes", row.arrangement},
          {"moving", row.motion},
          {"number", row.num_boxes},
          {"threads", row.num_threads},
          {"seconds", row.seconds},
          {"pairs_per_box", row.pairs_per_box},
          {"kept_per_box", row.candidates_per_box},
          {"rebuilt", row.rebuilt}};
}

nlohmann::json to_json(const TerrainRow& row) {
  return {{"triangles", row.num_triangles},
          {"bodies", row.num_bodies},
          {"threads", row.num_threads},
          {"build_seconds", row.build_seconds},
          {"first_seconds", row.first_seconds},
          {"seconds", row.seconds},
          {"contacts_per_body", row.contacts_per_body},
          {"mesh_bytes", row.mesh_bytes},
          {"bytes", row.bytes}};
}

std::vector<SceneCounts> list_scenes() {
  return {{.name = "spheres", .num_spheres = 1000},
          {.name = "boxes", .num_boxes = 500},
          {.name = "capsules", .num_capsules = 300},
          {.name = "hulls of 20 vertices", .num_hulls = 500},
          {.name = "compounds of 6 spheres", .num_compounds = 200},
          {.name = "all together",
           .num_spheres = 1000,
           .num_boxes = 500,
           .num_capsules = 300,
           .num_hulls = 500,
           .num_compounds = 200}};
}

/// The last with the shares of the scene of all kinds.
std::vector<SceneCounts> list_scaled_scenes(int count) {
  return {{.name = fmt::format("{} spheres", count), .num_spheres = count},
          {.name = fmt::format("{} boxes", count), .num_boxes = count},
          {.name = fmt::format("{} of all kinds", count),
           .num_spheres = count * 40 / 100,
           .num_boxes = count * 20 / 100,
           .num_capsules = count * 12 / 100,
           .num_hulls = count * 20 / 100,
           .num_compounds = count * 8 / 100}};
}

class Program {
 public:
  explicit Program(const Options& options) : options_(options) {}

  int run() {
    if (!options_.skips_scenes)
      for (const SceneCounts& counts : list_scenes())
        if (counts.name.find(options_.scene) != std::string::npos)
          add({counts, 200, 1}, options_, true);
    if (!options_.skips_scaling) run_scaling();
    if (!options_.skips_broad) run_broad();
    if (!options_.skips_terrain) run_terrain();
    if (!options_.json_path.empty()) {
      std::ofstream file(options_.json_path);
      file << report_.dump(1) << '\n';
      if (!file.flush()) {
        fmt::print(stderr, "cannot write {}\n", options_.json_path);
        return 1;
      }
    }
    return 0;
  }

 private:
  void add(const PackedScene& scene, const Options& options, bool checks_accuracy) {
    const Table table = measure(scene, options, checks_accuracy);
    print_table(table);
    std::fflush(stdout);
    report_["scenes"].push_back(to_json(table));
  }
  void run_scaling() {
    for (int count = 100; count <= options_.largest; count *= 10) {
      Options options = options_;
      options.num_frames = std::clamp(500'000 / count, 5, 200);
      options.num_rounds = count >= 100'000 ? 2 : 3;
      for (const SceneCounts& counts : list_scaled_scenes(count))
        if (counts.name.find(options_.scene) != std::string::npos)
          add({counts, 30, 1}, options, false);
    }
  }
  void run_broad() {
    for (const int num_threads : {1, 2}) {
      const std::vector<BroadRow> rows = measure_broad_phase(options_.largest, num_threads);
      print_broad(rows);
      for (const BroadRow& row : rows) report_["broad_phase"].push_back(to_json(row));
    }
  }

  void run_terrain() {
    for (const int num_threads : {1, 2}) {
      const std::vector<TerrainRow> rows =
          measure_terrain(options_.most_triangles, options_.largest, num_threads);
      if (rows.empty()) return;
      print_terrain(rows);
      std::fflush(stdout);
      for (const TerrainRow& row : rows) report_["terrain"].push_back(to_json(row));
    }
  }

  Options options_;
  nlohmann::json report_;
};

int run_program(int argc, char** argv) {
  CLI::App app{"Compares collision detection on packed bodies", "stiction_bench_collision"};
  Options options;
  app.add_option("--only", options.only, "peers whose name contains this");
  app.add_option("--scene", options.scene, "scenes whose name contains this");
  app.add_option("--frames", options.num_frames, "per round")->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.num_rounds, "of which the best counts")
      ->check(CLI::PositiveNumber);
  app.add_option("--largest", options.largest, "bodies of the scaling runs");
  app.add_option("--largest-for-peers", options.largest_for_peers, "the same, for others than us");
  app.add_option("--json", options.json_path, "file to write the numbers to");
  app.add_flag("--no-scenes", options.skips_scenes, "leave out the scenes");
  app.add_flag("--no-scaling", options.skips_scaling, "leave out time over the number of bodies");
  app.add_option("--most-triangles", options.most_triangles, "of the mesh that bodies lie on");
  app.add_flag("--no-terrain", options.skips_terrain, "leave out bodies on a mesh");
  app.add_flag("--no-broad", options.skips_broad, "leave out the broad phase alone");
  CLI11_PARSE(app, argc, argv);
  return Program(options).run();
}

}  // namespace
}  // namespace stiction::bench

int main(int argc, char** argv) {
  try {
    return stiction::bench::run_program(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "stiction_bench_collision: {}\n", error.what());
    return 1;
  }
}
