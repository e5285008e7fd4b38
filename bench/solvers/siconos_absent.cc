// In place of siconos_contenders.cc where Siconos is not installed.
#include "bench/solvers/contender.h"

namespace stiction::bench {

Contenders make_siconos_contenders() { return {}; }

}  // namespace stiction::bench
