#include "bench/solvers/contender.h"
#include "stiction/solve/solvers.h"

namespace stiction::bench {
namespace {

class OurSession final : public Session {
 public:
  OurSession(const StepProblem& problem, const std::string& solver, double tolerance)
      : problem_(problem), solver_(make_solver(solver, tolerance, StoppingMeasure::kPublished)) {}

  /// The workspace and the arrays of the answer stay, as between the steps of a simulation; the
  /// answer does not. Siconos gets arrays of zeros too.
  void reset() override { solution_.set_zero(problem_); }
  int solve() override { return solver_->solve(problem_, solution_).iterations; }
  StepSolution answer() const override { return solution_; }

 private:
  const StepProblem& problem_;
  std::unique_ptr<Solver> solver_;
  StepSolution solution_;
};

class OurContender final : public Contender {
 public:
  explicit OurContender(std::string name) : name_(std::move(name)) {}

  std::string library() const override { return kOurLibrary; }
  std::string name() const override { return name_; }
  bool takes(const ProblemFile&) const override { return true; }
  std::unique_ptr<Session> prepare(const ProblemFile& file, double tolerance) const override {
    return std::make_unique<OurSession>(file.problem, name_, tolerance);
  }

 private:
  std::string name_;
};

}  // namespace

Contenders make_our_contenders() {
  Contenders contenders;
  for (const std::string& name : solver_names())
    contenders.push_back(std::make_unique<OurContender>(name));
  return contenders;
}

}  // namespace stiction::bench
