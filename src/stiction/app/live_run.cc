#include "stiction/app/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/app/simulation_options.h"
#include "stiction/base/error.h"
#include "stiction/model/rigid_body_system.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

using nlohmann::json;

/// [1/s] A pulled body alone follows within a quarter of a second, without swinging.
constexpr double kPullRate = 16;
/// A remainder of the duration below this share of h is rounding, as in Simulation::run.
constexpr double kStepRounding = 1e-6;

double read_number(const json& value, const std::string& what, double at_least) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < at_least)
    throw InputError(fmt::format("{} is {}, must be a finite number{}", what, value.dump(),
                                 std::isfinite(at_least) ? fmt::format(" >= {}", at_least) : ""));
  return value.get<double>();
}

double read_positive(const json& value, const std::string& what) {
  const double number = read_number(value, what, 0);
  if (number == 0) throw InputError(fmt::format("{} is 0, must be > 0", what));
  return number;
}

std::string read_word(const json& value, const std::string& what,
                      const std::vector<std::string>& known) {
  auto word = value.is_string() ? value.get<std::string>() : std::string();
  if (std::find(known.begin(), known.end(), word) == known.end())
    throw InputError(fmt::format("{} {} is not known", what, value.dump()));
  return word;
}

Eigen::Vector3d read_vector(const json& value, const std::string& what) {
  if (!value.is_array() || value.size() != 3)
    throw InputError(fmt::format("{} is {}, must be three numbers", what, value.dump()));
  Eigen::Vector3d vector;
  for (int i = 0; i < 3; ++i)
    vector[i] = read_number(value[static_cast<std::size_t>(i)], what,
                            -std::numeric_limits<double>::infinity());
  return vector;
}

json vector_to_json(const Eigen::Vector3d& vector) { return {vector[0], vector[1], vector[2]}; }

const RigidBodySystem* as_bodies(const Model::Part& part) {
  return dynamic_cast<const RigidBodySystem*>(part.system.get());
}

}  // namespace

LiveRun::LiveRun(std::string text, std::string place, int threads)
    : text_(std::move(text)), place_(std::move(place)) {
  Scene scene = read_live_scene(text_, {}, place_, true);
  scene_name_ = scene.name;
  settings_ = scene.simulate;
  settings_.collision.num_threads = threads;
  pull_spring_ = find_pull_spring(scene);
  model_ = scene.model;
  simulation_ =
      std::make_unique<Simulation>(std::move(scene.model), to_simulation_options(settings_));
  simulation_->check_duration(settings_.duration);
}

Eigen::Vector3d LiveRun::gravity() const {
  for (const Model::Part& part : model_.parts())
    if (const auto* bodies = as_bodies(part)) return bodies->description().gravity;
  return Eigen::Vector3d::Zero();
}

json LiveRun::apply(const json& command) {
  if (!command.is_object() || command.size() != 1)
    throw InputError("a command is an object with one key");
  const std::string& key = command.begin().key();
  const json& value = command.begin().value();
  if (key == "set") {
    set(value);
  } else if (key == "pull") {
    return {{"pull", pull(value)}};
  } else if (key == "release") {
    hold(std::nullopt);
  } else if (key == "restart") {
    simulation_->change_options(simulation_->options());
  } else {
    throw InputError(fmt::format("'{}' is no command", key));
  }
  return command;
}

