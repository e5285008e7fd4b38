#include "stiction/scene/mjcf_contact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "stiction/base/text.h"
#include "stiction/scene/import_kinematics.h"

namespace stiction {
namespace {

constexpr std::size_t kMaxGroups = 32;

}  // namespace

void MjcfContactReader::read(XmlElement& contact) {
  contact.is_used = true;
  for (XmlElement& child : contact.children) {
    if (child.name == "pair") read_pair(child);
    if (child.name == "exclude") read_exclude(child);
  }
}

void MjcfContactReader::read_pair(XmlElement& element) {
  const MjcfValues values = settings_.values(element, "");
  Pair pair;
  bool is_complete = true;
  for (const auto& [key, index] :
       {std::pair<const char*, int*>{"geom1", &pair.first}, {"geom2", &pair.second}}) {
    const std::string name = values.text(key);
    const auto found = robot_.geom_index.find(name);
    if (found != robot_.geom_index.end()) {
      *index = found->second;
      continue;
    }
    values.error(fmt::format("{} '{}' is no geom", key, name),
                 suggestion(name, names_of(robot_.geom_index)));
    is_complete = false;
  }
  const int condim = values.integer("condim", 3);
  if (const auto friction = values.numbers("friction", 1, 5)) {
    pair.mu = friction->front();
    if (friction->size() > 1 && (*friction)[1] != friction->front())
      values.note(ImportFate::kApproximated,
                  "friction differs between directions: the first number counts");
  }
  if (condim == 1) pair.mu = 0;
  if (pair.mu.value_or(0) < 0)
    return values.error(fmt::format("friction is {}, must be >= 0", to_text(*pair.mu)));
  values.take("name");
  if (!is_complete) return;
  robot_.geoms[pair.first].is_in_pair = robot_.geoms[pair.second].is_in_pair = true;
  pair.place = element.place;
  pairs_.push_back(pair);
  values.note(ImportFate::kTaken, "the two geoms touch");
}

std::optional<int> MjcfContactReader::find_body(const MjcfValues& values, const char* attribute) {
  const std::string name = values.text(attribute);
  if (name == "world") return kImportWorld;
  const auto found = robot_.bodies.find(name);
  if (found != robot_.bodies.end()) return found->second;
  values.error(fmt::format("{} '{}' is no body", attribute, name),
               suggestion(name, names_of(robot_.bodies)));
  return std::nullopt;
}

void MjcfContactReader::read_exclude(XmlElement& element) {
  const MjcfValues values = settings_.values(element, "");
  values.take("name");
  const auto first = find_body(values, "body1"), second = find_body(values, "body2");
  if (!first || !second) return;
  robot_.model.untouched_bodies.push_back({*first, *second});
  values.note(ImportFate::kTaken, "the two bodies pass through each other");
}

/// In MuJoCo a pair touches whatever else is said; in scenes bodies that a joint connects, or that
/// are excluded, do not.
void MjcfContactReader::check_pairs() {
  const ImportKinematics kinematics = compute_kinematics(robot_.model);
  const auto carrier = [&](int body) {
    return body == kImportWorld ? kImportWorld : kinematics.carriers[body].body;
  };
  const auto parent = [&](int body) {
    return body == kImportWorld ? kImportWorld : carrier(robot_.model.bodies[body].parent);
  };
  for (const Pair& pair : pairs_) {
    const int a = carrier(robot_.geoms[pair.first].body),
              b = carrier(robot_.geoms[pair.second].body);
    const bool are_neighbours = a != kImportWorld && b != kImportWorld &&
                                (parent(a) == b || parent(b) == a) &&
                                !robot_.model.neighbours_touch;
    const bool are_excluded =
        std::any_of(robot_.model.untouched_bodies.begin(), robot_.model.untouched_bodies.end(),
                    [&](const std::array<int, 2>& bodies) {
                      return (carrier(bodies[0]) == a && carrier(bodies[1]) == b) ||
                             (carrier(bodies[0]) == b && carrier(bodies[1]) == a);
                    });
    if (a == b || are_neighbours || are_excluded)
      report_.add(ImportFate::kIgnored, pair.place, "<pair>",
                  a == b ? "its geoms belong to one rigid body"
                         : "its bodies are connected by a joint or excluded and do not touch");
  }
}

void MjcfContactReader::assign() {
  check_pairs();
  assign_groups();
  assign_materials();
}

bool MjcfContactReader::may_touch(int first, int second) const {
  const MjcfGeom &a = robot_.geoms[first], &b = robot_.geoms[second];
  if ((a.contype & b.conaffinity) != 0 || (b.contype & a.conaffinity) != 0) return true;
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
    return (pair.first == first && pair.second == second) ||
           (pair.first == second && pair.second == first);
  });
}

