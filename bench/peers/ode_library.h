// What the comparisons share of ODE: the library, ready to use as long as this lives, and states.
#pragma once

#include <ode/ode.h>

#include "bench/peers/body_state.h"

namespace stiction::bench {

class OdeLibrary {
 public:
  OdeLibrary() { dInitODE2(0); }
  ~OdeLibrary() { dCloseODE(); }
  OdeLibrary(const OdeLibrary&) = delete;
  OdeLibrary& operator=(const OdeLibrary&) = delete;
};

inline BodyState read_state(dBodyID body) {
  const dReal* q = dBodyGetQuaternion(body);
  return {Eigen::Vector3d::Map(dBodyGetPosition(body)), Eigen::Quaterniond(q[0], q[1], q[2], q[3]),
          Eigen::Vector3d::Map(dBodyGetLinearVel(body)),
          Eigen::Vector3d::Map(dBodyGetAngularVel(body))};
}

}  // namespace stiction::bench
