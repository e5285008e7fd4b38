#include "stiction/contact/contact_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "stiction/base/error.h"
#include "stiction/base/infinity.h"
#include "stiction/base/same_bits.h"
#include "stiction/geometry/distance.h"
#include "stiction/geometry/triangle_surface.h"

namespace stiction {
namespace {

/// Shapes reach this much further than they are expected to move, and at least this share of their
/// size, so that what rests stays in the list.
constexpr double kReachMargin = 1.25, kSmallestReach = 1e-3;

/// Directions of patches part shapes as far as their gaps say, up to this share of the size.
constexpr double kSeparationRounding = 1e-12;

/// Mixes the bits of x (splitmix64; Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Keys of shapes' contacts have bit 62 set, so that they never are those of named contacts, and
/// bit 63 clear.
std::uint64_t make_key(std::uint64_t pair, std::uint64_t feature) {
  return (mixed(pair ^ feature) >> 2) | ContactModel::kFirstDetectedKey;
}

/// Of two shapes, what the keys of their contacts have in common.
std::uint64_t make_pair_key(int part, int a, int b) {
  const std::uint64_t key = mixed(mixed(static_cast<std::uint64_t>(part)) ^ std::uint64_t(a));
  return mixed(key ^ std::uint64_t(b));
}

/// Numbers of lists of contacts: no two are the same, whoever asks.
std::uint64_t next_list_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

ConstVectorRef q_of(const VectorXd& q, const Model::Part& part) {
  return q.segment(part.q_offset, part.system->num_q());
}

/// To the bit.
bool are_identical(const std::vector<Pose>& a, const std::vector<Pose>& b) {
  static_assert(sizeof(Pose) == 12 * sizeof(double));
  return a.size() == b.size() && !a.empty() &&
         std::memcmp(a.data()->position.data(), b.data()->position.data(),
                     a.size() * sizeof(Pose)) == 0;
}

/// Poses of two shapes; contacts of one pair follow each other.
class PairPoses {
 public:
  PairPoses(double t, const VectorXd& q) : t_(t), q_(q) {}

  void look_at(const Model::Part& part, const Surfaces& surfaces, int a, int b) {
    if (surfaces_ == &surfaces && a_ == a && b_ == b) return;
    surfaces_ = &surfaces;
    a_ = a;
    b_ = b;
    pose_a = surfaces.place_object(t_, q_of(q_, part), a);
    pose_b = surfaces.place_object(t_, q_of(q_, part), b);
  }

  Pose pose_a, pose_b;

