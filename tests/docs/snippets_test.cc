// What the documents show works: every complete scene on a page is read, and those of the tutorials
// are simulated; every command that starts a scene of the examples names one that exists; figures
// that tutorials promise come out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "stiction/app/simulation_options.h"
#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = STICTION_SOURCE_DIR;

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> list_pages() {
  std::vector<fs::path> pages = {kRoot / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  std::sort(pages.begin(), pages.end());
  return pages;
}

/// Blocks of code in one language.
std::vector<std::string> find_blocks(const std::string& page, const std::string& language) {
  std::vector<std::string> blocks;
  const std::string fence = "```" + language + "\n";
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    const std::size_t end = page.find("```", at);
    blocks.push_back(page.substr(at, end - at));
    at = end;
  }
  return blocks;
}

/// Scenes, not pieces of one.
std::vector<std::string> find_scenes(const fs::path& page) {
  std::vector<std::string> scenes;
  for (const std::string& block : find_blocks(read_text(page), "jsonc"))
    if (block.find("\"stiction\": 1") != std::string::npos && block.find("…") == std::string::npos)
      scenes.push_back(block);
  return scenes;
}

Scene read(const std::string& text) {
  Diagnostics diagnostics("snippet");
  auto scene = read_scene(text, {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  return *scene;
}

SimulationOptions options_of(const Scene& scene) { return to_simulation_options(scene.simulate); }

TEST(Snippets, ScenesOnPagesAreValid) {
  int count = 0;
  for (const fs::path& page : list_pages())
    for (const std::string& text : find_scenes(page)) {
      ++count;
      EXPECT_NO_THROW((void)read(text)) << page << "\n" << text;
    }
  EXPECT_GE(count, 3);
}

TEST(Snippets, ScenesOfTutorialsRun) {
  for (const fs::path& page : list_pages()) {
    if (page.parent_path().filename() != "tutorials") continue;
    for (const std::string& text : find_scenes(page)) {
      const Scene scene = read(text);
      Simulation simulation(scene.model, options_of(scene));
      EXPECT_NO_THROW(simulation.run(scene.simulate.duration)) << page;
    }
  }
}

TEST(Snippets, CommandsNameExamplesThatExist) {
  const std::regex example("examples/[a-z0-9_/-]+\\.(json|urdf|xml)");
  int count = 0;
  for (const fs::path& page : list_pages())
    for (const std::string& block : find_blocks(read_text(page), "sh"))
      for (std::sregex_iterator it(block.begin(), block.end(), example), end; it != end; ++it) {
        ++count;
        EXPECT_TRUE(fs::exists(kRoot / it->str())) << page << ": " << it->str();
      }
  EXPECT_GE(count, 5);
}

/// docs/tutorials/start.md: the box stops after v/a and v²/2a.
TEST(Snippets, SlidingBoxStopsWhereThePageSays) {
  const std::vector<std::string> scenes = find_scenes(kRoot / "docs/tutorials/start.md");
  ASSERT_EQ(scenes.size(), 1U);
  const Scene scene = read(scenes[0]);
  Simulation simulation(scene.model, options_of(scene));
  simulation.run(scene.simulate.duration);
  const double slope = std::numbers::pi / 9, a = 9.81 * (0.5 * std::cos(slope) - std::sin(slope));
  // One step of speed before it stops is the scheme's.
  EXPECT_NEAR(simulation.state().q[0], 1 / (2 * a), 1e-3);
  EXPECT_NEAR(simulation.state().v[0], 0, 1e-12);
}

/// docs/tutorials/gripper.md: with 20 N per finger the box is lifted and does not creep, with 9 N
/// it is left behind.
TEST(Snippets, GripperHoldsWhatFrictionCarries) {
  const std::string text = read_text(kRoot / "examples/gripper.json");
  const std::string force = "\"F\": 20";
  ASSERT_NE(text.find(force), std::string::npos);
  std::string weak = text;
  weak.replace(weak.find(force), force.size(), "\"F\": 9");
  const Scene strong_scene = read(text), weak_scene = read(weak);
  Simulation strong(strong_scene.model, options_of(strong_scene)),
      feeble(weak_scene.model, options_of(weak_scene));
  strong.run(2);
  const double lifted = strong.state().q[2];
  EXPECT_NEAR(lifted, 0.15, 1e-9);
  strong.run(1);
  EXPECT_NEAR(strong.state().q[2], lifted, 1e-12);
  feeble.run(3);
  EXPECT_NEAR(feeble.state().q[2], 0.05, 1e-9);
}

}  // namespace
}  // namespace stiction
