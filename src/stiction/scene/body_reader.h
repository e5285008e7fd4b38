// Entries of "bodies": start, motion, mass and shapes of rigid bodies.
#pragma once

#include <string>
#include <vector>

#include "stiction/model/rigid_body_description.h"
#include "stiction/scene/shape_reader.h"

namespace stiction {

/// Where the frame of a body is at the start; the world's is at the origin.
Pose start_of(const RigidBodyDescription& description, int body);

class BodyReader {
 public:
  BodyReader(const Materials& materials, const SpatialReader& reader)
      : materials_(materials), reader_(reader) {}

  /// The body at `value`, which will have number `index`. Its shapes are appended to `shapes`.
  BodyDescription read(const SceneValue& value, std::string name, int index,
                       std::vector<SceneShape>& shapes) const;

 private:
  void read_start(const SceneValue& value, BodyDescription& body) const;
  void read_free_axes(const SceneValue& value, BodyDescription& body) const;
  void read_kinematic(const SceneValue& value, BodyDescription& body) const;
  void read_mass(const SceneValue& value, std::span<const SceneShape> shapes,
                 BodyDescription& body) const;
  void read_given_inertia(const SceneValue& value, BodyDescription& body) const;

  const Materials& materials_;
  const SpatialReader& reader_;
};

}  // namespace stiction
