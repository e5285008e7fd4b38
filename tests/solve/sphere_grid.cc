#include "tests/solve/sphere_grid.h"

#include <Eigen/Core>

#include "stiction/base/random.h"
#include "tests/solve/sphere_contact.h"

namespace stiction::testing {

namespace {

class SphereGridMaker {
 public:
  explicit SphereGridMaker(const SphereGridOptions& options)
      : options_(options), random_(options.seed) {}

  StepProblem make() {
    const auto [nx, ny, nz] = options_.count;
    for (int i = 0; i < nx * ny * nz; ++i) add_sphere();
    for (int z = 0; z < nz; ++z)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
          const int upper = index(x, y, z);
          add_contact(upper, z > 0 ? index(x, y, z - 1) : -1, jittered({0, 0, 1}));
          if (x > 0) add_contact(upper, index(x - 1, y, z), jittered({1, 0, 0}));
          if (y > 0) add_contact(upper, index(x, y - 1, z), jittered({0, 1, 0}));
        }
    return problem_;
  }

 private:
  using Vector = Eigen::Vector3d;
  static constexpr double kRadius = 0.5, kStep = 1e-2, kGravity = 9.81;

  int index(int x, int y, int z) const {
    return (z * options_.count[1] + y) * options_.count[0] + x;
  }
  Vector jittered(Vector normal) {
    for (double& x : normal) x += options_.jitter * (random_.uniform() - 0.5);
    return normal.normalized();
  }

  void add_sphere() {
    RowMatrixMap mass = problem_.add_mass_block(6);
    mass.diagonal() << 1, 1, 1, 0.1, 0.1, 0.1;  // 2/5 m R²
    VectorMap p = problem_.block_p(problem_.num_blocks() - 1);
    for (int i = 0; i < 6; ++i) p[i] = mass(i, i) * options_.agitation * random_.normal();
    p[2] -= kStep * kGravity;
  }

  /// `lower` −1 is the floor.
  void add_contact(int upper, int lower, const Vector& normal) {
    if (options_.touching < 1 && !random_.chance(options_.touching)) return;
    add_sphere_contact(problem_, {.upper = upper,
                                  .lower = lower,
                                  .normal = normal,
                                  .radius = kRadius,
                                  .mu = options_.mu,
                                  .section = options_.section});
  }

  SphereGridOptions options_;
  Random random_;
  StepProblem problem_;
};

}  // namespace

StepProblem sphere_grid(const SphereGridOptions& options) {
  return SphereGridMaker(options).make();
}

}  // namespace stiction::testing