 private:
  double t_;
  const VectorXd& q_;
  const Surfaces* surfaces_ = nullptr;
  int a_ = -1, b_ = -1;
};

}  // namespace

// -------------------------------------------------------------------------------------------------
// Detection

ContactModel::ContactModel(Model model, const CollisionOptions& options)
    : Model(std::move(model)),
      options_(options),
      workers_(std::make_shared<WorkerPool>(options.num_threads)) {
  for (int p = 0; p < static_cast<int>(parts().size()); ++p) {
    const Surfaces* surfaces = parts()[p].system->surfaces();
    if (surfaces == nullptr) continue;
    const int first_object = surfaces_.empty() ? 0
                                               : surfaces_.back().first_object +
                                                     surfaces_.back().surfaces->num_objects();
    surfaces_.push_back({.part = p,
                         .surfaces = surfaces,
                         .first_object = first_object,
                         .scene = std::make_unique<CollisionScene>(workers_)});
    list_blocks(surfaces_.back());
    for (const CollisionObject& object : surfaces->objects()) surfaces_.back().scene->add(object);
    surfaces_.back().scene->exclude_bodies(surfaces->untouched_bodies());
    const auto size = static_cast<std::size_t>(surfaces->num_objects());
    surfaces_.back().poses.resize(size);
    surfaces_.back().reach.resize(size);
    surfaces_.back().smallest_reach.resize(size);
  }
}

void ContactModel::exchange(Model model) {
  const bool is_alike = model.parts().size() == parts().size() && model.num_q() == num_q() &&
                        model.num_v() == num_v() && model.num_joint_rows() == num_joint_rows() &&
                        model.num_fixed_contacts() == num_fixed_contacts();
  bool has_same_shapes = is_alike;
  for (std::size_t p = 0; is_alike && p < parts().size(); ++p) {
    const Surfaces *before = parts()[p].system->surfaces(),
                   *now = model.parts()[p].system->surfaces();
    has_same_shapes = has_same_shapes && (before == nullptr) == (now == nullptr) &&
                      (now == nullptr || now->num_objects() == before->num_objects());
  }
  if (!has_same_shapes)
    throw InputError("a model can only be exchanged for one of the same coordinates and shapes");
  static_cast<Model&>(*this) = std::move(model);
  for (PartWithSurfaces& part : surfaces_) {
    part.surfaces = parts()[part.part].system->surfaces();
    list_blocks(part);
    part.found_poses.clear();
    // What is static has its place in the new model, which need not be that in the old one.
    for (int object = 0; object < part.surfaces->num_objects(); ++object)
      part.scene->mark_moved(object);
  }
  is_listed_ = false;
  list_number_ = next_list_number();
  detected_.clear();
  alternatives_.clear();
  touched_.clear();
}

void ContactModel::detect(const State& state, double h, bool wants_alternatives) {
  wants_alternatives_ = wants_alternatives && options_.alternatives;
  late_.clear();
  late_contacts_.clear();
  for (PartWithSurfaces& part : surfaces_)
    for (int i = 0; i < part.surfaces->num_objects(); ++i)
      part.smallest_reach[i] = kSmallestReach * part.surfaces->objects()[i].shape->size();
  detect_again(state, h);
}

bool ContactModel::detect_further(const State& state, double h, const State& end) {
  if (surfaces_.empty() || !end.q.allFinite()) return false;
  bool has_moved_further = false;
  for (PartWithSurfaces& part : surfaces_) {
    const Model::Part& place = parts()[part.part];
    moved_.resize(part.reach.size());
    part.surfaces->bound_displacement(state.t, q_of(state.q, place), end.t, q_of(end.q, place),
                                      moved_, workers_.get());
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      if (moved_[i] <= part.reach[i]) continue;
      part.smallest_reach[i] = kReachMargin * moved_[i];
      has_moved_further = true;
    }
  }
  if (!has_moved_further || !may_have_met_others(end)) return false;
  is_listed_ = false;
  swap_lists();
  detect_again(state, h);
  if (alternatives_ != last_alternatives_ || has_met_others(end)) return true;
  list_number_ = next_list_number();
  swap_lists();
  return false;
}

/// The list of contacts and the one before it.
void ContactModel::swap_lists() {
  std::swap(last_detected_, detected_);
  std::swap(last_alternatives_, alternatives_);
  std::swap(last_touched_, touched_);
}

/// Looks at the pairs of shapes that moved further than their reach alone: mostly they have met
/// nothing. True where that does not tell.
bool ContactModel::may_have_met_others(const State& end) {
  const bool has_sleepers = std::any_of(surfaces_.begin(), surfaces_.end(),
                                        [](const auto& part) { return !part.is_still.empty(); });
  if (wants_alternatives_ || has_sleepers || !late_.empty()) return true;
  note_known_keys(detected_);
  for (int s = 0; s < static_cast<int>(surfaces_.size()); ++s) {
    PartWithSurfaces& part = surfaces_[s];
    is_near_.resize(part.reach.size());
    for (std::size_t i = 0; i < part.reach.size(); ++i) {
      is_near_[i] = part.reach[i] >= part.smallest_reach[i] ? 1 : 0;
      part.reach[i] = std::max(part.reach[i], part.smallest_reach[i]);
    }
    part.scene->detect(part.poses,
                       {.reaches = part.reach, .still = is_near_, .reduces = options_.reduces},
                       further_);
    for (const CollisionPair& pair : further_.pairs)
      for (int k = pair.first_candidate; k < pair.first_candidate + pair.num_candidates; ++k) {
        DetectedContact contact{
            .part = s, .a = pair.a, .b = pair.b, .candidate = further_.contacts.candidates[k]};
        complete(contact);
        if (is_met_anew(contact, end)) return true;
      }
  }
  return false;
}

void ContactModel::note_known_keys(const std::vector<DetectedContact>& contacts) {
  known_keys_.clear();
  for (const DetectedContact& contact : contacts) known_keys_.push_back(contact.key);
  std::sort(known_keys_.begin(), known_keys_.end());
}

