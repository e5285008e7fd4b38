// A model with the contacts of the moment: those that its systems name, and those that its shapes
// have with each other, found anew for every step. This is the model that schemes step.
//
// What detection finds is fixed for a step: pairs of features whose gap Φ_j(q, t) is a smooth
// function that schemes evaluate wherever they like. From step to step a contact is known by its
// key, which follows from the features that touch.
//
// Two convex solids are apart as soon as one direction separates them. Where several directions
// might do so within the step (a corner near an edge), their patches of contacts are alternatives,
// for schemes that want them: the gaps of the patch with the largest separation count. Which one
// that is follows from q, and so may change in the iterations of a scheme.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stiction/base/kept_vector.h"
#include "stiction/base/stepping_options.h"
#include "stiction/base/worker_pool.h"
#include "stiction/geometry/collision_scene.h"
#include "stiction/model/model.h"
#include "stiction/model/surfaces.h"

namespace stiction {

/// Contacts that one task of a shared loop takes: some ten microseconds.
constexpr int kContactGrain = 64;

/// Where shapes touch at one configuration, with storage that is reused.
struct ContactTouches {
  std::vector<Touch> touches;  // one per contact; of those that systems name without meaning
  /// By the number of the shape among those of all systems, of shapes that have contacts.
  std::vector<Pose> shapes, carriers;
  // What they were evaluated from:
  std::uint64_t list = 0;  // number of the list of contacts; 0 is none
  VectorXd q;
};

class ContactModel : public Model {
 public:
  /// No shapes are looked at until `detect`. Converts, since a model without shapes is all there.
  ContactModel(Model model, const CollisionOptions& options = {});  // NOLINT(*-explicit-*)

  /// Another model of the same coordinates, rows and shapes takes the place of this one: other
  /// forces, laws of contact, springs. Contacts are to be detected anew. Throws InputError if it
  /// does not fit; nothing is changed then.
  void exchange(Model model);

  /// Finds the contacts that may close within h from `state`, with alternatives or only those that
  /// separate best at `state`.
  void detect(const State& state, double h, bool wants_alternatives = false);
  /// The same with a wider reach for shapes that moved further, to `end`, than was expected. False
  /// if they have not met anything new there: then nothing is changed.
  bool detect_further(const State& state, double h, const State& end);

  /// For schemes that keep gaps open at the end of the step: features that have turned away from
  /// each other may say that shapes are apart which overlap, and corners may have come to parts of
  /// a surface that they were not near. Finds pairs that overlap at `end` by more than `tolerance`
  /// of their size while none of the contacts that took part in the step, `is_asked`, says so.
  /// Returns the smallest gap of such pairs [m], infinite without any.
  double find_hidden_overlaps(const State& end, const std::vector<char>& is_asked,
                              double tolerance);
  /// Those pairs get the contacts that they have at `end`, for another step from `state`. False,
  /// and nothing is changed, if there are none.
  bool detect_hidden(const State& state, double h, const State& end);

  /// The same as the last detection, after other blocks were put to sleep or woken.
  void detect_again(const State& state, double h);

  /// Blocks that sleep, one mark per block or none: they have not moved since the last detection
  /// and do not move until further notice. Contacts among them and with static shapes are not
  /// detected.
  void set_asleep(std::span<const char> is_asleep);
  /// Blocks among those that the last detection has found to meet something that is awake or
  /// driven; may hold a block several times.
  const std::vector<int>& met_sleepers() const { return met_sleepers_; }
  /// The blocks of a contact between shapes; kStatic and kDriven are none. Contacts that systems
  /// name have {kStatic, kStatic}.
  static constexpr int kStatic = -1, kDriven = -2;
  std::pair<int, int> blocks_of_contact(int j) const;
  /// Keys of contacts between shapes are not below it, those that systems name are.
  static constexpr std::uint64_t kFirstDetectedKey = std::uint64_t{1} << 62;

