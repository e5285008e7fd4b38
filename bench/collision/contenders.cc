#include <time.h>

#include <chrono>

#include "bench/collision/contender.h"

namespace stiction::bench {

double read_thread_clock() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double read_wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<ContenderEntry> list_contenders() {
  std::vector<ContenderEntry> entries = {
      {"Stiction", [](const PackedScene& scene) { return make_ours(scene, 1); }},
      {"Stiction, 2 threads", [](const PackedScene& scene) { return make_ours(scene, 2); }},
  };
#ifdef STICTION_COLLISION_BULLET
  entries.push_back({"Bullet", [](const PackedScene& scene) { return make_bullet(scene, true); }});
  entries.push_back({"Bullet, hulls without margin",
                     [](const PackedScene& scene) { return make_bullet(scene, false); }});
#endif
#ifdef STICTION_COLLISION_FCL
  entries.push_back({"FCL", [](const PackedScene& scene) { return make_fcl(scene); }});
#endif
  return entries;
}

}  // namespace stiction::bench
