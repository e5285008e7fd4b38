// Robot files that were damaged at random: the importer reports faults or makes a scene that can be
// read; it never crashes, hangs, or makes a scene of nonsense.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "stiction/base/error.h"
#include "stiction/scene/scene.h"
#include "tests/base/temporary_folder.h"
#include "tests/scene/import_texts.h"

namespace stiction {
namespace {

/// One of several kinds of damage at a random place.
std::string damaged(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  static const std::vector<std::string> words = {"nan",
                                                 "-1",
                                                 "0",
                                                 "1e308",
                                                 "-1e-320",
                                                 "<",
                                                 ">",
                                                 "/>",
                                                 "\"",
                                                 "&#0;",
                                                 "&amp",
                                                 "body",
                                                 "joint",
                                                 "geom",
                                                 "name",
                                                 "999999",
                                                 "mesh",
                                                 "hfield",
                                                 "class",
                                                 "fromto",
                                                 "size='0 0 0'",
                                                 "type='ball'",
                                                 "type='mesh'",
                                                 "parent",
                                                 "ref='1e300'",
                                                 "<frame>",
                                                 "<body>",
                                                 "free",
                                                 "world",
                                                 "quat='0 0 0 0'",
                                                 "mass='1e-300'",
                                                 "<default class='x'>",
                                                 "childclass='x'"};
  const int num_faults = 1 + static_cast<int>(below(3));
  for (int k = 0; k < num_faults && !text.empty(); ++k) {
    const std::size_t at = below(text.size());
    switch (below(6)) {
      case 0:
        text.erase(at, 1 + below(20));
        break;
      case 1:
        text.insert(at, words[below(words.size())]);
        break;
      case 2:
        text[at] = static_cast<char>(below(256));
        break;
      case 3:  // a piece twice
        text.insert(at, text.substr(below(text.size()), 1 + below(200)));
        break;
      case 4: {  // another number
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) text.replace(digit, 1, words[below(6)]);
        break;
      }
      default: {  // another word in quotes
        const std::size_t start = text.find("=\"", at);
        const std::size_t end = start == std::string::npos ? start : text.find('"', start + 2);
        if (end != std::string::npos)
          text.replace(start + 2, end - start - 2, words[below(words.size())]);
      }
    }
  }
  return text;
}

void fuzz(const std::string& name, unsigned first_seed, unsigned num_seeds) {
  const TemporaryFolder folder;
  const std::string text = read_bytes(robot_file(name));
  write_bytes(folder.file("floor.xml"), read_bytes(robot_file("floor.xml")));
  std::filesystem::create_directory(folder.file("meshes"));
  write_bytes(folder.file("meshes/beam.obj"), read_bytes(robot_file("meshes/beam.obj")));
  int num_scenes = 0;
  for (unsigned seed = first_seed; seed < first_seed + num_seeds; ++seed) {
    SCOPED_TRACE(name + ", seed " + std::to_string(seed));
    std::mt19937 random(seed);
    write_bytes(folder.file("robot.xml"), damaged(text, random));
    ImportReport report;
    ImportOptions options;
    options.scene_folder = folder.file("");
    options.ignore_unknown = seed % 2 == 0;
    if (seed % 3 == 0) options.keyframe = "0";
    const auto scene = import_robot(folder.file("robot.xml"), options, report);
    ASSERT_EQ(scene.has_value(), !report.has_errors());
    if (!scene) continue;
    ++num_scenes;
    // The scene is JSON of the right form; what only the scene reader knows (a start that does not
    // fit, numbers beyond what it can hold) may still be a fault there, with a message.
    Diagnostics diagnostics(folder.file("scene.json"));
    const auto read = read_scene(scene->text, {}, diagnostics, {.project_start = true});
    ASSERT_EQ(read.has_value(), !diagnostics.has_errors());
    for (const Diagnostic& fault : diagnostics.all())
      ASSERT_EQ(fault.message.find("unknown key"), std::string::npos) << diagnostics.to_text();
  }
  EXPECT_GT(num_scenes, 0);
}

TEST(ImportFuzz, DamagedRobotsNeverCrashTheReaders) {
  fuzz("arm.urdf", 0, 120);
  fuzz("quadruped.xml", 1000, 120);
  fuzz("humanoid.xml", 2000, 60);
}

TEST(SlowImportFuzz, DamagedRobotsNeverCrashTheReaders) {
  fuzz("arm.urdf", 10000, 5000);
  fuzz("quadruped.xml", 20000, 5000);
  fuzz("humanoid.xml", 30000, 3000);
}

}  // namespace
}  // namespace stiction
