#include "stiction/base/flushed_denormals.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace stiction {
namespace {

#if defined(__x86_64__)

constexpr std::uint64_t kResults = 0x8000, kOperands = 0x0040;  // FTZ, DAZ
constexpr std::uint64_t kFlushed = kResults | kOperands;

std::uint64_t read_control() { return _mm_getcsr(); }
void write_control(std::uint64_t control) { _mm_setcsr(static_cast<unsigned int>(control)); }

#elif defined(__aarch64__)

constexpr std::uint64_t kFlushed = std::uint64_t{1} << 24;  // FZ

std::uint64_t read_control() {
  std::uint64_t control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
void write_control(std::uint64_t control) { asm volatile("msr fpcr, %0" : : "r"(control)); }

#else

constexpr std::uint64_t kFlushed = 0;

std::uint64_t read_control() { return 0; }
void write_control(std::uint64_t) {}

#endif

}  // namespace

DenormalMode DenormalMode::of_this_thread() { return DenormalMode(read_control() & kFlushed); }

DenormalMode DenormalMode::flushed() { return DenormalMode(kFlushed); }

void DenormalMode::apply() const {
  const std::uint64_t control = read_control();
  if ((control & kFlushed) != bits_) write_control((control & ~kFlushed) | bits_);
}

}  // namespace stiction
