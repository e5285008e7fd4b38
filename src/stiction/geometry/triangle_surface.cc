#include "stiction/geometry/triangle_surface.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "stiction/base/check.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// Twice the area below this part of (largest coordinate × longest edge) is rounding.
constexpr double kNoArea = 1e-14;

/// Cross product of two edges, computed from the corner with the shorter edges.
Vector3d area_vector(const std::array<Vector3d, 3>& p) {
  const std::array<Vector3d, 3> edge{p[1] - p[0], p[2] - p[1], p[0] - p[2]};
  int longest = 0;
  for (int k = 1; k < 3; ++k) {
    if (edge[k].squaredNorm() > edge[longest].squaredNorm()) longest = k;
  }
  return edge[(longest + 1) % 3].cross(edge[(longest + 2) % 3]);
}

double longest_edge(const std::array<Vector3d, 3>& p) {
  return std::sqrt(std::max(
      {(p[1] - p[0]).squaredNorm(), (p[2] - p[1]).squaredNorm(), (p[0] - p[2]).squaredNorm()}));
}

struct PlaceHash {
  std::size_t operator()(const std::array<double, 3>& place) const {
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    for (const double x : place) {
      h ^= std::hash<double>{}(x);
      h *= 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
  }
};

/// Root of a tree of parents, flattened on the way.
int find_root(std::vector<int>& parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

void unite(std::vector<int>& parent, int a, int b) {
  a = find_root(parent, a);
  b = find_root(parent, b);
  parent[std::max(a, b)] = std::min(a, b);
}

}  // namespace

TrianglePoint find_nearest_on_triangle(const Vector3d& p, const std::array<Vector3d, 3>& corners) {
  const auto& [a, b, c] = corners;
  const auto on_edge = [&](int i, int j) {
    const Vector3d along = corners[j] - corners[i];
    const double squared = along.squaredNorm();
    const double t = squared > 0 ? std::clamp((p - corners[i]).dot(along) / squared, 0.0, 1.0) : 0;
    TrianglePoint result;
    // From the nearer end, so that an end is hit exactly.
    result.point =
        t <= 0.5 ? Vector3d(corners[i] + t * along) : Vector3d(corners[j] - (1 - t) * along);
    result.weights[i] = 1 - t;
    result.weights[j] = t;
    return result;
  };
  const Vector3d normal = area_vector(corners);
  const double squared = normal.squaredNorm();
  if (squared > 0) {
    // Areas of the three parts that the foot of p makes of the triangle, times the whole.
    const Vector3d w((b - p).cross(c - p).dot(normal), (c - p).cross(a - p).dot(normal),
                     (a - p).cross(b - p).dot(normal));
    if (w.minCoeff() > 0) {
      const Vector3d weights = w / squared;
      const Vector3d foot = p - normal * ((p - a).dot(normal) / squared);
      return {.point = foot, .weights = weights};
    }
  }
  TrianglePoint best = on_edge(0, 1);
  for (const auto& [i, j] : {std::pair{1, 2}, std::pair{2, 0}}) {
    const TrianglePoint other = on_edge(i, j);
    if ((other.point - p).squaredNorm() < (best.point - p).squaredNorm()) best = other;
  }
  return best;
}

TriangleSurface::TriangleSurface(const Mesh& mesh) {
  num_triangles_ = static_cast<int>(mesh.triangles.size());
  num_vertices_ = static_cast<int>(mesh.vertices.size());
  weld(mesh);
  make_fans();
  make_twins();
  for (const Triangle& t : triangles_) {
    for (const int v : t) bounds_.include(vertices_[v]);
  }
  flags_.assign(num_triangles_, 0);
  mark_solids();
  finish();
  std::vector<Bounds> boxes(num_triangles_);
  for (int t = 0; t < num_triangles_; ++t) {
    for (const int v : triangles_[t]) boxes[t].include(vertices_[v]);
  }
  tree_ = TriangleTree(boxes);
}

TriangleSurface::TriangleSurface(const HeightField& field) {
  rows_ = static_cast<int>(field.heights.rows());
  cols_ = static_cast<int>(field.heights.cols());
  num_vertices_ = rows_ * cols_;
  num_triangles_ = 2 * (rows_ - 1) * (cols_ - 1);
  field_size_ = field.size;
  heights_.resize(num_vertices_);
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < cols_; ++j) heights_[i * cols_ + j] = field.heights(i, j);
  }
  pyramid_ = CellPyramid(heights_, rows_, cols_);
  bounds_.lower << -field.size / 2, field.heights.minCoeff();
  bounds_.upper << field.size / 2, field.heights.maxCoeff();
  flags_.assign(num_triangles_, kSolid);
  edge_ids_.resize(3 * static_cast<std::size_t>(num_triangles_));
  for (int h = 0; h < 3 * num_triangles_; ++h) {
    const int other = cell_twin(h);
    edge_ids_[h] = other == kNone ? h : std::min(h, other);
  }
  finish();
}

