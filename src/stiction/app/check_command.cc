// stiction check SCENE: read and validate only, the start of the simulation included.
#include <fmt/format.h>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/scene_loading.h"
#include "stiction/model/rigid_body_system.h"
#include "stiction/scene/schema.h"

namespace stiction {
namespace {

/// "2 bodies, 1 joints, " of a scene with rigid bodies.
std::string describe_bodies(const Model& model) {
  for (const Model::Part& part : model.parts())
    if (const auto* bodies = dynamic_cast<const RigidBodySystem*>(part.system.get())) {
      const RigidBodyDescription& description = bodies->description();
      return fmt::format("{} bodies, {} joints, ", description.bodies.size(),
                         description.joints.size() + description.couplings.size());
    }
  return {};
}

int check(const std::string& path) {
  const std::optional<Scene> scene = load_scene(path);
  if (!scene) return kBadInput;
  // What only the scheme can tell: whether it can step this model, and what it leaves out.
  const Simulation simulation(scene->model, to_simulation_options(scene->simulate));
  simulation.check_duration(scene->simulate.duration);
  print_notes(simulation);
  const ContactModel& model = simulation.model();
  print_result(fmt::format(
      "{}: {} is a valid scene: {}{} coordinates, {} constraints and springs, {} contacts{}\n",
      path, scene->name, describe_bodies(model), model.num_q(), model.num_joint_rows(),
      model.num_contacts(), model.has_surfaces() ? " within reach" : ""));
  return kDone;
}

}  // namespace

void add_check_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("check", "Read and validate a scene, report every fault");
  auto path = std::make_shared<std::string>();
  auto wants_schema = std::make_shared<bool>(false);
  CLI::Option* scene = command->add_option("scene", *path, "scene file (JSON, comments allowed)");
  command->add_flag("--schema", *wants_schema, "print the JSON Schema of scene files and exit");
  command->callback([&action, scene, path, wants_schema] {
    if (!*wants_schema && scene->count() == 0) throw CLI::RequiredError("scene");
    action = [path, wants_schema]() -> int {
      if (!*wants_schema) return check(*path);
      print_result(scene_schema_text());
      return kDone;
    };
  });
}

}  // namespace stiction
