// A recording as VTK files for ParaView: collections of bodies and of contacts over time.
#pragma once

#include <string>

#include "stiction/view/viewed_recording.h"

namespace stiction {

/// Writes into `folder`, which is made if need be: bodies.pvd and contacts.pvd, and beside them a
/// .vtp file for every row that is shown. Bodies are triangles with the number of their frame;
/// contacts are points with normal and friction impulse, force, status, gap, slip and μ. Throws
/// IoError, and InputError if the scene cannot be read.
void write_vtk(const ViewedRecording& recording, const std::string& folder);

}  // namespace stiction