/// Whether a contact that was not known before is closed at `end`, or its shapes overlap: a step
/// that leaves it open would not have been another one with it.
bool ContactModel::is_met_anew(const DetectedContact& contact, const State& end) const {
  return !std::binary_search(known_keys_.begin(), known_keys_.end(), contact.key) &&
         (!(evaluate_pair(end.t, end.q, contact).touch.gap > 0) || overlaps(contact, end));
}

bool ContactModel::has_met_others(const State& end) {
  note_known_keys(last_detected_);
  return std::any_of(detected_.begin(), detected_.end(),
                     [&](const DetectedContact& contact) { return is_met_anew(contact, end); });
}

void ContactModel::detect_again(const State& state, double h) {
  met_sleepers_.clear();
  bool is_same = is_listed_ && late_.empty();
  for (PartWithSurfaces& part : surfaces_) is_same = detect_part(part, state, h) && is_same;
  if (is_same) return;
  alternatives_.clear();
  touched_.clear();
  num_reduced_ = 0;
  std::size_t count = 0;
  for (int s = 0; s < static_cast<int>(surfaces_.size()); ++s) count = list_contacts(s, count);
  is_listed_ = late_.empty();
  list_number_ = next_list_number();
}

/// Returns whether the contacts are those that were found the last time.
bool ContactModel::detect_part(PartWithSurfaces& part, const State& state, double h) {
  const Model::Part& place = parts()[part.part];
  const Surfaces& surfaces = *part.surfaces;
  const auto q = q_of(state.q, place);
  surfaces.place_objects(state.t, q, part.poses, workers_.get());
  surfaces.bound_motion(state.t, q, state.v.segment(place.v_offset, place.system->num_v()), h,
                        part.reach, workers_.get());
  for (std::size_t i = 0; i < part.reach.size(); ++i)
    part.reach[i] = std::max(kReachMargin * part.reach[i], part.smallest_reach[i]);
  return find_contacts(part);
}

/// Those of a part, from `first` in detected_ on; returns where they end. What is there from the
/// last list is written over.
std::size_t ContactModel::list_contacts(int index, std::size_t first) {
  const PartWithSurfaces& part = surfaces_[index];
  const Detection& detection = part.detection;
  num_reduced_ += detection.contacts.num_reduced;
  if (!part.is_still.empty()) note_met_sleepers(part);
  list_touched(index);
  // Where contacts of pairs go, one after the other; then all of them at once.
  pair_starts_.clear();
  std::size_t next = first;
  for (const CollisionPair& pair : detection.pairs) {
    pair_starts_.push_back(next);
    const auto late = late_.empty() ? late_.end() : find_late(index, pair.a, pair.b);
    if (late == late_.end() && pair.num_patches > 1)
      list_alternatives(pair, detection.contacts, static_cast<int>(next));
    next += late == late_.end() ? pair.num_candidates : late->count;
  }
  detected_.resize(next);
  run_numbers(workers_.get(), static_cast<int>(detection.pairs.size()), kContactGrain,
              [&](int begin, int end) {
                for (int p = begin; p < end; ++p) list_pair(index, p);
              });
  return next;
}

/// Contacts of a pair of shapes, those of the end of the step where it has any.
void ContactModel::list_pair(int index, int number) {
  const Detection& detection = surfaces_[index].detection;
  const CollisionPair& pair = detection.pairs[number];
  DetectedContact* out = detected_.data() + pair_starts_[number];
  const auto late = late_.empty() ? late_.end() : find_late(index, pair.a, pair.b);
  if (late != late_.end()) {
    std::copy_n(late_contacts_.begin() + late->first, late->count, out);
    return;
  }
  const std::uint64_t pair_key = make_pair_key(surfaces_[index].part, pair.a, pair.b);
  for (int k = 0; k < pair.num_candidates; ++k, ++out) {
    out->part = index;
    out->a = pair.a;
    out->b = pair.b;
    const ContactCandidate& candidate = detection.contacts.candidates[pair.first_candidate + k];
    out->candidate = candidate;
    complete({pair.a, pair.b}, candidate, pair_key, *out);
  }
}

/// Of a pair whose contacts begin at `first` in detected_.
void ContactModel::list_alternatives(const CollisionPair& pair, const ContactList& contacts,
                                     int first) {
  const std::span patches = std::span(contacts.patches).subspan(pair.first_patch, pair.num_patches);
  for (std::size_t p = 0; p < patches.size(); ++p) {
    const ContactPatch& patch = patches[p];
    const bool is_first = p == 0 || patches[p - 1].group != patch.group;
    const bool is_last = p + 1 == patches.size() || patches[p + 1].group != patch.group;
    if (is_first && is_last) continue;
    alternatives_.push_back({.first = first + patch.first - pair.first_candidate,
                             .count = patch.count,
                             .is_first = is_first});
  }
}