void LiveRun::set(const json& changes) {
  if (!changes.is_object() || changes.empty())
    throw InputError("'set' needs an object of what to set");
  SimulateSettings settings = settings_;
  WorldChanges world = world_;
  bool changes_world = false;
  for (const auto& [key, value] : changes.items()) {
    if (key == "h") {
      settings.h = read_positive(value, "h");
    } else if (key == "duration") {
      settings.duration = read_number(value, "duration", 0);
    } else if (key == "scheme") {
      settings.scheme = read_word(value, "scheme", scheme_names());
    } else if (key == "solver") {
      settings.solver = read_word(value, "solver", all_solver_names());
    } else if (key == "friction") {
      const auto section =
          value.is_string() ? try_parse_friction_section(value.get<std::string>()) : std::nullopt;
      if (!section)
        throw InputError(
            fmt::format("friction is {}, must be disc, box or polygon:K", value.dump()));
      settings.friction = *section;
    } else if (key == "gravity" && as_bodies(model_.parts().front()) != nullptr) {
      world.gravity = read_vector(value, "gravity");
      changes_world = true;
    } else if (key == "friction_factor") {
      world.friction_factor = read_number(value, "friction_factor", 0);
      changes_world = true;
    } else if (key == "parameters" && value.is_object()) {
      for (const auto& [name, number] : value.items())
        world.parameters[name] =
            read_number(number, name, -std::numeric_limits<double>::infinity());
      changes_world = true;
    } else {
      throw InputError(fmt::format("'{}' cannot be set while this scene runs", key));
    }
  }
  std::optional<Scene> scene;
  if (changes_world) scene = read_live_scene(text_, world, place_);
  const SimulationOptions before = simulation_->options();
  simulation_->check_duration(settings.duration);
  simulation_->change_options(to_simulation_options(settings));
  try {
    if (scene) simulation_->exchange_model(with_pull(scene->model, pull_));
  } catch (const InputError&) {
    simulation_->change_options(before);
    throw;
  }
  if (scene) model_ = std::move(scene->model);
  settings_ = std::move(settings);
  world_ = std::move(world);
}

json LiveRun::pull(const json& how) {
  const RigidBodySystem* bodies = nullptr;
  for (const Model::Part& part : model_.parts())
    if (const auto* found = as_bodies(part)) bodies = found;
  if (bodies == nullptr || !can_pull())
    throw InputError("this scene has no body that can be pulled");
  const auto& all = bodies->description().bodies;
  const auto index = how.is_object() && how.contains("body") && how["body"].is_number_integer()
                         ? how["body"].get<std::int64_t>()
                         : -1;
  if (index < 0 || index >= static_cast<std::int64_t>(all.size()) ||
      all[static_cast<std::size_t>(index)].motion != BodyDescription::Motion::kDynamic)
    throw InputError("'body' must be the number of a body that moves");
  const BodyDescription& body = all[static_cast<std::size_t>(index)];
  BodySpringDescription spring =
      bodies->description().springs[static_cast<std::size_t>(pull_spring_)];
  spring.bodies = {static_cast<int>(index), kWorld};
  spring.frames = {};
  spring.frames[0].position = read_vector(how.value("point", json()), "point");
  spring.frames[1].position = read_vector(how.value("target", json()), "target");
  // Strength s: stiffness m (ω√s)², critically damped.
  const double strength = how.contains("strength") ? read_positive(how["strength"], "strength") : 1;
  const double rate = kPullRate * std::sqrt(strength);
  spring.stiffness = {how.contains("stiffness") ? read_number(how["stiffness"], "stiffness", 0)
                                                : body.mass * rate * rate};
  spring.damping = {how.contains("damping") ? read_number(how["damping"], "damping", 0)
                                            : 2 * body.mass * rate};
  hold(spring);
  return {{"body", index},
          {"point", vector_to_json(spring.frames[0].position)},
          {"target", vector_to_json(spring.frames[1].position)},
          {"stiffness", spring.stiffness[0]},
          {"damping", spring.damping[0]}};
}

void LiveRun::hold(const std::optional<BodySpringDescription>& pull) {
  if (!can_pull()) return;
  simulation_->exchange_model(with_pull(model_, pull));
  pull_ = pull;
}

/// The model with its spring held there, or slack.
Model LiveRun::with_pull(const Model& model,
                         const std::optional<BodySpringDescription>& pull) const {
  if (!pull) return model;
  ModelBuilder builder;
  for (const Model::Part& part : model.parts()) {
    const auto* bodies = as_bodies(part);
    const State& start = model.initial_state();
    builder.add_system(bodies != nullptr ? bodies->with_spring(pull_spring_, *pull) : part.system,
                       start.q.segment(part.q_offset, part.system->num_q()),
                       start.v.segment(part.v_offset, part.system->num_v()));
  }
  return builder.build();
}

double LiveRun::next_step() const {
  const double left = settings_.duration - simulation_->state().t;
  if (left <= kStepRounding * settings_.h) return 0;
  // Rounding of times must not make one step of the last two.
  return left < (1 + kStepRounding) * settings_.h ? std::min(left, settings_.h) : settings_.h;
}

void LiveRun::step() {
  const double h = next_step();
  simulation_->step(std::abs(h - settings_.h) <= kStepRounding * settings_.h ? settings_.h : h);
}

}  // namespace stiction