  /// A generalised force [N, N m] on top of what the systems exert, constant until it is set anew:
  /// what a controller applies. One number per velocity, or none at all. It counts as applied.
  void set_held_force(const VectorXd& force) { held_force_ = force; }
  const VectorXd& held_force() const { return held_force_; }
  void displace(const VectorXd& q, const VectorXd& v, double h, VectorXd& out) const {
    Model::displace(q, v, h, out, workers_.get());
  }
  void evaluate_masses(double t, const VectorXd& q, std::span<double> masses) const {
    Model::evaluate_masses(t, q, masses, workers_.get());
  }
  void evaluate_force(double t, const VectorXd& q, const VectorXd& v, VectorRef force) const {
    Model::evaluate_force(t, q, v, force);
    if (held_force_.size() > 0) force += held_force_;
  }
  void evaluate_applied_force(double t, const VectorXd& q, const VectorXd& v,
                              VectorRef force) const {
    Model::evaluate_applied_force(t, q, v, force);
    if (held_force_.size() > 0) force += held_force_;
  }

  /// Threads for whoever works on this model.
  const std::shared_ptr<WorkerPool>& workers() const { return workers_; }

  bool has_surfaces() const { return !surfaces_.empty(); }
  int num_contacts() const { return num_fixed_contacts() + static_cast<int>(detected_.size()); }
  const ContactInfo& contact(int j) const {
    return j < num_fixed_contacts() ? fixed_contact(j) : *detected_[j - num_fixed_contacts()].law;
  }
  int part_of_contact(int j) const {
    return j < num_fixed_contacts() ? part_of_fixed_contact(j)
                                    : surfaces_[detected_[j - num_fixed_contacts()].part].part;
  }
  /// The same from step to step; positive as a signed number, too.
  std::uint64_t contact_key(int j) const {
    return j < num_fixed_contacts() ? static_cast<std::uint64_t>(j)
                                    : detected_[j - num_fixed_contacts()].key;
  }
  /// "ball-ground".
  std::string contact_name(int j) const;
  /// Of named contacts, and those that shapes may meet by.
  std::vector<const ContactInfo*> contact_laws() const;
  /// What is not found, in sentences for the user.
  std::vector<std::string> notes() const;
  /// Candidates that the last detection left out since others do all that they could.
  int num_reduced() const { return num_reduced_; }

  /// Φ_j(q, t) of all contacts, ≥ 0 when apart.
  void evaluate_all_gaps(double t, const VectorXd& q, VectorRef gaps) const;
  /// The same, infinite for alternatives that do not count.
  void evaluate_gaps(double t, const VectorXd& q, VectorRef gaps) const;
  /// Where alternatives all say that shapes overlap, another direction may part them: raises what
  /// evaluate_gaps says of `state` to the distance of the shapes.
  void raise_gaps(const State& state, VectorRef gaps) const;
  bool has_alternatives() const { return !alternatives_.empty(); }
  /// What evaluate_all_gaps says of (t, q).
  struct GapsAt {
    double t;
    const VectorXd& q;
    const VectorXd& gaps;
  };
  /// Marks, of all contacts, the alternatives that do not count in a step from `start` to `end`
  /// where the contacts `is_active` have been asked to be open. A patch that did not part the
  /// solids at the start counts only while it parts them unasked, or if there is no better: to open
  /// it within the step takes energy, whereas what parted them at the start can be kept up without.
  /// Nor does it count if what lies between is a way through the solid: out of the other side of a
  /// thin one.
  void mark_suppressed(const GapsAt& start, const GapsAt& end, const std::vector<char>& is_active,
                       std::vector<char>& is_suppressed) const;
  void append_contact_rows(double t, const VectorXd& q, int contact, RowSet& out) const;
  /// The same for touches at (t, q) that are known.
  void append_contact_rows(double t, const VectorXd& q, int contact, const ContactTouches& touches,
                           RowSet& out) const;
  /// A bound, quickly found, of what Σ|N_k| x_k can be for a contact whose touch is known, where
  /// the x_k ≥ 0 of each block add up to `sums`; infinite if it is not known.
  double bound_normal_row(int contact, const ContactTouches& touches, const double* sums) const;
  /// Turns the gaps of evaluate_all_gaps into those of evaluate_gaps.
  void suppress_gaps(double t, const VectorXd& q, VectorRef gaps) const;
  /// Where shapes touch at (t, q) and how far they are apart.
  void evaluate_touches(double t, const VectorXd& q, ContactTouches& touches) const;
  /// Which shapes a contact is between and where they touch at (t, q); numbers of shapes are −1 and
  /// the touch without meaning for contacts that systems name.
  TouchingPair locate_touch(double t, const VectorXd& q, int contact) const {
    return contact < num_fixed_contacts()
               ? TouchingPair{-1, -1}
               : evaluate_pair(t, q, detected_[contact - num_fixed_contacts()]);
  }
  System::ContactPlace locate_contact(const State& state, int contact) const;
  /// The same for a touch that is known.
  void locate_contact(const State& state, int contact, const Touch& touch,
                      System::ContactPlace& out) const;
  /// The tangents of a contact whose normal is this one, in the world; of contacts that systems
  /// name, which have neither, the first two axes.
  std::array<Eigen::Vector3d, 2> contact_tangents(int contact, const Eigen::Vector3d& normal) const;
  /// Of joints, springs and contacts. Three forces per contact.
  void add_geometric_stiffness(double t, const VectorXd& q, std::span<const double> joint_forces,
                               std::span<const double> contact_forces, const TurningSum& sum) const;

