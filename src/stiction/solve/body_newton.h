// Newton's method on the velocities of the bodies, from impulses that are nearly right. With the
// impulses x̂ of the last iteration and a compliance ε that is tiny beside the mobility of a unit,
// impulses are functions of velocities,
//
//   r(w) = P_K((σ r̂ − u − μ‖u_T‖n)/ε),   u = J w + b,   σ = ε − c      contacts, disc or interval
//   λ(w) = P_[lo,hi]((σ λ̂ − G w + b)/ε)                                bilateral rows
//
// which obey (T2)–(T4) where x(w) = x̂, and M̂ w = p + Rᵀx(w) is a system of equations with the
// matrix M̂ + RᵀDR: as large as the bodies, however many contacts they have. While no status
// changes it is linear, and one or two iterations find the answer to rounding. Of impulses that
// rows cannot tell apart those nearest to x̂ are kept, so that redundant contacts do no harm.
//
// What rests on many contacts needs just that in every step: forces of the step before balance it
// up to an error that grows like a falling column, by a factor from step to step. Where statuses do
// change the method gives up soon; it has no globalisation, and others do better there.
//
// Without impulses to start from it tries whether everything stands: from rest, with all contacts
// closed that bodies would not leave by themselves. In the first step of a wall that is so.
//
// Takes problems with bodies and without direct coupling, whose sections in space are discs.
#pragma once

#include <memory>
#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"
#include "stiction/solve/saddle_lu.h"
#include "stiction/solve/sweep_workshop.h"

namespace stiction {

struct BodyNewtonOptions {
  double tolerance = 1e-9;     // [-] of the measure: what will do
  double goal = 1e-12;         // what is tried, and asked of a start
  double enough = 0;           // what will do at once for what moves
  bool leaves_motion = false;  // gives up where things move, for others that are cheaper there
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  int max_iterations = 12;
  double max_flops = 1e8;         // of one factorisation: where it costs more, it is not tried
  WorkerPool* workers = nullptr;  // to share out the work; must outlive the solver
};

class BodyNewton final : public Solver {
 public:
  /// Who shares a workshop answers for its layout.
  explicit BodyNewton(const BodyNewtonOptions& options = {},
                      std::shared_ptr<SweepWorkshop> workshop = nullptr);

  std::string_view name() const override { return "body-newton"; }
  void set_time_limit(double seconds) override { max_seconds_ = seconds; }
  /// kUnsupported if the problem is not one for this method. `iterations` count factorisations.
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;
  const Certifier* certifier() const override { return &acceptance_.certifier(); }
  /// Whether problems that rest are left, without an answer, to methods that are exact there.
  void set_leaves_rest(bool leaves) { leaves_rest_ = leaves; }
  /// The same for starts by which contacts move, of a step before this one.
  void set_leaves_motion(bool leaves) { leaves_motion_ = leaves; }
  /// Whether starts are given up whose first step leaves more than a tenth of what is out of
  /// balance.
  void set_gives_up_soon(bool does) { gives_up_soon_ = does; }

 private:
  /// Impulse of a unit and −∂x/∂u, 3 × 3 row by row.
  struct Response {
    double x[3];
    double D[9];
  };

  bool start(const StepProblem& problem, const StepSolution& solution);
  void prepare_impulses();
  void set_compliance();
  void build_pattern(const StepProblem& problem);
  void find_neighbours(int num_bodies);
  int find_entry(int row, int column) const;
  double respond(const StepProblem& problem);
  void respond_bilateral(int unit, double u);
  void respond_contact(int unit, const double* u);
  void fill_matrix(const StepProblem& problem);
  void fill_rows(const StepProblem& problem, int block);
  void add_unit(int unit, int entry);
  void press_contacts();
  void find_origin(const StepProblem& problem);
  bool find_balance(const StepProblem& problem, int num_first_steps, const Deadline& deadline,
                    int& num_factorisations);
  double search(const StepProblem& problem);
  bool is_accepted(const StepProblem& problem, StepSolution& solution, double tolerance);
  bool moves(const StepProblem& problem) const;
  bool has_impulses() const;
  bool is_too_large(double max_flops) const;

  BodyNewtonOptions options_;
  bool leaves_rest_ = false, leaves_motion_ = false, gives_up_soon_ = false;
  Acceptance acceptance_;
  std::shared_ptr<SweepWorkshop> workshop_;
  bool is_alone_;  // in its workshop
  ContactBlocks& blocks_;
  GaussSeidelResidual& judge_;
  SweepState& state_;   // of the impulses at hand
  BlockMatrix matrix_;  // M̂ + RᵀDR, a block per body
  SaddleLu lu_;
  std::vector<int> seen_from_;           // the last body that had a neighbour
  std::vector<int> pair_start_, pairs_;  // where in matrix_ the pieces of an entry's unit meet
  std::vector<Response> responses_;      // per unit
  std::vector<double> epsilon_;          // per unit
  std::vector<double> impulses_;         // x̂, and x(w) in its place
  std::vector<double> guess_;            // x̂ of the iteration
  std::vector<double> shift_;            // μ‖u_T‖ of a contact at the last iteration
  std::vector<double> w_, origin_, bias_;
  std::vector<double> squares_;  // of momentum_, per body
  const std::vector<double> no_shift_;
  KeptVector direction_, change_, momentum_;
  double target_ = 0;
  double max_seconds_ = 0;
};

}  // namespace stiction
