// One number of a recording is changed, and the audit has to name the law and the step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <cstring>
#include <numeric>

#include "stiction/scheme/scheme.h"
#include "tests/audit/audited_run.h"

namespace stiction {
namespace {

using testing::AuditedRun;
using testing::broken_laws;
using testing::options_of;
using testing::scene_from_text;

/// A box that slides, one that rests on it, a ball that bounces.
const AuditedRun& blocks() {
  static const AuditedRun run = [] {
    const Scene scene = scene_from_text(R"({"stiction": 1, "name": "blocks",
      "simulate": {"scheme": "moreau", "solver": "lemke", "h": 1e-3, "friction": "polygon:8"},
      "gravity": [0, 0, -9.81],
      "materials": {"wood": {"mu": 0.3, "restitution": 0}, "steel": {"mu": 0.1, "restitution": 0.5}},
      "bodies": [
        {"name": "ground", "static": true,
         "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "wood"}]},
        {"name": "box", "mass": 2, "inertia": [0.02, 0.02, 0.02], "position": [0, 0, 0.1],
         "velocity": [1, 0.3, 0],
         "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "material": "wood"}]},
        {"name": "ball", "mass": 1, "inertia": [0.01, 0.01, 0.01], "position": [1, 0, 0.111],
         "velocity": [0.5, 0, -0.5],
         "shapes": [{"type": "sphere", "radius": 0.1, "material": "steel"}]}],
      "forces": [{"body": "ball", "force": ["1 + t", 0, 0]}]})");
    SimulationOptions options = options_of(scene);
    options.friction = FrictionSection::disc();
    options.solver = "auto";
    return AuditedRun(scene, options, 40);
  }();
  return run;
}

/// A motor and a brake at their bounds, a spring, a limit.
const AuditedRun& mechanism() {
  static const AuditedRun run = [] {
    const Scene scene = scene_from_text(R"({"stiction": 1, "name": "mechanism",
      "simulate": {"scheme": "spook", "h": 5e-3},
      "gravity": [0, 0, -9.81],
      "bodies": [
        {"name": "arm", "mass": 2, "inertia": [0.1, 0.1, 0.1], "position": [0.5, 0, 0]},
        {"name": "hand", "mass": 1, "inertia": [0.05, 0.05, 0.05], "position": [1.5, 0, 0],
         "velocity": [0, 0, 0]}],
      "joints": [
        {"name": "shoulder", "type": "hinge", "bodies": ["world", "arm"], "at": [0, 0, 0],
         "axis": [0, 1, 0], "motor": {"speed": -2, "max_effort": 3}},
        {"name": "elbow", "type": "hinge", "bodies": ["arm", "hand"], "at": [1, 0, 0],
         "axis": [0, 1, 0], "friction": 0.2, "limits": [-1, 0.05]}],
      "springs": [{"name": "tendon", "between": [{"body": "hand", "point": [0, 0, 0]},
                   {"world": [1.5, 0, 1]}], "stiffness": 20, "damping": 1, "rest_length": 0.5}]})");
    return AuditedRun(scene, options_of(scene), 40);
  }();
  return run;
}

int index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  EXPECT_NE(found, names.end()) << name;
  return static_cast<int>(found - names.begin());
}

struct Fault {
  std::string name;
  const AuditedRun& (*run)();
  Law law;
  int row;  // where it is planted
  AuditedRun::Change plant;
};

/// First contact of a phase of the row that presses; −1 if there is none.
std::int64_t pressing(const RecordedChunk& chunk, int row) {
  const RecordedPhases& phases = chunk.phases;
  for (std::int64_t i = phases.row_start[row]; i < phases.row_start[row + 1]; ++i)
    for (std::int64_t c = phases.contact_start[i]; c < phases.contact_start[i + 1]; ++c)
      if (phases.contact_impulse(c, 0) > 0) return c;
  ADD_FAILURE() << "row " << row << " has no contact that presses";
  return 0;
}

/// The last phase of a row: its step, after impacts.
std::int64_t last_phase(const RecordedChunk& chunk, int row) {
  return chunk.phases.row_start[row + 1] - 1;
}

double with_flipped_bit(double x, int bit) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits ^= std::uint64_t{1} << bit;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

void turn(RowMatrixXd& vectors, std::int64_t row, const Eigen::Vector3d& axis, double angle) {
  const Eigen::Vector3d v = vectors.row(row).transpose();
  vectors.row(row) = (Eigen::AngleAxisd(angle, axis.normalized()) * v).transpose();
}

/// Removes a row of a list of vectors and numbers.
template <class T>
void drop(std::vector<T>& list, std::int64_t i) {
  list.erase(list.begin() + i);
}
void drop(RowMatrixXd& matrix, std::int64_t i) {
  RowMatrixXd rest(matrix.rows() - 1, matrix.cols());
  rest << matrix.topRows(i), matrix.bottomRows(matrix.rows() - 1 - i);
  matrix = rest;
}

void drop_phase_contact(RecordedChunk& chunk, std::int64_t c) {
  RecordedPhases& p = chunk.phases;
  drop(p.contact_phase, c), drop(p.id, c), drop(p.shape_a, c), drop(p.shape_b, c);
  drop(p.point, c), drop(p.normal, c), drop(p.contact_impulse, c), drop(p.contact_turning, c);
  drop(p.gap, c);
  for (std::int64_t& start : p.contact_start) start -= start > c ? 1 : 0;
}

void drop_row_contact(RecordedChunk& chunk, std::int64_t c) {
  RecordedContacts& k = chunk.contacts;
  drop(k.step, c), drop(k.a, c), drop(k.b, c), drop(k.id, c), drop(k.position, c);
  drop(k.normal, c), drop(k.gap, c), drop(k.impulse, c), drop(k.slip, c), drop(k.status, c);
  drop(k.accumulated_slip, c);
  for (std::int64_t& start : k.row_start) start -= start > c ? 1 : 0;
}

void drop_row(RecordedChunk& chunk, RecordingHeader& header, int row) {
  drop(chunk.step, row), drop(chunk.time, row), drop(chunk.q, row), drop(chunk.v, row);
  drop(chunk.joint_impulses, row), drop(chunk.reactions, row), drop(chunk.energy, row);
  drop(chunk.certificate, row), drop(chunk.iterations, row), drop(chunk.stage, row);
  drop(chunk.flagged, row), drop(chunk.control, row);
  // What belonged to the row is where the next one expects its own, as in a file.
  drop(chunk.contacts.row_start, row + 1), drop(chunk.phases.row_start, row + 1);
  --header.num_rows;
}

/// Row 20: the box slides on four corners, the ball flies. The ball bounces at row 22 or so.
constexpr int kRow = 20;

std::vector<Fault> block_faults() {
  const auto scaled = [](double& x, double factor) { x *= factor; };
  std::vector<Fault> faults;
  const auto add = [&](const std::string& name, Law law, const AuditedRun::Change& plant,
                       int row = kRow) {
    faults.push_back({name, blocks, law, row, plant});
  };
  add("normal impulse of a phase scaled", Law::kMomentum, [=](RecordedChunk& c, auto&) {
    scaled(c.phases.contact_impulse(pressing(c, kRow), 0), 1 + 1e-4);
  });
  add("normal impulse of a row scaled", Law::kTotals, [=](RecordedChunk& c, auto&) {
    scaled(c.contacts.impulse(c.contacts.row_start[kRow], 0), 1 + 1e-9);
  });
  add("contact dropped from a row", Law::kTotals,
      [](RecordedChunk& c, auto&) { drop_row_contact(c, c.contacts.row_start[kRow]); });
  add("contact dropped altogether", Law::kMomentum, [](RecordedChunk& c, auto&) {
    drop_phase_contact(c, pressing(c, kRow));
    drop_row_contact(c, c.contacts.row_start[kRow]);
  });
  add("contact of a patch dropped altogether", Law::kContactsFound, [](RecordedChunk& c, auto&) {
    drop_phase_contact(c, pressing(c, kRow));
    drop_row_contact(c, c.contacts.row_start[kRow]);
  });
  add("all contacts of a body dropped", Law::kMomentum, [](RecordedChunk& c, auto&) {
    while (c.contacts.row_start[kRow] < c.contacts.row_start[kRow + 1]) {
      drop_phase_contact(c, pressing(c, kRow));
      drop_row_contact(c, c.contacts.row_start[kRow]);
    }
  });
  add("contact added twice", Law::kTotals, [](RecordedChunk& c, auto&) {
    c.contacts.id[c.contacts.row_start[kRow] + 1] = c.contacts.id[c.contacts.row_start[kRow]];
  });
  add("friction turned by 1e-3", Law::kDissipation, [](RecordedChunk& c, auto&) {
    turn(c.phases.contact_impulse, pressing(c, kRow), Eigen::Vector3d::UnitX(), 1e-3);
  });
  add("friction reversed", Law::kDissipation, [](RecordedChunk& c, auto&) {
    turn(c.phases.contact_impulse, pressing(c, kRow), Eigen::Vector3d::UnitX(), M_PI);
  });
  add("friction outside its cone", Law::kCones, [](RecordedChunk& c, auto&) {
    c.phases.contact_impulse.row(pressing(c, kRow)).tail<2>() *= 1.001;
  });
  add("contact that pulls", Law::kCones,
      [](RecordedChunk& c, auto&) { c.phases.contact_impulse(pressing(c, kRow), 0) *= -1; });
  add("velocity bit", Law::kMomentum, [](RecordedChunk& c, RecordingHeader& h) {
    double& v = c.v(kRow, index_of(h.v_names, "box.vx"));
    v = with_flipped_bit(v, 30);  // 2⁻²² of it
  });
  add("contact that opens while it presses", Law::kComplementarity,
      [](RecordedChunk& c, RecordingHeader& h) {
        c.v(kRow, index_of(h.v_names, "box.vz")) += 0.01;
      });
  add("position", Law::kMotion, [](RecordedChunk& c, RecordingHeader& h) {
    c.q(kRow, index_of(h.q_names, "ball.x")) += 1e-9;
  });
  add("angular velocity", Law::kMomentum, [](RecordedChunk& c, RecordingHeader& h) {
    c.v(kRow, index_of(h.v_names, "ball.wy")) += 1e-6;
  });
  add("velocity that is not a number", Law::kMotion,
      [](RecordedChunk& c, auto&) { c.v(kRow, 0) = std::nan(""); });
  add("quaternion scaled", Law::kQuaternions, [](RecordedChunk& c, RecordingHeader& h) {
    c.q(kRow, index_of(h.q_names, "ball.qw")) *= 1 + 1e-9;
  });
  add("gap of a phase", Law::kGaps,
      [](RecordedChunk& c, auto&) { c.phases.gap[pressing(c, kRow)] += 1e-2; });
  add("gap of a row", Law::kGaps,
      [](RecordedChunk& c, auto&) { c.contacts.gap[c.contacts.row_start[kRow]] -= 1e-2; });
  add("normal of a phase turned", Law::kGaps, [](RecordedChunk& c, auto&) {
    turn(c.phases.normal, pressing(c, kRow), Eigen::Vector3d::UnitX(), 0.1);
  });
  add("normal of a phase reversed", Law::kMomentum,
      [](RecordedChunk& c, auto&) { c.phases.normal.row(pressing(c, kRow)) *= -1; });
  add("normal of a row turned", Law::kGaps, [](RecordedChunk& c, auto&) {
    turn(c.contacts.normal, c.contacts.row_start[kRow], Eigen::Vector3d::UnitX(), 0.1);
  });
  add("normal of a row scaled", Law::kGaps, [](RecordedChunk& c, auto&) {
    c.contacts.normal.row(c.contacts.row_start[kRow]) *= 1 + 1e-6;
  });
  add("place of a phase", Law::kMomentum,
      [](RecordedChunk& c, auto&) { c.phases.point(pressing(c, kRow), 0) += 1e-3; });
  add("place of a row", Law::kGaps,
      [](RecordedChunk& c, auto&) { c.contacts.position(c.contacts.row_start[kRow], 2) += 0.1; });
  add("place of a row along the ground", Law::kGaps,
      [](RecordedChunk& c, auto&) { c.contacts.position(c.contacts.row_start[kRow], 0) += 0.01; });
  add("place of a row by little", Law::kGaps,
      [](RecordedChunk& c, auto&) { c.contacts.position(c.contacts.row_start[kRow], 1) += 1e-5; });
  add("bodies of a row swapped", Law::kTotals, [](RecordedChunk& c, auto&) {
    const std::int64_t k = c.contacts.row_start[kRow];
    std::swap(c.contacts.a[k], c.contacts.b[k]);
  });
  add("shapes of a phase swapped", Law::kMomentum, [](RecordedChunk& c, auto&) {
    const std::int64_t k = pressing(c, kRow);
    std::swap(c.phases.shape_a[k], c.phases.shape_b[k]);
  });
  add("shape that is not there", Law::kGaps,
      [](RecordedChunk& c, auto&) { c.phases.shape_b[pressing(c, kRow)] = 17; });
  add("slip", Law::kTotals,
      [](RecordedChunk& c, auto&) { c.contacts.slip(c.contacts.row_start[kRow], 0) += 1e-9; });
  add("accumulated slip", Law::kTotals, [](RecordedChunk& c, auto&) {
    c.contacts.accumulated_slip(c.contacts.row_start[kRow], 0) += 1e-9;
  });
  add("accumulated slip of one step left out", Law::kTotals, [](RecordedChunk& c, auto&) {
    const std::int64_t k = c.contacts.row_start[kRow], before = c.contacts.row_start[kRow - 1];
    c.contacts.accumulated_slip.row(k) = c.contacts.accumulated_slip.row(before);
  });
  add("status of a slipping contact: stick", Law::kTotals, [](RecordedChunk& c, auto&) {
    c.contacts.status[c.contacts.row_start[kRow]] = ContactStatus::kStick;
  });
  add("status of a slipping contact: open", Law::kTotals, [](RecordedChunk& c, auto&) {
    c.contacts.status[c.contacts.row_start[kRow]] = ContactStatus::kOpen;
  });
  add(
      "step missing", Law::kTime,
      [](RecordedChunk& c, RecordingHeader& h) { drop_row(c, h, kRow); }, kRow + 1);
  add(
      "step number repeated", Law::kTime, [](RecordedChunk& c, auto&) { --c.step[kRow]; },
      kRow - 1);
  add("time repeated", Law::kTime,
      [](RecordedChunk& c, auto&) { c.time[kRow] = c.time[kRow - 1]; });
  add("time shifted", Law::kTime, [](RecordedChunk& c, auto&) { c.time[kRow] += 1e-9; });
  add("phase longer than its step", Law::kTime,
      [](RecordedChunk& c, auto&) { c.phases.length[last_phase(c, kRow)] *= 1 + 1e-9; });
  add("share of a phase", Law::kTime,
      [](RecordedChunk& c, auto&) { c.phases.share[last_phase(c, kRow)] = 0.5; });
  add("kind of a phase", Law::kMomentum,
      [](RecordedChunk& c, auto&) { c.phases.kind[last_phase(c, kRow)] = 1; });
  add("residual of the momentum", Law::kCertificate,
      [](RecordedChunk& c, auto&) { c.certificate(kRow, 0) = 1e-10; });
  add("residual of the cones", Law::kCertificate,
      [](RecordedChunk& c, auto&) { c.certificate(kRow, 2) = 5e-10; });
  add("smallest gap", Law::kCertificate,
      [](RecordedChunk& c, auto&) { c.certificate(kRow, 3) = -0.5; });
  add("residual above tolerance that is not flagged", Law::kStatus,
      [](RecordedChunk& c, auto&) { c.certificate(kRow, 1) = 1e-6; });
  add("residual far above tolerance that is flagged", Law::kCertificate,
      [](RecordedChunk& c, auto&) {
        c.certificate(kRow, 0) = 1e-3;
        c.flagged[kRow] = 1;
      });
  add(
      "status of the run", Law::kStatus,
      [](RecordedChunk&, RecordingHeader& h) { h.status = "above tolerance"; }, 40);
  add(
      "status of the run that is none", Law::kStatus,
      [](RecordedChunk&, RecordingHeader& h) { h.status = "fine"; }, 40);
  add(
      "work before the first step", Law::kEnergy,
      [](RecordedChunk& c, auto&) {
        c.energy.col(3).array() += 1;  // closed all the same
        c.energy.col(7).array() -= 1;
      },
      0);
  add(
      "constant added to the work of applied forces", Law::kEnergy,
      [](RecordedChunk& c, auto&) { c.energy.col(3).array() += 1e-3; }, 0);
  add(
      "nominal step doubled", Law::kTime, [](RecordedChunk&, RecordingHeader& h) { h.h *= 1.5; },
      1);
  add(
      "nominal step shortened", Law::kTime, [](RecordedChunk&, RecordingHeader& h) { h.h *= 0.9; },
      1);
  for (int i = 0; i < 8; ++i)
    add(fmt::format("{} energy", kEnergyNames[i]), Law::kEnergy,
        [i](RecordedChunk& c, auto&) { c.energy(kRow, i) += 1e-9; });
  return faults;
}

std::vector<Fault> mechanism_faults() {
  std::vector<Fault> faults;
  const auto add = [&](const std::string& name, Law law, const AuditedRun::Change& plant) {
    faults.push_back({name, mechanism, law, kRow, plant});
  };
  const auto scale_phase = [](const std::string& row, double factor) {
    return [=](RecordedChunk& c, RecordingHeader& h) {
      c.phases.impulse(last_phase(c, kRow), index_of(h.joint_names, row)) *= factor;
    };
  };
  add("impulse of a joint in a phase", Law::kMomentum, scale_phase("shoulder.x", 1 + 1e-6));
  add("impulse of a joint in a row", Law::kTotals, [](RecordedChunk& c, RecordingHeader& h) {
    c.joint_impulses(kRow, index_of(h.joint_names, "shoulder.x")) *= 1 + 1e-9;
  });
  add("impulse of a spring", Law::kJointRows, [](RecordedChunk& c, RecordingHeader& h) {
    const auto found = std::find_if(h.joint_names.begin(), h.joint_names.end(),
                                    [](const auto& name) { return name.starts_with("tendon"); });
    ASSERT_NE(found, h.joint_names.end());
    c.phases.impulse(last_phase(c, kRow), found - h.joint_names.begin()) *= 1 + 1e-4;
  });
  add("motor beyond its effort", Law::kEffortBounds, scale_phase("shoulder.motor", 1.01));
  add("brake beyond its effort", Law::kEffortBounds, scale_phase("elbow.friction", 1.5));
  add("motor that gives less than it could", Law::kJointRows, scale_phase("shoulder.motor", 0.9));
  add("reaction of a joint", Law::kTotals, [](RecordedChunk& c, RecordingHeader& h) {
    c.reactions(kRow, index_of(h.reaction_names, "shoulder.b.fz")) *= 1 + 1e-6;
  });
  add("joint error", Law::kCertificate,
      [](RecordedChunk& c, auto&) { c.certificate(kRow, 4) += 1e-6; });
  add("residual of the joints", Law::kCertificate,
      [](RecordedChunk& c, auto&) { c.certificate(kRow, 1) = 5e-10; });
  add("angle of a joint", Law::kMotion, [](RecordedChunk& c, RecordingHeader& h) {
    c.q(kRow, index_of(h.q_names, "elbow.angle")) += 2 * M_PI;
  });
  add("orientation", Law::kMotion, [](RecordedChunk& c, RecordingHeader& h) {
    const int i = index_of(h.q_names, "hand.qw");
    const double angle = 1e-8, w = c.q(kRow, i), y = c.q(kRow, i + 2);
    c.q(kRow, i) = std::cos(angle) * w - std::sin(angle) * y;
    c.q(kRow, i + 2) = std::cos(angle) * y + std::sin(angle) * w;
  });
  add("force that the stiffness was made of", Law::kMomentum,
      [](RecordedChunk& c, RecordingHeader& h) {
        c.phases.turning(last_phase(c, kRow), index_of(h.joint_names, "elbow.x")) += 100;
      });
  add("work of the motor", Law::kEnergy,
      [](RecordedChunk& c, auto&) { c.energy(kRow, 4) += 1e-6; });
  add("work of the brake", Law::kEnergy,
      [](RecordedChunk& c, auto&) { c.energy(kRow, 5) -= 1e-6; });
  return faults;
}

/// A ball that bounces and a block on a hinge beside another that is free, in a scheme that locates
/// events and projects positions.
const AuditedRun& bounces() {
  static const AuditedRun run = [] {
    const Scene scene = scene_from_text(R"({"stiction": 1, "name": "bounces",
      "simulate": {"scheme": "anitescu-potra", "h": 1e-3}, "gravity": [0, 0, -9.81],
      "materials": {"steel": {"mu": 0.1, "restitution": 0.5}},
      "bodies": [
        {"name": "ground", "static": true,
         "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "steel"}]},
        {"name": "ball", "mass": 1, "inertia": [0.01, 0.01, 0.01], "position": [1, 0, 0.1103],
         "velocity": [0.5, 0, -0.5],
         "shapes": [{"type": "sphere", "radius": 0.1, "material": "steel"}]},
        {"name": "pendulum", "mass": 1, "inertia": [0.01, 0.01, 0.01], "position": [0.5, 3, 2]},
        {"name": "free", "mass": 1, "inertia": [0.01, 0.01, 0.01], "position": [0, 5, 2]}],
      "joints": [{"name": "hinge", "type": "hinge", "bodies": ["world", "pendulum"],
                  "at": [0, 3, 2], "axis": [0, 1, 0]}]})");
    return AuditedRun(scene, options_of(scene), 40);
  }();
  return run;
}

/// The step of the first event.
int step_of_collision() {
  int step = 0;
  bounces().audit([&](RecordedChunk& c, RecordingHeader&) {
    step = c.events.size() > 0 ? static_cast<int>(c.events.step[0]) : 0;
  });
  return step;
}

std::vector<Fault> event_faults() {
  std::vector<Fault> faults;
  const auto add = [&](const std::string& name, Law law, int row, const AuditedRun::Change& plant) {
    faults.push_back({name, bounces, law, row, plant});
  };
  const int row = step_of_collision();
  EXPECT_GT(row, 5);
  add("time of an event", Law::kTime, row,
      [](RecordedChunk& c, auto&) { c.events.time[0] += 1e-9; });
  add("kind of an event", Law::kStatus, row, [](RecordedChunk& c, auto&) { c.events.kind[0] = 4; });
  add("kind of an event that is none", Law::kStatus, row,
      [](RecordedChunk& c, auto&) { c.events.kind[0] = 99; });
  add("collision that is called a take-off", Law::kStatus, row,
      [](RecordedChunk& c, auto&) { c.events.kind[0] = 3; });
  add("contact of an event", Law::kStatus, row,
      [](RecordedChunk& c, auto&) { c.events.contact[0] += 1; });
  add("energy of an event", Law::kEnergy, row,
      [](RecordedChunk& c, auto&) { c.events.energy[0] *= 1 + 1e-9; });
  add("step of an event", Law::kStatus, row,
      [](RecordedChunk& c, auto&) { c.events.step[0] += 1; });
  add("event that is missing", Law::kStatus, row, [](RecordedChunk& c, auto&) {
    drop(c.events.step, 0), drop(c.events.time, 0), drop(c.events.kind, 0);
    drop(c.events.contact, 0), drop(c.events.energy, 0);
  });
  add("projection that moves a free body", Law::kMotion, 5,
      [](RecordedChunk& c, auto& h) { c.q(5, index_of(h.q_names, "free.x")) += 1e-6; });
  add("projection that moves a body along its hinge", Law::kMotion, 5,
      [](RecordedChunk& c, auto& h) {
        // About the hinge, along y: z changes by −0.5 times the angle, to first order.
        const double angle = 1e-5;
        const int i = index_of(h.q_names, "pendulum.qw"), x = index_of(h.q_names, "pendulum.x");
        const double w = c.q(5, i), y = c.q(5, i + 2);
        c.q(5, i) = std::cos(angle / 2) * w - std::sin(angle / 2) * y;
        c.q(5, i + 2) = std::cos(angle / 2) * y + std::sin(angle / 2) * w;
        const double dx = c.q(5, x), dz = c.q(5, x + 2) - 2;
        c.q(5, x) = std::cos(angle) * dx + std::sin(angle) * dz;
        c.q(5, x + 2) = 2 - std::sin(angle) * dx + std::cos(angle) * dz;
      });
  add("projection that leaves its joint", Law::kJointRows, 5,
      [](RecordedChunk& c, auto& h) { c.q(5, index_of(h.q_names, "pendulum.y")) += 1e-6; });
  return faults;
}

/// Signs of gaps that are smaller than the way of a step, where rows were evaluated and at the end.
TEST(PlantedFaults, SignsOfSmallGapsAreNamed) {
  const auto flip = [](bool in_phase) {
    int row = -1;
    const AuditReport report = blocks().audit([&](RecordedChunk& c, RecordingHeader&) {
      for (std::int64_t k = 1; k < c.num_rows() && row < 0; ++k)
        for (std::int64_t i = c.phases.contact_start[c.phases.row_start[k]];
             i < c.phases.contact_start[c.phases.row_start[k + 1]]; ++i) {
          double& gap = in_phase ? c.phases.gap[i]
                                 : c.contacts.gap[c.contacts.row_start[k] + i -
                                                  c.phases.contact_start[c.phases.row_start[k]]];
          if (std::abs(gap) < 1e-6) continue;
          EXPECT_LT(std::abs(gap), 1e-3);  // twice the way of 0.6 m/s in 1e-3 s
          gap = -gap;
          row = static_cast<int>(k);
          break;
        }
    });
    ASSERT_GT(row, 0) << "no contact has a gap";
    EXPECT_GT(report[Law::kGaps].broken, 0) << broken_laws(report);
    EXPECT_EQ(report[Law::kGaps].first_broken.step, row) << broken_laws(report);
  };
  flip(true);
  flip(false);
}

/// A block that a controller pushes about, with its centre of mass off its frame.
TEST(PlantedFaults, ForcesOfControllersAreNamed) {
  const Scene scene = scene_from_text(R"({"stiction": 1, "name": "driven",
      "simulate": {"scheme": "moreau", "h": 1e-3}, "gravity": [0, 0, -9.81],
      "bodies": [
        {"name": "ground", "static": true, "shapes": [{"type": "plane", "normal": [0, 0, 1]}]},
        {"name": "box", "mass": 2, "inertia": [0.02, 0.03, 0.04], "position": [0, 0, 0.1],
         "center_of_mass": [0.01, 0.02, 0], "velocity": [1, 0, 0],
         "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}]}]})");
  const auto push = [](Simulation& simulation) {
    const double t = simulation.state().t;
    VectorXd force = VectorXd::Zero(6);
    force << 30 * std::sin(100 * t), 5, 1, 0.3, -0.2, std::cos(50 * t);
    // Not in all steps.
    simulation.set_held_force(simulation.summary().steps % 5 == 3 ? VectorXd() : force);
  };
  for (const std::string& scheme : scheme_names()) {
    SCOPED_TRACE(scheme);
    SimulationOptions options = options_of(scene);
    options.scheme = scheme;
    const AuditedRun run(scene, options, 20, push);
    EXPECT_EQ(broken_laws(run.audit()), "");
    const AuditReport report = run.audit(
        [](RecordedChunk& c, RecordingHeader&) { c.held_force(c.control[7], 0) += 1e-3; });
    for (const Law law : {Law::kMomentum, Law::kEnergy}) {
      EXPECT_GT(report[law].broken, 0) << broken_laws(report);
      EXPECT_EQ(report[law].first_broken.step, 7) << broken_laws(report);
    }
  }
}

/// A box that slides on a plane, and all of it lifted off by a centimetre that its gaps admit.
TEST(PlantedFaults, ContactsThatActAtADistanceAreNamed) {
  const Scene scene = scene_from_text(R"({"stiction": 1, "name": "slide",
      "simulate": {"scheme": "moreau", "h": 1e-3}, "gravity": [0, 0, -9.81],
      "bodies": [
        {"name": "ground", "static": true, "shapes": [{"type": "plane", "normal": [0, 0, 1]}]},
        {"name": "box", "mass": 2, "inertia": [0.02, 0.02, 0.02], "position": [0, 0, 0.1],
         "velocity": [1, 0, 0], "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}]}]})");
  for (const char* scheme : {"moreau", "anitescu-potra", "trapezoidal-2"}) {
    SCOPED_TRACE(scheme);
    SimulationOptions options = options_of(scene);
    options.scheme = scheme;
    const AuditedRun run(scene, options, 10);
    EXPECT_EQ(broken_laws(run.audit()), "");
    const AuditReport report = run.audit([](RecordedChunk& c, RecordingHeader&) {
      c.phases.gap[static_cast<std::size_t>(pressing(c, 5))] += 0.01;
    });
    EXPECT_GT(report[Law::kComplementarity].broken, 0) << broken_laws(report);
    EXPECT_EQ(report[Law::kComplementarity].first_broken.step, 5);
  }
}

/// A box that slides fast and sinks by less than its way in a step.
TEST(PlantedFaults, SinkingIsNamedHoweverFastABodySlides) {
  const Scene scene = scene_from_text(R"({"stiction": 1, "name": "fast",
      "simulate": {"scheme": "moreau", "h": 1e-2}, "gravity": [0, 0, -9.81],
      "materials": {"ice": {"mu": 0}},
      "bodies": [
        {"name": "ground", "static": true,
         "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "ice"}]},
        {"name": "box", "mass": 2, "inertia": [0.02, 0.02, 0.02], "position": [0, 0, 0.1],
         "velocity": [10, 0, 0],
         "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "material": "ice"}]}]})");
  const AuditedRun run(scene, options_of(scene), 10);
  EXPECT_EQ(broken_laws(run.audit()), "");
  const AuditReport report = run.audit(
      [](RecordedChunk& c, RecordingHeader& h) { c.q(5, index_of(h.q_names, "box.z")) -= 1e-3; });
  for (const Law law : {Law::kPenetration, Law::kCertificate}) {
    EXPECT_GT(report[law].broken, 0) << broken_laws(report);
    EXPECT_EQ(report[law].first_broken.step, 5) << broken_laws(report);
  }
}

/// A box that spins on a plane, in steps that are iterated until nothing overlaps at their end.
TEST(PlantedFaults, SinkingIsNamedHoweverFastABodyTurnsInIteratedSteps) {
  const Scene scene = scene_from_text(R"({"stiction": 1, "name": "spin",
      "simulate": {"scheme": "stewart-trinkle", "h": 1e-2}, "gravity": [0, 0, -9.81],
      "materials": {"ice": {"mu": 0}},
      "bodies": [
        {"name": "ground", "static": true,
         "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "ice"}]},
        {"name": "box", "mass": 2, "inertia": [0.02, 0.02, 0.02], "position": [0, 0, 0.1],
         "angular_velocity": [0, 0, 30],
         "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "material": "ice"}]}]})");
  const AuditedRun run(scene, options_of(scene), 10);
  EXPECT_EQ(broken_laws(run.audit()), "");
  const AuditReport report = run.audit(
      [](RecordedChunk& c, RecordingHeader& h) { c.q(5, index_of(h.q_names, "box.z")) -= 1e-5; });
  EXPECT_GT(report[Law::kPenetration].broken, 0) << broken_laws(report);
  EXPECT_EQ(report[Law::kPenetration].first_broken.step, 5) << broken_laws(report);
}

void check_all(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.name);
    const AuditReport report = fault.run().audit(fault.plant);
    const LawOutcome& outcome = report[fault.law];
    ASSERT_GT(outcome.broken, 0) << broken_laws(report);
    EXPECT_EQ(outcome.first_broken.step, fault.row) << broken_laws(report);
  }
}

TEST(PlantedFaults, RecordingsAsTheyAreBreakNoLaw) {
  EXPECT_EQ(broken_laws(blocks().audit()), "");
  EXPECT_EQ(broken_laws(mechanism().audit()), "");
  EXPECT_EQ(broken_laws(bounces().audit()), "");
}

TEST(PlantedFaults, InContactsAndStatesAreNamed) { check_all(block_faults()); }

TEST(PlantedFaults, InEventsAndProjectionsAreNamed) { check_all(event_faults()); }

TEST(PlantedFaults, InJointsAreNamed) { check_all(mechanism_faults()); }

TEST(PlantedFaults, AreOfManyKinds) {
  EXPECT_GE(block_faults().size() + mechanism_faults().size() + event_faults().size(), 75u);
}

/// What a collision detection would leave behind that does not see a pair.
TEST(PlantedFaults, ShapesThatPassThroughEachOtherAreNamed) {
  const auto text = [](int mask) {
    return fmt::format(R"({{"stiction": 1, "name": "blind",
      "simulate": {{"scheme": "moreau", "h": 1e-2}}, "gravity": [0, 0, -9.81],
      "bodies": [
        {{"name": "ground", "static": true, "shapes": [{{"type": "box", "size": [4, 4, 1]}}]}},
        {{"name": "box", "mass": 1, "inertia": [1, 1, 1], "position": [0.1, 0.2, 0.77],
         "shapes": [{{"type": "box", "size": [0.5, 0.5, 0.5], "mask": {}}}]}}]}})",
                       mask);
  };
  const Scene blind = scene_from_text(text(0)), seeing = scene_from_text(text(1));
  const AuditedRun run(blind, options_of(blind), 30);
  EXPECT_EQ(broken_laws(run.audit()), "");
  const AuditReport report = run.audit_as(seeing.model);
  EXPECT_GT(report[Law::kContactsFound].broken, 0) << broken_laws(report);
  EXPECT_GT(report[Law::kPenetration].broken, 0) << broken_laws(report);
  // z = 0.77 − g h² n(n + 1)/2 or so reaches 0.75 after 0.06 s.
  EXPECT_NEAR(report[Law::kContactsFound].first_broken.time, std::sqrt(2 * 0.02 / 9.81), 0.02);
}

/// A thin plate and a ball that is past it within a step: the scheme sees nothing, the audit does.
TEST(PlantedFaults, TunnellingIsNamed) {
  const Scene scene = scene_from_text(R"({"stiction": 1, "name": "bullet",
      "simulate": {"scheme": "moreau", "h": 0.01},
      "bodies": [
        {"name": "plate", "static": true, "position": [0.55, 0, 0],
         "shapes": [{"type": "box", "size": [0.01, 1, 1]}]},
        {"name": "bullet", "mass": 0.01, "inertia": [1e-6, 1e-6, 1e-6], "velocity": [20, 0, 0],
         "shapes": [{"type": "sphere", "radius": 0.01}]}]})");
  const AuditedRun run(scene, options_of(scene), 5);
  const AuditReport report = run.audit();
  ASSERT_EQ(report[Law::kTunnelling].broken, 1) << broken_laws(report);
  EXPECT_EQ(report[Law::kTunnelling].first_broken.step, 3);  // x from 0.4 to 0.6
}

}  // namespace
}  // namespace stiction
