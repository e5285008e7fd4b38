// Who may include whom. The rules come from a table (rooms.txt beside this file), the includes from
// the sources, both as text, so that the check can itself be tested on made-up houses. It looks at
// direct includes only: what a permitted header includes in turn is judged where that line stands.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stiction {

struct RoomRule {
  std::set<std::string> uses;   // rooms named in the table
  std::set<std::string> never;  // rooms ("sim") or headers ("problem/certificate.h")
};

class RoomRules {
 public:
  /// Reads lines `room used… [never thing…]`, # begins a comment. Throws std::invalid_argument for
  /// a room listed twice or one that uses a room not listed above it: so no circle can be written.
  static RoomRules parse(std::string_view table);

  bool has_room(const std::string& room) const { return rules_.contains(room); }
  /// May a file of `room` include `header` ("problem/solver.h")?
  bool may_include(const std::string& room, const std::string& header) const;
  /// Is `other` the room itself, or named in its line, or reached through rooms named there?
  bool reaches(const std::string& room, const std::string& other) const;

 private:
  std::map<std::string, RoomRule> rules_;
};

struct SourceFile {
  std::string path;  // below src/stiction, "solve/lemke.cc"
  std::string text;
};

/// Everything wrong with a set of sources: a file in no known room, an include that the rules do
/// not allow or that does not name its room, a header without #pragma once. Each with file and
/// line.
std::vector<std::string> find_faults(const RoomRules& rules, const std::vector<SourceFile>& files);

}  // namespace stiction