// Vertex (i, j) has the index i cols + j. Cell (i, j) has the triangles (i, j), (i + 1, j),
// (i + 1, j + 1), below the diagonal, and (i, j), (i + 1, j + 1), (i, j + 1), both counterclockwise
// from above.
Triangle TriangleSurface::cell_triangle(int t) const {
  const int cell = t / 2;
  const int v = cell / (cols_ - 1) * cols_ + cell % (cols_ - 1);
  if (t % 2 == 0) return {v, v + cols_, v + cols_ + 1};
  return {v, v + cols_ + 1, v + 1};
}

Vector3d TriangleSurface::sample(int v) const {
  const int i = v / cols_, j = v % cols_;
  return {(static_cast<double>(i) / (rows_ - 1) - 0.5) * field_size_.x(),
          (static_cast<double>(j) / (cols_ - 1) - 0.5) * field_size_.y(), heights_[v]};
}

int TriangleSurface::cell_twin(int half_edge) const {
  const int t = half_edge / 3, k = half_edge % 3, cell = t / 2;
  const int cells = cols_ - 1;  // in one row
  const int i = cell / cells, j = cell % cells;
  if (t % 2 == 0) {
    // (v, v + cols): towards −y; (v + cols, v + cols + 1): towards +x; then the diagonal.
    if (k == 0) return j > 0 ? 3 * (2 * (cell - 1) + 1) + 1 : kNone;
    if (k == 1) return i + 2 < rows_ ? 3 * (2 * (cell + cells) + 1) + 2 : kNone;
    return 3 * (t + 1);
  }
  // The diagonal; (v + cols + 1, v + 1): towards +y; (v + 1, v): towards −x.
  if (k == 0) return 3 * (t - 1) + 2;
  if (k == 1) return j + 1 < cells ? 3 * (2 * (cell + 1)) : kNone;
  return i > 0 ? 3 * (2 * (cell - cells)) + 1 : kNone;
}

int TriangleSurface::cells_at(int v, std::array<int, 6>& ring) const {
  const int cells = cols_ - 1;
  const int i = v / cols_, j = v % cols_;
  const auto cell = [&](int row, int col) { return row * cells + col; };
  int count = 0;
  const bool has_low_i = i > 0, has_high_i = i + 1 < rows_;
  const bool has_low_j = j > 0, has_high_j = j + 1 < cols_;
  if (has_high_i && has_high_j) {
    ring[count++] = 2 * cell(i, j);
    ring[count++] = 2 * cell(i, j) + 1;
  }
  if (has_low_i && has_high_j) ring[count++] = 2 * cell(i - 1, j);
  if (has_low_i && has_low_j) {
    ring[count++] = 2 * cell(i - 1, j - 1);
    ring[count++] = 2 * cell(i - 1, j - 1) + 1;
  }
  if (has_high_i && has_low_j) ring[count++] = 2 * cell(i, j - 1) + 1;
  return count;
}

