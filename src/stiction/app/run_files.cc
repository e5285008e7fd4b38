#include "stiction/app/run_files.h"

#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "stiction/base/error.h"

namespace stiction {
namespace {

std::atomic<bool> g_interrupted{false};  // written by the signal handler only
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

void listen_to_interrupts() {
  const auto handler = [](int) { g_interrupted = true; };
  std::signal(SIGINT, handler);
  std::signal(SIGTERM, handler);
}

bool was_interrupted() { return g_interrupted; }

std::string recording_path(const RunOptions& options, std::string scene_name) {
  if (options.has_no_recording) return {};
  if (!options.out.empty()) return options.out;
  for (char& c : scene_name)
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
  return scene_name + ".h5";
}

void check_files_differ(const RunOptions& options, const std::string& recording) {
  struct File {
    const char* what;
    std::string path;
    bool is_output;
  };
  const File files[] = {{"the scene", options.scene, false}, {"--restore", options.restore, false},
                        {"--replay", options.replay, false}, {"the recording", recording, true},
                        {"--save", options.save, true},      {"--dump", options.dump, true}};
  const auto place = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  for (const File& a : files)
    for (const File* b = &a + 1; b != std::end(files); ++b) {
      if (a.path.empty() || b->path.empty() || !b->is_output) continue;
      if (a.path == options.restore && b->path == options.save) continue;
      if (place(a.path) == place(b->path))
        throw InputError(
            fmt::format("{} and {} are the same file, '{}'", a.what, b->what, b->path));
    }
}

}  // namespace stiction
