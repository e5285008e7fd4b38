// The files of examples/, compiled in.
#pragma once

#include <span>
#include <string_view>

namespace stiction::experiments {

struct ExampleText {
  std::string_view name, text;
};

std::span<const ExampleText> example_texts();

}  // namespace stiction::experiments
