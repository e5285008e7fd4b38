#include "tests/app/program.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

namespace stiction {

std::string example(const std::string& name) {
  return STICTION_SOURCE_DIR "/examples/" + name + ".json";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

nlohmann::json parse_json(const std::string& text) { return nlohmann::json::parse(text); }

SubprocessResult ProgramTest::stiction(std::vector<std::string> arguments,
                                       SubprocessOptions options) const {
  arguments.insert(arguments.begin(), STICTION_PROGRAM);
  options.folder = file("");
  return run_subprocess(arguments, options);
}

bool ProgramTest::has_file(const std::string& name) const {
  return std::filesystem::exists(file(name));
}

std::vector<std::string> ProgramTest::files() const {
  std::vector<std::string> names = folder_.file_names();
  std::sort(names.begin(), names.end());
  return names;
}

std::string ProgramTest::scene_file(const std::string& text) const {
  write_bytes(file("scene.json"), text);
  return file("scene.json");
}

std::vector<std::string> ProgramTest::table(const std::string& recording) const {
  const SubprocessResult result = stiction({"export", recording, "--csv", "table.csv"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> lines = lines_of(read_bytes(file("table.csv")));
  std::filesystem::remove(file("table.csv"));
  return lines;
}

std::function<bool()> ProgramTest::is_well_under_way(const std::string& recording) const {
  return [path = file(recording)] {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) &&
           std::filesystem::file_size(path, ignored) > 3'000'000;
  };
}

}  // namespace stiction