void TriangleSurface::weld(const Mesh& mesh) {
  vertices_ = mesh.vertices;
  triangles_ = mesh.triangles;
  std::unordered_map<std::array<double, 3>, int, PlaceHash> first;
  first.reserve(vertices_.size());
  std::vector<int> representative(vertices_.size());
  for (int v = 0; v < num_vertices_; ++v) {
    // Adding 0 makes −0 and 0 the same place.
    const std::array<double, 3> place{vertices_[v].x() + 0.0, vertices_[v].y() + 0.0,
                                      vertices_[v].z() + 0.0};
    representative[v] = first.emplace(place, v).first->second;
  }
  for (Triangle& t : triangles_) {
    for (int& v : t) v = representative[v];
  }
}

void TriangleSurface::make_fans() {
  fan_start_.assign(num_vertices_ + 1, 0);
  const auto is_first_use = [](const Triangle& t, int k) {
    return (k < 1 || t[k] != t[0]) && (k < 2 || t[k] != t[1]);
  };
  for (const Triangle& t : triangles_) {
    for (int k = 0; k < 3; ++k) fan_start_[t[k] + 1] += is_first_use(t, k) ? 1 : 0;
  }
  std::partial_sum(fan_start_.begin(), fan_start_.end(), fan_start_.begin());
  fans_.resize(fan_start_.back());
  std::vector<int> next(fan_start_.begin(), fan_start_.end() - 1);
  for (int t = 0; t < num_triangles_; ++t) {
    for (int k = 0; k < 3; ++k) {
      if (is_first_use(triangles_[t], k)) fans_[next[triangles_[t][k]]++] = t;
    }
  }
}

// Half-edges are sorted into the bucket of their lower vertex, then by their upper one.
void TriangleSurface::make_twins() {
  const int num_half_edges = 3 * num_triangles_;
  twins_.assign(num_half_edges, kNone);
  edge_ids_.resize(num_half_edges);
  std::iota(edge_ids_.begin(), edge_ids_.end(), 0);
  const auto from = [&](int h) { return triangles_[h / 3][h % 3]; };
  const auto to = [&](int h) { return triangles_[h / 3][(h % 3 + 1) % 3]; };
  const auto lower = [&](int h) { return std::min(from(h), to(h)); };
  const auto upper = [&](int h) { return std::max(from(h), to(h)); };
  std::vector<int> start(num_vertices_ + 1, 0), order(num_half_edges);
  for (int h = 0; h < num_half_edges; ++h) ++start[lower(h) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<int> next(start.begin(), start.end() - 1);
  for (int h = 0; h < num_half_edges; ++h) order[next[lower(h)]++] = h;
  for (int v = 0; v < num_vertices_; ++v) {
    const auto begin = order.begin() + start[v], end = order.begin() + start[v + 1];
    std::sort(begin, end,
              [&](int a, int b) { return upper(a) != upper(b) ? upper(a) < upper(b) : a < b; });
    for (auto i = begin; i != end;) {
      auto j = i;
      while (j != end && upper(*j) == upper(*i)) ++j;
      if (upper(*i) != v) {  // else both ends are at one place: no edge
        for (auto k = i; k != j; ++k) {
          edge_ids_[*k] = *i;
          twins_[*k] = j - i == 1 ? kNone : j - i == 2 ? (k == i ? i[1] : *i) : kJunction;
        }
      }
      i = j;
    }
  }
}

// A component is solid if each of its edges is passed in both directions equally often, as
// find_closure_fault asks of the whole mesh.
void TriangleSurface::mark_solids() {
  std::vector<int> parent(num_triangles_), balance(edge_ids_.size(), 0);
  std::iota(parent.begin(), parent.end(), 0);
  for (std::size_t h = 0; h < edge_ids_.size(); ++h) {
    const int t = static_cast<int>(h / 3), k = static_cast<int>(h % 3);
    const int from = triangles_[t][k], to = triangles_[t][(k + 1) % 3];
    if (from == to) continue;
    unite(parent, t, edge_ids_[h] / 3);
    balance[edge_ids_[h]] += from < to ? 1 : -1;
  }
  std::vector<std::uint8_t> is_open(num_triangles_, 0);
  for (std::size_t h = 0; h < balance.size(); ++h) {
    if (balance[h] != 0) is_open[find_root(parent, static_cast<int>(h / 3))] = 1;
  }
  for (int t = 0; t < num_triangles_; ++t) {
    if (!is_open[find_root(parent, t)]) flags_[t] |= kSolid;
  }
}

void TriangleSurface::finish() {
  scale_ = std::max(bounds_.lower.cwiseAbs().maxCoeff(), bounds_.upper.cwiseAbs().maxCoeff());
  make_regions();
  adopt_degenerate();
  make_edge_ids();
}

// Large triangles first: their normals are the most accurate.
void TriangleSurface::make_regions() {
  std::vector<float> area(num_triangles_);
  std::vector<int> order(num_triangles_);
  std::iota(order.begin(), order.end(), 0);
  const double unit = scale_ > 0 ? 1 / scale_ : 1;
  for (int t = 0; t < num_triangles_; ++t) {
    const std::array<Vector3d, 3> p = corners(t);
    const std::array<Vector3d, 3> scaled{p[0] * unit, p[1] * unit, p[2] * unit};
    const double twice = area_vector(scaled).norm();
    if (!(twice > kNoArea * longest_edge(scaled))) flags_[t] |= kDegenerate;
    area[t] = static_cast<float>(twice);
  }
  // Only clearly different sizes count, lest rounding decides the order on even grids.
  const auto magnitude = [&](int t) { return area[t] > 0 ? std::ilogb(area[t]) : -1000; };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const int ma = magnitude(a), mb = magnitude(b);
    return ma != mb ? ma > mb : a < b;
  });
  regions_.assign(num_triangles_, kNone);
  std::vector<int> stack;
  for (const int seed : order) {
    if (regions_[seed] != kNone || !has_area(seed)) continue;
    const std::array<Vector3d, 3> p = corners(seed);
    const Vector3d normal = area_vector({p[0] * unit, p[1] * unit, p[2] * unit}).normalized();
    region_normals_.push_back(normal);
    region_offsets_.push_back(normal.dot(p[0]));
    grow_region(seed, normal, stack);
  }
}

