// An XML file as a tree in which every element and attribute knows its place and whether a reader
// has used it. What nobody used is reported as ignored, so that a reader cannot forget to tell.
//
// tinyxml2 parses; this tree is a copy, since elements of included files stand beside those of the
// file that includes them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/scene/import_report.h"

namespace stiction {

struct XmlAttribute {
  std::string name;
  std::string value;
  SourcePlace place;
  bool is_used = false;
};

struct XmlElement {
  std::string name{};
  SourcePlace place{};
  std::vector<XmlAttribute> attributes{};
  std::vector<XmlElement> children{};
  bool is_used = false;

  /// Without marking anything as used.
  const XmlAttribute* find(std::string_view attribute) const;
  /// The attribute, now used; null if there is none.
  XmlAttribute* take(std::string_view attribute);
  /// The first child of that name, now used; null if there is none.
  XmlElement* take_child(std::string_view child);
  /// Marks the element, its attributes and all below as used: they were dealt with as a whole.
  void take_all();
  /// Elements below.
  int num_descendants() const;
  /// "joint 'elbow'" if it has a name, else "<joint>".
  std::string title() const;
};

/// The tree of a file, or none after the fault was reported: unreadable, not well-formed, an
/// attribute given twice. Includes are not followed.
[[nodiscard]] std::optional<XmlElement> read_xml_file(const std::filesystem::path& path,
                                                      ImportReport& report);
/// Replaces every <include file="…"/> below `root` by the children of that file's root; paths are
/// relative to `folder`. A file that is included twice is a fault, as in MuJoCo.
void follow_includes(XmlElement& root, const std::filesystem::path& folder, ImportReport& report);

/// Reports elements whose name is not in `known`, with a suggestion: as errors, or as ignored and
/// dealt with if `is_error` is false. Elements for which `is_closed` holds are not looked into.
struct KnownElements {
  std::span<const std::string> names;
  std::string format;  // "URDF"
  std::function<bool(const XmlElement&)> is_closed;
};
void report_unknown_elements(XmlElement& root, const KnownElements& known, bool is_error,
                             ImportReport& report);

/// Reports what was not used, element by element; of an element that was, its unused attributes.
/// `reason(element, attribute)` says why, with an empty attribute for the element itself; an empty
/// answer stands for "the importer has no use for it".
void report_unused(
    const XmlElement& root, ImportReport& report,
    const std::function<std::string(const XmlElement&, const std::string& attribute)>& reason);

/// Finite numbers separated by spaces, at least `min_count` and at most `max_count`; none after the
/// fault was reported with the title of the element it belongs to.
std::optional<std::vector<double>> read_numbers(const XmlAttribute& attribute, int min_count,
                                                int max_count, const std::string& title,
                                                ImportReport& report);

}  // namespace stiction
