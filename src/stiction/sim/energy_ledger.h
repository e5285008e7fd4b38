// The energy account of a run (T30): what the system holds now, and what has come in or gone out
// since the start, by cause. What no cause explains is the scheme's own numerical gain or loss, so
// that
//
//   kinetic + potential + spring = start + applied + motor + friction + impact + numerical
//
// holds by construction at every step and the last entry tells how good the scheme is.
#pragma once

#include "stiction/model/model.h"
#include "stiction/scheme/scheme.h"

namespace stiction {

struct EnergyLedger {
  Energy now;          // [J]
  double start = 0;    // [J] total at the start
  double applied = 0;  // [J] since the start, positive into the system
  double motor = 0;
  double friction = 0;  // dampers included
  double impact = 0;
  double numerical = 0;

  void begin(const Energy& energy);
  void add_step(const StepWork& work, const Energy& energy_at_end);
};

}  // namespace stiction
