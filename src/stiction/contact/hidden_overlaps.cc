// What ContactModel says of overlaps that its contacts do not show.
#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "stiction/base/infinity.h"
#include "stiction/contact/contact_model.h"
#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/distance.h"

namespace stiction {
namespace {

/// Of places in the world, a share of their distance from its origin.
constexpr double kPlaceRounding = 64 * std::numeric_limits<double>::epsilon();

bool is_same(const ContactFeature& a, const ContactFeature& b) {
  return a.kind == b.kind && a.point == b.point && a.direction == b.direction;
}

/// Another id, for one more contact of the same kinds of features. It is of this step only.
std::uint64_t with_number(std::uint64_t id, std::size_t number) {
  return id ^ (0x9e3779b97f4a7c15u * number);
}

}  // namespace

/// The shapes of a pair at (t, q).
struct ContactModel::PlacedPair {
  PlacedPair(const ContactModel& model, const PairOfShapes& pair, double t, const VectorXd& q)
      : part(model.surfaces_[pair.part]),
        a(*part.surfaces->objects()[pair.a].shape),
        b(*part.surfaces->objects()[pair.b].shape) {
    const Model::Part& place = model.parts()[part.part];
    const auto q_part = q.segment(place.q_offset, place.system->num_q());
    pose_a = part.surfaces->place_object(t, q_part, pair.a);
    pose_b = part.surfaces->place_object(t, q_part, pair.b);
  }

  Touch touch_of(const DetectedContact& contact) const {
    return evaluate_touch(contact.candidate, a, pose_a, b, pose_b);
  }
  Touch nearest_of(const Patch& patch, const std::vector<DetectedContact>& contacts) const {
    Touch nearest{.gap = kInfinity};
    for (int k = patch.first; k < patch.first + patch.count; ++k) {
      const Touch touch = touch_of(contacts[k]);
      if (touch.gap < nearest.gap) nearest = touch;
    }
    return nearest;
  }
  bool has_surface() const { return !a.is_convex() || !b.is_convex(); }
  bool has_plane() const { return a.kind() == ShapeKind::kPlane || b.kind() == ShapeKind::kPlane; }
  double separation_along(const Eigen::Vector3d& normal) const {
    return stiction::separation_along(normal, a, pose_a, b, pose_b);
  }
  double gap() const { return compute_distance(a, pose_a, b, pose_b).gap; }
  /// Overlaps that are let be, [m]: rounding of the distance, and `tolerance` of the smaller shape.
  double slack(double tolerance) const {
    const auto [smaller, larger] = std::minmax({a.size(), b.size()});
    return kOverlapRounding * larger + tolerance * (smaller > 0 ? smaller : larger) +
           kPlaceRounding * std::max(pose_a.position.norm(), pose_b.position.norm());
  }

