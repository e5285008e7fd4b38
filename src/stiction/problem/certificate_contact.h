// One contact as the certificate judges it (T22), in units that make all contacts comparable. Part
// of the certificate; shares nothing with a solver.
#pragma once

#include "stiction/problem/certificate_rows.h"

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

/// `r` are the impulses of the contact.
ContactFigures measure_contact(const StepProblem& problem, int contact, const RowBlockView& view,
                               const double* r, const ImpulseScale& scale);

}  // namespace stiction
