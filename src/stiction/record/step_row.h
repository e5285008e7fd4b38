// What one recorded step consists of. Plain numbers: the recording knows no model, no scheme and no
// solver, and the names of coordinates come with the RecordingLayout.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "stiction/problem/contact_status.h"

namespace stiction {

struct ContactRow {
  int a = 0;  // the bodies, or whatever the recording's names say; the normal points from B to A
  int b = 0;
  std::uint64_t id = 0;                 // persists across steps
  std::array<double, 3> position = {};  // [m] world frame
  std::array<double, 3> normal = {};    // [-] world frame
  double gap = 0;                       // [m], negative when penetrating
  std::array<double, 3> impulse = {};   // [N s] normal, tangent 1, tangent 2
  std::array<double, 2> slip = {};      // [m/s] tangent 1, tangent 2
  ContactStatus status = ContactStatus::kOpen;
  std::array<double, 2> accumulated_slip = {};  // [m] tangent 1, tangent 2, since it was made
};

/// Something that happened within a step. Events have rows of their own: they are kept also for
/// steps that are not recorded.
struct EventRow {
  std::int64_t step = 0;      // within which it happened; never decreases along a recording
  double time = 0;            // [s]
  int kind = 0;               // index into RecordingLayout::event_kinds
  std::int64_t contact = -1;  // id of the contact, or −1 for none
  double energy = 0;          // [J] change of energy, losses are negative
};

/// What somebody did to a run from outside, such as pulling at a body.
struct CommandRow {
  std::int64_t step = 0;    // after which it acted; never decreases along a recording
  double time = 0;          // [s] then
  std::string_view text{};  // a JSON object
};

/// A contact of one of the problems that a step was made of, where its rows were evaluated.
struct PhaseContactRow {
  std::uint64_t id = 0;
  int shape_a = -1, shape_b = -1;    // by their place in the scene; −1: a contact with a name
  std::array<double, 3> point = {};  // [m] world frame
  std::array<double, 3> normal = {};
  double gap = 0;                      // [m]
  std::array<double, 3> impulse = {};  // [N s] of the whole problem
  std::array<double, 3> turning = {};  // [N] that geometric stiffness was made of
};

/// One of the problems that a step was made of. States are as rows show them.
struct PhaseRow {
  int kind = 0;                                      // index into RecordingLayout::phase_kinds
  double time = 0;                                   // [s] at its start
  double length = 0;                                 // [s] of the problem
  double share = 1;                                  // of it that was used
  std::span<const double> q = {}, v = {};            // at its start; empty: the row before
  std::span<const double> rows_q = {}, rows_v = {};  // where rows were evaluated; empty: follows
  std::span<const double> joint_impulses = {};       // [N s]
  std::span<const double> turning = {};              // [N] per joint row, or empty
  std::span<const PhaseContactRow> contacts = {};
};

/// Datasets below /energy, in the order of StepRow::energy.
inline constexpr std::array<std::string_view, 8> kEnergyNames = {
    "kinetic", "potential", "spring", "applied", "motor", "friction", "impact", "numerical"};

/// Datasets below /certificate, in the order of StepRow::certificate.
inline constexpr std::array<std::string_view, 5> kCertificateNames = {"momentum", "bilateral",
                                                                      "cone", "gap", "joint"};

/// Datasets below /times, in the order of StepRow::times.
inline constexpr std::array<std::string_view, 3> kTimeNames = {"detect", "assemble", "certify"};

/// The spans are read during the call that gets them and not kept.
struct StepRow {
  std::int64_t step = 0;  // strictly increasing along a recording
  double time = 0;        // [s]
  std::span<const double> q = {};
  std::span<const double> v = {};
  std::span<const ContactRow> contacts = {};
  std::span<const double> joint_impulses = {};          // [N s]
  std::span<const double> reactions = {};               // [N, N m] mean of the step
  std::array<double, kEnergyNames.size()> energy = {};  // [J]
  std::array<double, kCertificateNames.size()> certificate = {};
  int iterations = 0;  // of the solver
  int stage = 0;       // of the solver: 0, or the number of the fallback that succeeded
  double wall = 0;     // [s] in the solver
  /// [s] finding contacts, in the scheme, in certificates after the solver.
  std::array<double, kTimeNames.size()> times = {};
  int flagged = 0;                          // steps accepted above tolerance since the row before
  std::span<const PhaseRow> phases = {};    // that the step was made of
  std::span<const double> held_force = {};  // [N, N m] of controllers, per velocity; empty: none
};

}  // namespace stiction
