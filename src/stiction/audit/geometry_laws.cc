#include "stiction/audit/geometry_laws.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "stiction/base/infinity.h"

namespace stiction {

using Eigen::Vector3d;

namespace {

/// Places and gaps are compared up to this share of the size of the shapes: rounding of poses and
/// of distances, far below any motion that matters.
constexpr double kPlace = 1e-9;
/// Two shapes overlap in passing if they do by more than this share of the smaller one.
constexpr double kDeep = 0.1;

}  // namespace

GeometryLaws::GeometryLaws(const Model& model, const AuditSettings& settings)
    : model_(model), settings_(settings) {
  for (const Model::Part& part : model.parts())
    if (surfaces_ == nullptr && part.system->surfaces() != nullptr) {
      surfaces_ = part.system->surfaces();
      part_ = &part;
    }
  if (surfaces_ == nullptr) return;
  for (const CollisionObject& object : surfaces_->objects())
    shapes_.emplace_back(object.shape->shape());
}

void GeometryLaws::place(double t, const VectorXd& q, std::vector<Pose>& poses) const {
  poses.resize(shapes_.size());
  for (int i = 0; i < static_cast<int>(shapes_.size()); ++i)
    poses[i] = surfaces_->place_object(t, q.segment(part_->q_offset, part_->system->num_q()), i);
}

void GeometryLaws::set_start(const State& start) {
  place(start.t, start.q, start_);
  extent_ = 0;
  for (const Pose& pose : start_) extent_ = std::max(extent_, pose.position.cwiseAbs().maxCoeff());
}

bool GeometryLaws::may_touch(int a, int b) const {
  const CollisionObject &x = surfaces_->objects()[a], &y = surfaces_->objects()[b];
  if (x.body == y.body || (x.is_static && y.is_static)) return false;
  if ((x.group & y.mask) == 0 || (y.group & x.mask) == 0) return false;
  if (shapes_[a].is_surface() && shapes_[b].is_surface()) return false;
  if (shapes_[a].is_plane() && shapes_[b].is_plane()) return false;
  const auto& apart = surfaces_->untouched_bodies();
  const auto bodies = std::minmax(x.body, y.body);
  return !std::binary_search(apart.begin(), apart.end(), std::pair<int, int>(bodies));
}

bool GeometryLaws::is_convex(const Pair& pair) const {
  const AuditShape &a = shapes_[pair.first], &b = shapes_[pair.second];
  return (!a.is_surface() && !b.is_surface()) || a.is_plane() || b.is_plane();
}

GeometryLaws::Travel GeometryLaws::travel(int shape, const std::vector<Pose>& from,
                                          const std::vector<Pose>& to) const {
  const double turn = (to[shape].rotation - from[shape].rotation).norm() / std::sqrt(2.0);
  const double radius = shapes_[shape].is_plane() ? extent_ : shapes_[shape].radius();
  return {.way = (to[shape].position - from[shape].position).norm() + turn * radius, .turn = turn};
}

std::vector<GeometryLaws::Pair> GeometryLaws::near_pairs(const std::vector<Pose>& poses,
                                                         std::span<const double> ways) const {
  // Sweep along x; planes meet everything.
  struct Interval {
    double low, high;
    int shape;
  };
  std::vector<Interval> intervals;
  std::vector<Pair> pairs;
  const auto n = static_cast<int>(shapes_.size());
  const auto radius = [&](int i) { return shapes_[i].radius() + ways[i]; };
  const auto add = [&](int a, int b) {
    if (may_touch(a, b)) pairs.emplace_back(std::minmax(a, b));
  };
  for (int i = 0; i < n; ++i) {
    if (shapes_[i].is_plane()) {
      for (int k = 0; k < n; ++k)
        if (k != i && !(shapes_[k].is_plane() && k < i)) add(i, k);
      continue;
    }
    intervals.push_back({poses[i].position.x() - radius(i), poses[i].position.x() + radius(i), i});
  }
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return std::pair(a.low, a.shape) < std::pair(b.low, b.shape);
  });
  for (std::size_t i = 0; i < intervals.size(); ++i)
    for (std::size_t k = i + 1; k < intervals.size() && intervals[k].low <= intervals[i].high;
         ++k) {
      const int a = intervals[i].shape, b = intervals[k].shape;
      const double apart = (poses[a].position - poses[b].position).norm();
      if (apart <= radius(a) + radius(b)) add(a, b);
    }
  return pairs;
}

Separation::Result GeometryLaws::measure(const Pair& pair, const std::vector<Pose>& poses,
                                         double reach) const {
  const double bound = bound_gap(pair, poses);
  if (bound > reach) return {.gap = bound, .normal = directions_.find(pair)->second};
  const Separation::Result result = Separation::measure(
      {shapes_[pair.first], poses[pair.first]}, {shapes_[pair.second], poses[pair.second]}, reach);
  if (is_convex(pair)) directions_[pair] = result.normal;
  return result;
}

