// Step problems in the data structures of Siconos, by its public interface.
#pragma once

#include <FrictionContactProblem.h>
#include <GlobalFrictionContactProblem.h>
#include <LinearComplementarityProblem.h>
#include <MixedLinearComplementarityProblem.h>
#include <NumericsMatrix.h>

#include <array>
#include <memory>
#include <vector>

#include "stiction/scene/problem_reader.h"

namespace stiction::bench {

struct MatrixDeleter {
  void operator()(NumericsMatrix* matrix) const;
};
using MatrixPointer = std::unique_ptr<NumericsMatrix, MatrixDeleter>;

/// How a matrix is stored. Solvers of Siconos differ in what they take, and in what they like.
enum class Storage { kDense, kSparse, kBlocks };

/// K of a problem; blocks have the size of a contact.
MatrixPointer make_coupling_matrix(const StepProblem& problem, Storage storage, int block_size);
/// M of a global problem.
MatrixPointer make_mass_matrix(const StepProblem& problem);
/// Siconos' H, the transpose of the contacts' Jacobian.
MatrixPointer make_jacobian_matrix(const StepProblem& problem);

/// Owns everything that one of Siconos' problem structures points to.
class SiconosProblem {
 public:
  SiconosProblem(const ProblemFile& file, Storage storage);

  FrictionContactProblem& friction() { return friction_; }
  GlobalFrictionContactProblem& global() { return global_; }
  LinearComplementarityProblem& lcp() { return lcp_; }
  MixedLinearComplementarityProblem& mlcp() { return mlcp_; }

 private:
  void fill_friction(const ProblemFile& file, Storage storage);
  void fill_global(const ProblemFile& file);
  void fill_lcp(const ProblemFile& file);
  void fill_mlcp(const ProblemFile& file);

  MatrixPointer matrix_, jacobian_;
  std::vector<double> q_, b_, mu_;
  // Parts of a mixed problem, column by column.
  std::vector<double> equations_, inequalities_, upper_right_, lower_left_, q_tail_;
  std::array<int, 3> block_rows_ = {};
  std::array<int, 2> block_is_inequality_ = {0, 1};

  FrictionContactProblem friction_ = {};
  GlobalFrictionContactProblem global_ = {};
  LinearComplementarityProblem lcp_ = {};
  MixedLinearComplementarityProblem mlcp_ = {};
};

}  // namespace stiction::bench