void TriangleSurface::grow_region(int seed, const Vector3d& normal, std::vector<int>& stack) {
  const int region = num_regions() - 1;
  const double offset = region_offsets_.back(), tolerance = kFlatness * scale_;
  regions_[seed] = region;
  stack.assign(1, seed);
  while (!stack.empty()) {
    const int t = stack.back();
    stack.pop_back();
    const Triangle corner = triangle(t);
    for (int k = 0; k < 3; ++k) {
      const int other = twin(3 * t + k);
      if (other < 0 || regions_[other / 3] != kNone) continue;
      const int next = other / 3;
      if (is_solid(next) != is_solid(t)) continue;
      const Triangle next_corner = triangle(next);
      const Vector3d opposite = vertex(next_corner[(other % 3 + 2) % 3]);
      if (!(std::abs(normal.dot(opposite) - offset) <= tolerance)) continue;
      const bool agrees = next_corner[other % 3] != corner[k];  // passes the edge the other way
      const bool reverses = winds_with_region(t) != agrees;
      if (has_area(next)) {
        const Vector3d own = area_vector(corners(next)) * (reverses ? -1 : 1);
        if (!(own.dot(normal) > 0)) continue;  // folded back onto its neighbour
      }
      regions_[next] = region;
      if (reverses) flags_[next] |= kReversed;
      stack.push_back(next);
    }
  }
}

