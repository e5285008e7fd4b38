#include "bench/solvers/sphere_packing.h"

#include <numbers>
#include <vector>

#include "stiction/base/random.h"
#include "tests/solve/sphere_contact.h"

namespace stiction::bench {
namespace {

using Vector = Eigen::Vector3d;

constexpr double kRadius = 0.5;    // [m], mass 1 kg
constexpr double kJitter = 0.05;   // [m] standard deviation of a coordinate of a centre
constexpr double kStep = 1e-2;     // [s]
constexpr double kGravity = 9.81;  // [m/s²]

class PackingMaker {
 public:
  explicit PackingMaker(const SpherePacking& packing) : packing_(packing), random_(packing.seed) {}

  StepProblem make() {
    // Contacts per sphere as counted, less at the surface.
    int n = 3;
    while (2.85 * n * n * (n - 1.75) < packing_.num_contacts) ++n;
    place_spheres(n);
    for (int i = 0; i < num_spheres(); ++i) add_sphere();
    for (int layer = 0; layer < n; ++layer)
      for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) connect(n, x, y, layer);
    return problem_;
  }

 private:
  int num_spheres() const { return static_cast<int>(centres_.size()); }

  /// Square layers, every second one shifted into the pockets of the one below.
  void place_spheres(int n) {
    for (int layer = 0; layer < n; ++layer)
      for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) {
          const double shift = layer % 2 == 1 ? kRadius : 0;
          const Vector place(2 * kRadius * x + shift, 2 * kRadius * y + shift,
                             std::numbers::sqrt2 * kRadius * layer);
          centres_.push_back(
              place + kJitter * Vector(random_.normal(), random_.normal(), random_.normal()));
        }
  }

  void add_sphere() {
    RowMatrixMap mass = problem_.add_mass_block(6);
    const double inertia = 0.4 * kRadius * kRadius;
    mass.diagonal() << 1, 1, 1, inertia, inertia, inertia;
    VectorMap p = problem_.block_p(problem_.num_blocks() - 1);
    if (packing_.is_pile)
      p[2] = -kStep * kGravity;
    else
      for (int k = 0; k < 6; ++k) p[k] = mass(k, k) * random_.normal();
  }

  /// The sphere with floor and walls, and with the neighbours that come before it.
  void connect(int n, int x, int y, int layer) {
    const int sphere = index(n, x, y, layer), shift = layer % 2;
    if (packing_.is_pile) {
      if (layer == 0) add_contact(sphere, -1, Vector::UnitZ());
      if (x == 0 && shift == 0) add_contact(sphere, -1, Vector::UnitX());
      if (x == n - 1 && shift == 1) add_contact(sphere, -1, -Vector::UnitX());
      if (y == 0 && shift == 0) add_contact(sphere, -1, Vector::UnitY());
      if (y == n - 1 && shift == 1) add_contact(sphere, -1, -Vector::UnitY());
    }
    if (x > 0) connect_pair(sphere, index(n, x - 1, y, layer));
    if (y > 0) connect_pair(sphere, index(n, x, y - 1, layer));
    if (layer == 0) return;
    for (int dy = shift - 1; dy <= shift; ++dy)
      for (int dx = shift - 1; dx <= shift; ++dx)
        if (x + dx >= 0 && x + dx < n && y + dy >= 0 && y + dy < n)
          connect_pair(sphere, index(n, x + dx, y + dy, layer - 1));
  }

  static int index(int n, int x, int y, int layer) { return (layer * n + y) * n + x; }

  void connect_pair(int a, int b) {
    const Vector difference = centres_[a] - centres_[b];
    if (difference.norm() < 2 * kRadius) add_contact(a, b, difference.normalized());
  }

  /// `b` −1 is the floor or a wall.
  void add_contact(int a, int b, const Vector& normal) {
    testing::add_sphere_contact(
        problem_, {.upper = a, .lower = b, .normal = normal, .radius = kRadius, .mu = packing_.mu});
  }

  SpherePacking packing_;
  Random random_;
  std::vector<Vector> centres_;
  StepProblem problem_;
};

}  // namespace

StepProblem make_sphere_packing(const SpherePacking& packing) {
  return PackingMaker(packing).make();
}

}  // namespace stiction::bench
