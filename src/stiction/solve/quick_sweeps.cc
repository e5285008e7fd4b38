#include "stiction/solve/quick_sweeps.h"

#include <cmath>

namespace stiction {
namespace {

/// Sweeps before anything is said about their rate.
constexpr int kFirstSweeps = 4;

/// A contact for the present impulses of the others: u = W r + q with rows normal and tangent.
struct PlanarContact {
  double w_nn = 0, w_nt = 0, w_tn = 0, w_tt = 0;
  double q_n = 0, q_t = 0;
  double mu = 0;

  /// (T3), (T4) with one tangent: open, sticking, or sliding to either side. False if none holds.
  bool solve(double& nu, double& beta) const {
    nu = beta = 0;
    if (q_n >= 0) return true;
    if (mu == 0) {
      nu = -q_n / w_nn;
      return w_nn > 0;
    }
    return try_stick(nu, beta) || try_slide(mu, nu, beta) || try_slide(-mu, nu, beta);
  }

 private:
  bool try_stick(double& nu, double& beta) const {
    const double determinant = w_nn * w_tt - w_nt * w_tn;
    if (!(determinant > 0)) return false;
    nu = (w_nt * q_t - w_tt * q_n) / determinant;
    beta = (w_tn * q_n - w_nn * q_t) / determinant;
    return nu >= 0 && std::abs(beta) <= mu * nu;
  }
  /// β = slope·ν against the motion.
  bool try_slide(double slope, double& nu, double& beta) const {
    const double effective = w_nn + slope * w_nt;
    if (!(effective > 0)) return false;
    nu = -q_n / effective;
    beta = slope * nu;
    return slope * (q_t + w_tn * nu + w_tt * beta) <= 0;
  }
};

/// A row of a contact whose normal row is `normal`: its velocity without the contact's own
/// impulses, and what these give it.
struct OwnRow {
  double q, normal = 0, tangential = 0;
};

OwnRow gather(const StepProblem& problem, int row, int normal, bool has_tangent, const double* r) {
  const RowCoupling& coupling = problem.coupling;
  OwnRow own{problem.contact_bias[row]};
  const int end = coupling.entry_start(row + 1);
  for (int e = coupling.entry_start(row); e < end; ++e) {
    const int column = coupling.column(e);
    if (column == normal)
      own.normal = coupling.value(e);
    else if (has_tangent && column == normal + 1)
      own.tangential = coupling.value(e);
    else
      own.q += coupling.value(e) * r[column];
  }
  return own;
}

}  // namespace

bool QuickSweeps::takes(const StepProblem& problem) {
  if (problem.num_blocks() > 0 || problem.num_bilateral() > 0 || problem.coupling.is_empty())
    return false;
  for (int j = 0; j < problem.num_contacts(); ++j)
    if (problem.contacts.num_rows(j) > 2) return false;
  return true;
}

bool QuickSweeps::sweep(double* r) {
  change_ = impulse_ = 0;
  ++num_sweeps_;
  for (int j = 0; j < problem_.num_contacts(); ++j)
    if (!visit(j, r)) return false;
  return true;
}

bool QuickSweeps::sweep_until(double tolerance, double* r) {
  while (num_sweeps_ < kMaxSweeps) {
    const double before = change_;
    if (!sweep(r)) return false;
    const double target = tolerance * tolerance * impulse_;
    if (change_ <= target) return true;
    // Changes fall like powers; at the present rate the target may be too far away.
    const double left = kMaxSweeps - num_sweeps_;
    if (num_sweeps_ >= kFirstSweeps &&
        std::log(target / change_) < left * std::log(change_ / before))
      return false;
  }
  return false;
}

bool QuickSweeps::visit(int contact, double* r) {
  const int normal = problem_.contacts.row_start(contact), tangent = normal + 1;
  const bool has_tangent = problem_.contacts.num_rows(contact) > 1;
  PlanarContact local;
  const OwnRow first = gather(problem_, normal, normal, has_tangent, r);
  local.q_n = first.q;
  local.w_nn = first.normal + problem_.contact_compliance[normal];
  if (has_tangent) {
    const OwnRow second = gather(problem_, tangent, normal, has_tangent, r);
    local.mu = problem_.mu[contact];
    local.q_t = second.q;
    local.w_nt = first.tangential;
    local.w_tn = second.normal;
    local.w_tt = second.tangential + problem_.contact_compliance[tangent];
  }
  double nu = 0, beta = 0;
  if (!local.solve(nu, beta)) return false;
  replace(r[normal], nu);
  if (has_tangent) replace(r[tangent], beta);
  return true;
}

void QuickSweeps::replace(double& impulse, double value) {
  change_ += (value - impulse) * (value - impulse);
  impulse_ += value * value;
  impulse = value;
}

}  // namespace stiction
