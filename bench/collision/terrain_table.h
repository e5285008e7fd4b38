// Our detection of many bodies on a mesh of many triangles: how time and memory grow with both.
#pragma once

#include <vector>

namespace stiction::bench {

struct TerrainRow {
  int num_triangles = 0, num_bodies = 0, num_threads = 0;
  double build_seconds = 0;          // the mesh made ready
  double first_seconds = 0;          // the first detection, which builds the trees
  double seconds = 0;                // per frame after that
  double contacts_per_body = 0;      // with the mesh and with each other
  double mesh_bytes = 0, bytes = 0;  // grown by the mesh, and by bodies and contacts
};

/// Hills of 1e4 to `most_triangles` triangles, each with 1e3 to `most_bodies` spheres, boxes and
/// capsules that lie on them, as many as there is room for.
std::vector<TerrainRow> measure_terrain(int most_triangles, int most_bodies, int num_threads);

}  // namespace stiction::bench
