// A first attempt at steps of a few rigid bodies with a few contacts, from the impulses of the step
// before, for problems that are solved in less time than it takes to lay them out for the general
// solvers. Those impulses tell what rows and contacts do; with that given, impulses are functions
// of the velocities, with a compliance ε that is tiny beside the mobility ω of a unit, but not
// below its own compliance c, and x̂ of the last iteration (x̂ − u/ε is where an augmented Lagrangian
// goes, so that of impulses that rows cannot tell apart those nearest to x̂ are kept),
//
//   holds     x = (σ x̂ − u)/ε,   u = J w + b,   σ = ε − c
//   slides    ν = (σ ν̂ − u_N)/ε,   β = −μ ν t,   t = u_T/‖u_T‖, or along −(x̂ − u/ε)_T if slow
//   off       x = 0, or at a bound
//
// and M̂ w = p + Rᵀx(w) is solved by Newton's method with the matrix M̂ + RᵀDR, D = −∂x/∂u
// (quick_matrix.h). What turns out to be done otherwise is changed, and the matrix is factored
// again. What an answer is worth is for a judge to say: this only finds candidates, and gives up
// soon. It takes blocks of six, and contacts with one row, or with three that are rigid along their
// tangents, between at most two bodies. Polygons and boxes have to hold, by the disc: whether they
// do the judge sees. Allocates only when sizes grow.
#pragma once

#include <array>
#include <vector>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/quick_matrix.h"

namespace stiction {

class QuickDiscs {
 public:
  static constexpr int kMaxContacts = 30, kMaxBilateral = 30;

  /// Whether this is for problems of such sizes; a look at their parts may still refuse them.
  static bool is_for(const StepProblem& problem);

  /// Tries to solve a problem from the impulses in `start`, of the right size; velocities there are
  /// not looked at. `goal` is what rows and contacts may be off by, relative to the largest
  /// impulse, in √J. False without a candidate. `iterations` counts factorisations: none if the
  /// start is the answer.
  bool try_solve(const StepProblem& problem, const StepSolution& start, double goal,
                 StepSolution& answer, int& iterations);
  /// The same from where the last attempt at the same problem ended.
  bool go_on(const StepProblem& problem, double goal, StepSolution& answer, int& iterations);

 private:
  static constexpr int kSize = QuickMatrix::kSize;
  using Local = std::array<double, 3>;
  enum class Status : char { kOff, kHolds, kSlides };

  /// A bilateral row or a contact.
  struct Unit : QuickMatrix::Place {
    bool is_contact = false, has_disc = true;
    Status status = Status::kOff;
    const double* bias = nullptr;  // [m/s] of bilateral rows with the opposite sign
    const double* compliance = nullptr;
    double lower = 0, upper = 0;  // of a bilateral row
    double mu = 0;
    double epsilon = 0, epsilon_along = 0;  // ε of the row or normal, of tangents
    double root = 0;                        // √ω
    double effective_mass = 0;              // 1/ω
    std::array<double, 2> slip = {};        // t
    double slip_speed = 0;                  // ‖u_T‖ where t comes from; zero: t is given
    Local before = {};                      // x̂
    Local u = {};                           // J w + b
    Local x = {};                           // x(w)
  };

  bool set_up(const StepProblem& problem, const StepSolution& start);
  bool take_masses(const StepProblem& problem);
  bool add_unit(const BlockRows& rows, int row_block, Unit& unit);
  void set_compliance(Unit& unit) const;
  void divide_by_mass(double* momentum) const;
  void find_velocities(const StepProblem& problem);
  void compute_velocity_at(Unit& unit) const;
  static void guess_status(Unit& unit);
  bool is_start_exact(const StepProblem& problem) const;
  static double error_of_start(const Unit& unit);
  static Local held_impulse(const Unit& unit);
  static void respond(Unit& unit);
  static bool may_rest(const Unit& unit);
  static bool turn_slip(Unit& unit);
  static bool is_within(const Local& x, double mu);
  static bool review(Unit& unit);
  static bool review_row(Unit& unit);
  static bool review_contact(Unit& unit);
  static void begin_slip(Unit& unit, const Local& held);
  void balance(const StepProblem& problem);
  void fill_matrix(const StepProblem& problem);
  static QuickMatrix::Local compute_stiffness(const Unit& unit);
  bool take_step(const StepProblem& problem, int& iterations);
  bool review_all();
  bool slides_off_disc() const;
  double settle(const StepProblem& problem);
  void write(const StepProblem& problem, StepSolution& answer) const;

  QuickMatrix matrix_;
  std::vector<Unit> units_;
  std::vector<double> w_, momentum_;  // momentum_: p + Rᵀx − M̂w, then what solves it
  std::vector<double> inverse_;       // of the diagonals of masses
  std::vector<double> mass_lu_;       // of masses that are not diagonal, one block per body
  std::vector<int> swap_;             // of those, per degree of freedom
  std::vector<char> is_diagonal_;     // per body
  bool is_laid_out_ = false;          // the matrix knows the units of the problem
  bool is_factored_ = false;          // and is that of the statuses at hand
};

}  // namespace stiction