// Those next to a region join it, then their neighbours, and so on.
void TriangleSurface::adopt_degenerate() {
  std::vector<int> queue;
  const auto try_to_adopt = [&](int t) {
    if (regions_[t] != kNone) return;
    const std::array<Vector3d, 3> p = corners(t);
    double longest = -1;
    for (int k = 0; k < 3; ++k) {
      const int other = twin(3 * t + k);
      if (other < 0 || regions_[other / 3] == kNone) continue;
      const double length = (p[(k + 1) % 3] - p[k]).squaredNorm();
      if (!(length > longest)) continue;
      longest = length;
      regions_[t] = regions_[other / 3];
    }
    if (regions_[t] != kNone) queue.push_back(t);
  };
  for (int t = 0; t < num_triangles_; ++t) try_to_adopt(t);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      const int other = twin(3 * queue[i] + k);
      if (other >= 0) try_to_adopt(other / 3);
    }
  }
  for (int t = 0; t < num_triangles_; ++t) {
    if (regions_[t] != kNone) continue;
    regions_[t] = num_regions();
    region_normals_.push_back(Vector3d::UnitZ());
    region_offsets_.push_back(vertex(triangle(t)[0]).z());
  }
}

void TriangleSurface::make_edge_ids() {
  const int num_half_edges = 3 * num_triangles_;
  for (int h = 0; h < num_half_edges; ++h) {
    const int other = twin(h);
    if (other >= 0 && regions_[other / 3] == regions_[h / 3]) edge_ids_[h] = kNone;
  }
  vertex_kinds_.assign(num_vertices_, static_cast<std::uint8_t>(VertexKind::kFlat));
  // The true edges at each vertex, by the lowest half-edge of each; unions are made at the end, so
  // that ids here are still those of single edges.
  std::vector<std::pair<int, int>> unions;
  for (int v = 0; v < num_vertices_; ++v) {
    std::array<int, 2> edges{kNone, kNone};
    std::array<Vector3d, 2> directions;
    int count = 0;
    const auto add = [&](int h, int to) {
      const int id = edge_ids_[h];
      if (id == kNone || id == edges[0] || id == edges[1] || to == v) return;
      if (count < 2) {
        edges[count] = id;
        directions[count] = vertex(to) - vertex(v);
      }
      ++count;
    };
    for_each_at_vertex(v, [&](int t) {
      const Triangle corner = triangle(t);
      for (int k = 0; k < 3; ++k) {
        if (corner[k] == v) add(3 * t + k, corner[(k + 1) % 3]);
        if (corner[(k + 1) % 3] == v) add(3 * t + k, corner[k]);
      }
    });
    if (count == 0) continue;
    const double longer =
        std::sqrt(std::max(directions[0].squaredNorm(), directions[1].squaredNorm()));
    const bool is_straight =
        count == 2 && directions[0].dot(directions[1]) < 0 &&
        directions[0].cross(directions[1]).norm() <= 2 * kFlatness * scale_ * longer;
    vertex_kinds_[v] =
        static_cast<std::uint8_t>(is_straight ? VertexKind::kStraight : VertexKind::kCorner);
    if (is_straight) unions.emplace_back(edges[0], edges[1]);
  }
  // Flat edges are their own parents meanwhile.
  std::vector<std::uint8_t> is_flat(num_half_edges);
  for (int h = 0; h < num_half_edges; ++h) {
    is_flat[h] = edge_ids_[h] == kNone;
    if (is_flat[h]) edge_ids_[h] = h;
  }
  for (const auto& [a, b] : unions) unite(edge_ids_, a, b);
  for (int h = 0; h < num_half_edges; ++h) edge_ids_[h] = find_root(edge_ids_, h);
  for (int h = 0; h < num_half_edges; ++h) {
    if (is_flat[h]) edge_ids_[h] = kNone;
  }
}

namespace {

/// A block of cells of a height field.
struct Block {
  int level = 0, i = 0, j = 0;
};
constexpr int kBlockStack = 256;  // three for each level, of which there are at most 32

}  // namespace

