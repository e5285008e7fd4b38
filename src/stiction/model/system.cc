#include "stiction/model/system.h"

#include <numeric>
#include <utility>

#include "stiction/base/check.h"

namespace stiction {

void System::set_sizes(int num_q, std::vector<int> block_sizes) {
  num_q_ = num_q;
  num_v_ = std::accumulate(block_sizes.begin(), block_sizes.end(), 0);
  block_sizes_ = std::move(block_sizes);
}

void System::record(double, const ConstVectorRef& q, const ConstVectorRef& v, VectorRef recorded_q,
                    VectorRef recorded_v) const {
  recorded_q = q;
  recorded_v = v;
}

void System::restore(const ConstVectorRef& recorded_q, const ConstVectorRef& recorded_v,
                     VectorRef q, VectorRef v) const {
  q = recorded_q;
  v = recorded_v;
}

void System::adopt_recorded(double, const ConstVectorRef& recorded_q,
                            const ConstVectorRef& recorded_v, VectorRef q, VectorRef v) const {
  q = recorded_q;
  v = recorded_v;
}

void System::displace(const ConstVectorRef& q, const ConstVectorRef& v, double h, VectorRef out,
                      WorkerPool*) const {
  out = q + h * v;
}

void System::displacement(const ConstVectorRef& from, const ConstVectorRef& to,
                          VectorRef out) const {
  out = to - from;
}

void System::measure_coordinates(const ConstVectorRef& q, VectorRef sizes) const {
  sizes = q.cwiseAbs();
}

void System::evaluate_masses(double t, const ConstVectorRef& q, std::span<double> masses,
                             WorkerPool*) const {
  double* at = masses.data();
  for (int b = 0; b < num_blocks(); ++b) {
    const int n = block_sizes_[b];
    evaluate_block_mass(t, q, b, RowMatrixMap(at, n, n));
    at += static_cast<std::ptrdiff_t>(n) * n;
  }
}

double System::evaluate_kinetic_energy(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                       std::vector<double>& scratch) const {
  double twice = 0;
  for (int b = 0, start = 0; b < num_blocks(); start += block_sizes_[b++]) {
    const int n = block_sizes_[b];
    scratch.resize(static_cast<std::size_t>(n) * n);
    RowMatrixMap mass(scratch.data(), n, n);
    evaluate_block_mass(t, q, b, mass);
    for (int i = 0; i < n; ++i) twice += v[start + i] * mass.row(i).dot(v.segment(start, n));
  }
  return 0.5 * twice;
}

void System::add_gyroscopic(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                            double factor, std::span<double> masses, VectorRef momentum,
                            std::vector<double>& scratch) const {
  double* at = masses.data();
  for (int b = 0, start = 0; b < num_blocks(); start += block_sizes_[b++]) {
    const int n = block_sizes_[b];
    scratch.resize(static_cast<std::size_t>(n) * n);
    RowMatrixMap gyroscopic(scratch.data(), n, n);
    evaluate_block_gyroscopic(t, q, v, b, gyroscopic);
    RowMatrixMap(at, n, n) += factor * gyroscopic;
    momentum.segment(start, n) += factor * gyroscopic.lazyProduct(v.segment(start, n));
    at += static_cast<std::ptrdiff_t>(n) * n;
  }
}

void System::evaluate_applied_force(double, const ConstVectorRef&, const ConstVectorRef&,
                                    VectorRef force) const {
  force.setZero();
}

double System::evaluate_potential(double, const ConstVectorRef&) const { return 0; }

// A system that names constraints, springs or contacts comes with the functions that evaluate them.
void System::evaluate_constraints(double, const ConstVectorRef&, VectorRef) const {
  ST_DEMAND(num_constraints() == 0);
}
void System::append_constraint_rows(double, const ConstVectorRef&, int, RowSet&) const {
  ST_DEMAND(num_constraints() == 0);
}
void System::append_constraints(double t, const ConstVectorRef& q, int first_block, RowSet& out,
                                VectorRef theta) const {
  append_constraint_rows(t, q, first_block, out);
  evaluate_constraints(t, q, theta);
}
void System::append_velocity_rows(double, const ConstVectorRef&, int, RowSet&) const {
  ST_DEMAND(num_velocity_rows() == 0);
}
void System::evaluate_springs(double, const ConstVectorRef&, VectorRef) const {
  ST_DEMAND(num_springs() == 0);
}
void System::append_spring_rows(double, const ConstVectorRef&, int, RowSet&) const {
  ST_DEMAND(num_springs() == 0);
}
void System::evaluate_gaps(double, const ConstVectorRef&, VectorRef) const {
  ST_DEMAND(num_contacts() == 0);
}
void System::append_contact_rows(double, const ConstVectorRef&, int, int, RowSet&) const {
  ST_DEMAND(num_contacts() == 0);
}
void System::evaluate_reactions(double, const ConstVectorRef&, const ConstVectorRef&,
                                VectorRef) const {
  ST_DEMAND(num_reactions() == 0);
}
System::ContactPlace System::locate_contact(double, const ConstVectorRef&, int) const { return {}; }
void System::add_joint_stiffness(double, const ConstVectorRef&, std::span<const double>,
                                 const TurningSum&) const {}
void System::append_turning_rows(double, const ConstVectorRef&, std::span<const double>, int,
                                 TurningRows& out) const {
  out.held.resize(out.held.size() + num_joint_rows(), 0.0);
}

namespace {

/// A step that moves by less than this (relative to nothing: metres, radians) changes the rows by
/// less than rounding does to the correction.
constexpr double kSmallestMove = 1e-5;

}  // namespace

void System::append_mean_constraint_rows(double t, double h, const ConstVectorRef& q,
                                         const ConstVectorRef& v, const ConstVectorRef& change,
                                         int first_block, RowSet& out) const {
  const int first = out.rows.num_row_blocks();
  const std::size_t first_drift = out.drift.size();
  append_constraint_rows(t, q, first_block, out);
  const auto velocity_of_entry = [&](int entry) {
    int start = 0;
    for (int b = first_block; b < out.rows.entry_block(entry); ++b)
      start += block_sizes_[b - first_block];
    return v.segment(start, out.rows.entry_columns(entry));
  };
  for (int i = 0; i < num_constraints(); ++i) {
    const int row = first + i;
    double square = 0, rate = out.drift[first_drift + i];
    for (int e = out.rows.entry_start(row); e < out.rows.entry_start(row + 1); ++e) {
      square += velocity_of_entry(e).squaredNorm();
      rate +=
          VectorMap(out.rows.entry_values(e), out.rows.entry_columns(e)).dot(velocity_of_entry(e));
    }
    if (!(h * std::sqrt(square) > kSmallestMove)) continue;
    const double defect = change[i] / h - rate;
    for (int e = out.rows.entry_start(row); e < out.rows.entry_start(row + 1); ++e)
      VectorMap(out.rows.entry_values(e), out.rows.entry_columns(e)) +=
          defect / square * velocity_of_entry(e);
  }
}

}  // namespace stiction
