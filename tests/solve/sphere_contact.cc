#include "tests/solve/sphere_contact.h"

#include <Eigen/Geometry>
#include <cstdint>

namespace stiction::testing {

void add_sphere_contact(StepProblem& problem, const SphereContact& contact) {
  Eigen::Matrix3d frame;  // rows: normal, tangents
  frame.row(0) = contact.normal;
  frame.row(1) = contact.normal.unitOrthogonal();
  frame.row(2) = contact.normal.cross(frame.row(1).transpose());
  problem.add_contact({.num_tangents = 2,
                       .mu = contact.mu,
                       .section = contact.section,
                       .key = static_cast<std::uint64_t>(problem.num_contacts())});
  const auto append = [&](int sphere, double sign) {
    const Eigen::Vector3d arm = -sign * contact.radius * contact.normal;
    RowMatrixMap piece = problem.contacts.add_entry(sphere, 6);
    for (int i = 0; i < 3; ++i) {
      const Eigen::Vector3d axis = frame.row(i);
      piece.row(i) << sign * axis.transpose(), sign * arm.cross(axis).transpose();
    }
  };
  append(contact.upper, 1);
  if (contact.lower >= 0) append(contact.lower, -1);
}

}  // namespace stiction::testing
