#include "stiction/app/experiments/result_store.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "stiction/app/experiments/example_texts.h"
#include "stiction/app/experiments/result_json.h"
#include "stiction/base/atomic_file.h"
#include "stiction/base/error.h"
#include "stiction/base/version.h"

namespace stiction::experiments {
namespace {

/// FNV-1a: tells programs apart, protects from nobody.
std::uint64_t fingerprint(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return file.bad() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace

std::string make_result_key(bool is_full, bool keeps_runs) {
  std::uint64_t hash = fingerprint("");
  for (const ExampleText& example : example_texts()) hash = fingerprint(example.text, hash);
  // Versions change less often than results do. Where a system hides the program's file the
  // version must do.
  if (const auto program = read_text("/proc/self/exe")) hash = fingerprint(*program, hash);
  return fmt::format("stiction {} {}{} {:016x}", version(), is_full ? "full" : "quick",
                     keeps_runs ? " with recordings" : "", hash);
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
  const auto text = read_text(path(experiment.name + "/result.json"));
  if (!text) return std::nullopt;
  try {
    const auto object = nlohmann::ordered_json::parse(*text);
    if (object.at("key") != key_) return std::nullopt;
    Result result = result_from_json(object.at("result"));
    for (Figure& figure : result.figures) {
      auto svg = read_text(path(experiment.name + "/" + figure.name + ".svg"));
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
