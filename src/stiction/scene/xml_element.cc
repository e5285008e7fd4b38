#include "stiction/scene/xml_element.h"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "stiction/base/text.h"
#include "stiction/base/whole_file.h"
#include "stiction/scene/json_document.h"

namespace stiction {
namespace {

namespace fs = std::filesystem;

/// Files larger than this are no robots; reading them would only exhaust the memory.
constexpr std::uintmax_t kMaxFileSize = std::uintmax_t{256} << 20;
constexpr int kMaxIncludes = 1000;

XmlElement copied(const tinyxml2::XMLElement& source, const std::string& file) {
  XmlElement element{.name = source.Name(), .place = {file, source.GetLineNum()}};
  for (const auto* a = source.FirstAttribute(); a != nullptr; a = a->Next())
    element.attributes.push_back({a->Name(), a->Value(), {file, a->GetLineNum()}});
  for (const auto* child = source.FirstChildElement(); child != nullptr;
       child = child->NextSiblingElement())
    element.children.push_back(copied(*child, file));
  return element;
}

std::optional<std::string> read_text(const fs::path& path, std::string& reason) {
  std::error_code code;
  if (const auto size = fs::file_size(path, code); !code && size > kMaxFileSize) {
    reason = fmt::format("has {} bytes, more than the {} that are read", size, kMaxFileSize);
    return std::nullopt;
  }
  return try_read_file(path, reason);
}

/// The line (from 1) of the first byte that is no UTF-8; 0 if there is none. Names of the file
/// become names of the scene, which is UTF-8.
int find_bad_encoding(std::string_view text) {
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') ++line;
    const std::size_t length = byte < 0x80                   ? 1
                               : byte >= 0xc2 && byte < 0xe0 ? 2
                               : byte >= 0xe0 && byte < 0xf0 ? 3
                               : byte >= 0xf0 && byte < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || byte == 0 || i + length > text.size()) return line;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0U) != 0x80U) return line;
    const auto second = length > 2 ? static_cast<unsigned char>(text[i + 1]) : 0x90U;
    if ((byte == 0xe0 && second < 0xa0) || (byte == 0xed && second >= 0xa0) ||
        (byte == 0xf0 && second < 0x90) || (byte == 0xf4 && second >= 0x90))
      return line;
    i += length;
  }
  return 0;
}

/// tinyxml2's own text repeats number and line of the error: "Error=XML_… ErrorID=… Line number=…:
/// detail".
std::string parse_fault(const tinyxml2::XMLDocument& document) {
  std::string name = document.ErrorName();
  if (name.starts_with("XML_ERROR_")) name = name.substr(10);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == '_' ? ' ' : static_cast<char>(std::tolower(c));
  });
  return fmt::format("is not well-formed XML: {}", name);
}

class Includer {
 public:
  Includer(fs::path folder, ImportReport& report) : folder_(std::move(folder)), report_(report) {}

  void follow(XmlElement& element) {
    std::vector<XmlElement> children;
    for (XmlElement& child : element.children) {
      if (child.name != "include") {
        follow(child);
        children.push_back(std::move(child));
        continue;
      }
      if (auto included = read(child))
        for (XmlElement& inner : included->children) children.push_back(std::move(inner));
    }
    element.children = std::move(children);
  }

 private:
  std::optional<XmlElement> read(XmlElement& include) {
    const XmlAttribute* file = include.take("file");
    const auto fail = [&](std::string message) {
      report_.add(ImportFate::kError, include.place, "<include>", std::move(message));
      return std::nullopt;
    };
    if (file == nullptr) return fail("required attribute 'file' is missing");
    const fs::path path = folder_ / file->value;
    std::error_code code;
    if (!fs::is_regular_file(path, code))
      return fail(fmt::format("there is no file '{}'", path.string()));
    const std::string key = fs::weakly_canonical(path, code).string();
    if (!seen_.insert(key).second) return fail(fmt::format("'{}' is included twice", file->value));
    if (seen_.size() > kMaxIncludes) return fail("more files are included than can be meant");
    auto root = read_xml_file(path, report_);
    if (!root) return std::nullopt;
    report_.add(ImportFate::kTaken, include.place, "<include>",
                fmt::format("the elements of '{}'", path.string()));
    follow(*root);
    return root;
  }

  fs::path folder_;
  ImportReport& report_;
  std::set<std::string> seen_;
};

}  // namespace

const XmlAttribute* XmlElement::find(std::string_view attribute) const {
  for (const XmlAttribute& candidate : attributes)
    if (candidate.name == attribute) return &candidate;
  return nullptr;
}

XmlAttribute* XmlElement::take(std::string_view attribute) {
  for (XmlAttribute& candidate : attributes)
    if (candidate.name == attribute) {
      candidate.is_used = true;
      return &candidate;
    }
  return nullptr;
}

XmlElement* XmlElement::take_child(std::string_view child) {
  for (XmlElement& candidate : children)
    if (candidate.name == child) {
      candidate.is_used = true;
      return &candidate;
    }
  return nullptr;
}

