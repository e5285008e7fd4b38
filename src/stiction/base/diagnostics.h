// Faults found in a text from outside. All faults of one text are collected and reported together,
// each with its place, its path in the document, what was found, and the way out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stiction {

/// 1-based position in a text; line 0 means "the text as a whole".
struct TextPosition {
  int line = 0;
  int column = 0;
};

enum class Severity { kError, kWarning };

struct Diagnostic {
  Severity severity = Severity::kError;
  TextPosition where;
  std::string path;     // place in the document, e.g. generalized.contacts[1].gap; may be empty
  std::string message;  // what was found and what was expected
  std::string help;     // the way out; may be empty
};

class Diagnostics {
 public:
  /// `file` is how the text is called in messages.
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  void error(TextPosition where, std::string path, std::string message, std::string help = {});
  void warning(TextPosition where, std::string path, std::string message, std::string help = {});

  bool has_errors() const;
  const std::string& file() const { return file_; }
  const std::vector<Diagnostic>& all() const { return diagnostics_; }

  /// One entry after the other, in the order of the text:
  ///   file:line:column: error: path: message
  ///     help: …
  std::string to_text() const;

 private:
  std::string file_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace stiction
