// Goes through a recording row by row and checks every law of audit_report.h from the scene, the
// states and the impulses alone. docs/verify.md says what is checked and where tolerances come
// from. Memory is that of one chunk of the recording and of the model.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stiction/audit/geometry_laws.h"
#include "stiction/audit/phase_problem.h"
#include "stiction/audit/phase_reader.h"
#include "stiction/audit/phase_work.h"
#include "stiction/audit/problem_laws.h"
#include "stiction/record/recording_stream.h"

namespace stiction {

class Auditor {
 public:
  /// `model` is that of the recording's scene and outlives the auditor. Throws InputError if the
  /// recording has other coordinates, joints or contacts than the model.
  Auditor(const Model& model, const AuditSettings& settings, const RecordingHeader& header);

  void check_rows(const RecordedChunk& chunk, AuditReport& report);
  /// What can be told when all rows were seen.
  void finish(const std::vector<std::string>& leftovers, AuditReport& report);

 private:
  /// One row with what precedes it.
  struct Row {
    std::int64_t index = 0, step = 0;  // index in the chunk
    State state;
    Eigen::Matrix<double, 1, Eigen::Dynamic> energy, certificate;
    bool follows = false;  // directly from the row before
    bool is_flagged = false;
    double step_tolerance = 0;
  };
  void check_row(const RecordedChunk& chunk, std::int64_t k, AuditReport& report);
  void read_row(const RecordedChunk& chunk, std::int64_t k, Row& row) const;
  void check_time(const RecordedChunk& chunk, const Row& row, AuditReport& report);
  void check_quaternions(const Row& row, AuditReport& report) const;
  void check_phases(const std::vector<AuditedPhase>& phases, Row& row, AuditReport& report);
  void check_motion(const AuditedPhase& phase, AuditReport& report) const;
  void check_places(const std::vector<AuditedPhase>& phases, AuditReport& report);
  /// Of the phase that problem_ has.
  void check_touching(const AuditedPhase& phase, AuditReport& report);
  /// [m] how far forces alone move a contact in the phase, and how far they would if they were
  /// along its normal.
  struct FreeFall {
    double along = 0, beside = 0;
  };
  FreeFall free_fall(const AuditedPhase& phase, int contact) const;
  void check_totals(const RecordedChunk& chunk, const Row& row,
                    const std::vector<AuditedPhase>& phases, AuditReport& report);
  /// What contacts of a phase have in common. Leaves the phase in problem_.
  struct PhaseScales {
    State at{};             // where rows were evaluated
    double speed = 0;       // [m/s] of anything at the end
    double free_speed = 0;  // [m/s] without contacts: slower slips than a share of it are rounding
    bool is_assembled = false;
  };
  PhaseScales measure_scales(const AuditedPhase& phase, const AuditedPhase* compression);
  void check_contact_totals(const RecordedChunk& chunk, const Row& row,
                            const std::vector<AuditedPhase>& phases, AuditReport& report);
  /// What a contact slides in a step.
  struct Way {
    Eigen::Vector3d vector{0, 0, 0};  // [m] world frame
    double size = 0;                  // [m] of what it is summed from
  };
  std::map<std::uint64_t, Way> measure_ways(const std::vector<AuditedPhase>& phases);
  struct ContactPlane {
    Eigen::Vector3d normal;
    std::array<Eigen::Vector3d, 2> tangents;
  };
  ContactPlane plane_of(const AuditedContact& contact, const Eigen::Vector3d& normal) const;
  void check_accumulated_slip(const RecordedChunk& chunk, const Row& row,
                              const std::vector<AuditedPhase>& phases, AuditReport& report);
  void check_energy(const Row& row, const PhaseWork* work, AuditReport& report);
  void check_certificate(const Row& row, bool is_start, const std::vector<AuditedPhase>& phases,
                         AuditReport& report);
  void check_shapes(const Row& row, const std::vector<AuditedPhase>& phases, AuditReport& report);
  void check_events(const RecordedChunk& chunk, const Row& row,
                    const std::vector<AuditedPhase>& phases, AuditReport& report) const;
  /// Of an event of the kind `kind` at the time that has been checked; phases whose impact it tells
  /// of are marked.
  void check_event(const RecordedEvents& events, std::int64_t i,
                   const std::vector<AuditedPhase>& phases, double rounding,
                   std::vector<char>& is_told, AuditReport& report) const;
  void check_transition(const std::string& name, std::int64_t id, double t,
                        const std::vector<AuditedPhase>& phases, double rounding,
                        AuditReport& report) const;
  void read_contacts_at_end(const RecordedChunk& chunk, std::int64_t row,
                            const std::vector<AuditedPhase>& phases);
  void check_projection(const std::vector<AuditedPhase>& phases, std::size_t index,
                        AuditReport& report);

  std::string name_of(const AuditedContact& contact) const;
  std::string name_of_block(int block) const;
  ProblemNames names_for(const AuditedPhase& phase) const;
  double extent_of(const VectorXd& q) const;

  const Model& model_;
  AuditSettings settings_;
  RecordingHeader header_;
  PhaseProblem problem_;
  GeometryLaws geometry_;
  PhaseReader reader_;

  Row last_;
  bool has_last_ = false;
  double start_energy_ = 0;
  PhaseWork work_;         // of the step at hand
  ResidualBounds bounds_;  // likewise
  bool has_bounds_ = false;
  double smallest_gap_ = 0;  // of shapes, at the end of the step at hand
  std::int64_t num_flagged_ = 0;
  /// Gaps, [m], of contacts that pressed when they were seen last, and whether the row before says
  /// all that do.
  std::map<std::uint64_t, double> pressed_;
  bool knows_pressing_ = false, last_has_phases_ = false;
  /// What contacts have slipped by the row before, and whether that row says so.
  struct SlipMark {
    Eigen::Vector3d way{0, 0, 0}, normal{0, 0, 0};
  };
  std::map<std::uint64_t, SlipMark> slips_;
  bool knows_slips_ = false;
  std::set<GeometryLaws::Pair> found_;  // that had a contact in the step at hand
  /// Contacts of shapes as the row shows them, at its end, with what their phases say of them.
  std::map<std::uint64_t, AuditedContact> at_end_;
  /// [m] up to which contacts of a pair count as touching, in schemes that choose by it.
  std::map<GeometryLaws::Pair, double> touching_;
  /// Change of kinetic energy without the work of drives, phase by phase, and its terms, [J].
  std::vector<double> impact_energy_, impact_energy_size_;
  VectorXd projected_;            // [m], [rad] ways of projections of positions in the step at hand
  std::int64_t first_step_ = -1;  // that had a length
  bool has_whole_step_ = false;   // one of h or of h halved
};

/// Reads all rows of the recording. `progress` is told rows done and rows in all, and says whether
/// to go on.
void audit_recording(RecordingStream& stream, const Model& model, const AuditSettings& settings,
                     AuditReport& report,
                     const std::function<void(std::int64_t, std::int64_t)>& progress = {});

/// The settings that the recording was made with; `fallback` where an older one does not say.
AuditSettings read_settings(const RecordingHeader& header, const AuditSettings& fallback,
                            std::vector<std::string>& notes);

}  // namespace stiction
