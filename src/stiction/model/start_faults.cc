// find_start_faults: what keeps a simulation from starting.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "stiction/base/text.h"
#include "stiction/model/model.h"
#include "stiction/model/surfaces.h"

namespace stiction {
namespace {

using Where = StartFault::Where;

/// Share of the velocities involved that a constraint may be violated by: less than a slip of the
/// pen, more than numbers written with four digits.
constexpr double kVelocityTolerance = 1e-3;
constexpr double kNotFinite = std::numeric_limits<double>::infinity();

/// Collects the faults of one part.
class PartInspector {
 public:
  PartInspector(const Model& model, int part, const State& state, double tolerance,
                std::vector<StartFault>& faults)
      : system_(*model.parts()[part].system),
        part_(part),
        t_(state.t),
        q_(state.q.segment(model.parts()[part].q_offset, system_.num_q())),
        v_(state.v.segment(model.parts()[part].v_offset, system_.num_v())),
        tolerance_(tolerance),
        faults_(faults) {
    int start = 0;
    for (const int n : system_.block_sizes()) {
      block_start_.push_back(start);
      start += n;
    }
  }

  void inspect_mass() {
    int start = 0;
    for (int b = 0; b < system_.num_blocks(); ++b) {
      const int n = system_.block_sizes()[b];
      RowMatrixXd mass(n, n);
      system_.evaluate_block_mass(t_, q_, b, mass);
      const std::string whose =
          system_.num_blocks() == 1
              ? ""
              : fmt::format(" of the block of '{}'", system_.name_of_velocity(start));
      if (!mass.allFinite()) {
        add(Where::kMass, b, fmt::format("mass matrix{} is not finite at the start", whose));
      } else if (Eigen::LLT<MatrixXd>(mass).info() != Eigen::Success) {
        const MatrixXd symmetric = 0.5 * (mass + mass.transpose());
        add(Where::kMass, b,
            fmt::format(
                "mass matrix{} is not positive definite at the start, its smallest eigenvalue "
                "is {:.3g}",
                whose, symmetric.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff()));
      }
      start += n;
    }
  }

  void inspect_force() {
    VectorXd force(v_.size());
    system_.evaluate_force(t_, q_, v_, force);
    for (int i = 0; i < force.size(); ++i)
      if (!std::isfinite(force[i]))
        add(Where::kForce, i,
            fmt::format("force on '{}' is {} at the start, must be finite",
                        system_.name_of_velocity(i), to_text(force[i])));
  }

  void inspect_gaps() {
    VectorXd gaps(system_.num_contacts());
    system_.evaluate_gaps(t_, q_, gaps);
    for (int i = 0; i < system_.num_contacts(); ++i) {
      const std::string& name = system_.contacts()[i].name;
      if (!std::isfinite(gaps[i]))
        add(Where::kContact, i,
            fmt::format("gap of contact '{}' is {} at the start, must be finite", name,
                        to_text(gaps[i])));
      else if (gaps[i] < -tolerance_)
        add(Where::kContact, i,
            fmt::format("contact '{}' penetrates by {:.3g} m at the start, {:.3g} m is allowed",
                        name, -gaps[i], tolerance_),
            true);
    }
  }

  /// Pairs of shapes that penetrate each other, each once with its deepest contact.
  void inspect_surfaces() {
    const Surfaces* surfaces = system_.surfaces();
    if (surfaces == nullptr) return;
    std::vector<Pose> poses(surfaces->objects().size());
    surfaces->place_objects(t_, q_, poses, nullptr);
    CollisionScene scene;
    for (const CollisionObject& object : surfaces->objects()) scene.add(object);
    scene.exclude_bodies(surfaces->untouched_bodies());
    Detection detection;
    scene.detect(poses, {}, detection);
    for (const CollisionPair& pair : detection.pairs) {
      double smallest = 0;
      for (int p = pair.first_patch; p < pair.first_patch + pair.num_patches; ++p)
        smallest = std::min(smallest, detection.contacts.patches[p].separation);
      if (smallest >= -tolerance_) continue;
      // The one that can be moved is to blame.
      const bool is_first = !surfaces->objects()[pair.a].is_static;
      const int index = is_first ? pair.a : pair.b, other = is_first ? pair.b : pair.a;
      add(Where::kShape, index,
          fmt::format("'{}' penetrates '{}' by {:.3g} m at the start, {:.3g} m is allowed",
                      surfaces->name_of_object(index), surfaces->name_of_object(other), -smallest,
                      tolerance_),
          true);
    }
  }

