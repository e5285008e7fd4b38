// The heavy chain, run alike in every engine: N rods on ball joints, a heavy ball at the end,
// released straight along +x at rest under gravity along −z. No contacts, no damping.
//
// What an engine says about itself is not asked: joint gaps and energies are computed here from the
// poses and velocities of the bodies, with the same function for all. The ball hangs from the end
// of the last rod by a ball joint through its centre, so that it does not turn and the motion is
// the one of a planar chain with a point mass (chain_reference.h).
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <string>
#include <vector>

#include "bench/peers/body_state.h"

namespace stiction::bench {

struct ChainScene {
  int links = 50;
  double link_mass = 1;       // [kg]
  double link_length = 0.2;   // [m]
  double link_radius = 0.02;  // [m]
  double ball_mass = 1000;    // [kg]
  double ball_radius = 0.3;   // [m]
  double h = 1.0 / 60;        // [s]
  double duration = 10;       // [s]

  int num_bodies() const { return links + 1; }  // the ball is the last one
  int num_steps() const;
  double rope_length() const { return links * link_length; }
  /// m g L of the ball, which energies are measured against.
  double energy_scale() const { return ball_mass * kGravity * rope_length(); }
  double body_mass(int body) const { return body < links ? link_mass : ball_mass; }
  /// Principal moments about the centre of mass [kg m²]: a solid cylinder along x, a solid sphere.
  Eigen::Vector3d body_inertia(int body) const;
  /// Centre of mass at the start; all bodies are aligned with the world then.
  Eigen::Vector3d body_position(int body) const;
  /// Where body `joint` hangs from its predecessor (the world for joint 0), at the start.
  Eigen::Vector3d joint_position(int joint) const { return {joint * link_length, 0, 0}; }
};

/// Throws std::invalid_argument that names the field.
void check_scene(const ChainScene& scene);

/// At the start, at rest. The x axis of a rod points along it, away from the pivot.
std::vector<BodyState> make_start(const ChainScene& scene);
/// Greatest distance [m] between the two points that a joint holds together. NaN if any is.
double compute_gap(const ChainScene& scene, const std::vector<BodyState>& bodies);
/// Kinetic + potential [J], zero for the chain at rest at the start.
double compute_energy(const ChainScene& scene, const std::vector<BodyState>& bodies);

struct ChainResult {
  std::string engine, settings;
  bool finite = true;  // false: a number was not finite, or the engine gave up; see path.size()
  double gap_max = 0;  // [m] over all joints and steps, while finite
  double energy_start = 0;            // [J]
  double energy_max_above_start = 0;  // [J] while finite, never negative
  double energy_end = 0;              // [J] of the last finite step
  std::vector<Eigen::Vector3d> path;  // [m] ball after each finite step
  // [s] Median over the steps: on a machine that others use too, the mean measures them.
  double wall_per_step = 0;
};

/// One engine with the chain in it.
class ChainWorld {
 public:
  virtual ~ChainWorld() = default;
  /// Advances by h. Timed.
  virtual void step() = 0;
  /// Fills all bodies, in order. Not timed.
  virtual void read(std::vector<BodyState>& bodies) = 0;
  /// Whether the engine itself has given up, for example by resetting the scene.
  virtual bool is_lost() const { return false; }
};

struct ChainLabel {
  std::string engine, settings;
};

/// Steps `world` to the end of the scene, or until it is lost, and measures.
ChainResult run_chain(const ChainScene& scene, const ChainLabel& label, ChainWorld& world);

struct ChainContender {
  ChainLabel label;
  std::function<ChainResult(const ChainScene&)> run;
};
using ChainContenders = std::vector<ChainContender>;

/// All that this program was built with.
ChainContenders list_contenders();

/// Each is compiled only where its library is installed, see CMakeLists.txt.
ChainContenders make_ode_contenders();
ChainContenders make_bullet_contenders();            // rigid bodies with joints as constraints
ChainContenders make_bullet_multibody_contenders();  // reduced coordinates
ChainContenders make_mujoco_contenders();

ChainContenders make_our_contenders();

}  // namespace stiction::bench
