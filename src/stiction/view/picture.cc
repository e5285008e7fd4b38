#include "stiction/view/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "stiction/base/diagnostics.h"
#include "stiction/base/error.h"
#include "stiction/model/rigid_body_system.h"

namespace stiction {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using Motion = BodyDescription::Motion;

/// Numbers per frame, link and contact among the outputs of the tape.
constexpr int kFrameValues = 4, kLinkValues = 6, kContactValues = 3;

std::string first_message(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity == Severity::kError)
      return diagnostic.path.empty() ? diagnostic.message
                                     : fmt::format("{}: {}", diagnostic.path, diagnostic.message);
  return "unknown fault";
}

bool is_same(const Shape& a, const Shape& b) {
  if (a.index() != b.index()) return false;
  if (const auto* sphere = std::get_if<Sphere>(&a))
    return sphere->radius == std::get<Sphere>(b).radius;
  if (const auto* capsule = std::get_if<Capsule>(&a))
    return capsule->radius == std::get<Capsule>(b).radius &&
           capsule->length == std::get<Capsule>(b).length;
  if (const auto* box = std::get_if<Box>(&a)) return box->size == std::get<Box>(b).size;
  if (const auto* cylinder = std::get_if<Cylinder>(&a))
    return cylinder->radius == std::get<Cylinder>(b).radius &&
           cylinder->length == std::get<Cylinder>(b).length;
  if (const auto* ellipsoid = std::get_if<Ellipsoid>(&a))
    return ellipsoid->radii == std::get<Ellipsoid>(b).radii;
  if (const auto* convex = std::get_if<Convex>(&a))
    return convex->points == std::get<Convex>(b).points;
  if (const auto* mesh = std::get_if<Mesh>(&a))
    return mesh->triangles == std::get<Mesh>(b).triangles &&
           mesh->vertices == std::get<Mesh>(b).vertices;
  return false;
}

PictureFrame::Kind kind_of(Motion motion) {
  switch (motion) {
    case Motion::kStatic:
      return PictureFrame::Kind::kStatic;
    case Motion::kKinematic:
      return PictureFrame::Kind::kKinematic;
    case Motion::kDynamic:
      break;
  }
  return PictureFrame::Kind::kDynamic;
}

/// A frame of the block "view"; one whose formulas are constants never moves.
PictureFrame make_frame(const ViewFrame& view) {
  PictureFrame frame{.name = view.name, .kind = PictureFrame::Kind::kView};
  const auto is_constant = [](const Expression& e) { return e.is_constant(); };
  if (!std::all_of(view.position.begin(), view.position.end(), is_constant) ||
      !view.angle.is_constant())
    return frame;
  frame.kind = PictureFrame::Kind::kStatic;
  for (int i = 0; i < 3; ++i) frame.position[i] = view.position[i].constant_value();
  frame.orientation = Eigen::AngleAxisd(view.angle.constant_value(), view.axis);
  return frame;
}

void put_pose(const Vector3d& position, const Quaterniond& turn, float* out) {
  for (int i = 0; i < 3; ++i) out[i] = static_cast<float>(position[i]);
  out[3] = static_cast<float>(turn.w());
  out[4] = static_cast<float>(turn.x());
  out[5] = static_cast<float>(turn.y());
  out[6] = static_cast<float>(turn.z());
}

}  // namespace

bool is_drawn(const BodySpringDescription& spring) {
  return spring.kind == BodySpringDescription::Kind::kDistance &&
         (spring.stiffness[0] > 0 || spring.damping[0] > 0);
}

