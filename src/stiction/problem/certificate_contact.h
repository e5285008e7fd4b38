// One contact as the certificate judges it (T22), in units that make all contacts comparable. Part
// of the certificate; shares nothing with a solver.
#pragma once

#include "stiction/problem/certificate_rows.h"
#include "stiction/problem/cone_projection.h"

namespace stiction {

/// In √J, apart from the first.
struct ContactFigures {
  /// False where no impulse changes the velocity of the contact, or a number is not finite: there
  /// is no scale for an error then. The error is zero if the law holds to the bit, infinite if not.
  bool is_scaled = false;
  double error = 0;    // ‖r − P_K(r − û)‖
  double impulse = 0;  // ‖r‖
  double reach = 0;    // what impulses of the size of the load, and the biases, could do here
  double bias = 0;     // the largest of a row
};

/// What impulses of the problem amount to, in √J.
struct ImpulseScale {
  double load = 0;  // on the most loaded mass block
  double cap = 0;   // of those that the data call for; larger ones have errors in their last places
};

/// A contact in √J, with all figures but the error of its cone.
struct ScaledContact {
  ContactFigures figures;
  FrictionCone cone;
  Eigen::Vector3d impulse = Eigen::Vector3d::Zero(), u = Eigen::Vector3d::Zero();
};

/// `r` are the impulses of the contact. In two steps, so that a processor has roots and divisions
/// of several contacts under way.
void scale_contact(const StepProblem& problem, int contact, const RowBlockView& view,
                   const double* r, const ImpulseScale& scale, ScaledContact& scaled);
double compute_cone_error(const ScaledContact& scaled, double cap);

}  // namespace stiction
