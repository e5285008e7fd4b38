// The output folder of `reproduce`: NAME/result.json and the figures of every experiment that has
// been finished. A result is kept as long as it is of the same program and variant; whatever is
// damaged or missing counts as not finished. Files appear whole or not at all, result.json last.
#pragma once

#include <optional>
#include <string>

#include "stiction/app/experiments/experiment.h"

namespace stiction::experiments {

/// The version, the variant and a fingerprint of the program and its scenes.
std::string make_result_key(bool is_full, bool keeps_runs);

class ResultStore {
 public:
  /// Creates the folder. Throws IoError if that fails.
  ResultStore(std::string folder, std::string key);

  std::optional<Result> load(const Experiment& experiment) const;
  void save(const Experiment& experiment, const Result& result) const;
  /// The folder of an experiment, which is there afterwards.
  std::string make_folder(const std::string& experiment) const;
  /// Any other file of the folder.
  void write(const std::string& name, const std::string& text) const;
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_, key_;
};

}  // namespace stiction::experiments
