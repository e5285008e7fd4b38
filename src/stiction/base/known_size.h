// Kernels for sizes that the compiler knows: loops of known length are unrolled and their numbers
// stay in registers, which for blocks of a few rows is most of what there is to gain.
#pragma once

namespace stiction {

/// Calls visit<k>() for the first of the listed sizes k that is `size`, visit<0>() if none is. Put
/// the most frequent size first.
template <int kFirst, int... kRest, class Visit>
inline decltype(auto) with_known_size(int size, const Visit& visit) {
  if (size == kFirst) return visit.template operator()<kFirst>();
  if constexpr (sizeof...(kRest) > 0)
    return with_known_size<kRest...>(size, visit);
  else
    return visit.template operator()<0>();
}

/// The size that the compiler knows or, with kSize = 0, the given one.
template <int kSize>
constexpr int known(int size) {
  return kSize > 0 ? kSize : size;
}

}  // namespace stiction