  /// Directions of contacts and constraints, and their drifts.
  void inspect_rows() {
    for (int i = 0; i < system_.num_contacts(); ++i) {
      RowSet rows;
      system_.append_contact_rows(t_, q_, i, 0, rows);
      for (int k = 0; k < rows.rows.num_rows(); ++k)
        if (!std::isfinite(measure(rows, 0, k).size)) {
          add(Where::kContact, i,
              fmt::format("directions of contact '{}' are not finite at the start",
                          system_.contacts()[i].name));
          break;
        }
    }
    RowSet constraints, velocity_rows;
    system_.append_constraint_rows(t_, q_, 0, constraints);
    for (int i = 0; i < system_.num_constraints(); ++i)
      inspect_rate(Where::kConstraint, i, "constraint", system_.constraints()[i].name,
                   system_.constraints()[i].is_rigid(), measure(constraints, i, 0));
    system_.append_velocity_rows(t_, q_, 0, velocity_rows);
    for (int i = 0; i < system_.num_velocity_rows(); ++i) {
      const VelocityRowInfo& info = system_.velocity_rows()[i];
      inspect_rate(Where::kVelocityRow, i, "condition", info.name,
                   info.kind == VelocityRowInfo::Kind::kNonholonomic, measure(velocity_rows, i, 0));
    }
  }

  void inspect_springs() {
    VectorXd extension(system_.num_springs());
    RowSet rows;
    system_.evaluate_springs(t_, q_, extension);
    system_.append_spring_rows(t_, q_, 0, rows);
    for (int i = 0; i < system_.num_springs(); ++i)
      if (!std::isfinite(extension[i]) || !std::isfinite(measure(rows, i, 0).size))
        add(Where::kSpring, i,
            fmt::format("extension of spring '{}' or its direction is not finite at the start",
                        system_.springs()[i].name));
  }

  void inspect_constraints() {
    VectorXd theta(system_.num_constraints());
    system_.evaluate_constraints(t_, q_, theta);
    for (int i = 0; i < system_.num_constraints(); ++i)
      if (std::isnan(theta[i]) ||
          (system_.constraints()[i].is_rigid() && !(std::abs(theta[i]) <= tolerance_)))
        add(Where::kConstraint, i,
            fmt::format("constraint '{}' is {:.3g} at the start, must be 0 within {:.3g}",
                        system_.constraints()[i].name, theta[i], tolerance_),
            std::isfinite(theta[i]));
  }

 private:
  struct Rate {
    double value = 0;  // rows·v + drift
    double size = 0;   // the same with all terms positive; not finite if a number is not
  };
  Rate measure(const RowSet& set, int row_block, int row) const {
    const double drift = set.drift[set.rows.row_start(row_block) + row];
    Rate rate{drift, std::abs(drift)};
    for (int e = set.rows.entry_start(row_block); e < set.rows.entry_start(row_block + 1); ++e) {
      const int n = set.rows.entry_columns(e);
      const double* values = set.rows.entry_values(e) + static_cast<std::ptrdiff_t>(row) * n;
      for (int k = 0; k < n; ++k) {
        const double product = values[k] * v_[block_start_[set.rows.entry_block(e)] + k];
        rate.value += product;
        rate.size += std::isfinite(values[k]) ? std::abs(product) : kNotFinite;
      }
    }
    return rate;
  }

  void inspect_rate(Where where, int index, const char* what, const std::string& name,
                    bool has_to_hold, const Rate& rate) {
    if (!std::isfinite(rate.size))
      add(where, index, fmt::format("direction of {} '{}' is not finite at the start", what, name));
    else if (has_to_hold && std::abs(rate.value) > kVelocityTolerance * rate.size)
      add(where, index,
          fmt::format("{} '{}' changes by {:.3g} per second at the start, must be 0: the "
                      "velocities do not fit it",
                      what, name, rate.value));
  }

  void add(Where where, int index, std::string message, bool is_tolerable = false) {
    faults_.push_back({where, part_, index, std::move(message), is_tolerable});
  }

  const System& system_;
  int part_;
  double t_;
  VectorXd q_, v_;
  double tolerance_;
  std::vector<StartFault>& faults_;
  std::vector<int> block_start_;
};

}  // namespace

std::vector<StartFault> find_start_faults(const Model& model, const State& state,
                                          double penetration_tolerance) {
  std::vector<StartFault> faults;
  if (!std::isfinite(state.t) || !state.q.allFinite() || !state.v.allFinite())
    return {{Where::kState, 0, 0, "state at the start is not finite", false}};
  for (int part = 0; part < static_cast<int>(model.parts().size()); ++part) {
    PartInspector inspector(model, part, state, penetration_tolerance, faults);
    inspector.inspect_mass();
    inspector.inspect_force();
    inspector.inspect_gaps();
    inspector.inspect_surfaces();
    inspector.inspect_constraints();
    inspector.inspect_rows();
    inspector.inspect_springs();
  }
  if (faults.empty() && !std::isfinite(ModelEvaluator().compute_energy(model, state).total()))
    faults.push_back({Where::kState, 0, 0, "energy at the start is not finite", false});
  return faults;
}

}  // namespace stiction
