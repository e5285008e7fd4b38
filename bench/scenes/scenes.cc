#include "bench/scenes/scenes.h"

namespace stiction::bench {

std::vector<SceneCase> list_scene_cases() {
  return {make_wall(),  make_spheres(1000),  make_logs(),
          make_stack(), make_incline(false), make_incline(true),
          make_chain(), make_sliding(),      make_rolling_plate()};
}

std::vector<SceneCase> list_scaling_cases() {
  std::vector<SceneCase> cases;
  for (const int count : {250, 1000, 4000, 16000}) cases.push_back(make_scaling_case(count));
  return cases;
}

SceneCase make_scaling_case(int count) {
  SceneCase result = make_spheres(count);
  SceneDescription& scene = result.description;
  scene.name = "scaling " + scene.name;
  scene.duration = 1.5;
  scene.settled_from = 1;
  return result;
}

}  // namespace stiction::bench
