#include "bench/collision/terrain_table.h"

#include <malloc.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "bench/collision/contender.h"
#include "stiction/base/random.h"
#include "stiction/geometry/collision_scene.h"

namespace stiction::bench {
namespace {

using Eigen::Vector3d;

constexpr double kCell = 0.5;         // [m] two triangles each
constexpr double kRoomOfBody = 1.25;  // [m²] that a body needs beside others

/// Hills of 20 m, 1 m high: triangles in no common plane.
double height_at(double x, double y) { return 0.5 * std::sin(0.3 * x) * std::cos(0.3 * y); }

Mesh make_hills(int num_triangles, int& num_cells) {
  num_cells = static_cast<int>(std::lround(std::sqrt(num_triangles / 2.0)));
  const int n = num_cells + 1;
  Mesh mesh;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      mesh.vertices.emplace_back(kCell * i, kCell * j, height_at(kCell * i, kCell * j));
  for (int i = 0; i < num_cells; ++i)
    for (int j = 0; j < num_cells; ++j) {
      const int v = i * n + j;
      mesh.triangles.push_back({v, v + n, v + n + 1});
      mesh.triangles.push_back({v, v + n + 1, v + 1});
    }
  return mesh;
}

/// [bytes] allocated on the heap.
double read_memory() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Bodies that lie on the hills, each swinging a little about its place.
class Crowd {
 public:
  Crowd(double side, int count) {
    Random random(1);
    const int per_row = static_cast<int>(std::ceil(std::sqrt(count)));
    for (int i = 0; i < count; ++i) {
      const double x = side * (i % per_row + random.uniform(0.3, 0.7)) / per_row;
      const double y = side * (i / per_row + random.uniform(0.3, 0.7)) / per_row;
      const double w = random.normal(), u = random.normal(), v = random.normal();
      places_.push_back(
          {{x, y, height_at(x, y) + 0.4},
           Eigen::Quaterniond(w, u, v, random.normal()).normalized().toRotationMatrix()});
      phases_.push_back(random.uniform(0, 2 * std::numbers::pi));
    }
  }
  /// Poses from index 1 on: 0 is the mesh.
  void place(int frame, std::vector<Pose>& poses) const {
    poses.resize(places_.size() + 1);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      poses[i + 1] = places_[i];
      poses[i + 1].position.x() += 0.02 * std::sin(0.1 * frame + phases_[i]);
    }
  }

 private:
  std::vector<Pose> places_;
  std::vector<double> phases_;
};

TerrainRow measure(int num_triangles, int num_bodies, int num_threads) {
  TerrainRow row{.num_bodies = num_bodies, .num_threads = num_threads};
  const double memory_before = read_memory();
  const double build_start = read_wall_clock();
  int num_cells = 0;
  const auto hills = std::make_shared<const CollisionShape>(make_hills(num_triangles, num_cells));
  row.build_seconds = read_wall_clock() - build_start;
  row.num_triangles = 2 * num_cells * num_cells;
  const double memory_of_mesh = read_memory();
  row.mesh_bytes = memory_of_mesh - memory_before;

  CollisionScene scene(num_threads);
  scene.add({.shape = hills, .body = 0, .is_static = true});
  const std::shared_ptr<const CollisionShape> kinds[] = {
      std::make_shared<const CollisionShape>(Sphere{0.4}),
      std::make_shared<const CollisionShape>(Box{{0.7, 0.6, 0.5}}),
      std::make_shared<const CollisionShape>(Capsule{.radius = 0.3, .length = 0.5})};
  for (int i = 0; i < num_bodies; ++i) scene.add({.shape = kinds[i % 3], .body = i + 1});
  const Crowd crowd(kCell * num_cells, num_bodies);
  std::vector<Pose> poses;
  Detection detection;
  const auto read_clock = num_threads == 1 ? read_thread_clock : read_wall_clock;
  const int num_frames = std::clamp(300'000 / num_bodies, 10, 100);
  for (int frame = 0; frame <= 3 + num_frames; ++frame) {  // the first few to warm up
    crowd.place(frame, poses);
    const double start = read_clock();
    scene.detect(poses, {.reach = kReach}, detection);
    const double seconds = read_clock() - start;
    if (frame == 0) row.first_seconds = seconds;
    if (frame > 3) row.seconds += seconds / num_frames;
  }
  row.contacts_per_body = static_cast<double>(detection.contacts.candidates.size()) / num_bodies;
  row.bytes = read_memory() - memory_of_mesh;
  return row;
}

}  // namespace

std::vector<TerrainRow> measure_terrain(int most_triangles, int most_bodies, int num_threads) {
  std::vector<TerrainRow> rows;
  for (int triangles = 10'000; triangles <= most_triangles; triangles *= 10)
    for (int bodies = 1000; bodies <= most_bodies; bodies *= 10)
      if (kRoomOfBody * bodies <= kCell * kCell * triangles / 2 * 1.01)
        rows.push_back(measure(triangles, bodies, num_threads));
  return rows;
}

}  // namespace stiction::bench
