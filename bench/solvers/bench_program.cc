#include "bench/solvers/bench_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>

#include "stiction/base/atomic_file.h"
#include "stiction/base/hdf5_file.h"

namespace stiction::bench {
namespace {

/// Linear algebra libraries read their number of threads when they are loaded, so that it must be
/// set before this program starts: it starts itself once more.
void ensure_one_thread(char** argv) {
  if (const char* threads = std::getenv("OPENBLAS_NUM_THREADS");
      threads != nullptr && std::string(threads) == "1")
    return;
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"})
    ::setenv(name, "1", 1);
  ::execv("/proc/self/exe", argv);  // returns only if it fails; then the libraries decide
}

}  // namespace

int run_alone(const char* name, int (*work)(int argc, char** argv), int argc, char** argv) {
  ensure_one_thread(argv);
  skip_hdf5_cleanup_at_exit();
  try {
    return work(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 2;
  }
}

void write_report(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path.string());
  file.write(text);
  file.commit();
  fmt::print(stderr, "wrote {}\n", path.string());
}

}  // namespace stiction::bench