double GeometryLaws::bound_gap(const Pair& pair, const std::vector<Pose>& poses) const {
  const auto known = directions_.find(pair);
  if (known == directions_.end()) return -kInfinity;
  return Separation::along({shapes_[pair.first], poses[pair.first]},
                           {shapes_[pair.second], poses[pair.second]}, known->second);
}

double GeometryLaws::size_of(const Pair& pair) const {
  return std::max(shapes_[pair.first].size(), shapes_[pair.second].size());
}

std::string GeometryLaws::name_of(const Pair& pair) const {
  return fmt::format("{}-{}", surfaces_->name_of_object(pair.first),
                     surfaces_->name_of_object(pair.second));
}

bool GeometryLaws::knows(const AuditedContact& contact) const {
  const auto n = static_cast<int>(shapes_.size());
  return contact.shape_a >= 0 && contact.shape_b >= 0 && contact.shape_a < n &&
         contact.shape_b < n && may_touch(contact.shape_a, contact.shape_b);
}

std::string GeometryLaws::name_of(const AuditedContact& contact) const {
  return fmt::format("{}-{}, contact {}", surfaces_->name_of_object(contact.shape_a),
                     surfaces_->name_of_object(contact.shape_b), contact.id);
}

// -------------------------------------------------------------------------------------------------
// Pairs

void GeometryLaws::check_found(const std::set<Pair>& found, AuditReport& report) const {
  const std::vector<double> ways(shapes_.size(), 0.0);
  for (const Pair& pair : near_pairs(end_, ways)) {
    if (found.contains(pair)) continue;
    const Separation::Result result = measure(pair, end_, 0);
    const Travel of_a = travel(pair.first, start_, end_), of_b = travel(pair.second, start_, end_);
    const double slack =
        kPlace * (size_of(pair) + 1e-3 * extent_) + (of_a.turn + of_b.turn) * size_of(pair);
    report.check(Law::kContactsFound, std::max(0.0, -result.gap), slack, [&] {
      return fmt::format("{}: overlap of shapes that have no contact [m]", name_of(pair));
    });
  }
}

double GeometryLaws::check_end(double h, const std::set<Pair>& found, bool is_iterated,
                               AuditReport& report) {
  std::vector<double> ways(shapes_.size());
  std::vector<Travel> travels(shapes_.size());
  for (int i = 0; i < static_cast<int>(shapes_.size()); ++i) {
    travels[i] = travel(i, start_, end_);
    ways[i] = 1e-3 * shapes_[i].size();
  }
  const EventOptions& events = settings_.stepping.events;
  const bool locates = events.collisions && settings_.scheme != SchemeName::kMoreau &&
                       settings_.scheme != SchemeName::kSpook &&
                       settings_.scheme != SchemeName::kStewartTrinkle;
  const bool is_exact =
      settings_.scheme == SchemeName::kStewartTrinkle && settings_.stepping.nonlinear;
  double smallest = kInfinity;
  turned_ = 0;
  has_bounds_ = false;
  for (const Pair& pair : near_pairs(end_, ways)) {
    const Travel &of_a = travels[pair.first], &of_b = travels[pair.second];
    const double size = size_of(pair), turn = of_a.turn + of_b.turn, way = of_a.way + of_b.way;
    const bool has_hulls = is_convex(pair);
    turned_ = std::max(turned_, turn * size + (has_hulls ? 0 : way));
    const bool is_found = found.contains(pair);
    const double slack = kPlace * (size + 1e-3 * extent_) +
                         2 * std::max(events.contact_tolerance, events.contact_growth * h * h * h);
    // What the scheme's contacts add in a step: the linearised gap is off by (turn)² size, and by
    // turn times way where the normal turns.
    double added = turn * (turn * size + 2 * way) + settings_.tolerance * way;
    // Without location contacts act a step late, on convex shapes that touch already those of
    // features that turn in; those that yield, and all of `spook`, sink in as their rows say.
    const bool is_old = is_found && found_before_.contains(pair) && has_hulls &&
                        settings_.scheme != SchemeName::kSpook && !yields(pair);
    // Sizes are radii: what turns in about a contact is up to two of them away from it.
    if (!locates && !is_exact) added += is_old ? 2 * turn * size : 1.5 * way;
    // Iterated to their end gaps are open there up to what the answer is off, and the scheme lets
    // be overlaps of `tolerance` of the size.
    const bool is_open = is_iterated && has_hulls && !yields(pair);
    if (is_open) added = settings_.tolerance * (2 * size + way);
    // Whatever separates the shapes so far that the law holds is good enough.
    double gap = is_found && h > 0 ? bound_gap(pair, end_) : -kInfinity;
    if (-gap > added + slack) {
      const Separation::Result result = measure(pair, end_, 1e-3 * size);
      gap = result.gap;
      turned_ = std::max(turned_, slant_of(pair, result));
    } else {
      has_bounds_ = true;
    }
    smallest = std::min(smallest, gap);
    if (h == 0) continue;  // a start may overlap
    const double overlap = std::max(0.0, -gap);
    double most = added;
    if (is_found && !is_open && overlap > added + slack) most += overlap_at_start(pair);
    report.check(Law::kPenetration,
                 std::min(overlap, overlap > most + slack ? bound_overlap(pair) : overlap),
                 most + slack, [&] { return fmt::format("{}: overlap [m]", name_of(pair)); });
    if (is_found) continue;
    const double unseen = locates || is_exact ? slack : slack + added;
    report.check(Law::kContactsFound, overlap, unseen + turn * size, [&] {
      return fmt::format("{}: overlap of shapes that had no contact in the step [m]",
                         name_of(pair));
    });
  }
  found_before_ = found;
  return smallest;
}

