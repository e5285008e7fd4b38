// Choices of the time-stepping schemes beyond the step and the friction section. Every scheme reads
// what concerns it and ignores the rest; docs/schemes says which.
#pragma once

#include <optional>

namespace stiction {

/// Where the trapezoidal schemes take k_q and k_v from.
enum class ForceJacobians {
  kExact,        // the system's own derivatives; systems without are refused
  kDifferences,  // central differences where the system has none
  kSpringsOnly,  // springs and dampers alone, which keeps M̃ positive definite for every h
};

/// Location of events within a step (Potra et al. 2006, §7).
struct EventOptions {
  bool collisions = true;           // false: a contact acts from the step after it closed
  bool transitions = true;          // stick–slip and take-off; trapezoidal schemes only
  double contact_tolerance = 1e-9;  // [m] ε_a of (7.1), > 0
  double contact_growth = 0;        // [m/s³] ε_b of (7.1), ≥ 0
  double min_step = 1e-4;         // share of h, > 0: events closer than this are no longer located
  double time_tolerance = 1e-12;  // share of h to which transition times are found, > 0
  double restitution_threshold = 1e-6;  // [m/s] ≥ 0: slower impacts are inelastic
};

/// Substeps chosen by step doubling between events; `h` stays the longest step and the interval of
/// records.
struct ErrorControl {
  double tolerance = 0;    // on the local error of q and h·v, relative to 1 + |q|; 0: no control
  double min_step = 1e-4;  // share of h, > 0: shorter substeps are taken whatever their error
};

/// The velocity terms of turning bodies (T16).
enum class GyroscopicTerm {
  kOfScheme,  // implicit in linearly-implicit-euler and spook, explicit in the others
  kExplicit,
  kImplicit,  // taken at the end of the step; in the trapezoidal schemes by the exact Jacobian
};

/// SPOOK's regularisation, and what it does about forces that turn with the bodies.
struct SpookOptions {
  double relaxation = 2;      // τ/h > 0 of constraints without a damping time of their own
  double compliance = 1e-10;  // of rigid rows, relative to their mobility, > 0
  bool geometric_stiffness = true;
  /// Share of the added inertia that keeps its momentum, in [0, 1): 0 damps most.        (T28)
  double stiffness_return = 0.875;
  /// Iterates to the end of the step instead of solving one linear problem.              (T31)
  bool position_iteration = false;
};

/// How contacts between shapes are found.
struct CollisionOptions {
  bool reduces = true;  // flat patches of contacts to their extreme points
  /// Other directions that might separate two solids within the step, beside the best one: the gaps
  /// of the one that separates most count.
  bool alternatives = true;
  int num_threads = 1;  // in [1, kMaxThreads]; results are the same for any number
};

struct SteppingOptions {
  EventOptions events{};
  ErrorControl error_control{};
  ForceJacobians jacobians = ForceJacobians::kExact;
  /// Projection (46) of positions after every step; default: on for the two Euler schemes that hold
  /// constraints on velocity level, off for all others.
  std::optional<bool> projection{};
  /// stewart-trinkle: iterate rows to the end of the step instead of one problem at the prediction.
  bool nonlinear = true;
  GyroscopicTerm gyroscopic = GyroscopicTerm::kOfScheme;
  SpookOptions spook{};
};

}  // namespace stiction
