#include "stiction/geometry/mesh_file.h"

#include <fmt/format.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <vector>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/base/whole_file.h"
#include "stiction/geometry/polygon_triangulation.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr std::size_t kMaxFaults = 20;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/// For messages: at most 40 characters, without what a terminal would take for commands.
std::string quoted(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, 40)) {
    const auto code = static_cast<unsigned char>(c);
    text += code >= 32 && code < 127 ? c : '?';
  }
  return fmt::format("'{}{}'", text, word.size() > 40 ? "..." : "");
}

/// A word of a text and where it stands.
struct Word {
  std::string_view text;
  TextPosition where;
};

/// Words line by line. A backslash at the end of a line joins the next one.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  /// The words of the next line that has some; false at the end.
  bool next(std::vector<Word>& words) {
    words.clear();
    while (at_ < text_.size()) {
      const bool goes_on = read_line(words);
      if (!words.empty() && !goes_on) return true;
    }
    return !words.empty();
  }
  int line() const { return line_; }

 private:
  bool read_line(std::vector<Word>& words) {
    ++line_;
    const std::size_t start = at_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::size_t stop = std::min(text_.substr(0, end).find('#', at_), end);
    at_ = end + 1;
    while (stop > start && is_space(text_[stop - 1])) --stop;
    const bool goes_on = stop > start && text_[stop - 1] == '\\';
    if (goes_on) --stop;
    for (std::size_t i = start; i < stop;) {
      if (is_space(text_[i])) {
        ++i;
        continue;
      }
      std::size_t j = i;
      while (j < stop && !is_space(text_[j])) ++j;
      words.push_back({.text = text_.substr(i, j - i),
                       .where = {.line = line_, .column = static_cast<int>(i - start) + 1}});
      i = j;
    }
    return goes_on;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 0;
};

/// Reads a finite number; all of the word must belong to it.
bool read_number(std::string_view word, double& value) {
  if (!word.empty() && word[0] == '+') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size()) return false;
  if (error == std::errc::result_out_of_range) {
    // Too small for a double is 0, too large is a fault; from_chars does not say which.
    value = std::strtod(std::string(word).c_str(), nullptr);
    return std::abs(value) < 1;
  }
  return error == std::errc() && std::isfinite(value);
}

