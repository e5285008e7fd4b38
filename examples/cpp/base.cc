// Room `base`: bad arguments are exceptions, texts from outside are diagnostics, all at once.
#include <cstdio>

#include "stiction/base/diagnostics.h"
#include "stiction/base/error.h"
#include "stiction/problem/friction_section.h"

int main() {
  stiction::Diagnostics diagnostics("arch.json");
  diagnostics.error({41, 13}, "bodies[7].mass", "is -2, must be > 0", "masses are in kilograms");
  diagnostics.warning({50, 1}, "materials.ice", "is not used");
  std::printf("%s", diagnostics.to_text().c_str());
  try {
    (void)stiction::FrictionSection::polygon(7);
  } catch (const stiction::InputError& error) {
    std::printf("refused: %s\n", error.what());
    return 0;
  }
  return 1;
}
