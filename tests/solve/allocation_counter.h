// Counts the allocations of this test program, in which allocation_test.cc replaces malloc:
// operator new and Eigen both end there. Sanitizers bring a malloc of their own; tests that count
// are left out under them.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define ST_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ST_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef ST_COUNTS_ALLOCATIONS
#define ST_COUNTS_ALLOCATIONS 1
#endif

namespace stiction::testing {

long num_allocations();

}  // namespace stiction::testing
