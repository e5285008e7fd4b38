// What an importer did with every element of a file: taken, approximated, ignored, chosen where the
// file says nothing, or at fault. Each entry has its place in the file, so that nothing is dropped
// silently and everything can be looked up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stiction {

/// A line of one of the files that were read; line 0 means the file as a whole.
struct SourcePlace {
  std::string file;
  int line = 0;
};

enum class ImportFate : std::uint8_t {
  kTaken,         // the scene has the same
  kApproximated,  // the scene has something like it; the message says what differs
  kIgnored,       // nothing of it is in the scene
  kChosen,        // the file leaves it open, and this was decided
  kError,         // wrong: there is no scene
};

/// "taken", "approximated", …
std::string_view name_of(ImportFate fate);

struct ImportEntry {
  ImportFate fate = ImportFate::kTaken;
  SourcePlace place;
  std::string element;  // "joint 'elbow'", "<compiler>"
  std::string message;  // what became of it, or what was found and what was expected
  std::string help;     // the way out; may be empty
};

class ImportReport {
 public:
  void add(ImportFate fate, SourcePlace place, std::string element, std::string message,
           std::string help = {});

  bool has_errors() const { return count(ImportFate::kError) > 0; }
  int count(ImportFate fate) const;
  const std::vector<ImportEntry>& entries() const { return entries_; }
  /// By file in the order in which they were first named, then by line.
  void sort();

  /// One entry after the other: "file:line: fate: element: message", with "  help: …" below.
  std::string to_text() const;
  /// The errors alone, in the same form.
  std::string errors_to_text() const;

 private:
  std::vector<ImportEntry> entries_;
};

}  // namespace stiction
