#include "stiction/app/study_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "stiction/base/atomic_file.h"
#include "stiction/base/hdf5_file.h"
#include "stiction/base/version.h"

namespace stiction {
namespace {

using Rows = std::map<std::int64_t, StudyRow>;

void write_csv(const std::string& path, const std::vector<std::string>& columns, const Rows& rows,
               bool is_done) {
  AtomicFile file(path);
  file.write(to_csv_row(columns) + "\n");
  for (const auto& [run, row] : rows)
    if (row.is_done == is_done) file.write(row.text + "\n");
  file.commit();
}

std::optional<double> to_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

/// One column: numbers as they are; texts as indices into the attribute "texts".
void write_column(const std::string& name, const std::vector<std::string>& fields, Hdf5File& file) {
  std::vector<double> numbers;
  for (const std::string& field : fields) {
    const auto number = to_number(field);
    if (!number) break;
    numbers.push_back(*number);
  }
  if (numbers.size() == fields.size()) {
    file.write<double>(name, numbers);
    return;
  }
  std::vector<std::string> texts = fields;
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::vector<std::int64_t> indices;
  for (const std::string& field : fields)
    indices.push_back(std::lower_bound(texts.begin(), texts.end(), field) - texts.begin());
  file.write<std::int64_t>(name, indices);
  file.write_attribute(name, "texts", std::span<const std::string>(texts));
}

void write_hdf5(const std::string& path, const Study& study, const Rows& rows) {
  const std::vector<std::string> columns = result_columns(study);
  std::vector<std::vector<std::string>> fields(columns.size());
  std::string failures = to_csv_row(failure_columns(study)) + "\n";
  for (const auto& [run, row] : rows) {
    if (!row.is_done) failures += row.text + "\n";
    if (!row.is_done) continue;
    std::vector<std::string> split = split_csv_row(row.text);
    split.resize(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) fields[i].push_back(std::move(split[i]));
  }
  PendingFile pending(path);
  Hdf5File file = Hdf5File::create(pending.temporary_path(), path);
  file.write_attribute("/", "format", std::string_view("stiction study"));
  file.write_attribute("/", "format_version", 1);
  file.write_attribute("/", "version", version());
  file.write_attribute("/", "name", std::string_view(study.name));
  file.make_group("results");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string name = columns[i];
    std::replace(name.begin(), name.end(), '/', '|');  // HDF5's own separator
    write_column("results/" + name, fields[i], file);
  }
  std::vector<std::string> varied;
  for (const StudyAxis& axis : study.axes) varied.push_back(axis.path);
  file.write_attribute("results", "varied", std::span<const std::string>(varied));
  file.write_text("failures", failures);
  file.write_text("scene", study.scene_text);
  file.close();
  pending.commit();
}

}  // namespace

void write_study_tables(const std::string& folder, const Study& study, const Rows& rows) {
  const auto in_folder = [&](const char* name) {
    return (std::filesystem::path(folder) / name).string();
  };
  write_csv(in_folder("results.csv"), result_columns(study), rows, true);
  write_csv(in_folder("failures.csv"), failure_columns(study), rows, false);
  write_hdf5(in_folder("results.h5"), study, rows);
}

}  // namespace stiction