/// In their own order, which is that of their places in the memory.
void ContactModel::list_touched(int index) {
  const PartWithSurfaces& part = surfaces_[index];
  const int num_objects = part.surfaces->num_objects();
  is_touched_.assign(num_objects, 0);
  for (const CollisionPair& pair : part.detection.pairs)
    is_touched_[pair.a] = is_touched_[pair.b] = 1;
  for (int object = 0; object < num_objects; ++object)
    if (is_touched_[object] != 0) touched_.push_back({index, object});
}

/// Where no shape has moved by a bit since the last time it need not be looked at again: returns
/// true then.
bool ContactModel::find_contacts(PartWithSurfaces& part) const {
  const bool is_known = part.is_still.empty() && part.found_alternatives == wants_alternatives_ &&
                        are_identical(part.poses, part.found_poses) &&
                        is_same_bits(part.reach, part.found_reach);
  if (is_known) return true;
  part.scene->detect(part.poses,
                     {.reaches = part.reach,
                      .still = part.is_still,
                      .reduces = options_.reduces,
                      .wants_alternatives = wants_alternatives_},
                     part.detection);
  part.found_poses.clear();
  if (!part.is_still.empty()) return false;  // pairs of sleepers are left out
  part.found_poses = part.poses;
  part.found_reach = part.reach;
  part.found_alternatives = wants_alternatives_;
  return false;
}

// -------------------------------------------------------------------------------------------------
// What sleeps

void ContactModel::set_asleep(std::span<const char> is_asleep) {
  for (PartWithSurfaces& part : surfaces_) {
    part.is_still.clear();
    if (std::find(is_asleep.begin(), is_asleep.end(), 1) == is_asleep.end()) continue;
    for (int i = 0; i < part.surfaces->num_objects(); ++i) {
      const int block = block_of(part, i);
      part.is_still.push_back(block >= 0 ? is_asleep[block] : 0);
    }
  }
}

void ContactModel::list_blocks(PartWithSurfaces& part) {
  part.blocks.clear();
  for (int i = 0; i < part.surfaces->num_objects(); ++i) {
    const int block = part.surfaces->block_of_object(i);
    part.blocks.push_back(block >= 0 ? parts()[part.part].first_block + block
                          : part.surfaces->objects()[i].is_static ? kStatic
                                                                  : kDriven);
    has_driven_ = has_driven_ || part.blocks.back() == kDriven;
  }
}

std::pair<int, int> ContactModel::blocks_of_contact(int j) const {
  if (j < num_fixed_contacts()) return {kStatic, kStatic};
  const DetectedContact& contact = detected_[j - num_fixed_contacts()];
  const PartWithSurfaces& part = surfaces_[contact.part];
  return {block_of(part, contact.a), block_of(part, contact.b)};
}

/// Pairs of two that are still have been left out.
void ContactModel::note_met_sleepers(const PartWithSurfaces& part) {
  for (const CollisionPair& pair : part.detection.pairs)
    for (const int object : {pair.a, pair.b})
      if (part.is_still[object] != 0) met_sleepers_.push_back(block_of(part, object));
}

/// All but shapes and candidate, which are there.
void ContactModel::complete(DetectedContact& contact) const {
  complete({contact.a, contact.b}, contact.candidate,
           make_pair_key(surfaces_[contact.part].part, contact.a, contact.b), contact);
}

/// Shapes and candidate are those of the contact, read where they have been for a while: what was
/// just copied would have to be waited for.
void ContactModel::complete(const IndexPair& pair, const ContactCandidate& candidate,
                            std::uint64_t pair_key, DetectedContact& contact) const {
  contact.law =
      &surfaces_[contact.part].surfaces->law_of(pair.first, pair.second, candidate.normal);
  contact.key = make_key(pair_key, candidate.id);
}

// -------------------------------------------------------------------------------------------------
// Contacts

