#include "stiction/geometry/mesh_repair.h"

#include <fmt/format.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <tuple>

#include "stiction/geometry/bounds.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// Twice the area below this part of (largest coordinate × longest edge) is rounding.
constexpr double kNoArea = 1e-14;

std::vector<Triangle> welded_triangles(const Mesh& mesh) {
  std::vector<int> order(mesh.vertices.size()), representative(mesh.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int v) {
    return std::tuple(mesh.vertices[v].x(), mesh.vertices[v].y(), mesh.vertices[v].z());
  };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_repeated = i > 0 && key(order[i]) == key(order[i - 1]);
    representative[order[i]] = is_repeated ? representative[order[i - 1]] : order[i];
  }
  std::vector<Triangle> triangles = mesh.triangles;
  for (Triangle& t : triangles) {
    for (int& v : t) v = representative[v];
  }
  return triangles;
}

bool has_lost_corner(const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; }

/// Cyclic, the smallest index first.
Triangle canonical(Triangle t) {
  std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
  return t;
}

/// One triangle at an edge low–high.
struct Passage {
  int low = 0, high = 0;
  int direction = 0;  // +1 from low to high
  int triangle = 0;
};

/// Triangles with their edges and the pieces that hang together along edges of two triangles.
class Topology {
 public:
  explicit Topology(const Mesh& mesh) : mesh_(mesh), triangles_(welded_triangles(mesh)) {
    const int n = num_triangles();
    scale_ = 0;
    for (const Triangle& t : triangles_) {
      for (const int v : t) scale_ = std::max(scale_, mesh.vertices[v].cwiseAbs().maxCoeff());
    }
    for (int t = 0; t < n; ++t) {
      for (int k = 0; k < 3; ++k) {
        const int from = triangles_[t][k], to = triangles_[t][(k + 1) % 3];
        if (from == to) continue;
        passages_.push_back({std::min(from, to), std::max(from, to), from < to ? 1 : -1, t});
      }
    }
    std::sort(passages_.begin(), passages_.end(), [](const Passage& a, const Passage& b) {
      return std::tie(a.low, a.high, a.triangle, a.direction) <
             std::tie(b.low, b.high, b.triangle, b.direction);
    });
    neighbors_.assign(3 * static_cast<std::size_t>(n), {-1, 1});
    std::vector<int> used(n, 0);
    for_each_edge([&](std::size_t begin, std::size_t end) {
      if (end - begin != 2) return;
      const Passage &p = passages_[begin], &q = passages_[begin + 1];
      if (p.triangle == q.triangle) return;
      const int agreement = p.direction != q.direction ? 1 : -1;
      neighbors_[3 * p.triangle + used[p.triangle]++] = {q.triangle, agreement};
      neighbors_[3 * q.triangle + used[q.triangle]++] = {p.triangle, agreement};
    });
  }

  int num_triangles() const { return static_cast<int>(triangles_.size()); }
  const Triangle& triangle(int t) const { return triangles_[t]; }
  const std::vector<Passage>& passages() const { return passages_; }

  /// Calls visit(begin, end) with the passages of each edge.
  template <typename Visit>
  void for_each_edge(Visit&& visit) const {
    for (std::size_t begin = 0; begin < passages_.size();) {
      std::size_t end = begin;
      while (end < passages_.size() && passages_[end].low == passages_[begin].low &&
             passages_[end].high == passages_[begin].high) {
        ++end;
      }
      visit(begin, end);
      begin = end;
    }
  }

