// A scene with other numbers in it: values are replaced at paths, as messages write them.
//
//   generalized.contacts[1].mu      an item by its number,
//   bodies.cart.mass                or by its "name", of arrays whose items have one
//   simulate.h                      the last key may be new; the schema judges it afterwards
//   mu                              a name alone is a parameter, of the scene or of its system, or
//                                   else a key of "simulate"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/base/diagnostics.h"
#include "stiction/scene/json_document.h"

namespace stiction {

struct SceneOverride {
  std::string path;
  std::string value;  // JSON
};

/// The text of the scene with all values replaced, without comments. Faults (no such place, no
/// JSON) go to `diagnostics`; then there is no text.
[[nodiscard]] std::optional<std::string> override_scene(std::string_view text,
                                                        const std::vector<SceneOverride>& overrides,
                                                        Diagnostics& diagnostics);

}  // namespace stiction