bool read_index(std::string_view word, std::int64_t& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

class FaultList {
 public:
  explicit FaultList(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  void add(TextPosition where, std::string message, std::string help = {}) {
    if (++count_ <= kMaxFaults) diagnostics_.error(where, "", std::move(message), std::move(help));
  }
  void warn(TextPosition where, std::string message) {
    if (++num_warnings_ <= kMaxFaults) diagnostics_.warning(where, "", std::move(message));
  }
  bool is_full() const { return count_ >= kMaxFaults; }
  bool is_empty() const { return count_ == 0; }

 private:
  Diagnostics& diagnostics_;
  std::size_t count_ = 0, num_warnings_ = 0;
};

/// Reads three coordinates after a keyword.
bool read_point(const std::vector<Word>& words, std::size_t first, Vector3d& point,
                FaultList& faults) {
  if (words.size() < first + 3) {
    faults.add(words[0].where, fmt::format("{} has {} numbers, expected 3", quoted(words[0].text),
                                           words.size() - std::min(first, words.size())));
    return false;
  }
  for (int k = 0; k < 3; ++k) {
    const Word& word = words[first + k];
    if (read_number(word.text, point[k])) continue;
    faults.add(word.where,
               fmt::format("coordinate is {}, expected a finite number", quoted(word.text)));
    return false;
  }
  return true;
}

class ObjParser {
 public:
  explicit ObjParser(Diagnostics& diagnostics) : faults_(diagnostics) {}

  std::optional<Mesh> parse(std::string_view text) {
    LineReader reader(text);
    std::vector<Word> words;
    while (!faults_.is_full() && reader.next(words)) {
      if (words[0].text == "v") {
        Vector3d point = Vector3d::Zero();
        read_point(words, 1, point, faults_);
        // Also a faulty vertex takes its number, so that faces after it are judged rightly.
        mesh_.vertices.push_back(point);
      } else if (words[0].text == "f") {
        read_face(words);
      }
    }
    if (!faults_.is_full()) add_faces();
    if (faults_.is_empty() && mesh_.triangles.empty()) {
      faults_.add({}, fmt::format("found {} vertices and no face, expected lines 'f i j k'",
                                  mesh_.vertices.size()));
    }
    if (!faults_.is_empty()) return std::nullopt;
    return std::move(mesh_);
  }

 private:
  struct Face {
    std::size_t first = 0, count = 0;  // in corners_
    int line = 0;
  };

  /// References may look ahead, so that they are only counted from the right end here.
  void read_face(const std::vector<Word>& words) {
    if (words.size() < 4) {
      faults_.add(words[0].where,
                  fmt::format("face has {} corners, expected at least 3", words.size() - 1));
      return;
    }
    const Face face{
        .first = corners_.size(), .count = words.size() - 1, .line = words[0].where.line};
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::int64_t index = 0;
      const std::string_view word = words[i].text;
      if (!read_index(word.substr(0, word.find('/')), index) || index == 0) {
        faults_.add(words[i].where,
                    fmt::format("corner of face is {}, expected the number of a vertex, from 1 on "
                                "or from -1 back",
                                quoted(word)));
        corners_.resize(face.first);
        return;
      }
      const auto num_vertices = static_cast<std::int64_t>(mesh_.vertices.size());
      corners_.push_back(index > 0 ? index - 1 : num_vertices + index);
    }
    faces_.push_back(face);
  }

  void add_faces() {
    const auto num_vertices = static_cast<std::int64_t>(mesh_.vertices.size());
    std::vector<int> loop;
    for (const Face& face : faces_) {
      if (faults_.is_full()) return;
      loop.clear();
      bool is_valid = true;
      for (std::size_t i = 0; i < face.count && is_valid; ++i) {
        const std::int64_t corner = corners_[face.first + i];
        is_valid = corner >= 0 && corner < num_vertices;
        if (is_valid) {
          loop.push_back(static_cast<int>(corner));
        } else {
          faults_.add({.line = face.line}, fmt::format("face names vertex {}, expected 1 to {}",
                                                       corner + 1, num_vertices));
        }
      }
      if (is_valid) add_face(face, loop);
    }
  }

  void add_face(const Face& face, std::vector<int>& loop) {
    loop.erase(std::unique(loop.begin(), loop.end()), loop.end());
    while (loop.size() > 1 && loop.front() == loop.back()) loop.pop_back();
    if (loop.size() < 3) {
      faults_.warn({.line = face.line}, "face has fewer than 3 different corners: left out");
      return;
    }
    const auto before = static_cast<std::ptrdiff_t>(mesh_.triangles.size());
    const bool is_done = triangulate_polygon(mesh_.vertices, loop, mesh_.triangles);
    // A polygon that comes back to a corner leaves triangles without a third one.
    const auto has_lost_corner = [](const Triangle& t) {
      return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
    };
    mesh_.triangles.erase(
        std::remove_if(mesh_.triangles.begin() + before, mesh_.triangles.end(), has_lost_corner),
        mesh_.triangles.end());
    if (!is_done) {
      faults_.add({.line = face.line},
                  fmt::format("face of {} corners is not convex, expected at most {} corners then",
                              loop.size(), kMaxConcaveCorners));
    }
  }

  FaultList faults_;
  Mesh mesh_;
  std::vector<std::int64_t> corners_;
  std::vector<Face> faces_;
};

struct PlaceHash {
  std::size_t operator()(const std::array<double, 3>& place) const {
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    for (const double x : place) {
      h = (h ^ std::bit_cast<std::uint64_t>(x)) * 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
  }
};

/// Collects loose triangles; corners at one place become one vertex.
class Welder {
 public:
  /// False if two corners are at one place.
  bool add(const std::array<Vector3d, 3>& corners) {
    Triangle triangle{};
    for (int k = 0; k < 3; ++k) {
      // Adding 0 makes −0 and 0 the same place.
      const std::array<double, 3> place{corners[k].x() + 0.0, corners[k].y() + 0.0,
                                        corners[k].z() + 0.0};
      const auto [at, is_new] = index_.emplace(place, static_cast<int>(mesh_.vertices.size()));
      if (is_new) mesh_.vertices.push_back(corners[k]);
      triangle[k] = at->second;
    }
    if (triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0]) {
      return false;
    }
    mesh_.triangles.push_back(triangle);
    return true;
  }
  Mesh& mesh() { return mesh_; }

 private:
  Mesh mesh_;
  std::unordered_map<std::array<double, 3>, int, PlaceHash> index_;
};

class StlParser {
 public:
  explicit StlParser(Diagnostics& diagnostics) : faults_(diagnostics) {}

  std::optional<Mesh> parse(std::string_view bytes) {
    if (is_binary(bytes)) {
      parse_binary(bytes);
    } else {
      parse_text(bytes);
    }
    if (faults_.is_empty() && welder_.mesh().triangles.empty()) {
      faults_.add({}, "found no triangle, expected at least one with three different corners");
    }
    if (!faults_.is_empty()) return std::nullopt;
    return std::move(welder_.mesh());
  }

 private:
  static constexpr std::size_t kHeader = 84, kFacet = 50;

  static std::uint32_t read_word(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (int k = 3; k >= 0; --k) {
      value = value << 8 | static_cast<unsigned char>(bytes[at + k]);
    }
    return value;
  }

  /// Some binary files begin with "solid" too, so that the length decides; where it fits neither,
  /// the beginning does.
  static bool is_binary(std::string_view bytes) {
    const bool has_header = bytes.size() >= kHeader;
    if (has_header && bytes.size() == kHeader + kFacet * std::size_t{read_word(bytes, 80)}) {
      return true;
    }
    std::size_t start = 0;
    while (start < bytes.size() && (is_space(bytes[start]) || bytes[start] == '\n')) ++start;
    return bytes.substr(start, 5) != "solid" && has_header;
  }

  void parse_binary(std::string_view bytes) {
    const std::size_t count = read_word(bytes, 80);
    if (bytes.size() != kHeader + kFacet * count) {
      faults_.add({}, fmt::format("byte 80: {} triangles are announced, expected a file of {} "
                                  "bytes, found {}",
                                  count, kHeader + kFacet * count, bytes.size()));
      return;
    }
    for (std::size_t i = 0; i < count && !faults_.is_full(); ++i) {
      std::array<Vector3d, 3> corners;
      bool is_finite = true;
      for (int k = 0; k < 9; ++k) {
        const std::size_t at = kHeader + kFacet * i + 12 + 4 * static_cast<std::size_t>(k);
        const double x = std::bit_cast<float>(read_word(bytes, at));
        corners[k / 3][k % 3] = x;
        if (std::isfinite(x) || !is_finite) continue;
        is_finite = false;
        faults_.add({}, fmt::format("byte {}: coordinate of triangle {} is {}, expected a finite "
                                    "number",
                                    at, i, to_text(x)));
      }
      if (is_finite && !welder_.add(corners)) {
        faults_.warn({}, fmt::format("byte {}: triangle {} has two corners at one place: left out",
                                     kHeader + kFacet * i, i));
      }
    }
  }

  /// solid name { facet normal x y z, outer loop, vertex x y z (3 times), endloop, endfacet }
  /// endsolid name; any number of solids.
  void parse_text(std::string_view text) {
    LineReader reader(text);
    std::vector<Word> words;
    std::array<Vector3d, 3> corners;
    bool is_in_solid = false, is_in_facet = false;
    int num_corners = 0;
    while (!faults_.is_full() && reader.next(words)) {
      const std::string_view keyword = words[0].text;
      if (!is_in_solid) {
        is_in_solid = keyword == "solid";
        if (!is_in_solid) {
          report_expected(words[0], "'solid'");
          return;
        }
      } else if (keyword == "endsolid" && !is_in_facet) {
        is_in_solid = false;
      } else if (keyword == "facet" && !is_in_facet) {
        is_in_facet = true;
        num_corners = 0;
      } else if (keyword == "vertex" && is_in_facet) {
        Vector3d point = Vector3d::Zero();
        read_point(words, 1, point, faults_);
        if (num_corners < 3) corners[num_corners] = point;
        ++num_corners;
      } else if (keyword == "endfacet" && is_in_facet) {
        is_in_facet = false;
        if (num_corners != 3) {
          faults_.add(words[0].where,
                      fmt::format("facet has {} vertices, expected 3", num_corners));
        } else if (!welder_.add(corners)) {
          faults_.warn(words[0].where, "triangle has two corners at one place: left out");
        }
      } else if (!(is_in_facet && (keyword == "outer" || keyword == "endloop"))) {
        report_expected(words[0], is_in_facet ? "'vertex' or 'endfacet'" : "'facet' or 'endsolid'");
        return;
      }
    }
    if (is_in_solid && faults_.is_empty()) {
      faults_.add({.line = reader.line()}, fmt::format("the file ends here, expected '{}'",
                                                       is_in_facet ? "endfacet" : "endsolid"));
    }
  }

  void report_expected(const Word& word, std::string_view expected) {
    faults_.add(word.where, fmt::format("found {}, expected {}", quoted(word.text), expected));
  }

  FaultList faults_;
  Welder welder_;
};

std::string read_bytes(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw IoError(fmt::format("mesh file '{}' does not exist", path.string()));
  }
  if (!std::filesystem::is_regular_file(path, error)) {
    throw IoError(fmt::format("mesh file '{}' is not a file", path.string()));
  }
  std::string reason;
  if (auto bytes = try_read_file(path, reason)) return std::move(*bytes);
  throw IoError(fmt::format("mesh file '{}' {}", path.string(), reason));
}

}  // namespace

std::optional<Mesh> parse_obj(std::string_view text, Diagnostics& diagnostics) {
  return ObjParser(diagnostics).parse(text);
}

std::optional<Mesh> parse_stl(std::string_view bytes, Diagnostics& diagnostics) {
  return StlParser(diagnostics).parse(bytes);
}

Mesh read_mesh_file(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (ending != ".obj" && ending != ".stl") {
    throw InputError(fmt::format("mesh file '{}' ends in '{}', expected '.obj' or '.stl'",
                                 path.string(), path.extension().string()));
  }
  const std::string bytes = read_bytes(path);
  Diagnostics diagnostics(path.string());
  std::optional<Mesh> mesh =
      ending == ".obj" ? parse_obj(bytes, diagnostics) : parse_stl(bytes, diagnostics);
  if (!mesh) throw InputError(diagnostics.to_text());
  return std::move(*mesh);
}

}  // namespace stiction
