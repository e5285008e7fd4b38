// The equations of motion of ADMM by the Delassus matrix: W in sparse blocks, with the factors of
// SaddleLu. Takes every problem that FrictionBlocks takes: nonsymmetric mass, direct couplings,
// problems without bodies. A body with n contacts costs n² blocks.
#pragma once

#include "stiction/solve/admm_system.h"
#include "stiction/solve/saddle_lu.h"

namespace stiction {

class AdmmDelassus : public AdmmSystem {
 public:
  /// Both must outlive their use here. `lu` may serve others until the next call of `factor`, and
  /// is not needed for velocities and residuals.
  void bind(const FrictionBlocks& blocks, SaddleLu* lu);

  const FrictionBlocks& rows() const override { return *blocks_; }
  [[nodiscard]] bool factor(const std::vector<double>& D) override;
  void solve(VectorRef x) override { lu_->solve(x); }
  void compute_velocity(const ConstVectorRef& x, KeptVector& u) override {
    blocks_->compute_velocity(x, u);
  }
  double measure(const ConstVectorRef& x) override;
  void read_solution(const StepProblem& problem, const StepSolution& solution,
                     KeptVector& x) const override {
    blocks_->read_solution(problem, solution, x);
  }
  void write_solution(const StepProblem& problem, const ConstVectorRef& x,
                      StepSolution& solution) override {
    blocks_->write_solution(problem, x, solution);
  }

 private:
  const FrictionBlocks* blocks_ = nullptr;
  SaddleLu* lu_ = nullptr;
  std::vector<double> B_;  // D as SaddleLu takes it
  KeptVector u_;
};

}  // namespace stiction
