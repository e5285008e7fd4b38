#include "tests/scene/import_texts.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/base/temporary_folder.h"
#include "tests/scene/body_texts.h"

namespace stiction {

std::string robot_file(const std::string& name) {
  return STICTION_SOURCE_DIR "/examples/robots/" + name;
}

bool ImportTrial::has(ImportFate fate, const std::string& text) const {
  for (const ImportEntry& entry : report.entries())
    if (entry.fate == fate && (entry.element.find(text) != std::string::npos ||
                               entry.message.find(text) != std::string::npos))
      return true;
  return false;
}

int ImportTrial::error_line() const {
  for (const ImportEntry& entry : report.entries())
    if (entry.fate == ImportFate::kError) return entry.place.line;
  return 0;
}

ImportTrial import_file(const std::string& path, const ImportOptions& options) {
  ImportTrial trial;
  ImportOptions here = options;
  if (here.scene_folder.empty()) here.scene_folder = std::filesystem::path(path).parent_path();
  trial.scene = import_robot(path, here, trial.report);
  if (!trial.scene) return trial;
  Diagnostics diagnostics(path);
  const auto scene = read_scene(trial.scene->text, {}, diagnostics, {.project_start = true});
  EXPECT_TRUE(scene) << diagnostics.to_text() << trial.scene->text;
  if (scene) trial.bodies = bodies_of(*scene).description();
  return trial;
}

ImportTrial import_text(const std::string& text, const ImportOptions& options) {
  const TemporaryFolder folder;
  write_bytes(folder.file("robot.xml"), text);
  return import_file(folder.file("robot.xml"), options);
}

std::string urdf(const std::string& elements) {
  return "<robot name='robot'>\n" + elements + "</robot>\n";
}

std::string urdf_link(const std::string& name) {
  return "<link name='" + name +
         "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
         "iyz='0'/></inertial></link>\n";
}

std::string mjcf(const std::string& elements) {
  return "<mujoco model='robot'>\n" + elements + "</mujoco>\n";
}

const BodyDescription& body_named(const RigidBodyDescription& bodies, const std::string& name) {
  for (const BodyDescription& body : bodies.bodies)
    if (body.name == name) return body;
  throw std::runtime_error("no body " + name);
}

const JointDescription& joint_named(const RigidBodyDescription& bodies, const std::string& name) {
  for (const JointDescription& joint : bodies.joints)
    if (joint.name == name) return joint;
  throw std::runtime_error("no joint " + name);
}

}  // namespace stiction