/// A contact with a surface has the normal of one of its features, which may be another one than
/// that along which the shapes come apart first: a face of a mesh that stands askew in a cylinder
/// has its own normal, the corner below it leaves the cylinder along that of its end. Under an
/// angle ψ their overlaps differ by a factor of cos ψ.
double GeometryLaws::slant_of(const Pair& pair, const Separation::Result& result) const {
  const auto found = deepest_.find(pair);
  if (found == deepest_.end() || !(result.gap < 0)) return 0;
  const double cosine = found->second.normal.dot(result.normal);
  return cosine > 0.5 ? -result.gap * (1 / cosine - 1) : 0;
}

double GeometryLaws::measure_smallest() const {
  std::vector<double> ways(shapes_.size());
  for (std::size_t i = 0; i < shapes_.size(); ++i) ways[i] = 1e-3 * shapes_[i].size();
  double smallest = kInfinity;
  for (const Pair& pair : near_pairs(end_, ways))
    smallest = std::min(smallest, measure(pair, end_, 1e-3 * size_of(pair)).gap);
  return smallest;
}

bool GeometryLaws::has_other_touch(double t, const VectorXd& q, double reach,
                                   const std::set<Pair>& found) {
  if (!has_shapes()) return false;
  place(t, q, end_);
  const std::vector<double> ways(shapes_.size(), reach);
  const std::vector<Pair> pairs = near_pairs(end_, ways);
  return std::any_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
    return !found.contains(pair) && measure(pair, end_, reach).gap <= reach;
  });
}

double GeometryLaws::overlap_at_start(const Pair& pair) const {
  return std::max(0.0, -measure(pair, start_, 0).gap);
}

/// Any direction bounds the overlap of convex shapes from above: that of the start of the step may
/// be better than what a search has found.
double GeometryLaws::bound_overlap(const Pair& pair) const {
  const AuditShape &a = shapes_[pair.first], &b = shapes_[pair.second];
  if (!is_convex(pair)) return kInfinity;
  return std::max(0.0, -Separation::along({a, end_[pair.first]}, {b, end_[pair.second]},
                                          measure(pair, start_, 0).normal));
}

bool GeometryLaws::yields(const Pair& pair) const {
  return surfaces_->law_of(pair.first, pair.second, Vector3d::UnitZ()).compliance > 0;
}

void GeometryLaws::check_passage(const State& start, const State& end, const std::set<Pair>& found,
                                 AuditReport& report) {
  place(start.t, start.q, start_);
  place(end.t, end.q, end_);
  std::vector<double> ways(shapes_.size());
  for (int i = 0; i < static_cast<int>(shapes_.size()); ++i) ways[i] = travel(i, start_, end_).way;
  VectorXd change, q;
  std::vector<Pose> poses;
  for (const Pair& pair : near_pairs(end_, ways)) {
    if (found.contains(pair) || shapes_[pair.first].is_plane() || shapes_[pair.second].is_plane())
      continue;
    const double way = ways[pair.first] + ways[pair.second];
    const Separation::Result before = measure(pair, start_, way), after = measure(pair, end_, way);
    double depth = 0;
    // Gaps change by no more than the way: where both ends are far enough apart nothing happened.
    if (before.gap > 0 && after.gap > 0 && before.gap + after.gap < way) {
      if (change.size() == 0) model_.displacement(start.q, end.q, change);
      const bool turns_over = before.normal.dot(after.normal) < 0;
      const double smaller = std::min(shapes_[pair.first].size(), shapes_[pair.second].size());
      double deepest = 0;
      for (double share = before.gap / way; share < 1;) {
        model_.displace(start.q, change, share, q);
        place(start.t + share * (end.t - start.t), q, poses);
        const double gap = measure(pair, poses, way).gap;
        deepest = std::max(deepest, -gap);
        share += std::max(std::abs(gap), 0.02 * smaller) / way;
      }
      if (turns_over || deepest > kDeep * smaller) depth = deepest;
    }
    report.check(Law::kTunnelling, depth, kPlace * size_of(pair) + 1e-6 * size_of(pair), [&] {
      return fmt::format("{}: overlap on the way between two rows [m]", name_of(pair));
    });
  }
}

}  // namespace stiction
