// ODE, ready to use as long as this lives.
#pragma once

#include <ode/ode.h>

namespace stiction::bench {

class OdeLibrary {
 public:
  OdeLibrary() { dInitODE2(0); }
  ~OdeLibrary() { dCloseODE(); }
  OdeLibrary(const OdeLibrary&) = delete;
  OdeLibrary& operator=(const OdeLibrary&) = delete;
};

}  // namespace stiction::bench
