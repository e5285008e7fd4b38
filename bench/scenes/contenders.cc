#include "bench/scenes/contender.h"

namespace stiction::bench {

SceneContenders list_scene_contenders() {
  SceneContenders contenders = make_our_scene_contenders();
  [[maybe_unused]] const auto add = [&](SceneContenders more) {
    for (SceneContender& contender : more) contenders.push_back(std::move(contender));
  };
#ifdef STICTION_SCENES_ODE
  add(make_ode_scene_contenders());
#endif
#ifdef STICTION_SCENES_BULLET
  add(make_bullet_scene_contenders());
#endif
#ifdef STICTION_SCENES_MUJOCO
  add(make_mujoco_scene_contenders());
#endif
#ifdef STICTION_SCENES_DART
  add(make_dart_scene_contenders());
#endif
  return contenders;
}

}  // namespace stiction::bench