  bool has_area(int t) const {
    const Vector3d &a = mesh_.vertices[triangles_[t][0]], &b = mesh_.vertices[triangles_[t][1]],
                   &c = mesh_.vertices[triangles_[t][2]];
    const double unit = scale_ > 0 ? 1 / scale_ : 1;
    const double longest =
        std::sqrt(std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()}));
    const double twice = ((b - a) * unit).cross((c - a) * unit).norm();
    return twice > kNoArea * longest * unit;
  }

  struct Neighbor {
    int triangle = -1;
    int agreement = 1;  // −1 if both pass the edge in the same direction
  };
  const Neighbor& neighbor(int t, int i) const {
    return neighbors_[3 * static_cast<std::size_t>(t) + i];
  }

  const Vector3d& corner(int t, int k) const { return mesh_.vertices[triangles_[t][k]]; }

 private:
  const Mesh& mesh_;
  std::vector<Triangle> triangles_;  // with vertices at one place as one
  std::vector<Passage> passages_;
  std::vector<Neighbor> neighbors_;  // three for each triangle
  double scale_ = 0;                 // [m]
};

/// Triangles that hang together along edges of two triangles.
struct Piece {
  std::vector<int> triangles;  // ascending
  bool is_orientable = true;
  bool is_closed = false;  // every edge has two triangles of it
  double volume = 0;       // [m³] with `turns` applied, if closed
  Bounds box;
};

struct Pieces {
  std::vector<Piece> pieces;
  std::vector<int> turns;  // −1 for triangles to be reversed so that neighbours agree
};

Pieces find_pieces(const Topology& topology) {
  Pieces result;
  const int n = topology.num_triangles();
  result.turns.assign(n, 0);
  for (int seed = 0; seed < n; ++seed) {
    if (result.turns[seed] != 0) continue;
    Piece piece;
    piece.triangles.push_back(seed);
    piece.is_closed = true;
    result.turns[seed] = 1;
    int balance = 0;
    for (std::size_t i = 0; i < piece.triangles.size(); ++i) {
      const int t = piece.triangles[i];
      balance += result.turns[t];
      for (int k = 0; k < 3; ++k) {
        const auto [other, agreement] = topology.neighbor(t, k);
        if (other < 0) {
          piece.is_closed = piece.is_closed && has_lost_corner(topology.triangle(t));
          continue;
        }
        const int expected = agreement * result.turns[t];
        if (result.turns[other] == 0) {
          result.turns[other] = expected;
          piece.triangles.push_back(other);
        } else if (result.turns[other] != expected) {
          piece.is_orientable = false;
        }
      }
    }
    std::sort(piece.triangles.begin(), piece.triangles.end());
    for (const int t : piece.triangles) {
      if (balance < 0) result.turns[t] = -result.turns[t];  // the larger part wins
      if (!piece.is_orientable) result.turns[t] = 1;
      for (int k = 0; k < 3; ++k) piece.box.include(topology.corner(t, k));
    }
    if (piece.is_closed && piece.is_orientable) {
      const Vector3d origin = topology.corner(seed, 0);
      for (const int t : piece.triangles) {
        piece.volume +=
            result.turns[t] / 6.0 *
            (topology.corner(t, 0) - origin)
                .dot((topology.corner(t, 1) - origin).cross(topology.corner(t, 2) - origin));
      }
    }
    result.pieces.push_back(std::move(piece));
  }
  return result;
}

/// How often a closed piece winds around a point (Van Oosterom, Strackee 1983: solid angles).
bool is_around(const Topology& topology, const Piece& piece, const Vector3d& point) {
  double angle = 0;
  for (const int t : piece.triangles) {
    const Vector3d a = topology.corner(t, 0) - point, b = topology.corner(t, 1) - point,
                   c = topology.corner(t, 2) - point;
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    angle += 2 * std::atan2(a.dot(b.cross(c)),
                            la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
  }
  return std::abs(angle) > 2 * std::numbers::pi;
}

/// A closed piece inside an odd number of others bounds a cavity.
bool is_cavity(const Topology& topology, const std::vector<Piece>& pieces, std::size_t index) {
  const Piece& piece = pieces[index];
  const Vector3d& point = topology.corner(piece.triangles[0], 0);
  int depth = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& other = pieces[i];
    if (i == index || !other.is_closed || !other.is_orientable || !other.box.contains(piece.box)) {
      continue;
    }
    depth += is_around(topology, other, point);
  }
  return depth % 2 == 1;
}