 private:
  struct DetectedContact {
    int part = 0;  // in surfaces_
    int a = 0, b = 0;
    ContactCandidate candidate;
    const ContactInfo* law = nullptr;
    std::uint64_t key = 0;
  };
  /// A run of detected contacts that has alternatives, which follow the first of their group.
  struct Patch {
    int first = 0, count = 0;
    bool is_first = true;
    bool operator==(const Patch&) const = default;
  };
  /// Overlaps up to this share of the size are rounding: the accuracy of distances (distance.h).
  static constexpr double kOverlapRounding = 1e-9;
  /// Of two shapes along the direction of a patch.
  struct Separation {
    bool is_told = false;  // by its contacts: an overlap has a gap below zero
    double distance = 0;   // [m]
    double rounding = 0;   // [m] of distances
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  // of its nearest contact
    /// By more than rounding, which would choose among directions that all touch.
    bool is_preferred_to(const Separation& other) const {
      return is_told == other.is_told ? distance > other.distance + rounding : is_told;
    }
  };
  /// A system with shapes.
  struct PartWithSurfaces {
    int part = 0;
    const Surfaces* surfaces = nullptr;
    int first_object = 0;       // of its shapes among those of all systems
    std::vector<int> blocks{};  // that its shapes move with, kStatic or kDriven
    std::unique_ptr<CollisionScene> scene{};
    std::vector<Pose> poses{};
    std::vector<double> reach{};
    std::vector<double> smallest_reach{};
    std::vector<char> is_still{};  // objects of blocks that sleep; empty: none
    /// What was found last, and what it was found from. For the same bits it is the same.
    Detection detection{};
    std::vector<Pose> found_poses{};
    std::vector<double> found_reach{};
    bool found_alternatives = false;
  };

  /// Two shapes and their contacts in detected_, some of which may be patches in alternatives_; or
  /// their contacts in late_contacts_, without patches.
  struct PairOfShapes {
    int part = 0;
    int a = 0, b = 0;
    int first = 0, count = 0;
    int first_patch = 0, num_patches = 0;
  };
  struct PlacedPair;

