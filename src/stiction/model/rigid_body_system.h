// Rigid bodies in space with joints, motors, springs and shapes that touch.
//
// A body's velocity is (world velocity of its centre of mass, body angular velocity), so that its
// mass block is constant; of locked axes there are no columns. Its configuration is the centre of
// mass and a unit quaternion, w first. Behind the bodies the configuration holds the angles of
// joints without jumps: they follow from the poses but for whole turns.
//
//   q = (x, y, z, qw, qx, qy, qz per moving body; angles),   v = (free axes per moving body)
//
// Static and kinematic bodies have no coordinates; what a kinematic one does is drift.
#pragma once

#include <array>
#include <vector>

#include "stiction/model/rigid_body_description.h"
#include "stiction/model/surfaces.h"
#include "stiction/model/system.h"
#include "stiction/model/tape.h"

namespace stiction {

class PoseCache;

/// Formulas in t alone, with their derivatives.
class TimeFunctions {
 public:
  TimeFunctions() = default;
  /// Throws InputError if a formula uses another symbol than t.
  explicit TimeFunctions(std::span<const Expression> functions);
  /// Values, then derivatives.
  void evaluate(double t, double* values_and_rates) const;
  bool is_constant() const { return tape_.is_constant(); }

 private:
  Tape tape_;
};

class RigidBodySystem final : public System, public Surfaces {
 public:
  /// Throws InputError with all of find_body_faults(description).
  explicit RigidBodySystem(RigidBodyDescription description);

  const RigidBodyDescription& description() const { return description_; }
  /// The same system but for one spring between two points, which gets other ends or another
  /// strength; it has as many rows as before. Shapes are shared, the rest is copied. Throws
  /// InputError if there is no such spring or the new one cannot take its place.
  std::shared_ptr<const RigidBodySystem> with_spring(int spring,
                                                     const BodySpringDescription& changed) const;
  /// The start that the description gives.
  VectorXd initial_q() const;
  VectorXd initial_v() const;

  /// Pose of a body's centre of mass; kWorld is at the origin.
  Pose pose_of(double t, const ConstVectorRef& q, int body) const;
  /// The same, for those who read it at once.
  void place_body(double t, const ConstVectorRef& q, int body, Pose& pose) const;
  /// World velocity of the centre of mass and body angular velocity.
  Vector6d velocity_of(double t, const ConstVectorRef& v, int body) const;
  /// A coordinate of a joint, angles without jumps.
  double joint_coordinate(double t, const ConstVectorRef& q, int joint,
                          JointCoordinate coordinate) const;

  /// What acts on a body: a force at a point of its frame, and a torque; in world axes.
  struct Wrench {
    Eigen::Vector3d force = Eigen::Vector3d::Zero();   // [N]
    Eigen::Vector3d torque = Eigen::Vector3d::Zero();  // [N m]
    Eigen::Vector3d point = Eigen::Vector3d::Zero();   // [m] in the body's frame
  };
  /// Adds the generalised force of a wrench; nothing where the body has no coordinates.
  void add_wrench(double t, const ConstVectorRef& q, int body, const Wrench& wrench,
                  VectorRef force) const;
  /// The same for an effort [N m, N] along a coordinate of a joint, with its reaction on the first
  /// body.
  void add_joint_effort(double t, const ConstVectorRef& q, int joint, JointCoordinate coordinate,
                        double effort, VectorRef force) const;

  /// What a joint's rows exert on each of its two bodies: force, and torque about the origin of the
  /// joint's frame in that body, in that body's axes. Motors, friction and limits are not in it.
  struct Reaction {
    std::array<Eigen::Vector3d, 2> force, torque;
  };
  /// For the impulses or forces of all joint rows.
  Reaction evaluate_reaction(double t, const ConstVectorRef& q, const ConstVectorRef& joint_rows,
                             int joint) const;
  void evaluate_reactions(double t, const ConstVectorRef& q, const ConstVectorRef& joint_rows,
                          std::vector<Reaction>& reactions) const;
  /// "hinge.a.fx" … "hinge.b.tz": twelve per joint.
  std::vector<std::string> reaction_names() const override;
  int num_reactions() const override { return 12 * static_cast<int>(joints_.size()); }
  void evaluate_reactions(double t, const ConstVectorRef& q, const ConstVectorRef& joint_rows,
                          VectorRef reactions) const override;
  /// First constraint row of a joint.
  int constraint_start(int joint) const { return joints_[joint].constraint_start; }

