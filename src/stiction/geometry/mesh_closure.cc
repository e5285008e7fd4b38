#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>

#include "stiction/geometry/shape.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

bool is_before(const Vector3d& a, const Vector3d& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

/// For each vertex one vertex at the same place, the same for all of them.
std::vector<int> find_representatives(const std::vector<Vector3d>& vertices) {
  std::vector<int> order(vertices.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    if (vertices[a] != vertices[b]) return is_before(vertices[a], vertices[b]);
    return a < b;
  });
  std::vector<int> representative(vertices.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_repeated = i > 0 && vertices[order[i]] == vertices[order[i - 1]];
    representative[order[i]] = is_repeated ? representative[order[i - 1]] : order[i];
  }
  return representative;
}

/// One passage along an edge by one triangle, with the ends sorted.
struct Passage {
  int low = 0;
  int high = 0;
  int direction = 0;  // +1 from low to high, −1 back
  int triangle = 0;
};

std::vector<Passage> collect_passages(const Mesh& mesh) {
  const std::vector<int> representative = find_representatives(mesh.vertices);
  std::vector<Passage> passages;
  passages.reserve(3 * mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const int from = representative[mesh.triangles[t][k]];
      const int to = representative[mesh.triangles[t][(k + 1) % 3]];
      if (from == to) continue;  // a triangle with two corners at one place passes to and fro
      passages.push_back({.low = std::min(from, to),
                          .high = std::max(from, to),
                          .direction = from < to ? 1 : -1,
                          .triangle = static_cast<int>(t)});
    }
  }
  std::sort(passages.begin(), passages.end(), [](const Passage& a, const Passage& b) {
    return std::tie(a.low, a.high, a.triangle, a.direction) <
           std::tie(b.low, b.high, b.triangle, b.direction);
  });
  return passages;
}

}  // namespace

// The surface must be a cycle: its boundary, the sum of directed edges, vanishes. That is all the
// divergence theorem asks for, so that edges shared by four triangles (two boxes touching along an
// edge) are no fault.
std::string find_closure_fault(const Mesh& mesh) {
  const std::vector<Passage> passages = collect_passages(mesh);
  for (std::size_t begin = 0; begin < passages.size();) {
    std::size_t end = begin;
    int balance = 0;
    for (; end < passages.size() && passages[end].low == passages[begin].low &&
           passages[end].high == passages[begin].high;
         ++end) {
      balance += passages[end].direction;
    }
    if (balance != 0) {
      return fmt::format(
          "mesh is not closed: the edge between vertices {} and {} (triangle {}) is passed by {} "
          "triangle{}, {} more in one direction than in the other; expected as many in both",
          passages[begin].low, passages[begin].high, passages[begin].triangle, end - begin,
          end - begin == 1 ? "" : "s", std::abs(balance));
    }
    begin = end;
  }
  return {};
}

}  // namespace stiction
