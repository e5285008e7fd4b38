#include "stiction/app/experiments/surroundings.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "stiction/base/version.h"

namespace stiction::experiments {
namespace {

std::string find_processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

Surroundings find_surroundings(bool is_full) {
  Surroundings found;
  found.version = version();
  found.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  found.processor = find_processor();
#if defined(__clang__)
  found.compiler = fmt::format("clang++ {}.{}", __clang_major__, __clang_minor__);
#elif defined(__GNUC__)
  found.compiler = fmt::format("g++ {}.{}", __GNUC__, __GNUC_MINOR__);
#endif
  found.cores = static_cast<int>(std::thread::hardware_concurrency());
  found.is_full = is_full;
  return found;
}

std::string to_text(const Surroundings& surroundings) {
  return fmt::format("Stiction {}, {} variant, {}, {} with {} threads, {}", surroundings.version,
                     surroundings.is_full ? "full" : "quick", surroundings.date,
                     surroundings.processor, surroundings.cores, surroundings.compiler);
}

}  // namespace stiction::experiments
