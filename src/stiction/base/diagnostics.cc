#include "stiction/base/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

namespace stiction {

/// A fault that was reported already, because several parts use one value, is not repeated.
void Diagnostics::error(TextPosition where, std::string path, std::string message,
                        std::string help) {
  const auto is_same = [&](const Diagnostic& other) {
    return other.severity == Severity::kError && other.where.line == where.line &&
           other.where.column == where.column && other.path == path && other.message == message;
  };
  if (std::any_of(diagnostics_.begin(), diagnostics_.end(), is_same)) return;
  diagnostics_.push_back(
      {Severity::kError, where, std::move(path), std::move(message), std::move(help)});
}

void Diagnostics::warning(TextPosition where, std::string path, std::string message,
                          std::string help) {
  diagnostics_.push_back(
      {Severity::kWarning, where, std::move(path), std::move(message), std::move(help)});
}

bool Diagnostics::has_errors() const {
  return std::any_of(diagnostics_.begin(), diagnostics_.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::string Diagnostics::to_text() const {
  std::vector<Diagnostic> sorted = diagnostics_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  });
  std::string text;
  for (const Diagnostic& d : sorted) {
    text += file_;
    if (d.where.line > 0) text += fmt::format(":{}:{}", d.where.line, d.where.column);
    text += d.severity == Severity::kError ? ": error: " : ": warning: ";
    if (!d.path.empty()) text += d.path + ": ";
    text += d.message + "\n";
    if (!d.help.empty()) text += "  help: " + d.help + "\n";
  }
  return text;
}

}  // namespace stiction