std::string ContactModel::contact_name(int j) const {
  if (j < num_fixed_contacts()) return fixed_contact(j).name;
  const DetectedContact& contact = detected_[j - num_fixed_contacts()];
  const Surfaces& surfaces = *surfaces_[contact.part].surfaces;
  return fmt::format("{}-{}", surfaces.name_of_object(contact.a),
                     surfaces.name_of_object(contact.b));
}

std::vector<const ContactInfo*> ContactModel::contact_laws() const {
  std::vector<const ContactInfo*> laws;
  for (int j = 0; j < num_fixed_contacts(); ++j) laws.push_back(&fixed_contact(j));
  for (const PartWithSurfaces& part : surfaces_)
    for (const ContactInfo* law : part.surfaces->laws()) laws.push_back(law);
  return laws;
}

std::vector<std::string> ContactModel::notes() const {
  std::vector<std::string> notes;
  for (const PartWithSurfaces& part : surfaces_) {
    const auto& objects = part.surfaces->objects();
    const auto passes = [&](int i) { return !objects[i].shape->is_convex(); };
    for (int i = 0; i < part.surfaces->num_objects(); ++i)
      for (int k = 0; passes(i) && !objects[i].is_static && k < part.surfaces->num_objects(); ++k) {
        const bool is_second = k < i && !objects[k].is_static;  // has been told
        if (!passes(k) || objects[k].body == objects[i].body || is_second) continue;
        notes.push_back(fmt::format(
            "'{}' and '{}' are both meshes or height fields and pass through each other",
            part.surfaces->name_of_object(i), part.surfaces->name_of_object(k)));
        break;
      }
    std::set<std::pair<int, int>> told;  // of many bodies with one mesh the first one is enough
    for (int i = 0; i < part.surfaces->num_objects(); ++i) {
      const TriangleSurface* surface = objects[i].shape->surface();
      if (surface == nullptr || !options_.reduces) continue;
      const std::pair counts{surface->num_triangles(), surface->num_regions()};
      if (2 * counts.second > counts.first || !told.insert(counts).second) continue;
      notes.push_back(fmt::format(
          "the {} triangles of '{}' lie in {} flat region{}: contacts inside are left out, since "
          "those around them do all that they could",
          surface->num_triangles(), part.surfaces->name_of_object(i), surface->num_regions(),
          surface->num_regions() == 1 ? "" : "s"));
    }
  }
  return notes;
}

TouchingPair ContactModel::evaluate_pair(double t, const VectorXd& q,
                                         const DetectedContact& contact) const {
  const PartWithSurfaces& part = surfaces_[contact.part];
  const auto q_part = q_of(q, parts()[part.part]);
  const auto& objects = part.surfaces->objects();
  return {
      contact.a, contact.b,
      evaluate_touch(contact.candidate, *objects[contact.a].shape,
                     part.surfaces->place_object(t, q_part, contact.a), *objects[contact.b].shape,
                     part.surfaces->place_object(t, q_part, contact.b))};
}

void ContactModel::evaluate_all_gaps(double t, const VectorXd& q, VectorRef gaps) const {
  evaluate_fixed_gaps(t, q, gaps);
  if (detected_.empty()) return;
  double* detected = gaps.data() + num_fixed_contacts();
  run_numbers(
      workers_.get(), static_cast<int>(detected_.size()), kContactGrain, [&](int begin, int end) {
        PairPoses poses(t, q);
        for (int j = begin; j < end; ++j) {
          const DetectedContact& contact = detected_[j];
          const PartWithSurfaces& part = surfaces_[contact.part];
          const auto& objects = part.surfaces->objects();
          poses.look_at(parts()[part.part], *part.surfaces, contact.a, contact.b);
          detected[j] = evaluate_touch(contact.candidate, *objects[contact.a].shape, poses.pose_a,
                                       *objects[contact.b].shape, poses.pose_b)
                            .gap;
        }
      });
}

/// Once for every shape: there are more contacts than shapes.
void ContactModel::place_shapes(double t, const VectorXd& q, ContactTouches& touches) const {
  const PartWithSurfaces& last = surfaces_.back();
  const auto size = static_cast<std::size_t>(last.first_object + last.surfaces->num_objects());
  touches.shapes.resize(size);
  touches.carriers.resize(size);
  run_numbers(workers_.get(), static_cast<int>(touched_.size()), kContactGrain,
              [&](int begin, int end) {
                for (int k = begin; k < end; ++k) {
                  const PartWithSurfaces& part = surfaces_[touched_[k].part];
                  const int object = touched_[k].object, i = part.first_object + object;
                  part.surfaces->place_both(t, q_of(q, parts()[part.part]), object,
                                            touches.carriers[i], touches.shapes[i]);
                }
              });
}

