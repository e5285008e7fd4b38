// The corners of the overlap of a face with what stands on it. Internal to this room.
#pragma once

#include <limits>

#include "stiction/geometry/contact_pair.h"
#include "stiction/geometry/polytope.h"

namespace stiction {

/// A face of one of two polytopes as a separating plane.
struct ReferenceFace {
  bool is_on_a = true;
  int face = -1;
  double separation = -std::numeric_limits<double>::infinity();  // [m] of the other polytope
};

struct FaceOptions {
  double lowest = -std::numeric_limits<double>::infinity();  // [m] no gaps below
  bool skips_known = false;     // leaves out ids that the pair has already
  bool is_alternative = false;  // sets kAlternativeBit in ids, which name sides by their face
  /// [m] where nothing is over the face: what is this near to being so takes part
  double beside = 0;
};

/// Appends points of the other polytope within reach of the reference face, as points against its
/// plane: corners over the face, crossings of edges with the sides of the face, and points over the
/// corners of the face. All faces that look at the reference face are taken, not only the most
/// parallel one. Ids name pairs vertex–face, edge–edge and face–vertex, whichever of the two
/// polytopes has the reference face.
void append_face_contacts(ContactPair& pair, const ReferenceFace& reference,
                          const FaceOptions& options);

}  // namespace stiction
