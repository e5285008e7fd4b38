// How well a step was solved, computed from the problem and the answer alone. This code shares
// nothing with any solver and includes none. All four figures are relative, free of units and zero
// for an exact solution; a not-a-number anywhere makes the certificate invalid, never small.
//
//   momentum  (T20): worst mass block of ‖M̂w − p − Gᵀλ − Jᵀr‖ over the impulses involved in it,
//     in the norm of the kinetic energy, ‖x‖² = xᵀS⁻¹x with S the symmetric part of M̂;
//   bilateral (T21): worst row of |λ − P_[lo,hi](λ − ρ(Gw + Cλ − b))| √W over the impulses;
//   cone      (T22): worst contact of ‖r − P_K(r − ρ(u + μσ_B(−u_T) n))‖ √W over the impulses;
//
//   motion    (T23): worst row or contact of (error in √J / momenta and biases at hand there)²,
//     and of the work of impulses far beyond the data on their errors over the energy at hand;
//
// with ρ = 1/W the local effective mass, for normal and tangents apart.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "stiction/problem/certificate_rows.h"
#include "stiction/problem/step_problem.h"

namespace stiction {

struct Certificate {
  double momentum = 0;                                   // [-] (T20)
  double bilateral = 0;                                  // [-] (T21)
  double cone = 0;                                       // [-] (T22)
  double motion = 0;                                     // [-] (T23)
  double gap = std::numeric_limits<double>::infinity();  // [m] smallest Φ at the end of the step
  double joint = 0;  // largest |Θ| at the end of the step, in the units of Θ

  static Certificate invalid();

  /// The worst of the four residuals; infinite if one of them is not a number.
  double residual() const;
  bool meets(double tolerance) const { return residual() <= tolerance; }
  /// Takes the worse of each figure, so that one certificate can stand for several solves.
  void include(const Certificate& other);
};

/// Rows and contacts whose own error is above a tolerance.
struct Offenders {
  std::vector<int> rows;  // bilateral
  std::vector<int> contacts;
};

struct ContactFigures;

/// Computes certificates with storage that is reused from call to call.
class Certifier {
 public:
  /// Workers, if there are any, share out large problems; they must outlive the certifier.
  explicit Certifier(WorkerPool* workers = nullptr) : workers_(workers), rows_(workers) {}

  [[nodiscard]] Certificate certify(const StepProblem& problem, const StepSolution& solution);
  /// The certificate computed last, if it is of this answer to the bit and of a problem at this
  /// address. For those who know that the problem has not changed since: it is not looked at.
  [[nodiscard]] std::optional<Certificate> recall_last(const StepProblem& problem,
                                                       const StepSolution& solution) const;
  /// recall_last() knows of nothing until the next certificate.
  void forget_last() { last_problem_ = nullptr; }
  /// Of the last certificate that was not invalid from the outset.
  Offenders offenders(double tolerance) const;

 private:
  Certificate judge(const StepProblem& problem, const StepSolution& solution);
  double momentum_residual() const;
  double measure_data(const StepProblem& problem);
  double measure_root_energy(const StepProblem& problem) const;
  double excess_rounding(double impulse) const;
  double work_error(double impulse, double error) const;
  double local_data(const BlockRows& rows, int row_block) const;
  double bilateral_residual(const StepProblem& problem, const StepSolution& solution);
  void judge_row(const StepProblem& problem, int row, double lambda);
  double cone_residual(const StepProblem& problem, const StepSolution& solution);
  /// What is said of a contact.
  struct Verdict {
    double error = 0, motion = 0, impulse = 0, reach = 0;
  };
  void judge_contacts(const StepProblem& problem, const StepSolution& solution, int begin, int end);
  void judge_contact(const StepProblem& problem, int contact, const ContactFigures& figures,
                     Verdict& verdict) const;

  WorkerPool* workers_;
  CertificateRows rows_;
  double data_ = 0;         // momenta and biases of the problem, in √J
  double root_energy_ = 0;  // of the energy at hand, in √J
  double data_cap_ = 0;     // what impulses may amount to, in √J; see kDataFactor
  double data_floor_ = 0;   // what counts as data of every row
  double load_ = 0;         // impulses on the most loaded block, within the cap
  double motion_ = 0;       // (T23) so far
  double total_ = 0;        // Σ impulses of the rows or contacts at hand, in √J
  double background_ = 0;   // the largest that impulses could do to one of them, within the cap
  std::vector<double> row_error_, contact_error_;  // in √J, of (T21) and (T22)
  std::vector<double> row_motion_;                 // (T23)
  double row_scale_ = 0, contact_scale_ = 0;       // what they are relative to
  std::vector<double> row_root_;                   // √W of bilateral rows
  // What was certified last.
  const StepProblem* last_problem_ = nullptr;
  StepSolution last_solution_;
  Certificate last_;
  std::vector<Verdict> verdicts_;
};

/// The same with storage of its own.
[[nodiscard]] Certificate certify(const StepProblem& problem, const StepSolution& solution);

}  // namespace stiction