void TriangleSurface::find_in_box(const Bounds& box, std::vector<int>& out) const {
  const std::size_t begin = out.size();
  const auto add_if_near = [&](int t) {
    const std::array<Vector3d, 3> p = corners(t);
    Bounds own;
    for (const Vector3d& corner : p) own.include(corner);
    if (own.overlaps(box)) out.push_back(t);
  };
  if (!is_height_field()) {
    tree_.for_each_in_box(box, add_if_near);
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
    return;
  }
  if (!bounds_.overlaps(box)) return;
  const Vector3d cell(field_size_.x() / (rows_ - 1), field_size_.y() / (cols_ - 1), 0);
  // One cell more on either side makes up for rounding; add_if_near decides.
  const auto to_index = [](double x, int count) {
    return static_cast<int>(std::clamp(x, -1.0, static_cast<double>(count)));
  };
  const int i_low = to_index((box.lower.x() - bounds_.lower.x()) / cell.x() - 1, rows_);
  const int i_high = to_index((box.upper.x() - bounds_.lower.x()) / cell.x() + 1, rows_);
  const int j_low = to_index((box.lower.y() - bounds_.lower.y()) / cell.y() - 1, cols_);
  const int j_high = to_index((box.upper.y() - bounds_.lower.y()) / cell.y() + 1, cols_);
  std::array<Block, kBlockStack> stack;
  int top = 0;
  stack[top++] = {.level = pyramid_.num_levels() - 1, .i = 0, .j = 0};
  while (top > 0) {
    const Block block = stack[--top];
    const auto& level = pyramid_.level(block.level);
    const auto& range = level.at(block.i, block.j);
    const int width = 1 << block.level;
    if (range.low > box.upper.z() || range.high < box.lower.z()) continue;
    if (block.i * width > i_high || (block.i + 1) * width <= i_low) continue;
    if (block.j * width > j_high || (block.j + 1) * width <= j_low) continue;
    if (block.level == 0) {
      const int t = 2 * (block.i * (cols_ - 1) + block.j);
      add_if_near(t);
      add_if_near(t + 1);
      continue;
    }
    const auto& fine = pyramid_.level(block.level - 1);
    for (int k = 0; k < 4; ++k) {
      const int row = 2 * block.i + k / 2, col = 2 * block.j + k % 2;
      if (row < fine.rows && col < fine.cols) stack[top++] = {block.level - 1, row, col};
    }
  }
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
}

TriangleSurface::Nearest TriangleSurface::find_nearest(const Vector3d& point, double limit) const {
  Nearest best;
  const double tie = kFlatness * std::max(scale_, point.cwiseAbs().maxCoeff());
  double facing = -1;
  const auto consider = [&](int t) {
    if (has_area(t)) {
      const Vector3d nearest = find_nearest_on_triangle(point, corners(t)).point;
      const double distance = (point - nearest).norm();
      if (distance <= limit && distance <= best.distance + tie) {
        const double own = std::abs(normal(t).dot(point - nearest));
        const bool is_nearer = distance < best.distance - tie;
        if (is_nearer || own > facing + tie || (own >= facing - tie && t < best.triangle)) {
          best = {.triangle = t, .distance = std::min(distance, best.distance), .point = nearest};
          facing = own;
        }
      }
    }
    return std::min(limit, best.distance + tie);
  };
  if (!is_height_field()) {
    tree_.for_each_near(point, limit, consider);
    return best;
  }
  struct Entry {
    double distance;
    Block block;
  };
  const Vector3d cell(field_size_.x() / (rows_ - 1), field_size_.y() / (cols_ - 1), 0);
  double bound = limit;
  std::array<Entry, kBlockStack> stack;
  int top = 0;
  stack[top++] = {.distance = 0, .block = {.level = pyramid_.num_levels() - 1, .i = 0, .j = 0}};
  while (top > 0) {
    const auto [distance, block] = stack[--top];
    if (distance > bound) continue;
    if (block.level == 0) {
      const int t = 2 * (block.i * (cols_ - 1) + block.j);
      consider(t);
      bound = consider(t + 1);
      continue;
    }
    const auto& fine = pyramid_.level(block.level - 1);
    const int width = 1 << (block.level - 1), begin = top;
    for (int k = 0; k < 4; ++k) {
      const int row = 2 * block.i + k / 2, col = 2 * block.j + k % 2;
      if (row >= fine.rows || col >= fine.cols) continue;
      const Vector3d low(bounds_.lower.x() + row * width * cell.x(),
                         bounds_.lower.y() + col * width * cell.y(), fine.at(row, col).low);
      const Vector3d high(low.x() + width * cell.x(), low.y() + width * cell.y(),
                          fine.at(row, col).high);
      const Vector3d outside = (low - point).cwiseMax(point - high).cwiseMax(0.0);
      const Entry entry{.distance = std::max(0.0, outside.norm() - tie),
                        .block = {block.level - 1, row, col}};
      int at = top++;
      for (; at > begin && stack[at - 1].distance < entry.distance; --at) stack[at] = stack[at - 1];
      stack[at] = entry;
    }
  }
  return best;
}