  const PartWithSurfaces& part;
  const CollisionShape &a, &b;
  Pose pose_a, pose_b;
};

double ContactModel::find_hidden_overlaps(const State& end, const std::vector<char>& is_asked,
                                          double tolerance) {
  hidden_.clear();
  if (!end.q.allFinite()) return kInfinity;
  double smallest = kInfinity;
  visit_pairs([&](const PairOfShapes& pair) {
    const double gap = hidden_gap(pair, end, is_asked, tolerance);
    if (!(gap < 0)) return;
    hidden_.push_back(pair);
    smallest = std::min(smallest, gap);
  });
  return smallest;
}

bool ContactModel::overlaps(const DetectedContact& contact, const State& state) const {
  const PairOfShapes pair{.part = contact.part, .a = contact.a, .b = contact.b};
  const PlacedPair placed(*this, pair, state.t, state.q);
  return placed.a.is_convex() && placed.b.is_convex() && placed.gap() < 0;
}

bool ContactModel::detect_hidden(const State& state, double h, const State& end) {
  if (hidden_.empty()) return false;
  for (const PairOfShapes& pair : hidden_) add_late_pair(pair, end);
  detect_again(state, h);
  return true;
}

/// visit(pair) for all pairs of shapes that have contacts.
template <class Visit>
void ContactModel::visit_pairs(const Visit& visit) const {
  const int num_contacts = static_cast<int>(detected_.size()),
            num_patches = static_cast<int>(alternatives_.size());
  int patch = 0;
  for (int first = 0, last = 0; first < num_contacts; first = last) {
    const DetectedContact& contact = detected_[first];
    while (last < num_contacts && detected_[last].part == contact.part &&
           detected_[last].a == contact.a && detected_[last].b == contact.b)
      ++last;
    const int first_patch = patch;
    while (patch < num_patches && alternatives_[patch].first < last) ++patch;
    visit(PairOfShapes{.part = contact.part,
                       .a = contact.a,
                       .b = contact.b,
                       .first = first,
                       .count = last - first,
                       .first_patch = first_patch,
                       .num_patches = patch - first_patch});
  }
}

/// visit(patch): the alternatives of a pair, or all its contacts where it has none.
template <class Visit>
void ContactModel::visit_patches(const PairOfShapes& pair, const Visit& visit) const {
  if (pair.num_patches == 0) visit(Patch{.first = pair.first, .count = pair.count});
  for (int p = pair.first_patch; p < pair.first_patch + pair.num_patches; ++p)
    visit(alternatives_[p]);
}

/// The distance of two shapes that overlap while no patch of contacts that was asked to be open
/// says so; else infinite. A converged step has opened those that were asked.
double ContactModel::hidden_gap(const PairOfShapes& pair, const State& end,
                                const std::vector<char>& is_asked, double tolerance) {
  const PlacedPair placed(*this, pair, end.t, end.q);
  const double slack = placed.slack(tolerance);
  if (placed.has_surface()) return hidden_gap_of_surface(pair, placed, is_asked, slack);
  bool is_apart = false;
  double told = kInfinity;  // by patches that were asked to be open
  const auto asked = is_asked.begin() + num_fixed_contacts();
  visit_patches(pair, [&](const Patch& patch) {
    if (is_apart) return;
    const Touch nearest = placed.nearest_of(patch, detected_);
    is_apart = !placed.has_plane() && placed.separation_along(nearest.normal) >= -slack;
    if (std::find(asked + patch.first, asked + patch.first + patch.count, 1) !=
        asked + patch.first + patch.count)
      told = std::min(told, nearest.gap);
  });
  if (is_apart) return kInfinity;
  const double gap = placed.gap();
  return gap < -slack && told > gap + slack ? gap : kInfinity;
}

/// The contacts of a pair where it is placed, in late_list_.
void ContactModel::collect_late(const PairOfShapes& pair, const PlacedPair& placed) {
  const auto reach_of = [&](int object) {
    const bool is_static = placed.part.surfaces->objects()[object].is_static;
    return is_static ? 0 : placed.part.reach[object];
  };
  late_list_.clear();
  collect_contacts(placed.a, placed.pose_a, placed.b, placed.pose_b,
                   {.reach = reach_of(pair.a) + reach_of(pair.b), .reduces = options_.reduces},
                   late_workspace_, late_list_);
}

/// A surface has no single distance, and every contact that it has with a shape is to be open: the
/// smallest gap among those that there are at the end and that were not asked. On planes all
/// corners are in the list from the start.
double ContactModel::hidden_gap_of_surface(const PairOfShapes& pair, const PlacedPair& placed,
                                           const std::vector<char>& is_asked, double slack) {
  if (placed.has_plane()) return kInfinity;
  collect_late(pair, placed);
  double smallest = kInfinity;
  for (const ContactCandidate& candidate : late_list_.candidates) {
    if (!(candidate.gap < std::min(-slack, smallest))) continue;
    bool was_asked = false;
    for (int k = pair.first; k < pair.first + pair.count && !was_asked; ++k)
      was_asked = is_asked[num_fixed_contacts() + k] != 0 &&
                  is_same(detected_[k].candidate.a, candidate.a) &&
                  is_same(detected_[k].candidate.b, candidate.b);
    if (!was_asked) smallest = candidate.gap;
  }
  return smallest;
}

/// Surfaces get the contacts of `end` that are violated there in addition to what they had.
/// Polytopes get the patch of `end` in place of those that they had: one direction that parts them
/// is enough. Round shapes get its contacts in addition to those that do not make more of the
/// overlap than it is: points of them are to stay apart wherever they touch, and where axes cross
/// that are nearly parallel moves far within a step.
void ContactModel::add_late_pair(const PairOfShapes& pair, const State& end) {
  const PlacedPair placed(*this, pair, end.t, end.q);
  collect_late(pair, placed);
  PairOfShapes late{.part = pair.part,
                    .a = pair.a,
                    .b = pair.b,
                    .first = static_cast<int>(late_contacts_.size())};
  if (placed.has_surface()) {
    late_contacts_.insert(late_contacts_.end(), detected_.begin() + pair.first,
                          detected_.begin() + pair.first + pair.count);
  } else if (placed.a.polytope() == nullptr && placed.b.polytope() == nullptr) {
    const double least = placed.gap() - placed.slack(0);
    std::copy_if(detected_.begin() + pair.first, detected_.begin() + pair.first + pair.count,
                 std::back_inserter(late_contacts_), [&](const DetectedContact& contact) {
                   return placed.touch_of(contact).gap >= least;
                 });
  }
  for (const ContactCandidate& candidate : late_list_.candidates)
    if (!placed.has_surface() || candidate.gap < -placed.slack(0))
      add_late_contact(late, candidate);
  late.count = static_cast<int>(late_contacts_.size()) - late.first;
  const auto known = find_late(pair.part, pair.a, pair.b);
  if (known == late_.end())
    late_.push_back(late);
  else
    *known = late;
}

/// Unless the pair has it.
void ContactModel::add_late_contact(const PairOfShapes& late, ContactCandidate candidate) {
  const auto known = std::span(late_contacts_).subspan(late.first);
  const auto same = std::find_if(known.begin(), known.end(), [&](const DetectedContact& contact) {
    return contact.candidate.id == candidate.id;
  });
  if (same != known.end()) {
    if (is_same(same->candidate.a, candidate.a) && is_same(same->candidate.b, candidate.b)) return;
    candidate.id = with_number(candidate.id, known.size());
  }
  late_contacts_.push_back({.part = late.part, .a = late.a, .b = late.b, .candidate = candidate});
  complete(late_contacts_.back());
}

std::vector<ContactModel::PairOfShapes>::iterator ContactModel::find_late(int index, int a, int b) {
  return std::find_if(late_.begin(), late_.end(), [&](const PairOfShapes& pair) {
    return pair.part == index && pair.a == a && pair.b == b;
  });
}

void ContactModel::raise_gaps(const State& state, VectorRef gaps) const {
  double* detected = gaps.data() + num_fixed_contacts();
  for (const Patch& patch : alternatives_) {
    double *first = detected + patch.first, *last = first + patch.count;
    if (std::none_of(first, last, [](double gap) { return gap < 0; })) continue;
    const DetectedContact& contact = detected_[patch.first];
    const PairOfShapes pair{.part = contact.part, .a = contact.a, .b = contact.b};
    const double distance = PlacedPair(*this, pair, state.t, state.q).gap();
    for (; first < last; ++first)
      if (*first < distance) *first = distance;
  }
}

}  // namespace stiction
