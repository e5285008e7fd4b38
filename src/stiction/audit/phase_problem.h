// The equations of one phase of a recorded step, put together anew from the model and the recorded
// numbers as docs/theory.md states them. Nothing here comes from the schemes: where they and the
// theory differ, the audit finds the difference.
//
// Beside every row stands how far rounding can have moved it: recorded velocities of bodies are
// those of their frames in world axes, so that going back to the scheme's own numbers costs a few
// units in the last place of the numbers at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/base/stepping_options.h"
#include "stiction/model/model.h"
#include "stiction/problem/step_problem.h"

namespace stiction {

enum class SchemeName : std::uint8_t {
  kMoreau,
  kStewartTrinkle,
  kAnitescuPotra,
  kLinearlyImplicitEuler,
  kTrapezoidal1,
  kTrapezoidal2,
  kSpook,
};
std::optional<SchemeName> try_parse_scheme(std::string_view name);

/// Names as in the attribute `kinds` of /phases.
enum class PhaseName : std::uint8_t {
  kStep,
  kImpact,
  kDecompression,
  kInelasticImpact,
  kPositionLevel,
  kLinearPositionLevel,
  kMidpoint,
  kVelocityProjection,
  kProjection,
};
std::optional<PhaseName> try_parse_phase(std::string_view name);
std::string_view to_text(PhaseName name);

/// What the equations depend on beside the model.
struct AuditSettings {
  SchemeName scheme = SchemeName::kMoreau;
  double h = 0;
  double tolerance = 1e-9;
  FrictionSection friction{FrictionSection::Kind::kPolygon, 8};
  SteppingOptions stepping{};
  int every = 1;
};

struct AuditedContact {
  std::uint64_t id = 0;
  int shape_a = -1, shape_b = -1;
  Eigen::Vector3d point = Eigen::Vector3d::Zero(), normal = Eigen::Vector3d::Zero();
  double gap = 0;
  Eigen::Vector3d impulse = Eigen::Vector3d::Zero(), turning = Eigen::Vector3d::Zero();
};

struct AuditedPhase {
  PhaseName kind = PhaseName::kStep;
  double length = 0, share = 1;
  State start;
  VectorXd q_end, v_end;      // of what was used of it
  std::optional<State> rows;  // where rows were evaluated, if it was iterated
  VectorXd held_force;        // of controllers; empty: none
  std::vector<double> impulse, turning;
  std::vector<AuditedContact> contacts;
};

/// The problem with the recorded answer.
class PhaseProblem {
 public:
  PhaseProblem(const Model& model, const AuditSettings& settings);

  /// `compression` is the phase before one of decompression, else null. Returns why it cannot be
  /// told, or an empty text.
  std::string assemble(const AuditedPhase& phase, const AuditedPhase* compression);

  StepProblem problem;
  StepSolution solution;

  struct Row {
    enum class Kind : std::uint8_t { kRigid, kMotor, kFriction, kSpring };
    int joint_row = 0;
    Kind kind = Kind::kRigid;
    double drift = 0;
    double damping = 0;              // h δ
    bool damps_mean_of_end = false;  // the damper sees (v + w)/2
    double rounding = 0;             // [m/s] of s in (T2)
  };
  std::vector<Row> rows;
  /// A spring whose impulse is prescribed by the state at the start.
  struct PrescribedSpring {
    int joint_row = 0;
    double expected = 0, recorded = 0, rounding = 0;  // [N s]
    double damping_impulse = 0, drift = 0;
    int gradient = 0;  // row of prescribed_rows
  };
  std::vector<PrescribedSpring> prescribed;
  RowSet prescribed_rows;
  std::vector<double> contact_drift, contact_rounding;  // per contact row, [m/s]
  VectorXd w_rounding;                                  // [m/s] of w
  VectorXd p_rounding;                                  // [N s] of p
  double iteration_error = 0;       // [-] that an iterated phase may be off by, relative
  bool wants_applied_mean = false;  // applied forces are the mean of both ends

  const ContactInfo& law_of(const AuditedContact& contact) const;
  /// Whose shapes there are; null without.
  const Surfaces* surfaces() const { return surfaces_; }
  const Model::Part* surfaces_part() const { return part_; }
  /// Appends the rows of a contact at (t, q).
  void append_contact(double t, const VectorXd& q, const AuditedContact& contact,
                      RowSet& out) const;

 private:
  struct Point {
    double t;
    const VectorXd& q;
  };
  struct SpringNumbers {
    double stiffness, damping, extension, extension_rounding;
  };
  enum class Mean : std::uint8_t { kEnd, kMean, kMeanByEnd };
  struct Form {
    double compliance = 0;  // relative to mobility
    double share = 0;       // of Θ that is taken back
    Mean spring = Mean::kEnd;
  };

  void begin(const AuditedPhase& phase);
  /// Those of the model and of controllers.
  VectorXd forces_at(const Point& point, const VectorXd& v, const AuditedPhase& phase) const;
  void add_mass(const Point& mass_at, const Point* force_at, const AuditedPhase& phase);
  void make_gyroscopic_implicit(const Point& at, const AuditedPhase& phase);
  void add_trapezoidal_mass(const AuditedPhase& phase, const Point& mid, double factor);
  void add_turning(const AuditedPhase& phase);
  void add_turning_rows(const AuditedPhase& phase);
  void add_joints(const AuditedPhase& phase, const Point& rows_at, const VectorXd& theta,
                  const Form& form, bool has_time);
  void add_velocity_rows(const AuditedPhase& phase, const Point& rows_at, double compliance,
                         bool has_time);
  void add_springs(const AuditedPhase& phase, const Point& rows_at, const VectorXd& extension,
                   Mean mean);
  void add_spring_row(const AuditedPhase& phase, const RowSet& from, int i, int joint_row,
                      const SpringNumbers& spring, Mean mean);
  void prescribe_springs(const AuditedPhase& phase);
  void add_spook_rows(const AuditedPhase& phase);
  void add_row(const RowSet& from, int i, const StepProblem::BilateralRow& numbers, Row row,
               const AuditedPhase& phase);
  int add_contact(const AuditedPhase& phase, const AuditedContact& contact, const Point& rows_at,
                  double rows_rounding);
  VectorXd measure_unresolved(const AuditedPhase& phase) const;
  void admit_taken_back(const AuditedPhase& phase);
  void add_spook_contacts(const AuditedPhase& phase);
  void add_position_level(const AuditedPhase& phase);
  void add_impact(const AuditedPhase& phase, const AuditedPhase* compression);
  void add_midpoint(const AuditedPhase& phase);
  void set_velocity(const AuditedPhase& phase);

  VectorXd constraints_at(const Point& point) const;
  VectorXd springs_at(const Point& point) const;
  double mobility(const BlockRows& rows, int row_block) const;
  double times(const RowSet& rows, int row_block, int row, const VectorXd& x) const;
  double abs_times(const BlockRows& rows, int row_block, int row, const VectorXd& x) const;
  bool is_spook() const { return settings_.scheme == SchemeName::kSpook; }

  const Model& model_;
  AuditSettings settings_;
  const Surfaces* surfaces_ = nullptr;
  const Model::Part* part_ = nullptr;
  RowSet scratch_;
  VectorXd sizes_;                    // of the coordinates at the start
  std::vector<double> turning_held_;  // per joint row, or empty
};

}  // namespace stiction