void ContactModel::evaluate_touches(double t, const VectorXd& q, ContactTouches& touches) const {
  touches.touches.resize(num_contacts());
  if (detected_.empty()) return;
  // What rests touches where it did, for the same bits.
  const bool is_known = !has_driven_ && touches.list == list_number_ &&
                        touches.q.size() == q.size() &&
                        std::memcmp(touches.q.data(), q.data(), sizeof(double) * q.size()) == 0;
  if (is_known) return;
  touches.list = list_number_;
  touches.q = q;
  place_shapes(t, q, touches);
  Touch* detected = touches.touches.data() + num_fixed_contacts();
  run_numbers(workers_.get(), static_cast<int>(detected_.size()), kContactGrain,
              [&](int begin, int end) {
                for (int j = begin; j < end; ++j) {
                  const DetectedContact& contact = detected_[j];
                  const PartWithSurfaces& part = surfaces_[contact.part];
                  const CollisionObject* objects = part.surfaces->objects().data();
                  const Pose* poses = touches.shapes.data() + part.first_object;
                  detected[j] =
                      evaluate_touch(contact.candidate, *objects[contact.a].shape, poses[contact.a],
                                     *objects[contact.b].shape, poses[contact.b]);
                }
              });
}

void ContactModel::evaluate_gaps(double t, const VectorXd& q, VectorRef gaps) const {
  evaluate_all_gaps(t, q, gaps);
  suppress_gaps(t, q, gaps);
}

void ContactModel::suppress_gaps(double t, const VectorXd& q, VectorRef gaps) const {
  if (alternatives_.empty()) return;
  double* detected = gaps.data() + num_fixed_contacts();
  suppress_alternatives(
      [&](const Patch& patch) { return separation_of(patch, t, q, detected); },
      [](const Separation& one, const Separation& other) { return one.is_preferred_to(other); },
      [&](int j) { detected[j] = kInfinity; });
}

void ContactModel::mark_suppressed(const GapsAt& start, const GapsAt& end,
                                   const std::vector<char>& is_active,
                                   std::vector<char>& is_suppressed) const {
  const auto active = is_active.begin() + num_fixed_contacts();
  const auto rank_of = [&](const Patch& patch) {
    const auto before = separation_at(start, patch), separation = separation_at(end, patch);
    const bool is_asked = std::find(active + patch.first, active + patch.first + patch.count, 1) !=
                          active + patch.first + patch.count;
    const bool parts =
        before.distance >= -before.rounding ||
        (separation.distance >= 0 && !is_asked && !is_way_through(patch, start, end));
    // What opening it takes depends on where it was, whatever its contacts said there.
    const Separation needed{
        .is_told = true, .distance = before.distance, .rounding = before.rounding};
    return std::pair(parts, parts ? separation : needed);
  };
  is_suppressed.assign(num_contacts(), 0);
  suppress_alternatives(
      rank_of,
      [](const auto& one, const auto& other) {
        return one.first == other.first ? one.second.is_preferred_to(other.second) : one.first;
      },
      [&](int j) { is_suppressed[num_fixed_contacts() + j] = 1; });
}

ContactModel::Separation ContactModel::separation_at(const GapsAt& place,
                                                     const Patch& patch) const {
  return separation_of(patch, place.t, place.q, place.gaps.data() + num_fixed_contacts());
}

/// Whether a patch that did not part the solids at the start does so at the end only since they
/// have passed through each other: all that parted them points the other way, and none of it was
/// still open, as distances change in proportion to the time, when this one opened.
bool ContactModel::is_way_through(const Patch& patch, const GapsAt& start,
                                  const GapsAt& end) const {
  const Separation before = separation_at(start, patch), after = separation_at(end, patch);
  const double opens_at = before.distance / (before.distance - after.distance);
  const Patch* first = &patch;
  while (!first->is_first) --first;
  const Patch* const last = alternatives_.data() + alternatives_.size();
  bool has_parted = false;
  for (const Patch* other = first; other < last && (other == first || !other->is_first); ++other) {
    const Separation from = separation_at(start, *other);
    if (!(from.distance >= -from.rounding)) continue;
    has_parted = true;
    const Separation to = separation_at(end, *other);
    const bool is_opposite = from.normal.dot(after.normal) < 0;
    const double left = from.distance + opens_at * (to.distance - from.distance);
    if (!is_opposite || (to.distance < 0 && left >= -from.rounding)) return false;
  }
  return has_parted;
}

