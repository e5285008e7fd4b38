// Checks of our own invariants. ST_DEMAND is always on and aborts with the place: a broken
// invariant is a bug of this library, never of its user (bad arguments throw InputError, see
// error.h). ST_ASSERT is for inner loops and exists in debug builds only.
#pragma once

namespace stiction {

[[noreturn]] void demand_failed(const char* condition, const char* file, int line);

}  // namespace stiction

#define ST_DEMAND(condition) \
  ((condition) ? static_cast<void>(0) : ::stiction::demand_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define ST_ASSERT(condition) static_cast<void>(0)
#else
#define ST_ASSERT(condition) ST_DEMAND(condition)
#endif
