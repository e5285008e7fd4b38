#include "stiction/app/study_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"

namespace stiction {
namespace {

std::string header_of(const Study& study) {
  return fmt::format("stiction study 1 {:016x} {}", study.fingerprint(), study.num_runs());
}

/// "12\tdone\t0.25\tROW", or nothing for a line that is none.
std::optional<StudyRow> parse_line(const std::string& line) {
  StudyRow row;
  const std::size_t a = line.find('\t'), b = line.find('\t', a + 1), c = line.find('\t', b + 1);
  if (a == std::string::npos || b == std::string::npos || c == std::string::npos)
    return std::nullopt;
  const char* end = line.data() + a;
  if (std::from_chars(line.data(), end, row.run).ptr != end) return std::nullopt;
  const std::string kind = line.substr(a + 1, b - a - 1);
  if (kind != "done" && kind != "failed") return std::nullopt;
  row.is_done = kind == "done";
  end = line.data() + c;
  if (std::from_chars(line.data() + b + 1, end, row.wall).ptr != end) return std::nullopt;
  row.text = line.substr(c + 1);
  return row;
}

std::string read_all(int file, const std::string& path) {
  std::string text;
  char chunk[65536];
  for (;;) {
    const ssize_t size = ::read(file, chunk, sizeof chunk);
    if (size == 0) return text;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw IoError(fmt::format("cannot read '{}': {}", path, system_reason(errno)));
    text.append(chunk, static_cast<std::size_t>(size));
  }
}

}  // namespace

StudyJournal::StudyJournal(const std::string& path, const Study& study) : path_(path) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) throw IoError(fmt::format("cannot open '{}': {}", path, system_reason(errno)));
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    throw IoError(fmt::format("'{}' is in use: the same study is running already", path));
  }
  try {
    read(read_all(file_, path_), header_of(study), study.num_runs());
  } catch (...) {
    ::close(file_);
    throw;
  }
}

StudyJournal::~StudyJournal() { ::close(file_); }

void StudyJournal::read(const std::string& text, const std::string& header, std::int64_t num_runs) {
  std::size_t begin = 0, line_end = 0;
  bool is_first = true;
  for (; (line_end = text.find('\n', begin)) != std::string::npos; begin = line_end + 1) {
    const std::string line = text.substr(begin, line_end - begin);
    if (is_first && line != header)
      throw InputError(fmt::format(
          "'{}' belongs to another study, scene or version: choose another --out, or remove it",
          path_));
    if (std::exchange(is_first, false)) continue;
    const std::optional<StudyRow> row = parse_line(line);
    if (!row || row->run < 0 || row->run >= num_runs)
      throw InputError(fmt::format("'{}' is damaged at byte {}", path_, begin));
    rows_[row->run] = *row;
  }
  if (begin < text.size() && ::ftruncate(file_, static_cast<off_t>(begin)) != 0)
    throw IoError(fmt::format("cannot write '{}': {}", path_, system_reason(errno)));
  if (is_first) write(header + "\n");
}

void StudyJournal::write(const std::string& line) {
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t size = ::write(file_, line.data() + done, line.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw IoError(fmt::format("cannot write '{}': {}", path_, system_reason(errno)));
    done += static_cast<std::size_t>(size);
  }
}

void StudyJournal::append(const StudyRow& row) {
  write(fmt::format("{}\t{}\t{}\t{}\n", row.run, row.is_done ? "done" : "failed", row.wall,
                    row.text));
  rows_[row.run] = row;
}

void StudyJournal::forget_failures() {
  std::erase_if(rows_, [](const auto& entry) { return !entry.second.is_done; });
}

}  // namespace stiction