std::string text_of(const Topology& topology, int t) {
  const Triangle& v = topology.triangle(t);
  return fmt::format("triangle {} (vertices {}, {}, {})", t, v[0], v[1], v[2]);
}

using Kind = MeshFault::Kind;

void find_degenerate(const Topology& topology, std::vector<MeshFault>& faults) {
  for (int t = 0; t < topology.num_triangles(); ++t) {
    if (has_lost_corner(topology.triangle(t))) {
      faults.push_back(
          {Kind::kDegenerate, t, -1,
           text_of(topology, t) + " has two corners at one place, expected three places"});
    } else if (!topology.has_area(t)) {
      faults.push_back({Kind::kDegenerate, t, -1,
                        text_of(topology, t) +
                            " has its corners on one line, expected a triangle with an area"});
    }
  }
}

void find_duplicates(const Topology& topology, std::vector<MeshFault>& faults) {
  std::map<Triangle, int> first;  // by sorted corners
  for (int t = 0; t < topology.num_triangles(); ++t) {
    if (has_lost_corner(topology.triangle(t))) continue;
    Triangle sorted = topology.triangle(t);
    std::sort(sorted.begin(), sorted.end());
    const auto [at, is_new] = first.emplace(sorted, t);
    if (is_new) continue;
    const bool is_same =
        canonical(topology.triangle(t)) == canonical(topology.triangle(at->second));
    faults.push_back(
        {Kind::kDuplicate, t, at->second,
         fmt::format("{} has the corners of triangle {}{}, expected each once",
                     text_of(topology, t), at->second, is_same ? "" : " in the other direction")});
  }
}

void find_edges(const Topology& topology, std::vector<MeshFault>& faults) {
  topology.for_each_edge([&](std::size_t begin, std::size_t end) {
    const Passage &p = topology.passages()[begin],
                  &q = topology.passages()[begin + 1 < end ? begin + 1 : begin];
    if (end - begin > 2) {
      faults.push_back(
          {Kind::kNonManifold, p.triangle, q.triangle,
           fmt::format("the edge between vertices {} and {} (triangle {}) belongs to {} triangles, "
                       "expected at most 2",
                       p.low, p.high, p.triangle, end - begin)});
    } else if (end - begin == 2 && p.direction == q.direction && p.triangle != q.triangle) {
      faults.push_back(
          {Kind::kOrientation, p.triangle, q.triangle,
           fmt::format("triangles {} and {} pass their common edge between vertices {} and {} in "
                       "the same direction, expected opposite ones",
                       p.triangle, q.triangle, p.low, p.high)});
    }
  });
}

void find_inside_out(const Topology& topology, std::vector<MeshFault>& faults) {
  const Pieces all = find_pieces(topology);
  for (std::size_t i = 0; i < all.pieces.size(); ++i) {
    const Piece& piece = all.pieces[i];
    const bool agrees = std::all_of(piece.triangles.begin(), piece.triangles.end(),
                                    [&](int t) { return all.turns[t] == 1; });
    if (!piece.is_closed || !piece.is_orientable || !agrees || !(piece.volume < 0)) continue;
    if (is_cavity(topology, all.pieces, i)) continue;
    faults.push_back(
        {Kind::kInsideOut, piece.triangles[0], -1,
         fmt::format(
             "the closed part of {} triangles with triangle {} is inside out: its volume is "
             "negative, expected corners counterclockwise seen from outside",
             piece.triangles.size(), piece.triangles[0])});
  }
}

Mesh selected(const Mesh& mesh, const std::vector<int>& sources) {
  Mesh result{.vertices = mesh.vertices};
  for (const int t : sources) result.triangles.push_back(mesh.triangles[t]);
  return result;
}

