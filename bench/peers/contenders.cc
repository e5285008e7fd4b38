#include "bench/peers/chain.h"

namespace stiction::bench {

ChainContenders list_contenders() {
  ChainContenders all;
  const auto add = [&all](const ChainContenders& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(make_our_contenders());
#ifdef STICTION_PEERS_ODE
  add(make_ode_contenders());
#endif
#ifdef STICTION_PEERS_BULLET
  add(make_bullet_contenders());
  add(make_bullet_multibody_contenders());
#endif
#ifdef STICTION_PEERS_MUJOCO
  add(make_mujoco_contenders());
#endif
  return all;
}

}  // namespace stiction::bench