/// What the direction of a patch says. Features that have turned away from each other may have any
/// gap while other parts of their shapes reach further.
ContactModel::Separation ContactModel::separation_of(const Patch& patch, double t,
                                                     const VectorXd& q, const double* gaps) const {
  const auto nearest = static_cast<int>(
      std::min_element(gaps + patch.first, gaps + patch.first + patch.count) - gaps);
  const DetectedContact& contact = detected_[nearest];
  const PartWithSurfaces& part = surfaces_[contact.part];
  const auto q_part = q_of(q, parts()[part.part]);
  const auto& objects = part.surfaces->objects();
  const CollisionShape &a = *objects[contact.a].shape, &b = *objects[contact.b].shape;
  const Pose pose_a = part.surfaces->place_object(t, q_part, contact.a),
             pose_b = part.surfaces->place_object(t, q_part, contact.b);
  const Touch touch = evaluate_touch(contact.candidate, a, pose_a, b, pose_b);
  const double separation = separation_along(touch.normal, a, pose_a, b, pose_b);
  const double size = std::max(a.size(), b.size()), rounding = kOverlapRounding * size;
  const bool faces = separation >= touch.gap - kSeparationRounding * size;
  return {.is_told = faces || separation >= -rounding,
          .distance = faces ? touch.gap : separation,
          .rounding = rounding,
          .normal = touch.normal};
}

/// Of the patches of a group only the one of the highest rank counts, of equals the first, which is
/// the one that was best when they were found.
template <class Rank, class Prefer, class Suppress>
void ContactModel::suppress_alternatives(const Rank& rank_of, const Prefer& is_preferred,
                                         const Suppress& suppress) const {
  const auto suppress_all = [&](const Patch& patch) {
    for (int k = patch.first; k < patch.first + patch.count; ++k) suppress(k);
  };
  const Patch* best = nullptr;
  decltype(rank_of(Patch{})) highest{};
  for (const Patch& patch : alternatives_) {
    const auto rank = rank_of(patch);
    if (patch.is_first) {
      best = &patch;
      highest = rank;
    } else if (is_preferred(rank, highest)) {
      suppress_all(*best);
      best = &patch;
      highest = rank;
    } else {
      suppress_all(patch);
    }
  }
}

void ContactModel::append_contact_rows(double t, const VectorXd& q, int contact,
                                       RowSet& out) const {
  if (contact < num_fixed_contacts()) return append_fixed_contact_rows(t, q, contact, out);
  const DetectedContact& detected = detected_[contact - num_fixed_contacts()];
  const PartWithSurfaces& part = surfaces_[detected.part];
  const Model::Part& place = parts()[part.part];
  const Pose carrier_a = part.surfaces->place_carrier(t, q_of(q, place), detected.a),
             carrier_b = part.surfaces->place_carrier(t, q_of(q, place), detected.b);
  part.surfaces->append_touch_rows(t, {&carrier_a, &carrier_b}, evaluate_pair(t, q, detected),
                                   detected.law->num_tangents, place.first_block, out);
}

std::array<Eigen::Vector3d, 2> ContactModel::contact_tangents(int contact,
                                                              const Eigen::Vector3d& normal) const {
  if (contact < num_fixed_contacts()) return RowSet::tangents_without_place();
  const DetectedContact& detected = detected_[contact - num_fixed_contacts()];
  return surfaces_[detected.part].surfaces->tangents_of({detected.a, detected.b, {0, normal, {}}},
                                                        detected.law->num_tangents);
}

void ContactModel::append_contact_rows(double t, const VectorXd& q, int contact,
                                       const ContactTouches& touches, RowSet& out) const {
  if (contact < num_fixed_contacts()) return append_fixed_contact_rows(t, q, contact, out);
  const DetectedContact& detected = detected_[contact - num_fixed_contacts()];
  const PartWithSurfaces& part = surfaces_[detected.part];
  const Pose* carriers = touches.carriers.data() + part.first_object;
  part.surfaces->append_touch_rows(t, {carriers + detected.a, carriers + detected.b},
                                   {detected.a, detected.b, touches.touches[contact]},
                                   detected.law->num_tangents, parts()[part.part].first_block, out);
}

