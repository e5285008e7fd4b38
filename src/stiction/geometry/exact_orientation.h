// On which side of a plane through three points does a fourth one lie? Answered exactly: the
// decision, not only a number near it. With rounded answers a hull may contradict itself (a point
// above two neighbouring faces and below the one between them) and end up with holes.
#pragma once

#include <Eigen/Core>

namespace stiction {

/// The sign of det[b − a, c − a, d − a]: +1 if d lies on the side from which a, b, c are seen
/// counterclockwise, −1 on the other side, 0 if the four lie in one plane. Exact for coordinates
/// that are 0 or between 2⁻²⁵⁰ and 2²⁵⁰ in magnitude, so that no product of three overflows or
/// loses bits below the smallest number. Does not allocate.
int compute_orientation(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                        const Eigen::Vector3d& c, const Eigen::Vector3d& d);

}  // namespace stiction