Vector3d TriangleSurface::vertex_normal(int v) const {
  const Vector3d apex = vertex(v);
  Vector3d sum = Vector3d::Zero();
  for_each_at_vertex(v, [&](int t) {
    if (!has_area(t)) return;
    const Triangle ids = triangle(t);
    const int k = ids[0] == v ? 0 : ids[1] == v ? 1 : 2;
    const Vector3d first = vertex(ids[(k + 1) % 3]) - apex,
                   second = vertex(ids[(k + 2) % 3]) - apex;
    sum += std::atan2(first.cross(second).norm(), first.dot(second)) * winding_normal(t);
  });
  return sum;
}

Vector3d TriangleSurface::outward_at(int t, const Vector3d& point, double tolerance) const {
  const Triangle ids = triangle(t);
  const std::array<Vector3d, 3> c = corners(t);
  for (int k = 0; k < 3 && is_solid(t); ++k) {
    if ((point - c[k]).norm() <= tolerance) return vertex_normal(ids[k]);
  }
  for (int k = 0; k < 3; ++k) {
    const Vector3d along = c[(k + 1) % 3] - c[k];
    const int other = twin(3 * t + k);
    if (other < 0 || !has_area(other / 3)) continue;
    if (along.cross(point - c[k]).norm() <= tolerance * along.norm()) {
      const bool winds_alike = triangle(other / 3)[other % 3] != ids[k];
      return winding_normal(t) + (winds_alike ? 1 : -1) * winding_normal(other / 3);
    }
  }
  return winding_normal(t);
}

bool TriangleSurface::may_contain(const Vector3d& point) const {
  if (!is_height_field()) return bounds_.contains(point);
  const auto cell_of = [](double place, int cells) {
    return std::clamp(static_cast<int>(place * cells), 0, cells - 1);
  };
  const double x = point.x() / field_size_.x() + 0.5, y = point.y() / field_size_.y() + 0.5;
  if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) return false;
  const int i = cell_of(x, rows_ - 1), j = cell_of(y, cols_ - 1);
  const bool is_upper = y * (cols_ - 1) - j > x * (rows_ - 1) - i;  // beyond the diagonal
  const int t = 2 * (i * (cols_ - 1) + j) + (is_upper ? 1 : 0);
  return normal(t).dot(point) < offset(t);
}

std::size_t TriangleSurface::memory() const {
  const auto bytes = [](const auto& vector) {
    return vector.capacity() * sizeof(typename std::decay_t<decltype(vector)>::value_type);
  };
  return bytes(heights_) + bytes(vertices_) + bytes(triangles_) + bytes(twins_) +
         bytes(fan_start_) + bytes(fans_) + bytes(regions_) + bytes(edge_ids_) + bytes(flags_) +
         bytes(vertex_kinds_) + bytes(region_normals_) + bytes(region_offsets_) + tree_.memory() +
         pyramid_.memory();
}

std::shared_ptr<const TriangleSurface> make_triangle_surface(const Shape& shape) {
  if (const auto* mesh = std::get_if<Mesh>(&shape)) {
    return std::make_shared<const TriangleSurface>(*mesh);
  }
  const auto* field = std::get_if<HeightField>(&shape);
  ST_DEMAND(field != nullptr);
  return std::make_shared<const TriangleSurface>(*field);
}

}  // namespace stiction
