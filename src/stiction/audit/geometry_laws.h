// What can be said about a recording from its shapes alone: whether recorded contacts lie where the
// shapes touch, whether shapes that touch have contacts, how deep they overlap, and whether one has
// passed through another between two rows. Distances are those of separation.h.
#pragma once

#include <Eigen/Core>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stiction/audit/audit_report.h"
#include "stiction/audit/phase_problem.h"
#include "stiction/audit/separation.h"
#include "stiction/model/surfaces.h"

namespace stiction {

class GeometryLaws {
 public:
  GeometryLaws(const Model& model, const AuditSettings& settings);

  bool has_shapes() const { return surfaces_ != nullptr; }
  /// Forgets what came before: the next row does not follow.
  void restart() { found_before_.clear(); }

  using Pair = std::pair<int, int>;  // shapes, the smaller first
  /// Where the step begins that the next calls are about, and the configuration they look at.
  void set_start(const State& start);
  void set_pose(double t, const VectorXd& q) { place(t, q, end_); }

  /// A contact as recorded at that configuration.
  /// At the end of a step features may have moved beyond their shapes: planes and lines go on.
  enum class When : std::uint8_t { kWhereRowsAre, kAtTheEnd };
  void check_contact(const AuditedContact& contact, When when, AuditReport& report);
  /// Forgets the places of contacts where rows were evaluated: another step begins.
  void begin_step() {
    places_.clear();
    deepest_.clear();
  }
  /// The contacts of a pair where rows were evaluated cover all corners that touch; what is no
  /// higher than `touching` over a plane does, [m].
  void check_covered(const Pair& pair, std::span<const AuditedContact* const> contacts,
                     double touching, AuditReport& report) const;
  /// Pairs that overlap there by more than features of the step's start explain have a contact.
  void check_found(const std::set<Pair>& found, AuditReport& report) const;
  /// Overlaps there, the end of a step of length h; `found` are the pairs that had contacts in it,
  /// and a step that is `iterated` has its contacts there, so that convex shapes do not overlap.
  /// Returns the smallest gap of shapes near each other, infinite if there are none.
  double check_end(double h, const std::set<Pair>& found, bool is_iterated, AuditReport& report);
  /// Whether that is a lower bound for some pairs, and what it is if all are measured.
  bool has_bounds() const { return has_bounds_; }
  double measure_smallest() const;
  /// [m] how far features fixed at the start of that step may be off at its end.
  double turned() const { return turned_; }
  /// Between the start and the end of a step.
  void check_passage(const State& start, const State& end, const std::set<Pair>& found,
                     AuditReport& report);
  /// Whether shapes that are not in `found` are nearer to each other than `reach`, [m].
  bool has_other_touch(double t, const VectorXd& q, double reach, const std::set<Pair>& found);
  /// Whether the contact is between shapes that may touch; names them.
  bool knows(const AuditedContact& contact) const;
  std::string name_of(const AuditedContact& contact) const;
  /// How far the shapes of a pair have moved against what they were, and turned, [m], [rad].
  struct Travel {
    double way = 0, turn = 0;
  };

 private:
  /// Where the cores of both shapes touch, each in its own frame.
  struct CorePlace {
    Eigen::Vector3d a, b;
  };
  /// Of the contacts of a pair with a surface, the one of the smallest gap at the end of the step.
  struct Deepest {
    double gap = 0;
    Eigen::Vector3d normal;  // from the second shape to the first
  };
  double slant_of(const Pair& pair, const Separation::Result& result) const;
  void check_along_normal(const AuditedContact& contact, double beyond_a, double beyond_b,
                          double turn, AuditReport& report) const;
  void check_stays(const AuditedContact& contact, When when, AuditReport& report);
  double turn_of_normal(const AuditedContact& contact, double turn) const;
  double crossing_sine(const AuditedContact& contact) const;
  bool has_edge_normal(const AuditedContact& contact) const;
  bool has_face_normal(const AuditedContact& contact, double tolerance) const;
  void place(double t, const VectorXd& q, std::vector<Pose>& poses) const;
  Travel travel(int shape, const std::vector<Pose>& from, const std::vector<Pose>& to) const;
  /// Pairs that may touch and whose balls are within `reach` of each other, each grown by its way.
  std::vector<Pair> near_pairs(const std::vector<Pose>& poses, std::span<const double> ways) const;
  Separation::Result measure(const Pair& pair, const std::vector<Pose>& poses, double reach) const;
  bool may_touch(int a, int b) const;
  /// Whether the two are as their hulls are to each other, so that one direction tells their gap:
  /// no surface is among them, or the other is a plane.
  bool is_convex(const Pair& pair) const;
  double overlap_at_start(const Pair& pair) const;
  double bound_overlap(const Pair& pair) const;
  bool yields(const Pair& pair) const;  // its contacts have a compliance of their own
  std::string name_of(const Pair& pair) const;
  double size_of(const Pair& pair) const;
  /// A direction that has separated the pair, or that contacts say, and how far: a lower bound on
  /// the gap, −∞ if there is none.
  double bound_gap(const Pair& pair, const std::vector<Pose>& poses) const;

  const Model& model_;
  AuditSettings settings_;
  const Surfaces* surfaces_ = nullptr;
  const Model::Part* part_ = nullptr;
  std::vector<AuditShape> shapes_;
  std::set<Pair> found_before_;  // in the step before
  std::map<std::uint64_t, CorePlace> places_;
  std::map<Pair, Deepest> deepest_;
  mutable std::map<Pair, Eigen::Vector3d> directions_;  // that separated pairs best, of late
  double extent_ = 0;                                   // [m] largest coordinate at hand
  double turned_ = 0;
  bool has_bounds_ = false;
  std::vector<Pose> start_, end_;
};

}  // namespace stiction
