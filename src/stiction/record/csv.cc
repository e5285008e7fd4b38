#include "stiction/record/csv.h"

#include <fmt/format.h>

#include <iterator>

#include "stiction/base/atomic_file.h"

namespace stiction {
namespace {

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

std::string header_line(const Recording& recording) {
  std::string line = "time";
  for (const std::string& name : recording.q_names) line += "," + quoted(name);
  for (const std::string& name : recording.v_names) line += "," + quoted(name);
  return line + "\n";
}

void append_line(const Recording& recording, Eigen::Index row, fmt::memory_buffer& text) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}", recording.time[row]);
  for (const double value : recording.q.row(row)) fmt::format_to(out, ",{}", value);
  for (const double value : recording.v.row(row)) fmt::format_to(out, ",{}", value);
  text.push_back('\n');
}

}  // namespace

void write_csv(const Recording& recording, const std::string& path) {
  AtomicFile file(path);
  file.write(header_line(recording));
  fmt::memory_buffer text;
  for (Eigen::Index row = 0; row < recording.num_rows(); ++row) {
    text.clear();
    append_line(recording, row, text);
    file.write({text.data(), text.size()});
  }
  file.commit();
}

}  // namespace stiction
