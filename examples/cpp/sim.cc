// Rooms `contact`, `scheme` and `sim`: a ball falls on the ground; an observer watches every step.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"

namespace {

/// Remembers the hardest blow.
class Watch final : public stiction::StepObserver {
 public:
  void on_step(const stiction::StepRecord& record) override {
    for (const auto& contact : record.contacts) hardest_ = std::max(hardest_, contact.impulse[0]);
  }
  double hardest() const { return hardest_; }

 private:
  double hardest_ = 0;  // [N s]
};

}  // namespace

int main() {
  using namespace stiction;
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -9.81});
  const MaterialId rubber = world.add_material({.name = "rubber", .mu = 0.5, .restitution = 0.5});
  const BodyId ball =
      world.add_body({.name = "ball", .position = {0, 0, 1}, .mass = 1}, {{.shape = Sphere{0.1}}});
  world.add_shape({.body = ball, .shape = Sphere{0.1}, .material = rubber});
  world.add_shape({.body = kWorld, .shape = Plane{}, .material = rubber});

  Simulation simulation(world.build_model(), {.scheme = "moreau", .h = 1e-3});
  Watch watch;
  simulation.add_observer(watch);
  simulation.run(1.0);
  std::printf("hardest blow %.3f N s; impacts took %.3f J; residual %.1e\n", watch.hardest(),
              -simulation.energy().impact, simulation.summary().residual_max);
  // m v (1 + e) for a fall of 0.9 m, to the length of a step.
  return std::abs(watch.hardest() - 1.5 * std::sqrt(2 * 9.81 * 0.9)) < 0.05 ? 0 : 1;
}
