#include "stiction/app/experiments/result_store.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "stiction/app/experiments/example_texts.h"
#include "stiction/app/experiments/result_json.h"
#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"
#include "stiction/base/fnv_hash.h"
#include "stiction/base/version.h"
#include "stiction/base/whole_file.h"

namespace stiction::experiments {

std::string make_result_key(bool is_full, bool keeps_runs) {
  FnvHash hash;
  for (const ExampleText& example : example_texts()) hash.add(example.text);
  // Versions change less often than results do. Where a system hides the program's file the
  // version must do.
  if (const auto program = try_read_file("/proc/self/exe")) hash.add(*program);
  return fmt::format("stiction {} {}{} {:016x}", version(), is_full ? "full" : "quick",
                     keeps_runs ? " with recordings" : "", hash.value());
}

ResultStore::ResultStore(std::string folder, std::string key)
    : folder_(std::move(folder)), key_(std::move(key)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!std::filesystem::is_directory(folder_))
    throw IoError(fmt::format("cannot create the folder '{}': {}", folder_,
                              error ? error.message() : "there is a file of that name"));
}

std::optional<Result> ResultStore::load(const Experiment& experiment) const {
  const auto text = try_read_file(path(experiment.name + "/result.json"));
  if (!text) return std::nullopt;
  try {
    const auto object = nlohmann::ordered_json::parse(*text);
    if (object.at("key") != key_) return std::nullopt;
    Result result = result_from_json(object.at("result"));
    for (Figure& figure : result.figures) {
      auto svg = try_read_file(path(experiment.name + "/" + figure.name + ".svg"));
      if (!svg) return std::nullopt;
      figure.svg = *std::move(svg);
    }
    return result;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::string ResultStore::make_folder(const std::string& experiment) const {
  std::error_code ignored;  // writing says why it fails
  std::filesystem::create_directories(path(experiment), ignored);
  return path(experiment);
}

void ResultStore::save(const Experiment& experiment, const Result& result) const {
  make_folder(experiment.name);
  for (const Figure& figure : result.figures)
    write(experiment.name + "/" + figure.name + ".svg", figure.svg);
  const nlohmann::ordered_json object{{"key", key_}, {"result", to_json(experiment, result)}};
  write(experiment.name + "/result.json", object.dump(1) + "\n");
}

void ResultStore::write(const std::string& name, const std::string& text) const {
  AtomicFile file(path(name));
  file.write(text);
  file.commit();
}

}  // namespace stiction::experiments
