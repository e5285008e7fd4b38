#include "stiction/scene/view_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "stiction/base/text.h"
#include "stiction/scene/shape_reader.h"
#include "stiction/scene/spatial_reader.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kDegree = 3.14159265358979323846 / 180;

/// Reads one "view" block. Places are formulas in coordinates and t, sizes are constants.
class ViewReader {
 public:
  ViewReader(const std::shared_ptr<ExpressionPool>& pool, const SymbolTable& parameters,
             const GeneralizedSceneSystem* system, Diagnostics& diagnostics)
      : diagnostics_(diagnostics),
        quantities_(pool, diagnostics),
        reader_(pool, system != nullptr ? system->constants : parameters, diagnostics),
        symbols_(system != nullptr ? system->in_q_and_t : parameters) {
    if (system == nullptr) symbols_.add("t", Expression::symbol(pool, "t"));
    if (system != nullptr)
      for (const ExpressionContact& contact : system->description.contacts)
        contact_names_.push_back(contact.name);
  }

  void read(const SceneValue& value, SceneView& view) {
    view.up = reader_.read_axis(value["up"], Vector3d::UnitZ());
    for_each(value["frames"], [&](const SceneValue& item, std::size_t i) {
      view.frames.push_back(read_frame(item, fmt::format("frame {}", i + 1)));
    });
    read_follow(value["follow"], view);
    for_each(value["links"], [&](const SceneValue& item, std::size_t i) {
      view.links.push_back(read_link(item, fmt::format("link {}", i + 1)));
    });
    for_each(value["contacts"],
             [&](const SceneValue& item, std::size_t) { read_contact(item, view.contacts); });
  }

 private:
  template <class Read>
  static void for_each(const SceneValue& list, const Read& read) {
    if (!list.is_array()) return;
    for (std::size_t i = 0; i < list.node->items.size(); ++i)
      if (const SceneValue item = list.item(i); item.is_object()) read(item, i);
  }

  std::array<Expression, 3> read_place(const SceneValue& value) const {
    std::array<Expression, 3> place{0.0, 0.0, 0.0};
    if (!value.is_array() || value.node->items.size() != 3) return place;
    for (std::size_t i = 0; i < 3; ++i)
      place[i] = quantities_.read_expression(value.item(i), symbols_);
    return place;
  }

  static std::string name_of(const SceneValue& item, std::string fallback) {
    const SceneValue name = item["name"];
    return name.is_string() ? name.node->string : std::move(fallback);
  }

  ViewFrame read_frame(const SceneValue& item, std::string fallback) const {
    ViewFrame frame{.name = name_of(item, std::move(fallback)),
                    .position = read_place(item["position"])};
    if (const SceneValue turn = item["orientation"]; turn.is_object()) {
      frame.axis = reader_.read_axis(turn["axis"], Vector3d::UnitZ());
      const SceneValue degrees = turn["angle_deg"];
      frame.angle = degrees ? quantities_.read_expression(degrees, symbols_) * kDegree
                            : quantities_.read_expression(turn["angle"], symbols_);
    }
    for_each(item["shapes"], [&](const SceneValue& shape, std::size_t) {
      if (auto read = read_shape(shape, {}, reader_))
        frame.shapes.push_back({std::move(read->shape), read->frame, read->color});
    });
    return frame;
  }

  void read_follow(const SceneValue& value, SceneView& view) const {
    if (!value.is_string()) return;
    std::vector<std::string> names;
    for (const ViewFrame& frame : view.frames) names.push_back(frame.name);
    const auto found = std::find(names.begin(), names.end(), value.node->string);
    if (found != names.end())
      view.follow = static_cast<int>(found - names.begin());
    else
      reader_.fault(
          value, fmt::format("no frame is named '{}'", excerpt(value.node->string)),
          names.empty() ? "name one of \"frames\"" : suggestion(value.node->string, names));
  }

  ViewLink read_link(const SceneValue& item, std::string fallback) const {
    const SceneValue type = item["type"];
    return {.name = name_of(item, std::move(fallback)),
            .is_spring = type.is_string() && type.node->string == "spring",
            .from = read_place(item["from"]),
            .to = read_place(item["to"]),
            .radius = reader_.read_number(item["radius"], 0.01, {.above = 0}),
            .color = read_color(item["color"], diagnostics_)};
  }

  void read_contact(const SceneValue& item, std::vector<ViewContact>& contacts) const {
    const SceneValue name = item["name"];
    if (!name.is_string()) return;
    const auto found = std::find(contact_names_.begin(), contact_names_.end(), name.node->string);
    if (found == contact_names_.end())
      return diagnostics_.error(name.node->position, name.path,
                                fmt::format("unknown contact '{}'", excerpt(name.node->string)),
                                contact_names_.empty()
                                    ? "a contact of \"generalized\" is placed here"
                                    : suggestion(name.node->string, contact_names_));
    ViewContact contact{.contact = static_cast<int>(found - contact_names_.begin()),
                        .position = read_place(item["position"]),
                        .normal = reader_.read_axis(item["normal"], Vector3d::UnitZ())};
    contact.tangents[0] = reader_.read_vector(item["tangent"]);
    if (contact.tangents[0].norm() > 0) contact.tangents[0].normalize();
    contact.tangents[1] = contact.tangents[0].cross(contact.normal);
    contacts.push_back(std::move(contact));
  }

  Diagnostics& diagnostics_;
  QuantityReader quantities_;
  SpatialReader reader_;
  SymbolTable symbols_;
  std::vector<std::string> contact_names_{};
};

}  // namespace

std::string read_color(const SceneValue& value, Diagnostics& diagnostics) {
  if (!value.is_string()) return {};
  const std::string& text = value.node->string;
  const bool is_color = text.size() == 7 && text[0] == '#' &&
                        text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
  if (is_color) return text;
  diagnostics.error(value.node->position, value.path,
                    fmt::format("'{}' is not a colour", excerpt(text)),
                    "write \"#rrggbb\", two hexadecimal digits each of red, green and blue");
  return {};
}

void read_view(const SceneValue& value, const std::shared_ptr<ExpressionPool>& pool,
               const SymbolTable& parameters, const GeneralizedSceneSystem* system,
               Diagnostics& diagnostics, SceneView& view) {
  view.pool = pool;
  if (system != nullptr) view.coordinates = system->description.coordinates;
  if (!value.is_object()) return;
  ViewReader(pool, parameters, system, diagnostics).read(value, view);
}

}  // namespace stiction
