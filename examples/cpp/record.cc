// Rooms `scene` and `record`: a scene from text, a recording on disk and in memory, read back.
#include <cstdio>

#include "stiction/record/recording_memory.h"
#include "stiction/stiction.h"

int main() {
  using namespace stiction;
  const char* text = R"({
    "stiction": 1, "name": "ball",
    "generalized": {
      "coordinates": {"y": {"position": 1, "velocity": 0}},
      "mass": [[1]], "potential": "9.81*y",
      "contacts": [{"name": "floor", "gap": "y", "restitution": 0.5}]}})";
  Diagnostics diagnostics("text");
  const auto scene = read_scene(text, {}, diagnostics);
  if (!scene) {
    std::printf("%s", diagnostics.to_text().c_str());
    return 1;
  }
  Simulation simulation(scene->model, {.h = 1e-3});
  Recording in_memory;
  RecordingObserver memory(
      std::make_unique<RecordingMemory>(
          make_recording_layout(simulation, scene->name, scene->text, 1), in_memory),
      simulation, 1);
  RecordingObserver file("ball.h5", simulation, scene->name, scene->text, 1);
  simulation.add_observer(memory);
  simulation.add_observer(file);
  simulation.run(2.0);
  memory.close(simulation, "complete");
  file.close(simulation, "complete");

  const Recording on_disk = read_recording("ball.h5");
  std::printf("%lld states, %lld contacts, last height %.4f m\n",
              static_cast<long long>(on_disk.num_rows()),
              static_cast<long long>(on_disk.contacts.size()),
              on_disk.q(on_disk.num_rows() - 1, 0));
  return on_disk.q == in_memory.q && on_disk.num_rows() == 2001 ? 0 : 1;
}
