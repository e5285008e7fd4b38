// No allocation in the stepping loop after warm-up. The counter replaces malloc in this test
// program; sanitizers bring their own, so the test is left out under them.
#if !defined(__SANITIZE_ADDRESS__) && !(defined(__clang__) && __has_feature(address_sanitizer))

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"

namespace {
std::atomic<long> g_allocations{0};
}

// operator new and Eigen both end here.
extern "C" {
void* __libc_malloc(std::size_t size);  // NOLINT(bugprone-reserved-identifier)
void* malloc(std::size_t size) {
  ++g_allocations;
  return __libc_malloc(size);
}
}

namespace stiction {
namespace {

TEST(Allocation, NoneInTheStepAfterWarmUp) {
  for (const std::string& scheme : scheme_names())
    for (const char* name :
         {"woodpecker", "cosine-block", "incline", "bouncing-ball", "two-bars", "two-carts"}) {
      SCOPED_TRACE(scheme + ", " + name);
      Simulation simulation(testing::example_scene(name).model, {.scheme = scheme, .h = 1e-3});
      simulation.run(2);  // a few cycles: every kind of step has been seen
      const long before = g_allocations;
      for (int k = 0; k < 1000; ++k) simulation.step();
      EXPECT_EQ(g_allocations - before, 0);
      EXPECT_GT(before, 0);  // the counter counts
    }
}

}  // namespace
}  // namespace stiction

#endif
