// What is odd about a mesh that find_fault accepts, triangle by triangle, and the repairs that are
// safe: those that change neither where the surface is nor whether it is closed.
#pragma once

#include <string>
#include <vector>

#include "stiction/geometry/shape.h"

namespace stiction {

struct MeshFault {
  enum class Kind {
    kDegenerate,   // a triangle with two corners at one place, or without an area
    kDuplicate,    // a triangle with the corners of an earlier one
    kNonManifold,  // an edge of more than two triangles
    kOrientation,  // two neighbours that disagree about which side is outside
    kInsideOut,    // a closed part with negative volume that is no cavity of another
  };
  Kind kind = Kind::kDegenerate;
  int triangle = 0;     // the one at fault; the lowest of the part for kInsideOut
  int other = -1;       // the triangle it collides with, if any
  std::string message;  // names the triangles and says what was expected
};

/// All faults, by kind, then by triangle. Vertices at exactly the same place count as one. Edges
/// with one triangle are no fault: the mesh may be a sheet. The mesh must pass find_fault.
/// O(n log n) but for cavities, which take O(parts × n).
std::vector<MeshFault> find_mesh_faults(const Mesh& mesh);

struct MeshRepair {
  Mesh mesh{};
  std::vector<int> sources{};          // for each triangle its index before
  int num_dropped_degenerate = 0;      // two corners at one place; no area, if the mesh is open
  int num_dropped_duplicates = 0;      // same corners, same direction
  int num_turned = 0;                  // triangles whose direction was reversed
  std::vector<MeshFault> remaining{};  // of the repaired mesh: what could not be repaired safely

  bool has_changed() const {
    return num_dropped_degenerate + num_dropped_duplicates + num_turned > 0;
  }
  /// "2 degenerate triangles dropped, 5 triangles turned", or "nothing to repair"; a line for each
  /// fault that remains.
  std::string to_text() const;
};

/// Drops degenerate and duplicate triangles, makes neighbours agree about their direction (the
/// larger part of each piece wins), and turns closed pieces outwards, cavities inwards. Left alone
/// and reported: triangles without area whose loss would open the mesh, edges of more than two
/// triangles, pieces with one side only (Möbius), triangles that cover each other in opposite
/// directions. Vertices stay as they are. The mesh must pass find_fault but for triangles that name
/// a vertex twice, which are degenerate.
MeshRepair repaired(const Mesh& mesh);

}  // namespace stiction
