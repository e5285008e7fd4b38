#include "stiction/geometry/mass_properties.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "stiction/base/check.h"
#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/geometry/convex_hull.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using std::numbers::pi;

constexpr double kRelativeTolerance = 1e-9;

/// From ∫ x xᵀ dm to ∫ (‖x‖² 1 − x xᵀ) dm.
Matrix3d inertia_of(const Matrix3d& second_moment) {
  return second_moment.trace() * Matrix3d::Identity() - second_moment;
}

MassProperties about_origin(double mass, const Vector3d& principal_moments) {
  return {.mass = mass, .inertia = principal_moments.asDiagonal()};
}

// -------------------------------------------------------------------------------------------------
// Closed forms

MassProperties compute(const Ellipsoid& ellipsoid, double density) {
  const Vector3d squares = ellipsoid.radii.cwiseAbs2();
  const double mass = density * 4 * pi / 3 * ellipsoid.radii.prod();
  return about_origin(mass, mass / 5 * (Vector3d::Constant(squares.sum()) - squares));
}

MassProperties compute(const Sphere& sphere, double density) {
  return compute(Ellipsoid{.radii = Vector3d::Constant(sphere.radius)}, density);
}

MassProperties compute(const Box& box, double density) {
  const Vector3d squares = box.size.cwiseAbs2();
  const double mass = density * box.size.prod();
  return about_origin(mass, mass / 12 * (Vector3d::Constant(squares.sum()) - squares));
}

MassProperties compute(const Cylinder& cylinder, double density) {
  const double r = cylinder.radius;
  const double l = cylinder.length;
  const double mass = density * pi * r * r * l;
  const double across = mass * (r * r / 4 + l * l / 12);
  return about_origin(mass, {across, across, mass * r * r / 2});
}

/// A cylinder and two half balls. A half ball has its centre of mass 3r/8 from its flat side, which
/// lies l/2 from the middle; moved there, 2/5 r² becomes 2/5 r² + l²/4 + 3/8 l r.
MassProperties compute(const Capsule& capsule, double density) {
  const double r = capsule.radius;
  const double l = capsule.length;
  const double cylinder = density * pi * r * r * l;
  const double ball = density * 4 * pi / 3 * r * r * r;
  const double across =
      cylinder * (r * r / 4 + l * l / 12) + ball * (2 * r * r / 5 + l * l / 4 + 3 * l * r / 8);
  return about_origin(cylinder + ball, {across, across, (cylinder / 2 + ball * 2 / 5) * r * r});
}

// -------------------------------------------------------------------------------------------------
// Polyhedra

/// Integrals over the inside of a closed mesh, for x = (place − origin)/2^exponent: of order 1
/// whatever the unit of length, and exact scaling back.
struct PolyhedronMoments {
  Vector3d origin = Vector3d::Zero();  // [m] middle of the bounding box
  int exponent = 0;                    // its longest half edge is 1 to 2 times 2^exponent
  double area = 0;
  double volume = 0;                   // ∫ dx, negative if the mesh is inside out
  Vector3d first = Vector3d::Zero();   // ∫ x dx
  Matrix3d second = Matrix3d::Zero();  // ∫ x xᵀ dx
};

PolyhedronMoments make_frame(std::span<const Vector3d> vertices,
                             std::span<const Triangle> triangles) {
  Vector3d low = vertices[triangles[0][0]];
  Vector3d high = low;
  for (const Triangle& triangle : triangles) {
    for (const int index : triangle) {
      low = low.cwiseMin(vertices[index]);
      high = high.cwiseMax(vertices[index]);
    }
  }
  const double reach = (high / 2 - low / 2).maxCoeff();
  // With an origin far outside, large tetrahedra would cancel and take the digits with them.
  return {.origin = low / 2 + high / 2, .exponent = reach > 0 ? std::ilogb(reach) : 0};
}