Picture::Picture(const Recording& description, std::span<const std::string> folders) {
  for (const std::string& folder : folders) {
    // The name of the file tells the reader in which folder meshes are.
    Diagnostics diagnostics((std::filesystem::path(folder) / "scene").string());
    // Whatever was decided on the command line, the run began: its start was no fault.
    scene_ = read_scene(description.scene, {}, diagnostics, {.project_start = true});
    if (scene_) break;
    fault_ = first_message(diagnostics);
  }
  if (!scene_) return;
  fault_.clear();
  for (const Model::Part& part : scene_->model.parts())
    if (const auto* system = dynamic_cast<const RigidBodySystem*>(part.system.get()))
      bodies_ = &system->description();
    else
      first_contact_ = part.contact_offset;
  if (bodies_ != nullptr) add_bodies();
  add_view(description);
}

int Picture::add_geometry(PictureGeometry geometry) {
  for (std::size_t i = 0; i < geometries_.size(); ++i)
    if (geometries_[i].kind == geometry.kind && geometries_[i].radius == geometry.radius &&
        geometry.kind == PictureGeometry::Kind::kShape &&
        is_same(geometries_[i].shape, geometry.shape))
      return static_cast<int>(i);
  geometries_.push_back(std::move(geometry));
  return static_cast<int>(geometries_.size()) - 1;
}

void Picture::add_bodies() {
  for (const BodyDescription& body : bodies_->bodies)
    frames_.push_back({.name = body.name,
                       .kind = kind_of(body.motion),
                       .pose = body.motion == Motion::kStatic ? -1 : num_poses_++,
                       .position = body.position,
                       .orientation = body.orientation.normalized(),
                       .mass = body.motion == Motion::kDynamic ? body.mass : 0});
  num_bodies_moving_ = num_poses_;
  materials_.resize(frames_.size());
  const SceneView& view = scene_->view;
  for (std::size_t i = 0; i < bodies_->shapes.size(); ++i) {
    const BodyShapeDescription& shape = bodies_->shapes[i];
    if (shape.body < 0) continue;
    shapes_.push_back({.frame = shape.body,
                       .geometry = add_geometry({.shape = shape.shape}),
                       .pose = shape.frame,
                       .color = i < view.colors.size() ? view.colors[i] : std::string()});
    auto& known = materials_[shape.body];
    if (std::find(known.begin(), known.end(), shape.material) == known.end())
      known.push_back(shape.material);
  }
  for (const BodyViewShape& shape : view.body_shapes)
    shapes_.push_back({.frame = shape.body,
                       .geometry = add_geometry({.shape = shape.shape.shape}),
                       .pose = shape.shape.pose,
                       .color = shape.shape.color,
                       .touches = false});
  add_sticks();
}

/// Bodies without shapes, as drawings of mechanisms show them: sticks between the points where
/// joints and springs hold them, or from the only such point to the centre of mass.
void Picture::add_sticks() {
  std::vector<std::vector<Vector3d>> points(bodies_->bodies.size());
  const auto add = [&](const std::array<int, 2>& bodies, const std::array<Pose, 2>& frames) {
    for (const std::size_t side : {0, 1})
      if (bodies[side] >= 0)
        points[static_cast<std::size_t>(bodies[side])].push_back(frames[side].position);
  };
  for (const JointDescription& joint : bodies_->joints) add(joint.bodies, joint.frames);
  for (const BodySpringDescription& spring : bodies_->springs)
    if (is_drawn(spring)) add(spring.bodies, spring.frames);
  for (const PictureShape& shape : shapes_) points[static_cast<std::size_t>(shape.frame)].clear();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].empty()) continue;
    points[i].push_back(bodies_->bodies[i].center_of_mass);
    double longest = 0;
    for (const Vector3d& point : points[i])
      longest = std::max(longest, (point - points[i][0]).norm());
    if (longest == 0) continue;
    for (const Vector3d& point : points[i]) {
      const Vector3d along = point - points[i][0];
      const Quaterniond turn = Quaterniond::FromTwoVectors(Vector3d::UnitZ(), along);
      if (along.norm() > 0)
        shapes_.push_back(
            {.frame = static_cast<int>(i),
             .geometry = add_geometry({.shape = Capsule{0.03 * longest, along.norm()}}),
             .pose = {points[i][0] + 0.5 * along, turn.toRotationMatrix()},
             .touches = false});
    }
  }
}

