// When and on what a report was made. No host name: reports are published.
#pragma once

#include <string>

namespace stiction::experiments {

struct Surroundings {
  std::string version, date, processor, compiler;
  int cores = 0;
  bool is_full = false;
};

/// Of this program, now.
Surroundings find_surroundings(bool is_full);

/// "Stiction 0.1.0, full, 2024-05-01, on …"
std::string to_text(const Surroundings& surroundings);

}  // namespace stiction::experiments