PolyhedronMoments compute_moments(std::span<const Vector3d> vertices,
                                  std::span<const Triangle> triangles) {
  PolyhedronMoments moments = make_frame(vertices, triangles);
  const auto local = [&](int index) -> Vector3d {
    return (vertices[index] - moments.origin).unaryExpr([&](double coordinate) {
      return std::scalbn(coordinate, -moments.exponent);
    });
  };
  for (const Triangle& triangle : triangles) {
    const Vector3d a = local(triangle[0]);
    const Vector3d b = local(triangle[1]);
    const Vector3d c = local(triangle[2]);
    const Vector3d s = a + b + c;
    const double volume = a.dot(b.cross(c)) / 6;
    moments.area += (b - a).cross(c - a).norm() / 2;
    moments.volume += volume;
    moments.first += volume / 4 * s;
    moments.second +=
        volume / 20 *
        (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  return moments;
}

MassProperties make_properties(const PolyhedronMoments& moments, double density) {
  const double unit = std::scalbn(1.0, moments.exponent);  // [m]
  const double mass = density * (unit * unit * unit) * moments.volume;
  const Vector3d center = moments.first / moments.volume;
  const Matrix3d central = moments.second / moments.volume - center * center.transpose();
  return {.mass = mass,
          .center = moments.origin + unit * center,
          .inertia = mass * (unit * unit) * inertia_of(central)};
}

/// 3 V/A is a thickness: the radius for a sphere, 3/2 times the thickness for a thin plate.
std::string find_volume_fault(const PolyhedronMoments& moments) {
  if (std::abs(moments.volume) * 3 <= kFlatness * moments.area) {
    return "mesh encloses no volume: all its triangles lie on each other or in one plane";
  }
  if (moments.volume > 0) return {};
  return "mesh is inside out, expected triangles counterclockwise seen from outside";
}

std::string find_mesh_fault(const Mesh& mesh) {
  const std::string fault = find_closure_fault(mesh);
  return fault.empty() ? find_volume_fault(compute_moments(mesh.vertices, mesh.triangles)) : fault;
}

MassProperties compute(const Convex& convex, double density) {
  const auto triangles = compute_convex_hull(convex.points);
  ST_DEMAND(triangles.has_value());  // find_fault has seen the points
  return make_properties(compute_moments(convex.points, *triangles), density);
}

std::optional<MassProperties> compute(const Mesh& mesh, double density) {
  if (!find_mesh_fault(mesh).empty()) return std::nullopt;
  return make_properties(compute_moments(mesh.vertices, mesh.triangles), density);
}

std::optional<MassProperties> compute(const Plane&, double) { return std::nullopt; }

std::optional<MassProperties> compute(const HeightField&, double) { return std::nullopt; }

// -------------------------------------------------------------------------------------------------
// Checks

void check_positive(std::string_view what, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw InputError(fmt::format("{} is {}, expected a finite number > 0", what, to_text(value)));
}

/// Sizes are finite and positive here, so that only their powers can leave the range of doubles.
void check_range(const MassProperties& properties, const Shape& shape) {
  const double smallest = properties.inertia.diagonal().minCoeff();
  const bool is_finite = std::isfinite(properties.mass) && properties.center.allFinite() &&
                         properties.inertia.allFinite();
  if (is_finite && properties.mass > 0 && smallest > 0) return;
  throw InputError(
      fmt::format("{} has mass {} and smallest moment of inertia {}, expected sizes that keep both "
                  "finite and > 0",
                  name_of(shape), to_text(properties.mass), to_text(smallest)));
}

}  // namespace

std::string find_mass_fault(const Shape& shape) {
  if (std::holds_alternative<Plane>(shape) || std::holds_alternative<HeightField>(shape)) {
    return fmt::format("{} is unbounded, expected a shape with a volume", name_of(shape));
  }
  if (const Mesh* mesh = std::get_if<Mesh>(&shape)) return find_mesh_fault(*mesh);
  return {};
}

std::optional<MassProperties> compute_mass_properties(const Shape& shape, double density) {
  check_positive("density", density);
  const std::string fault = find_fault(shape);
  if (!fault.empty()) throw InputError(fault);
  auto properties = std::visit(
      [density](const auto& kind) -> std::optional<MassProperties> {
        return compute(kind, density);
      },
      shape);
  if (properties) check_range(*properties, shape);
  return properties;
}

MassProperties transformed(const MassProperties& properties, const Matrix3d& R_GF,
                           const Vector3d& p_GF) {
  const double defect = (R_GF.transpose() * R_GF - Matrix3d::Identity()).norm();
  if (!(defect <= kRelativeTolerance) || R_GF.determinant() < 0) {
    throw InputError(
        fmt::format("R_GF has determinant {} and misses orthogonality by {}, expected a rotation",
                    to_text(R_GF.determinant()), to_text(defect)));
  }
  const Matrix3d turned = R_GF * properties.inertia * R_GF.transpose();
  return {.mass = properties.mass,
          .center = R_GF * properties.center + p_GF,
          .inertia = (turned + turned.transpose()) / 2};
}

MassProperties combined(std::span<const MassProperties> parts) {
  if (parts.empty()) throw InputError("combined got 0 parts, expected at least 1");
  // Relative to the first centre, so that a body far from the origin keeps its digits.
  const Vector3d origin = parts.front().center;
  MassProperties whole;
  Vector3d moment = Vector3d::Zero();
  for (const MassProperties& part : parts) {
    whole.mass += part.mass;
    moment += part.mass * (part.center - origin);
  }
  check_positive("mass of all parts", whole.mass);
  whole.center = origin + moment / whole.mass;
  for (const MassProperties& part : parts) {
    const Vector3d d = part.center - whole.center;
    whole.inertia += part.inertia + part.mass * inertia_of(d * d.transpose());  // Steiner
  }
  return whole;
}

MassProperties scaled_to_mass(const MassProperties& properties, double mass) {
  check_positive("mass", mass);
  check_positive("mass before scaling", properties.mass);
  return {.mass = mass,
          .center = properties.center,
          .inertia = properties.inertia * (mass / properties.mass)};
}

std::string find_inertia_fault(const Matrix3d& inertia) {
  if (!inertia.allFinite()) return "inertia has entries that are not finite";
  const double largest = inertia.cwiseAbs().maxCoeff();
  const double asymmetry = (inertia - inertia.transpose()).cwiseAbs().maxCoeff();
  if (asymmetry > kRelativeTolerance * largest) {
    return fmt::format("inertia is not symmetric: entries across the diagonal differ by {}",
                       to_text(asymmetry));
  }
  const Matrix3d symmetric = (inertia + inertia.transpose()) / 2;
  const Vector3d moments =  // in increasing order
      Eigen::SelfAdjointEigenSolver<Matrix3d>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
  const std::string text = fmt::format("principal moments {}, {}, {}", to_text(moments[0]),
                                       to_text(moments[1]), to_text(moments[2]));
  if (!(moments[0] > 0)) {
    return fmt::format("inertia is not positive definite: {}, expected all > 0", text);
  }
  if (moments[2] - moments[1] - moments[0] > kRelativeTolerance * moments[2]) {
    return fmt::format(
        "inertia belongs to no rigid body: {}, expected none larger than the sum of the other two",
        text);
  }
  return {};
}

}  // namespace stiction
