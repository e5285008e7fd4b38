#include "tests/rooms/include_rules.h"

#include <fmt/format.h>

#include <regex>
#include <sstream>
#include <stdexcept>

namespace stiction {
namespace {

std::string room_of(const std::string& path) { return path.substr(0, path.find('/')); }

std::vector<std::string> split_words(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find('#')));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Why this line may not stand in a file of `room`; empty if it may.
std::string find_line_fault(const RoomRules& rules, const std::string& room,
                            const std::string& line) {
  // Angle brackets count too: <stiction/…> would find the same header.
  static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  static const std::string house = "stiction/";
  std::smatch match;
  if (!std::regex_match(line, match, include)) return {};
  const std::string header = match[2];
  if (!header.starts_with(house)) {
    return match[1] == "<" ? "" : fmt::format("\"{}\" does not begin with its room", header);
  }
  const std::string inside = header.substr(house.size());
  if (rules.may_include(room, inside)) return {};
  return fmt::format("{} may not include {}", room, inside);
}

void check_lines(const RoomRules& rules, const SourceFile& file, std::vector<std::string>& faults) {
  std::istringstream stream(file.text);
  std::string line;
  bool has_pragma_once = false;
  for (int number = 1; std::getline(stream, line); ++number) {
    has_pragma_once |= line.starts_with("#pragma once");
    const std::string fault = find_line_fault(rules, room_of(file.path), line);
    if (!fault.empty()) faults.push_back(fmt::format("{}:{}: {}", file.path, number, fault));
  }
  if (file.path.ends_with(".h") && !has_pragma_once) {
    faults.push_back(fmt::format("{}:1: header without #pragma once", file.path));
  }
}

}  // namespace

RoomRules RoomRules::parse(std::string_view table) {
  RoomRules rules;
  std::istringstream stream{std::string(table)};
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> words = split_words(line);
    if (words.empty()) continue;
    if (rules.has_room(words[0])) throw std::invalid_argument(words[0] + " is listed twice");
    RoomRule rule;
    bool is_never = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "never") {
        is_never = true;
      } else if (!rules.has_room(room_of(words[i]))) {
        throw std::invalid_argument(words[0] + " names " + words[i] + ", not listed above it");
      } else {
        (is_never ? rule.never : rule.uses).insert(words[i]);
      }
    }
    rules.rules_.emplace(words[0], std::move(rule));
  }
  return rules;
}

bool RoomRules::reaches(const std::string& room, const std::string& other) const {
  if (room == other) return true;
  for (const std::string& used : rules_.at(room).uses) {
    if (reaches(used, other)) return true;
  }
  return false;
}

bool RoomRules::may_include(const std::string& room, const std::string& header) const {
  const std::set<std::string>& never = rules_.at(room).never;
  return has_room(room_of(header)) && reaches(room, room_of(header)) && !never.contains(header) &&
         !never.contains(room_of(header));
}

std::vector<std::string> find_faults(const RoomRules& rules, const std::vector<SourceFile>& files) {
  std::vector<std::string> faults;
  for (const SourceFile& file : files) {
    if (rules.has_room(room_of(file.path))) {
      check_lines(rules, file, faults);
    } else {
      faults.push_back(fmt::format("{}: lies in no known room", file.path));
    }
  }
  return faults;
}

}  // namespace stiction