  bool detect_part(PartWithSurfaces& part, const State& state, double h);
  bool find_contacts(PartWithSurfaces& part) const;
  std::size_t list_contacts(int index, std::size_t first);
  bool may_have_met_others(const State& end);
  void note_known_keys(const std::vector<DetectedContact>& contacts);
  bool is_met_anew(const DetectedContact& contact, const State& end) const;
  bool has_met_others(const State& end);
  bool overlaps(const DetectedContact& contact, const State& state) const;
  void list_blocks(PartWithSurfaces& part);
  static int block_of(const PartWithSurfaces& part, int object) { return part.blocks[object]; }
  void note_met_sleepers(const PartWithSurfaces& part);
  void complete(DetectedContact& contact) const;
  void complete(const IndexPair& pair, const ContactCandidate& candidate, std::uint64_t pair_key,
                DetectedContact& contact) const;
  template <class Visit>
  void visit_pairs(const Visit& visit) const;
  template <class Visit>
  void visit_patches(const PairOfShapes& pair, const Visit& visit) const;
  double hidden_gap(const PairOfShapes& pair, const State& end, const std::vector<char>& is_asked,
                    double tolerance);
  double hidden_gap_of_surface(const PairOfShapes& pair, const PlacedPair& placed,
                               const std::vector<char>& is_asked, double slack);
  void collect_late(const PairOfShapes& pair, const PlacedPair& placed);
  void add_late_pair(const PairOfShapes& pair, const State& end);
  void add_late_contact(const PairOfShapes& late, ContactCandidate candidate);
  std::vector<PairOfShapes>::iterator find_late(int index, int a, int b);
  void list_pair(int index, int number);
  void swap_lists();
  TouchingPair evaluate_pair(double t, const VectorXd& q, const DetectedContact& contact) const;
  void place_shapes(double t, const VectorXd& q, ContactTouches& touches) const;
  void list_touched(int index);
  void list_alternatives(const CollisionPair& pair, const ContactList& contacts, int first);
  template <class Rank, class Prefer, class Suppress>
  void suppress_alternatives(const Rank& rank_of, const Prefer& is_preferred,
                             const Suppress& suppress) const;
  Separation separation_of(const Patch& patch, double t, const VectorXd& q,
                           const double* gaps) const;
  Separation separation_at(const GapsAt& place, const Patch& patch) const;
  bool is_way_through(const Patch& patch, const GapsAt& start, const GapsAt& end) const;

  VectorXd held_force_;
  CollisionOptions options_;
  std::shared_ptr<WorkerPool> workers_;
  std::vector<PartWithSurfaces> surfaces_;
  std::vector<DetectedContact> detected_, last_detected_;
  std::vector<Patch> alternatives_, last_alternatives_;
  /// Shapes that have contacts, each once: most have several.
  struct TouchedShape {
    int part, object;
  };
  std::vector<TouchedShape> touched_, last_touched_;
  std::vector<char> is_touched_;          // scratch, per shape
  std::vector<std::size_t> pair_starts_;  // scratch: where contacts of pairs begin in detected_
  std::vector<PairOfShapes> hidden_;      // found last
  std::vector<PairOfShapes> late_;        // that have contacts of the end of this step
  std::vector<DetectedContact> late_contacts_;
  ContactList late_list_;  // scratch
  ContactWorkspace late_workspace_;
  bool wants_alternatives_ = false;
  bool is_listed_ = false;         // detected_ and alternatives_ are those of the parts, no others
  std::uint64_t list_number_ = 0;  // of detected_; no other list has had it
  bool has_driven_ = false;        // shapes that move with the time
  std::vector<double> moved_;      // scratch
  std::vector<std::uint64_t> known_keys_;
  std::vector<char> is_near_;  // shapes that moved no further than their reach; scratch
  Detection further_;          // of the others; scratch
  std::vector<int> met_sleepers_;
  int num_reduced_ = 0;
};

/// Evaluates what schemes ask of the contacts at a state, with storage that is reused.
class ContactEvaluator : public ModelEvaluator {
 public:
  /// All gaps Φ(q, t), in the order of the contacts.
  template <class Vector>
  static void compute_gaps(const ContactModel& model, double t, const VectorXd& q, Vector& gaps) {
    gaps.resize(model.num_contacts());
    model.evaluate_gaps(t, q, gaps);
  }
  /// The same, and where the contacts touch.
  static void compute_gaps(const ContactModel& model, double t, const VectorXd& q, KeptVector& gaps,
                           ContactTouches& touches);
  /// γ_N = N v + ŵ_N of one contact.
  double compute_gap_rate(const ContactModel& model, const State& state, int contact);
  /// ‖T v + ŵ_T‖ of one contact.
  double compute_slip_speed(const ContactModel& model, const State& state, int contact);
  /// Of gaps that are known; not a number if one of them is none.
  static double smallest_of(const ConstVectorRef& gaps);

 private:
  /// γ of one row of the contact evaluated last.
  double rate(const Model& model, const State& state, int row) const {
    return contact_.rows.times(0, row, model.block_starts(), state.v.data()) + contact_.drift[row];
  }

  RowSet contact_;
};

}  // namespace stiction