void Picture::add_view(const Recording& description) {
  const SceneView& view = scene_->view;
  if (view.follow >= 0) followed_ = static_cast<int>(frames_.size()) + view.follow;
  std::vector<Expression> outputs;
  const auto put = [&](const std::array<Expression, 3>& place) {
    outputs.insert(outputs.end(), place.begin(), place.end());
  };
  for (const ViewFrame& frame : view.frames) {
    put(frame.position);
    outputs.push_back(frame.angle);
    const int index = static_cast<int>(frames_.size());
    frames_.push_back(make_frame(frame));
    view_moves_.push_back(frames_.back().kind == PictureFrame::Kind::kView);
    if (view_moves_.back()) frames_.back().pose = num_poses_++;
    for (const ViewShape& shape : frame.shapes)
      shapes_.push_back({.frame = index,
                         .geometry = add_geometry({.shape = shape.shape}),
                         .pose = shape.pose,
                         .color = shape.color,
                         .touches = false});
  }
  for (const ViewLink& link : view.links) {
    put(link.from);
    put(link.to);
    const auto kind = link.is_spring ? PictureGeometry::Kind::kSpring : PictureGeometry::Kind::kRod;
    shapes_.push_back({.frame = static_cast<int>(frames_.size()),
                       .geometry = add_geometry({.kind = kind, .radius = link.radius}),
                       .color = link.color,
                       .touches = false});
    frames_.push_back({.name = link.name,
                       .kind = PictureFrame::Kind::kLink,
                       .pose = num_poses_++,
                       .link = num_links_++});
  }
  for (const ViewContact& contact : view.contacts) put(contact.position);
  first_coordinate_ = description.q_names.size() - view.coordinates.size();
  if (outputs.empty()) return;
  std::vector<Expression> inputs;
  for (const std::string& name : view.coordinates)
    inputs.push_back(Expression::symbol(view.pool, name));
  inputs.push_back(Expression::symbol(view.pool, "t"));
  tape_ = Tape(outputs, inputs);
}

Vector3d Picture::up() const {
  if (!scene_) return Vector3d::UnitZ();
  const Vector3d& up = scene_->view.up;
  if (up != Vector3d::UnitZ() || bodies_ == nullptr || bodies_->gravity.norm() == 0) return up;
  // A slope is often written as gravity that leans: shown as it would be built.
  return -bodies_->gravity.normalized();
}

std::vector<double> Picture::evaluate_view(double t, std::span<const double> q) const {
  std::vector<double> outputs(static_cast<std::size_t>(tape_.num_outputs()));
  if (outputs.empty()) return outputs;
  std::vector<double> inputs(q.begin() + static_cast<std::ptrdiff_t>(first_coordinate_), q.end());
  inputs.push_back(t);
  tape_.evaluate(inputs, outputs.data());
  return outputs;
}

void Picture::place(double t, std::span<const double> q, float* poses, float* lengths) const {
  for (int i = 0; i < 7 * num_bodies_moving_; ++i) poses[i] = static_cast<float>(q[i]);
  if (!scene_) return;
  const std::vector<double> values = evaluate_view(t, q);
  const double* next = values.data();
  float* pose = poses + std::ptrdiff_t{7} * num_bodies_moving_;
  for (std::size_t i = 0; i < view_moves_.size(); ++i, next += kFrameValues) {
    if (!view_moves_[i]) continue;
    const Vector3d& axis = scene_->view.frames[i].axis;
    put_pose({next[0], next[1], next[2]}, Quaterniond(Eigen::AngleAxisd(next[3], axis)), pose);
    pose += 7;
  }
  for (std::size_t i = 0; i < scene_->view.links.size(); ++i) {
    const Vector3d from(next[0], next[1], next[2]), to(next[3], next[4], next[5]);
    const Vector3d along = to - from;
    put_pose(0.5 * (from + to), Quaterniond::FromTwoVectors(Vector3d::UnitZ(), along), pose);
    *lengths++ = static_cast<float>(along.norm());
    next += kLinkValues;
    pose += 7;
  }
}

