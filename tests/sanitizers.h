// Whether this build has sanitizers, under which a test runs five to eight times as long: tests of
// many cases that all take the same lines of code take fewer then.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define ST_HAS_SANITIZERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ST_HAS_SANITIZERS 1
#endif
#endif
#ifndef ST_HAS_SANITIZERS
#define ST_HAS_SANITIZERS 0
#endif

namespace stiction::testing {

inline constexpr bool kHasSanitizers = ST_HAS_SANITIZERS;

/// The number of cases, or a `part`-th of them under sanitizers.
constexpr int fewer_sanitized(int cases, int part = 10) {
  return kHasSanitizers ? cases / part : cases;
}

}  // namespace stiction::testing