/// Keeps the triangles for which `keeps` says so.
template <typename Keeps>
int drop(const Mesh& original, std::vector<int>& sources, Mesh& mesh, Keeps&& keeps) {
  std::vector<int> kept;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (keeps(static_cast<int>(i))) kept.push_back(sources[i]);
  }
  const int num_dropped = static_cast<int>(sources.size() - kept.size());
  sources = std::move(kept);
  mesh = selected(original, sources);
  return num_dropped;
}

void drop_degenerate(const Mesh& original, MeshRepair& repair) {
  const Topology topology(repair.mesh);
  repair.num_dropped_degenerate += drop(original, repair.sources, repair.mesh, [&](int t) {
    return !has_lost_corner(topology.triangle(t));
  });
  // A sliver may be what closes the mesh. Only a mesh that is open anyway does without.
  const Topology rest(repair.mesh);
  if (find_closure_fault(repair.mesh).empty()) return;
  repair.num_dropped_degenerate +=
      drop(original, repair.sources, repair.mesh, [&](int t) { return rest.has_area(t); });
}

void drop_duplicates(const Mesh& original, MeshRepair& repair) {
  const Topology topology(repair.mesh);
  std::map<Triangle, int> first;
  repair.num_dropped_duplicates = drop(original, repair.sources, repair.mesh, [&](int t) {
    return first.emplace(canonical(topology.triangle(t)), t).second;
  });
}

void turn_pieces(MeshRepair& repair) {
  const Topology topology(repair.mesh);
  Pieces all = find_pieces(topology);
  for (std::size_t i = 0; i < all.pieces.size(); ++i) {
    const Piece& piece = all.pieces[i];
    if (!piece.is_closed || !piece.is_orientable) continue;
    const bool is_inside_out = piece.volume < 0 && !is_cavity(topology, all.pieces, i);
    if (!is_inside_out) continue;
    for (const int t : piece.triangles) all.turns[t] = -all.turns[t];
  }
  for (std::size_t t = 0; t < all.turns.size(); ++t) {
    if (all.turns[t] > 0) continue;
    std::swap(repair.mesh.triangles[t][1], repair.mesh.triangles[t][2]);
    ++repair.num_turned;
  }
}

}  // namespace

std::vector<MeshFault> find_mesh_faults(const Mesh& mesh) {
  const Topology topology(mesh);
  std::vector<MeshFault> faults;
  find_degenerate(topology, faults);
  find_duplicates(topology, faults);
  find_edges(topology, faults);
  find_inside_out(topology, faults);
  std::stable_sort(faults.begin(), faults.end(), [](const MeshFault& a, const MeshFault& b) {
    return std::tie(a.kind, a.triangle) < std::tie(b.kind, b.triangle);
  });
  return faults;
}

MeshRepair repaired(const Mesh& mesh) {
  MeshRepair repair{.mesh = mesh};
  repair.sources.resize(mesh.triangles.size());
  std::iota(repair.sources.begin(), repair.sources.end(), 0);
  drop_degenerate(mesh, repair);
  drop_duplicates(mesh, repair);
  turn_pieces(repair);
  repair.remaining = find_mesh_faults(repair.mesh);
  return repair;
}

std::string MeshRepair::to_text() const {
  std::string text;
  const auto add = [&](int count, std::string_view kind, std::string_view what) {
    if (count == 0) return;
    text += fmt::format("{}{} {}triangle{} {}", text.empty() ? "" : ", ", count, kind,
                        count == 1 ? "" : "s", what);
  };
  add(num_dropped_degenerate, "degenerate ", "dropped");
  add(num_dropped_duplicates, "duplicate ", "dropped");
  add(num_turned, "", "turned");
  if (text.empty()) text = "nothing to repair";
  for (const MeshFault& fault : remaining) text += "\n  not repaired: " + fault.message;
  return text;
}

}  // namespace stiction