std::optional<ContactPlace> Picture::place_contact(double t, std::span<const double> q,
                                                   int contact) const {
  if (!scene_) return std::nullopt;
  const SceneView& view = scene_->view;
  const auto found =
      std::find_if(view.contacts.begin(), view.contacts.end(),
                   [&](const ViewContact& c) { return c.contact + first_contact_ == contact; });
  if (found == view.contacts.end()) return std::nullopt;
  const std::vector<double> values = evaluate_view(t, q);
  const double* at = values.data() + view.frames.size() * kFrameValues +
                     view.links.size() * kLinkValues +
                     (found - view.contacts.begin()) * kContactValues;
  return ContactPlace{{at[0], at[1], at[2]}, found->normal, found->tangents[0], found->tangents[1]};
}

double Picture::friction_of(int a, int b, double normal_impulse, double friction_impulse) const {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const int num_bodies = static_cast<int>(materials_.size());
  if (bodies_ == nullptr || a < 0 || b < 0 || a >= num_bodies || b >= num_bodies) return unknown;
  const auto& all = bodies_->materials;
  double best = unknown;
  for (const int of_a : materials_[a])
    for (const int of_b : materials_[b]) {
      double mu = 0;
      if (of_a != kNoMaterial && of_b != kNoMaterial)
        mu = std::sqrt(all[of_a].mu * all[of_b].mu);
      else if (of_a != kNoMaterial || of_b != kNoMaterial)
        mu = all[std::max(of_a, of_b)].mu;
      for (const MaterialPairDescription& pair : bodies_->material_pairs)
        if (std::minmax(pair.materials[0], pair.materials[1]) == std::minmax(of_a, of_b))
          mu = pair.law.mu;
      constexpr double kRounding = 1e-6;
      const bool allows = friction_impulse <= mu * normal_impulse * (1 + kRounding) + 1e-300;
      if (allows && !(mu > best)) best = mu;
    }
  return best;
}

/// As RigidBodySystem: the axis that both bodies cannot move along; −1 if there is none.
int Picture::find_plane_of(int a, int b) const {
  for (int axis = 0; axis < 3; ++axis) {
    const auto is_planar = [&](int body) {
      if (body < 0 || bodies_->bodies[body].motion == Motion::kStatic) return true;
      const auto& free = bodies_->bodies[body].free_axes;
      return bodies_->bodies[body].motion == Motion::kDynamic && !free[axis] &&
             !free[3 + (axis + 1) % 3] && !free[3 + (axis + 2) % 3];
    };
    if (is_planar(a) && is_planar(b)) return axis;
  }
  return -1;
}

/// The frame of a contact follows from its normal (conventions.md): t₁ = n × e_z, t₂ = t₁ × n; in
/// the plane the one tangent that lies in it.
std::array<Vector3d, 2> Picture::tangents_of(int a, int b, const Vector3d& normal) const {
  constexpr double kInPlane = 1e-9, kUpright = 1e-9;
  const int axis = bodies_ != nullptr ? find_plane_of(a, b) : -1;
  if (axis >= 0 && std::abs(normal[axis]) < kInPlane)
    return {Vector3d::Unit(axis).cross(normal).normalized(), Vector3d::Zero()};
  const Vector3d across = normal.cross(Vector3d::UnitZ());
  if (across.norm() > kUpright) {
    const Vector3d first = across.normalized();
    return {first, first.cross(normal)};
  }
  const Vector3d first = normal.cross(-Vector3d::UnitY()).normalized();
  return {first, normal.cross(first)};
}

}  // namespace stiction