/// MuJoCo lets geoms touch if the type of one has a bit of the affinity of the other; in scenes
/// both must agree. So geoms of one kind get a group of their own, and its mask says which kinds it
/// touches: the same pairs, exactly.
void MjcfContactReader::assign_groups() {
  using Key = std::tuple<unsigned, unsigned, int>;
  std::map<Key, int> kinds;
  std::vector<int> example, kind_of;
  for (int g = 0; g < static_cast<int>(robot_.geoms.size()); ++g) {
    const MjcfGeom& geom = robot_.geoms[g];
    const Key key{geom.contype, geom.conaffinity, geom.is_in_pair ? g : -1};
    const auto [found, is_new] = kinds.emplace(key, static_cast<int>(example.size()));
    if (is_new) example.push_back(g);
    kind_of.push_back(found->second);
  }
  const auto num_kinds = example.size();
  std::vector<bool> touches(num_kinds * num_kinds);
  std::vector<int> group(num_kinds, -1);
  int num_groups = 0;
  for (std::size_t i = 0; i < num_kinds; ++i)
    for (std::size_t j = 0; j < num_kinds; ++j)
      if (may_touch(example[i], example[j]) && (i != j || !robot_.geoms[example[i]].is_in_pair)) {
        touches[i * num_kinds + j] = true;
        if (group[i] < 0) group[i] = num_groups++;
      }
  if (static_cast<std::size_t>(num_groups) > kMaxGroups) {
    report_.add(ImportFate::kError, robot_.geoms.front().element->place, "<geom>",
                fmt::format("there are {} different combinations of contype, conaffinity and "
                            "pairs, at most {} fit into a scene",
                            num_groups, kMaxGroups));
    return;
  }
  for (std::size_t g = 0; g < robot_.geoms.size(); ++g) {
    const auto kind = static_cast<std::size_t>(kind_of[g]);
    ImportShape& shape = robot_.shape(robot_.geoms[g]);
    shape.has_contact = group[kind] >= 0;
    if (!shape.has_contact || num_groups == 1) continue;
    shape.group = 1U << static_cast<unsigned>(group[kind]);
    shape.mask = 0;
    for (std::size_t other = 0; other < num_kinds; ++other)
      if (touches[kind * num_kinds + other])
        shape.mask |= 1U << static_cast<unsigned>(group[other]);
  }
}

/// MuJoCo's solref in stiffness form is an acceleration per depth: force per depth is that times
/// the mass that moves. The mass of the geom's body is taken for it.
double MjcfContactReader::compliance_of(const MjcfGeom& geom) const {
  if (geom.stiffness == 0 || geom.body == kImportWorld) return 0;
  const auto& mass = robot_.model.bodies[geom.body].mass;
  return mass ? 1 / (geom.stiffness * mass->mass) : 0;
}

/// The pair of two geoms has the larger friction, or that of the geom with priority.
void MjcfContactReader::assign_materials() {
  struct Kind {
    double mu;
    bool is_frictionless;
    int priority;
    double compliance;
    int geom;  // of one that has a pair of its own
    auto operator<=>(const Kind&) const = default;
  };
  std::vector<Kind> kinds;
  ImportModel& model = robot_.model;
  for (int g = 0; g < static_cast<int>(robot_.geoms.size()); ++g) {
    const MjcfGeom& geom = robot_.geoms[g];
    ImportShape& shape = robot_.shape(geom);
    if (!shape.has_contact) continue;
    const Kind kind{geom.mu, geom.condim == 1, geom.priority, compliance_of(geom),
                    geom.is_in_pair ? g : -1};
    if (kind.compliance > 0)
      report_.add(ImportFate::kApproximated, geom.element->place, geom.element->title(),
                  fmt::format("solref in stiffness form: a compliance of {:.4g} m/N of every "
                              "contact point, for the mass of its body",
                              kind.compliance));
    const auto found = std::find(kinds.begin(), kinds.end(), kind);
    shape.material = static_cast<int>(found - kinds.begin());
    if (found != kinds.end()) continue;
    kinds.push_back(kind);
    std::string name = fmt::format("mu {}", to_text(geom.mu));
    if (kind.is_frictionless) name += " without friction";
    if (kind.priority != 0) name += fmt::format(", priority {}", kind.priority);
    if (kind.compliance > 0) name += fmt::format(", compliance {:.3g}", kind.compliance);
    if (geom.is_in_pair) name += fmt::format(" of geom {}", g + 1);
    for (const ImportMaterial& other : model.materials)
      if (other.name == name) {
        name += fmt::format(" ({})", g + 1);
        break;
      }
    model.materials.push_back({name, kind.is_frictionless ? 0 : geom.mu, kind.compliance});
  }
  for (int i = 0; i < static_cast<int>(kinds.size()); ++i)
    for (int j = i + 1; j < static_cast<int>(kinds.size()); ++j) {
      const Kind &a = kinds[i], &b = kinds[j];
      const bool has_friction = a.priority != b.priority
                                    ? !(a.priority > b.priority ? a : b).is_frictionless
                                    : !a.is_frictionless || !b.is_frictionless;
      double mu = a.priority > b.priority   ? a.mu
                  : b.priority > a.priority ? b.mu
                                            : std::max(a.mu, b.mu);
      if (!has_friction) mu = 0;
      for (const Pair& pair : pairs_)
        if (pair.mu && ((pair.first == a.geom && pair.second == b.geom) ||
                        (pair.first == b.geom && pair.second == a.geom)))
          mu = *pair.mu;
      if (mu == std::sqrt(model.materials[i].mu * model.materials[j].mu)) continue;
      model.material_pairs.push_back({{i, j}, {"", mu, a.compliance + b.compliance}});
    }
}

}  // namespace stiction
