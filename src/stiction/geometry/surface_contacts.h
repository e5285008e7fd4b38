// Contacts of a convex shape with a triangulated surface (mesh or height field), free of artefacts
// of the triangulation.
//
// Normals are those of true features. Triangles in one plane are one face; an edge or vertex pushes
// only along directions n for which it is a local maximum of n·x over the surface (its normal
// cone), so that flat and concave edges never push: there only the faces do. Every true feature
// gives its candidates once, whichever of its triangles is found. Faces that the centre of the
// shape sees from behind do not push: a convex shape that touches a face is all in front of it.
//
// Closed parts of meshes are solid on the side their triangles are clockwise from (a mesh that is
// inside out is a room); open parts are sheets with two sides, of which the one counts from which
// the centre of the shape sees the nearest triangle; height fields are solid below, and outside of
// their rectangle there is nothing. A shape whose centre is inside a solid is pushed out through
// the nearest part of the surface.
//
// Refused: pairs of two surfaces have no contacts.
#pragma once

#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/pose.h"

namespace stiction {

class CollisionShape;

/// Appends the candidates of a convex shape or half-space `a` against `surface`, a mesh or height
/// field; normals point from the surface to `a`. One group of one patch for each touched feature
/// (face, edge, vertex) of the surface: all of them must hold. Appends nothing if `a` is not convex
/// or `surface` is not a surface. Does not allocate once the storage has grown.
void collect_surface_contacts(const CollisionShape& a, const Pose& pose_a,
                              const CollisionShape& surface, const Pose& pose_surface,
                              const ContactOptions& options, ContactWorkspace& workspace,
                              ContactList& out);

}  // namespace stiction
