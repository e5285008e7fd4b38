#include "stiction/scene/generalized_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stiction/base/text.h"

namespace stiction {
namespace {

/// Adds a name for a constant; clashes and reserved names are faults at the key.
bool add_constant(SymbolTable& symbols, const JsonMember& member, const std::string& path,
                  double value, Diagnostics& diagnostics) {
  if (!is_identifier(member.key)) return false;  // reported by the schema
  if (symbols.contains(member.key)) {
    diagnostics.error(member.key_position, path,
                      fmt::format("the name '{}' is already taken", member.key),
                      "coordinates, parameters, t and pi share one set of names");
    return false;
  }
  symbols.add(member.key, value);
  return true;
}

/// Absent means that the scheme chooses.
ImpactLaw read_impact_law(const SceneValue& value) {
  if (!value.is_string()) return ImpactLaw::kOfScheme;
  if (value.node->string == "newton") return ImpactLaw::kNewton;
  return value.node->string == "poisson" ? ImpactLaw::kPoisson : ImpactLaw::kOfScheme;
}

/// Reads one "generalized" block. Symbol tables differ in what a formula may use.
class GeneralizedReader {
 public:
  GeneralizedReader(const SceneValue& root, const std::shared_ptr<ExpressionPool>& pool,
                    const SymbolTable& scene_parameters, Diagnostics& diagnostics)
      : root_(root),
        pool_(pool),
        diagnostics_(diagnostics),
        quantities_(pool, diagnostics),
        constants_(scene_parameters) {
    result_.description.pool = pool;
  }

  GeneralizedSceneSystem read() {
    read_parameters(root_["parameters"], pool_, constants_, diagnostics_);
    read_coordinates();
    make_tables();
    read_mass();
    result_.description.potential = quantities_.read_expression(root_["potential"], in_q_and_t_);
    read_force();
    read_constraints();
    read_springs();
    read_contacts();
    result_.constants = constants_;
    result_.in_q_and_t = in_q_and_t_;
    return std::move(result_);
  }

 private:
  int num_coordinates() const { return result_.description.num_coordinates(); }

  void read_coordinates() {
    const SceneValue coordinates = root_["coordinates"];
    if (!coordinates.is_object()) return;
    std::vector<double> position, velocity;
    for (const JsonMember& member : coordinates.node->members) {
      const std::string path = member_path(coordinates.path, member.key);
      const SceneValue state{&member.node, path};
      position.push_back(quantities_.read_number(state["position"], constants_, 0));
      velocity.push_back(quantities_.read_number(state["velocity"], constants_, 0));
      result_.description.coordinates.push_back(member.key);
      check_coordinate_name(member, path);
    }
    result_.position = ConstVectorMap(position.data(), static_cast<Eigen::Index>(position.size()));
    result_.velocity = ConstVectorMap(velocity.data(), static_cast<Eigen::Index>(velocity.size()));
  }

  void check_coordinate_name(const JsonMember& member, const std::string& path) {
    if (member.key != "t" && !constants_.contains(member.key)) return;
    diagnostics_.error(member.key_position, path,
                       fmt::format("the name '{}' is already taken", member.key),
                       "coordinates, parameters, t and pi share one set of names");
  }

  /// Tables for formulas in (q, t), (q, v, t) and t. After a name clash the tables hold what is
  /// left, so that reading goes on.
  void make_tables() {
    std::vector<std::string> usable;
    for (const std::string& name : result_.description.coordinates)
      if (is_identifier(name) && name != "t" && !constants_.contains(name)) usable.push_back(name);
    in_q_and_t_ = make_symbol_table(pool_, usable, {.has_velocities = false});
    in_q_v_and_t_ = make_symbol_table(pool_, usable);
    in_t_ = make_symbol_table(pool_, {}, {.has_velocities = false});
    for (const std::string& name : constants_.names()) {
      if (name == "pi" || name == "t") continue;
      for (SymbolTable* table : {&in_q_and_t_, &in_q_v_and_t_, &in_t_})
        table->add(name, *constants_.find(name));
    }
  }

  void read_mass() {
    const SceneValue mass = root_["mass"];
    if (!mass.is_array()) return;
    const auto n = static_cast<std::size_t>(num_coordinates());
    if (mass.node->items.size() != n) report_size(mass, "rows");
    auto& rows = result_.description.mass;
    rows.assign(n, std::vector<Expression>(n));
    for (std::size_t i = 0; i < mass.node->items.size(); ++i) {
      const SceneValue row = mass.item(i);
      if (!row.is_array()) continue;
      if (row.node->items.size() != n) report_size(row, "entries");
      for (std::size_t j = 0; j < row.node->items.size(); ++j) {
        const Expression entry = quantities_.read_expression(row.item(j), in_q_and_t_);
        if (i < n && j < n) rows[i][j] = entry;
      }
    }
  }

  void report_size(const SceneValue& value, const char* what) {
    diagnostics_.error(value.node->position, value.path,
                       fmt::format("has {} {}, expected {}: one for each coordinate ({})",
                                   value.node->items.size(), what, num_coordinates(),
                                   joined(result_.description.coordinates)));
  }

  void read_force() {
    const SceneValue force = root_["force"];
    if (!force.is_object()) return;
    const auto& names = result_.description.coordinates;
    result_.description.force.assign(names.size(), Expression());
    for (const JsonMember& member : force.node->members) {
      const SceneValue value{&member.node, member_path(force.path, member.key)};
      const Expression expression = quantities_.read_expression(value, in_q_v_and_t_);
      const auto found = std::find(names.begin(), names.end(), member.key);
      if (found != names.end())
        result_.description.force[found - names.begin()] = expression;
      else
        diagnostics_.error(member.key_position, value.path,
                           fmt::format("unknown coordinate '{}'", member.key),
                           suggestion(member.key, names));
    }
  }

