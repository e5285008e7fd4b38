#include "stiction/scene/import_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace stiction {
namespace {

std::string entry_text(const ImportEntry& entry) {
  std::string text = entry.place.file;
  if (entry.place.line > 0) text += fmt::format(":{}", entry.place.line);
  text += fmt::format(": {}: {}{}{}\n", name_of(entry.fate), entry.element,
                      entry.element.empty() ? "" : ": ", entry.message);
  if (!entry.help.empty()) text += fmt::format("  help: {}\n", entry.help);
  return text;
}

}  // namespace

std::string_view name_of(ImportFate fate) {
  switch (fate) {
    case ImportFate::kTaken:
      return "taken";
    case ImportFate::kApproximated:
      return "approximated";
    case ImportFate::kIgnored:
      return "ignored";
    case ImportFate::kChosen:
      return "chosen";
    case ImportFate::kError:
      break;
  }
  return "error";
}

void ImportReport::add(ImportFate fate, SourcePlace place, std::string element, std::string message,
                       std::string help) {
  entries_.push_back(
      {fate, std::move(place), std::move(element), std::move(message), std::move(help)});
}

int ImportReport::count(ImportFate fate) const {
  return static_cast<int>(
      std::count_if(entries_.begin(), entries_.end(),
                    [fate](const ImportEntry& entry) { return entry.fate == fate; }));
}

void ImportReport::sort() {
  std::vector<std::string> files;
  for (const ImportEntry& entry : entries_)
    if (std::find(files.begin(), files.end(), entry.place.file) == files.end())
      files.push_back(entry.place.file);
  const auto rank = [&](const ImportEntry& entry) {
    return std::pair(std::find(files.begin(), files.end(), entry.place.file), entry.place.line);
  };
  std::stable_sort(entries_.begin(), entries_.end(),
                   [&](const ImportEntry& a, const ImportEntry& b) { return rank(a) < rank(b); });
}

std::string ImportReport::to_text() const {
  std::string text;
  for (const ImportEntry& entry : entries_) text += entry_text(entry);
  return text;
}

std::string ImportReport::errors_to_text() const {
  std::string text;
  for (const ImportEntry& entry : entries_)
    if (entry.fate == ImportFate::kError) text += entry_text(entry);
  return text;
}

}  // namespace stiction