  std::string name_of_velocity(int i) const override;
  std::vector<std::string> recorded_q_names() const override;
  std::vector<std::string> recorded_v_names() const override;
  int num_recorded_q() const override { return 7 * num_recorded_ + num_angles_; }
  int num_recorded_v() const override { return 6 * num_recorded_; }
  void record(double t, const ConstVectorRef& q, const ConstVectorRef& v, VectorRef recorded_q,
              VectorRef recorded_v) const override;
  void restore(const ConstVectorRef& recorded_q, const ConstVectorRef& recorded_v, VectorRef q,
               VectorRef v) const override;
  /// Bodies that do not move by themselves are where they are. A velocity along a locked axis is
  /// refused, quaternions get their length.
  void adopt_recorded(double t, const ConstVectorRef& recorded_q, const ConstVectorRef& recorded_v,
                      VectorRef q, VectorRef v) const override;
  void displace(const ConstVectorRef& q, const ConstVectorRef& v, double h, VectorRef out,
                WorkerPool* workers) const override;
  void displacement(const ConstVectorRef& from, const ConstVectorRef& to,
                    VectorRef out) const override;
  void measure_coordinates(const ConstVectorRef& q, VectorRef sizes) const override;

  void evaluate_block_mass(double t, const ConstVectorRef& q, int block,
                           RowMatrixRef mass) const override;
  void evaluate_masses(double t, const ConstVectorRef& q, std::span<double> masses,
                       WorkerPool* workers) const override;
  double evaluate_kinetic_energy(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                 std::vector<double>& scratch) const override;
  void evaluate_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                      VectorRef force) const override;
  void evaluate_applied_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                              VectorRef force) const override;
  double evaluate_potential(double t, const ConstVectorRef& q) const override;
  void evaluate_block_jacobians(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                int block, RowMatrixRef k_q, RowMatrixRef k_v) const override;
  bool has_exact_force_jacobians() const override { return true; }
  void evaluate_block_gyroscopic(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                 int block, RowMatrixRef gyroscopic) const override;

  void add_gyroscopic(double t, const ConstVectorRef& q, const ConstVectorRef& v, double factor,
                      std::span<double> masses, VectorRef momentum,
                      std::vector<double>& scratch) const override;

  void evaluate_constraints(double t, const ConstVectorRef& q, VectorRef theta) const override;
  void append_constraint_rows(double t, const ConstVectorRef& q, int first_block,
                              RowSet& out) const override;
  void append_constraints(double t, const ConstVectorRef& q, int first_block, RowSet& out,
                          VectorRef theta) const override;
  void append_velocity_rows(double t, const ConstVectorRef& q, int first_block,
                            RowSet& out) const override;
  void evaluate_springs(double t, const ConstVectorRef& q, VectorRef extension) const override;
  void append_spring_rows(double t, const ConstVectorRef& q, int first_block,
                          RowSet& out) const override;
  void evaluate_gaps(double t, const ConstVectorRef& q, VectorRef gaps) const override;
  void append_contact_rows(double t, const ConstVectorRef& q, int index, int first_block,
                           RowSet& out) const override;
  ContactPlace locate_contact(double t, const ConstVectorRef& q, int index) const override;
  void append_mean_constraint_rows(double t, double h, const ConstVectorRef& q,
                                   const ConstVectorRef& v, const ConstVectorRef& change,
                                   int first_block, RowSet& out) const override;
  void add_joint_stiffness(double t, const ConstVectorRef& q, std::span<const double> joint_forces,
                           const TurningSum& sum) const override;
  void append_turning_rows(double t, const ConstVectorRef& q, std::span<const double> joint_forces,
                           int first_block, TurningRows& out) const override;

  const Surfaces* surfaces() const override { return objects_.empty() ? nullptr : this; }
  std::string name_of_object(int object) const override;
  int block_of_object(int object) const override { return touchings_[object].block; }
  Pose place_object(double t, const ConstVectorRef& q, int object) const override {
    return place_shape(pose_of(t, q, objects_[object].body), shapes_[object]);
  }
  Pose place_carrier(double t, const ConstVectorRef& q, int object) const override {
    return pose_of(t, q, objects_[object].body);
  }
  void place_both(double t, const ConstVectorRef& q, int object, Pose& carrier,
                  Pose& shape) const override {
    place_body(t, q, objects_[object].body, carrier);
    shape = place_shape(carrier, shapes_[object]);
  }
  void place_objects(double t, const ConstVectorRef& q, std::span<Pose> poses,
                     WorkerPool* workers) const override;
  void bound_motion(double t, const ConstVectorRef& q, const ConstVectorRef& v, double h,
                    std::span<double> distances, WorkerPool* workers) const override;
  void bound_displacement(double t_from, const ConstVectorRef& from, double t_to,
                          const ConstVectorRef& to, std::span<double> distances,
                          WorkerPool* workers) const override;
  std::vector<const ContactInfo*> laws() const override;
  const ContactInfo& law_of(int a, int b, const Eigen::Vector3d& normal) const override;
  void append_touch_rows(double t, const std::array<const Pose*, 2>& carriers,
                         const TouchingPair& pair, int num_tangents, int first_block,
                         RowSet& out) const override;
  std::array<Eigen::Vector3d, 2> tangents_of(const TouchingPair& pair,
                                             int num_tangents) const override;
  void add_touch_stiffness(double t, const ConstVectorRef& q, const TouchingPair& pair,
                           std::span<const double> force, const TurningSum& sum) const override;

 private:
  /// What every step reads comes first: many bodies are more than a cache holds.
  struct Body {
    double mass = 0;
    Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // about the centre of mass
    int block = -1;                                     // −1: has no coordinates
    int q_offset = 0, v_offset = 0;
    int num_dofs = 0, num_linear = 0, num_angular = 0;
    std::array<int, 3> linear{};  // the free world axes
    int mass_start = 0;           // of its block among the mass matrices
    int motion = -1;              // of a kinematic body, into motions_
    int recorded = -1;            // place among the bodies of a recording
    unsigned planar_axes = 0;     // find_planar_axes
    Eigen::Vector3d inverse_inertia = Eigen::Vector3d::Zero();  // 1/I_ii, of free rotations
    Eigen::Vector3d axis = Eigen::Vector3d::Zero();    // the one free rotation, in the body's frame
    Eigen::Vector3d center = Eigen::Vector3d::Zero();  // of mass, in the body's frame
    Pose start{};                                      // of the centre of mass
  };
  struct Joint {
    JointGeometry geometry{};
    std::array<int, 2> bodies{};
    int constraint_start = 0;
    int velocity_row_start = 0;        // among velocity rows
    std::array<int, 2> angle{-1, -1};  // place in q of its angles without jumps
  };
  /// A row on one coordinate of a joint: a motor, friction, a limit.
  struct CoordinateRow {
    int joint = 0;
    JointCoordinate coordinate = JointCoordinate::kAngle;
    int target = -1;   // into targets_
    double sign = 1;   // of a limit: +1 lower, −1 upper
    double bound = 0;  // of a limit
  };
  struct Coupling {
    std::array<CouplingDescription::Side, 2> sides{};
    double offset = 0;  // Σ factor x at the start
  };
  struct Spring {
    BodySpringDescription::Kind kind = BodySpringDescription::Kind::kDistance;
    JointGeometry geometry{};
    std::array<int, 2> bodies{};
    double rest = 0;
    int joint = 0;
    JointCoordinate coordinate = JointCoordinate::kAngle;
    int num_rows = 1;
  };
  struct Force {
    int body = 0;
    Eigen::Vector3d arm = Eigen::Vector3d::Zero();  // from the centre of mass, body's frame
    bool is_body_fixed = false;
    TimeFunctions functions;  // force, torque
  };
  struct BodyShape {
    Pose frame{};                                                // from the centre of mass
    bool is_centered = false;                                    // that frame is the body's own
    double radius = 0;                                           // about it; 0 if unbounded
    int material = 0;                                            // its kind; 0 is none
    Eigen::Vector3d surface_velocity = Eigen::Vector3d::Zero();  // from the centre of mass
    bool has_belt = false;
  };
  static constexpr unsigned kAllAxes = 7;
  /// What every contact asks of a shape and of the body that carries it, in a few bytes: what it is
  /// taken from is more than a cache holds of thousands of bodies.
  struct Touching {
    int block = -1;         // of the body
    int material = 0;       // its kind
    bool is_simple = true;  // the body has all six coordinates, or none and rests
    bool has_belt = false;
    unsigned char planar_axes = kAllAxes;  // find_planar_axes
  };
  static Pose place_shape(const Pose& carrier, const BodyShape& shape) {
    return shape.is_centered ? carrier : carrier * shape.frame;
  }
  /// One body's share of a row.
  struct Share {
    int body = kWorld;
    Vector6d row = Vector6d::Zero();
  };

  // Building, rigid_body_building.cc
  void add_bodies();
  void add_joints();
  void add_joint_rows(int joint);
  void add_couplings();
  void add_springs();
  void add_forces();
  void add_shapes();
  void add_laws();
  void list_untouched_bodies();
  static unsigned find_planar_axes(const BodyDescription& body);
  BodyDescription::Motion motion_of(int body) const;
  Pose from_center(int body, const Pose& in_body_frame) const;
  int add_target(const Expression& value);
  void set_coupling_offsets();

  // Bodies
  void add_six(int body, const Vector6d& six, VectorRef force) const;
  template <class Six>
  void project(const Body& body, const Six& six, double* out) const;
  Vector6d expand(const Body& body, const double* v) const;
  using Basis = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor, 6, 6>;
  Basis basis_of(const Body& body) const;
  void add_applied(double t, const ConstVectorRef& q, VectorRef force) const;
  double angle_of(const Joint& joint, int which, const Pose& a, const Pose& b, double near) const;
  double compute_angular_rate(const Joint& joint, const ConstVectorRef& q,
                              const ConstVectorRef& v) const;
  void update_angles(const ConstVectorRef& start, const ConstVectorRef& v, double h,
                     VectorRef q) const;
  double coordinate_value(double t, const ConstVectorRef& q, int joint,
                          JointCoordinate coordinate) const;
  void target_at(double t, int target, double& value, double& rate) const;

  // Rows, rigid_body_rows.cc
  void add_row(double t, std::span<const Share> shares, int first_block, double drift,
               RowSet& out) const;
  void add_pair_row(double t, const std::array<int, 2>& bodies, const PairRow& row, int first_block,
                    double drift, RowSet& out) const;
  void add_pair_rows(double t, const std::array<int, 2>& bodies, std::span<const PairRow> rows,
                     int first_block, RowSet& out) const;
  void append_other_constraint_rows(double t, const ConstVectorRef& q, int first_block,
                                    RowSet& out) const;
  void evaluate_other_constraints(double t, const ConstVectorRef& q, double* theta) const;
  void add_pull(int body, const Pose& pose, const Eigen::Vector3d& force,
                const Eigen::Vector3d& arm, const TurningSum& sum) const;
  /// The line between two points of bodies, with a stiffness across it [N/m].
  struct TautLine {
    std::array<int, 2> bodies{};
    std::array<PairRow, 2> across{};
    double stiffness = 0;
  };
  bool find_taut_line(const JointGeometry& geometry, const std::array<int, 2>& bodies,
                      PoseCache& poses, double force, TautLine& line) const;
  double mobility_of(int body, const Vector6d& row) const;
  void add_line_traces(const TautLine& line, double* traces) const;
  double smallest_inertia(const std::array<int, 2>& bodies) const;
  Eigen::Vector3d hold_turns(std::span<const PairRow> rows, std::span<const double> torques,
                             const std::array<int, 2>& bodies, double h, double* held) const;
  bool joint_moves_by_itself(const Joint& joint) const;
  void set_mean_direction(double t, double h, const ConstVectorRef& q, const ConstVectorRef& v,
                          const Joint& joint, int r, RowSet& out) const;
  void evaluate_spring(double t, const ConstVectorRef& q, const Spring& spring, double* values,
                       PairRow* rows) const;

  // Contacts, rigid_body_contacts.cc
  Touching touching_of(const BodyShape& shape, int body) const;
  int find_plane_of(int a, int b) const;
  using Directions = std::array<Eigen::Vector3d, 3>;
  Directions directions_of(const TouchingPair& pair, int num_tangents) const;
  static void fill_touch_rows(const std::array<const Pose*, 2>& carriers,
                              const Eigen::Vector3d& point,
                              std::span<const Eigen::Vector3d> directions, double* values);
  static void fill_touch_rows_of(const Pose& carrier, double side, const Eigen::Vector3d& point,
                                 std::span<const Eigen::Vector3d> directions, double* values);
  void append_rows_of_pair(double t, const std::array<int, 2>& bodies, int num_rows,
                           const double* values, int first_block, RowSet& out) const;
  double* add_rows_of_free_pair(const TouchingPair& pair, int num_rows, int first_block,
                                RowSet& out) const;

  RigidBodyDescription description_;
  std::vector<Body> bodies_;
  std::vector<int> block_body_;  // the body of every block
  std::vector<TimeFunctions> motions_;
  std::vector<Joint> joints_;
  std::vector<Coupling> couplings_;
  std::vector<CoordinateRow> position_motors_, velocity_rows_on_coordinates_, limits_;
  std::vector<int> nonholonomic_joints_;
  bool has_turning_rows_ = false;  // joints or springs that append_turning_rows looks at
  std::vector<TimeFunctions> targets_;
  std::vector<Spring> body_springs_;
  std::vector<Force> forces_;
  std::vector<BodyShape> shapes_;
  std::vector<Touching> touchings_;  // per shape
  /// For materials i ≥ j, 0 being none, at i(i + 1)/2 + j: in space, and for motion in a plane.
  std::vector<int> material_kind_;  // of no material, then of all (add_laws)
  std::vector<std::array<ContactInfo, 2>> laws_;
  int num_angles_ = 0, num_recorded_ = 0, angle_start_ = 0;
};

}  // namespace stiction
