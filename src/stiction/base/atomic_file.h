// Outputs that appear whole or not at all: they are written under a temporary name beside their
// target and renamed at the end. A file that already has the target's name stays untouched until
// then. This covers errors, full disks and a killed process; it does not force data to the disk, so
// it promises nothing about a power failure.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace stiction {

/// The text of a system error number, e.g. "No space left on device".
std::string system_reason(int error_number);

/// A new, empty file under a temporary name beside `path`. commit() gives it its final name; the
/// destructor removes it if that did not happen. A link is followed, so its target is replaced.
class PendingFile {
 public:
  /// Throws IoError if the folder is missing or not writable, or if `path` is there but is
  /// write-protected or not a regular file.
  explicit PendingFile(const std::string& path);
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();

  const std::string& path() const { return path_; }
  const std::string& temporary_path() const { return temporary_path_; }
  /// Renames; throws IoError if the system refuses.
  void commit();

 private:
  std::string path_;            // as the caller wrote it, for messages
  std::string target_;          // with links resolved
  std::string temporary_path_;  // empty once committed
};

/// A text file written that way. A target below /dev or /proc, or a pipe, has nothing to protect
/// and cannot be renamed to: it is written directly.
class AtomicFile {
 public:
  /// Throws IoError like PendingFile.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Throws IoError with the system's reason.
  void write(std::string_view text);
  /// Closes the file and gives it its name; nothing may be written afterwards.
  void commit();

 private:
  struct Output;
  std::unique_ptr<Output> output_;
};

/// Throws InputError if writing `output` would replace what is read from `input`.
void demand_other_file(const std::string& input, const std::string& output);

}  // namespace stiction
