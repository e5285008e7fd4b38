// Our broad phase alone, by number of boxes, arrangement and motion.
#pragma once

#include <string>
#include <vector>

namespace stiction::bench {

struct BroadRow {
  std::string arrangement, motion;
  int num_boxes = 0, num_threads = 0;
  double seconds = 0;                                // per step: new bounds and pairs
  double pairs_per_box = 0, candidates_per_box = 0;  // means
  double rebuilt = 0;                                // share of steps with a new tree
};

std::vector<BroadRow> measure_broad_phase(int largest, int num_threads);

}  // namespace stiction::bench
