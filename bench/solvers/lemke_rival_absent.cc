// In place of lemke_rival_siconos.cc where Siconos is not installed.
#include "bench/solvers/lemke_rival.h"

namespace stiction::bench {

std::unique_ptr<LemkeRival> make_siconos_lemke(const DenseLcp&, SiconosEntry) { return nullptr; }

}  // namespace stiction::bench
