#include "stiction/sim/energy_ledger.h"

namespace stiction {

void EnergyLedger::begin(const Energy& energy) {
  *this = {};
  now = energy;
  start = energy.total();
}

void EnergyLedger::add_step(const StepWork& work, const Energy& energy_at_end) {
  now = energy_at_end;
  applied += work.applied;
  motor += work.motor;
  friction += work.friction;
  impact += work.impact;
  numerical = now.total() - start - (applied + motor + friction + impact);
}

}  // namespace stiction