  /// Calls read(item, name) for the items of an array; names default to "WHAT k" and must be
  /// unique.
  template <class Read>
  void read_items(const char* key, const char* what, const Read& read) {
    const SceneValue list = root_[key];
    if (!list.is_array()) return;
    std::set<std::string> taken;
    for (std::size_t i = 0; i < list.node->items.size(); ++i) {
      const SceneValue item = list.item(i);
      if (!item.is_object()) continue;
      const SceneValue given = item["name"];
      const bool is_named = given.is_string();
      std::string name = is_named ? given.node->string : fmt::format("{} {}", what, i + 1);
      if (!taken.insert(name).second)
        diagnostics_.error(is_named ? given.node->position : item.node->position, given.path,
                           fmt::format("the name '{}' is already taken", name),
                           fmt::format("every {} needs a name of its own", what));
      read(item, std::move(name));
    }
  }

  void read_constraints() {
    read_items("constraints", "constraint", [&](const SceneValue& item, std::string name) {
      result_.description.constraints.push_back(
          {std::move(name), quantities_.read_expression(item["equation"], in_q_and_t_)});
    });
  }

  void read_springs() {
    read_items("springs", "spring", [&](const SceneValue& item, std::string name) {
      result_.description.springs.push_back(
          {.name = std::move(name),
           .extension = quantities_.read_expression(item["extension"], in_q_and_t_),
           .stiffness = quantities_.read_number(item["stiffness"], constants_, 0, {.at_least = 0}),
           .damping = quantities_.read_number(item["damping"], constants_, 0, {.at_least = 0})});
    });
  }

  void read_contacts() {
    const Limits share{.at_least = 0, .at_most = 1};
    read_items("contacts", "contact", [&](const SceneValue& item, std::string name) {
      ExpressionContact contact{
          .name = std::move(name),
          .gap = quantities_.read_expression(item["gap"], in_q_and_t_),
          .mu = quantities_.read_number(item["mu"], constants_, 0, {.at_least = 0}),
          .restitution = quantities_.read_number(item["restitution"], constants_, 0, share),
          .restitution_tangential =
              quantities_.read_number(item["restitution_tangential"], constants_, 0, share),
          .impact = read_impact_law(item["impact"])};
      read_tangents(item, contact);
      read_surface_speeds(item, contact);
      result_.description.contacts.push_back(std::move(contact));
    });
  }

  void read_tangents(const SceneValue& item, ExpressionContact& contact) {
    const SceneValue tangent = item["tangent"];
    if (!tangent.is_array()) {
      if (contact.mu > 0)
        diagnostics_.error(item["mu"].node->position, item["mu"].path,
                           fmt::format("is {}, but the contact has no tangent", contact.mu),
                           "give \"tangent\", the direction in which friction acts");
      return;
    }
    const auto& items = tangent.node->items;
    if (!items.empty() && items.front().is_array()) {
      for (std::size_t i = 0; i < std::min<std::size_t>(items.size(), 2); ++i)
        contact.tangents.push_back(read_row(tangent.item(i)));
    } else {
      contact.tangents.push_back(read_row(tangent));
    }
  }

  std::vector<Expression> read_row(const SceneValue& row) {
    std::vector<Expression> entries;
    if (row.is_array()) {
      if (row.node->items.size() != static_cast<std::size_t>(num_coordinates()))
        report_size(row, "entries");
      for (std::size_t i = 0; i < row.node->items.size(); ++i)
        entries.push_back(quantities_.read_expression(row.item(i), in_q_and_t_));
    }
    entries.resize(num_coordinates());
    return entries;
  }

  void read_surface_speeds(const SceneValue& item, ExpressionContact& contact) {
    const SceneValue speed = item["surface_speed"];
    if (!speed) return;
    if (speed.is_array())
      for (std::size_t i = 0; i < speed.node->items.size(); ++i)
        contact.surface_speeds.push_back(quantities_.read_expression(speed.item(i), in_t_));
    else
      contact.surface_speeds.push_back(quantities_.read_expression(speed, in_t_));
    if (contact.surface_speeds.size() == contact.tangents.size()) return;
    diagnostics_.error(speed.node->position, speed.path,
                       fmt::format("has {} values, but the contact has {} tangents",
                                   contact.surface_speeds.size(), contact.tangents.size()),
                       "give one speed for each tangent");
    contact.surface_speeds.clear();
  }

  SceneValue root_;
  std::shared_ptr<ExpressionPool> pool_;
  Diagnostics& diagnostics_;
  QuantityReader quantities_;
  SymbolTable constants_;  // parameters of the scene and of this block
  SymbolTable in_q_and_t_, in_q_v_and_t_, in_t_;
  GeneralizedSceneSystem result_;
};

}  // namespace

void read_parameters(const SceneValue& value, const std::shared_ptr<ExpressionPool>& pool,
                     SymbolTable& symbols, Diagnostics& diagnostics) {
  if (!value.is_object()) return;
  const QuantityReader quantities(pool, diagnostics);
  for (const JsonMember& member : value.node->members) {
    const SceneValue parameter{&member.node, member_path(value.path, member.key)};
    const double number = quantities.read_number(parameter, symbols, 0);
    if (member.key == "t")
      diagnostics.error(member.key_position, parameter.path, "the name 't' is already taken",
                        "t is the time");
    else
      add_constant(symbols, member, parameter.path, number, diagnostics);
  }
}

GeneralizedSceneSystem read_generalized(const SceneValue& value,
                                        const std::shared_ptr<ExpressionPool>& pool,
                                        const SymbolTable& parameters, Diagnostics& diagnostics) {
  return GeneralizedReader(value, pool, parameters, diagnostics).read();
}

}  // namespace stiction
