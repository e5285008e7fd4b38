// Robot files as texts for tests of their readers.
#pragma once

#include <string>

#include "stiction/model/rigid_body_description.h"
#include "stiction/scene/import_robot.h"

namespace stiction {

/// examples/robots/NAME.
std::string robot_file(const std::string& name);

struct ImportTrial {
  ImportReport report;
  std::optional<ImportedScene> scene;
  RigidBodyDescription bodies;  // of the scene as it is read back; empty without one

  /// Whether some entry of that fate has this text in element or message.
  bool has(ImportFate fate, const std::string& text) const;
  /// The line of the first error; 0 if there is none.
  int error_line() const;
};

/// Imports a file, and reads the scene back; a scene that cannot be read fails the test.
ImportTrial import_file(const std::string& path, const ImportOptions& options = {});
/// The same for a text, in a folder of its own.
ImportTrial import_text(const std::string& text, const ImportOptions& options = {});

/// A URDF with these elements; they begin at line 2.
std::string urdf(const std::string& elements);
/// "<link …>" with a mass of 1 kg.
std::string urdf_link(const std::string& name);
/// An MJCF with these elements; they begin at line 2.
std::string mjcf(const std::string& elements);

const BodyDescription& body_named(const RigidBodyDescription& bodies, const std::string& name);
const JointDescription& joint_named(const RigidBodyDescription& bodies, const std::string& name);

}  // namespace stiction
