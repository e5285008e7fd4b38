#include "stiction/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "stiction/base/check.h"
#include "stiction/base/error.h"

namespace stiction {
namespace {

[[noreturn]] void fail(const char* action, const std::string& path, int error_number) {
  throw IoError(fmt::format("cannot {} '{}': {}", action, path, system_reason(error_number)));
}

/// The file behind a link, so that the link itself survives the rename.
std::string resolved(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto target = std::filesystem::weakly_canonical(path, error);
  if (error) fail("write", path, error.value());
  return target.string();
}

/// Something to write to as it is: a device, a pipe, or whatever stands behind /dev/stdout and its
/// like. The latter may be a regular file, but it belongs to whoever opened it and may hold text
/// already.
bool is_special(const std::string& path) {
  std::error_code ignored;
  const std::string place = std::filesystem::absolute(path, ignored).lexically_normal().string();
  const bool is_memory_disk = place.starts_with("/dev/shm/");
  if ((place.starts_with("/dev/") && !is_memory_disk) || place.starts_with("/proc/")) return true;
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void check_target(const std::string& path, const std::string& target) {
  struct stat status = {};
  if (::stat(target.c_str(), &status) != 0) return;
  if (S_ISDIR(status.st_mode)) fail("write", path, EISDIR);
  if (!S_ISREG(status.st_mode))
    throw IoError(fmt::format("cannot write '{}': it is not a regular file", path));
  // A rename needs no right on the file that it replaces, but a write protection is meant.
  if (::access(target.c_str(), W_OK) != 0) fail("write", path, errno);
}

/// Creates an empty file with a name that nobody has, with the permissions of any new file.
std::string create_beside(const std::string& path, const std::string& target) {
  constexpr int kMaxAttempts = 1000;  // leftovers of killed processes with the same number
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::string name = fmt::format("{}.{}-{}.part", target, ::getpid(), attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      ::close(fd);
      return name;
    }
    if (errno != EEXIST) fail("create", path, errno);
  }
  fail("create", path, EEXIST);
}

}  // namespace

std::string system_reason(int error_number) {
  return std::generic_category().message(error_number);
}

PendingFile::PendingFile(const std::string& path) : path_(path), target_(resolved(path)) {
  check_target(path_, target_);
  temporary_path_ = create_beside(path_, target_);
}

PendingFile::~PendingFile() {
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

void PendingFile::commit() {
  ST_DEMAND(!temporary_path_.empty());
  if (std::rename(temporary_path_.c_str(), target_.c_str()) != 0) fail("write", path_, errno);
  temporary_path_.clear();
}

struct AtomicFile::Output {
  std::string path;
  std::optional<PendingFile> pending;  // none for a device or a pipe
  std::FILE* stream = nullptr;

  ~Output() {
    if (stream != nullptr) std::fclose(stream);
  }
};

AtomicFile::AtomicFile(const std::string& path) : output_(std::make_unique<Output>()) {
  output_->path = path;
  if (!is_special(path)) output_->pending.emplace(path);
  const std::string& name = output_->pending ? output_->pending->temporary_path() : path;
  // Appending keeps what stands in a file that standard output was sent to.
  output_->stream = std::fopen(name.c_str(), output_->pending ? "wb" : "ab");
  if (output_->stream == nullptr) fail("create", path, errno);
}

AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::string_view text) {
  ST_DEMAND(output_->stream != nullptr);
  if (std::fwrite(text.data(), 1, text.size(), output_->stream) != text.size())
    fail("write", output_->path, errno);
}

void AtomicFile::commit() {
  ST_DEMAND(output_->stream != nullptr);
  // The last bytes leave the buffer here, and some file systems report a full disk only on close.
  const int result = std::fclose(output_->stream);
  output_->stream = nullptr;
  if (result != 0) fail("write", output_->path, errno);
  if (output_->pending) output_->pending->commit();
}

void demand_other_file(const std::string& input, const std::string& output) {
  std::error_code error;  // none where one of them does not exist
  if (std::filesystem::equivalent(input, output, error) && !error)
    throw InputError(fmt::format("'{}' is read from and cannot be written to", output));
}

}  // namespace stiction