/// Entries of a row are components of the normal, a unit vector, and its moments about the centre
/// of the body; twice as much leaves room for rounding.
double ContactModel::bound_normal_row(int contact, const ContactTouches& touches,
                                      const double* sums) const {
  if (contact < num_fixed_contacts()) return kInfinity;
  const DetectedContact& detected = detected_[contact - num_fixed_contacts()];
  const PartWithSurfaces& part = surfaces_[detected.part];
  double bound = 0;
  for (const int object : {detected.a, detected.b}) {
    const int block = block_of(part, object);
    if (block < 0) continue;
    const Pose& carrier = touches.carriers[part.first_object + object];
    const double arm = (touches.touches[contact].point - carrier.position).lpNorm<1>();
    bound += sums[block] * (arm < 1 ? 1 : arm);  // not a number stays none
  }
  return 2 * bound;
}

System::ContactPlace ContactModel::locate_contact(const State& state, int contact) const {
  if (contact < num_fixed_contacts()) return locate_fixed_contact(state, contact);
  System::ContactPlace place;
  locate_contact(state, contact,
                 evaluate_pair(state.t, state.q, detected_[contact - num_fixed_contacts()]).touch,
                 place);
  return place;
}

void ContactModel::locate_contact(const State& state, int contact, const Touch& touch,
                                  System::ContactPlace& out) const {
  if (contact < num_fixed_contacts()) {
    out = locate_fixed_contact(state, contact);
    return;
  }
  const DetectedContact& detected = detected_[contact - num_fixed_contacts()];
  const auto& objects = surfaces_[detected.part].surfaces->objects();
  out.a = objects[detected.a].body;
  out.b = objects[detected.b].body;
  for (int i = 0; i < 3; ++i) {
    out.position[i] = touch.point[i];
    out.normal[i] = touch.normal[i];
  }
}

void ContactModel::add_geometric_stiffness(double t, const VectorXd& q,
                                           std::span<const double> joint_forces,
                                           std::span<const double> contact_forces,
                                           const TurningSum& sum) const {
  add_joint_stiffness(t, q, joint_forces, sum);
  for (std::size_t j = 0; j < detected_.size(); ++j) {
    const DetectedContact& contact = detected_[j];
    const std::span<const double> force =
        contact_forces.subspan(3 * (j + num_fixed_contacts()), 1 + contact.law->num_tangents);
    if (!(force[0] > 0)) continue;
    const PartWithSurfaces& part = surfaces_[contact.part];
    const Model::Part& place = parts()[part.part];
    part.surfaces->add_touch_stiffness(
        t, q_of(q, place), evaluate_pair(t, q, contact), force,
        sum.from(place.matrix_offset, place.v_offset, place.first_block));
  }
}

// -------------------------------------------------------------------------------------------------
// ContactEvaluator

void ContactEvaluator::compute_gaps(const ContactModel& model, double t, const VectorXd& q,
                                    KeptVector& gaps, ContactTouches& touches) {
  gaps.resize(model.num_contacts());
  model.evaluate_fixed_gaps(t, q, gaps);
  model.evaluate_touches(t, q, touches);
  for (int j = model.num_fixed_contacts(); j < model.num_contacts(); ++j)
    gaps[j] = touches.touches[j].gap;
  model.suppress_gaps(t, q, gaps);
}

double ContactEvaluator::compute_gap_rate(const ContactModel& model, const State& state,
                                          int contact) {
  contact_.clear();
  model.append_contact_rows(state.t, state.q, contact, contact_);
  return rate(model, state, 0);
}

double ContactEvaluator::compute_slip_speed(const ContactModel& model, const State& state,
                                            int contact) {
  contact_.clear();
  model.append_contact_rows(state.t, state.q, contact, contact_);
  double speed = 0;
  for (int i = 1; i < contact_.rows.num_rows(); ++i)
    speed = std::hypot(speed, rate(model, state, i));
  return speed;
}

double ContactEvaluator::smallest_of(const ConstVectorRef& gaps) {
  double smallest = kInfinity;
  for (const double gap : gaps) smallest = gap < smallest || std::isnan(gap) ? gap : smallest;
  return smallest;
}

}  // namespace stiction