void XmlElement::take_all() {
  is_used = true;
  for (XmlAttribute& attribute : attributes) attribute.is_used = true;
  for (XmlElement& child : children) child.take_all();
}

int XmlElement::num_descendants() const {
  int count = 0;
  for (const XmlElement& child : children) count += 1 + child.num_descendants();
  return count;
}

std::string XmlElement::title() const {
  const XmlAttribute* given = find("name");
  if (given == nullptr || given->value.empty()) return fmt::format("<{}>", excerpt(name));
  return fmt::format("{} '{}'", excerpt(name), excerpt(given->value));
}

std::optional<XmlElement> read_xml_file(const fs::path& path, ImportReport& report) {
  const std::string file = path.string();
  std::string reason;
  const auto text = read_text(path, reason);
  if (!text) {
    report.add(ImportFate::kError, {file, 0}, "", reason);
    return std::nullopt;
  }
  if (const int line = find_bad_encoding(*text); line > 0) {
    report.add(ImportFate::kError, {file, line}, "", "is not UTF-8 text");
    return std::nullopt;
  }
  tinyxml2::XMLDocument document;
  if (document.Parse(text->data(), text->size()) != tinyxml2::XML_SUCCESS ||
      document.RootElement() == nullptr) {
    report.add(ImportFate::kError, {file, std::max(document.ErrorLineNum(), 0)}, "",
               document.Error() ? parse_fault(document) : "has no element");
    return std::nullopt;
  }
  return copied(*document.RootElement(), file);
}

void follow_includes(XmlElement& root, const fs::path& folder, ImportReport& report) {
  Includer(folder, report).follow(root);
}

void report_unknown_elements(XmlElement& root, const KnownElements& known, bool is_error,
                             ImportReport& report) {
  for (XmlElement& child : root.children) {
    if (std::find(known.names.begin(), known.names.end(), child.name) == known.names.end()) {
      const auto meant = nearest_name(child.name, known.names);
      report.add(is_error ? ImportFate::kError : ImportFate::kIgnored, child.place, child.title(),
                 fmt::format("<{}> is no element of {}{}", excerpt(child.name), known.format,
                             meant ? fmt::format("; did you mean <{}>?", *meant) : ""),
                 is_error ? "--ignore-unknown leaves out what is not known" : "");
      child.take_all();
    } else if (!known.is_closed(child)) {
      report_unknown_elements(child, known, is_error, report);
    }
  }
}

void report_unused(
    const XmlElement& root, ImportReport& report,
    const std::function<std::string(const XmlElement&, const std::string&)>& reason) {
  if (!root.is_used) {
    std::string why = reason(root, "");
    if (why.empty()) why = "the importer has no use for it";
    if (const int inside = root.num_descendants(); inside > 0)
      why += fmt::format(" ({} {} inside)", inside, inside == 1 ? "element" : "elements");
    report.add(ImportFate::kIgnored, root.place, root.title(), why);
    return;
  }
  for (const XmlAttribute& attribute : root.attributes) {
    if (attribute.is_used) continue;
    std::string why = reason(root, attribute.name);
    if (why.empty()) why = "the importer has no use for it";
    report.add(
        ImportFate::kIgnored, attribute.place, root.title(),
        fmt::format("{}=\"{}\": {}", excerpt(attribute.name), excerpt(attribute.value), why));
  }
  for (const XmlElement& child : root.children) report_unused(child, report, reason);
}

std::optional<std::vector<double>> read_numbers(const XmlAttribute& attribute, int min_count,
                                                int max_count, const std::string& title,
                                                ImportReport& report) {
  std::vector<double> numbers;
  const char* next = attribute.value.data();
  const char* const end = next + attribute.value.size();
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  const auto fail = [&](const std::string& what) {
    const std::string expected =
        min_count == max_count ? fmt::format("{} number{}", min_count, min_count == 1 ? "" : "s")
                               : (max_count == std::numeric_limits<int>::max()
                                      ? fmt::format("at least {} numbers", min_count)
                                      : fmt::format("{} to {} numbers", min_count, max_count));
    report.add(ImportFate::kError, attribute.place, title,
               fmt::format("{}=\"{}\": {}, expected {}", excerpt(attribute.name),
                           excerpt(attribute.value), what, expected));
    return std::nullopt;
  };
  while (true) {
    while (next != end && is_space(*next)) ++next;
    if (next == end) break;
    if (*next == '+') ++next;
    double value = 0;
    const auto [stop, error] = std::from_chars(next, end, value);
    if (error == std::errc::result_out_of_range) return fail("a number is out of range");
    if (error != std::errc() || (stop != end && !is_space(*stop))) return fail("is no number");
    if (!std::isfinite(value)) return fail("is not finite");
    numbers.push_back(value);
    next = stop;
  }
  const int count = static_cast<int>(numbers.size());
  if (count < min_count || count > max_count)
    return fail(fmt::format("has {} number{}", count, count == 1 ? "" : "s"));
  return numbers;
}

}  // namespace stiction
