#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

#include <algorithm>
#include <cstdlib>

#include "bench/solvers/lemke_rival.h"

namespace stiction::bench {
namespace {

constexpr int kManyPivots = 100'000;

struct MatrixDeleter {
  void operator()(NumericsMatrix* matrix) const {
    NM_clear(matrix);
    std::free(matrix);  // NOLINT: Siconos allocates with malloc
  }
};
struct OptionsDeleter {
  void operator()(SolverOptions* options) const { solver_options_delete(options); }
};

class SiconosLemke final : public LemkeRival {
 public:
  SiconosLemke(const DenseLcp& lcp, SiconosEntry entry)
      : entry_(entry),
        q_(lcp.q),
        z_(lcp.q.size()),
        w_(lcp.q.size()),
        matrix_(NM_create(NM_DENSE, lcp.size, lcp.size)),
        options_(solver_options_create(SICONOS_LCP_LEMKE)) {
    const auto n = static_cast<std::size_t>(lcp.size);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) matrix_->matrix0[j * n + i] = lcp.matrix[i * n + j];
    problem_.size = lcp.size;
    problem_.M = matrix_.get();
    problem_.q = q_.data();
    options_->iparam[SICONOS_IPARAM_MAX_ITER] = kManyPivots;
    numerics_set_verbose(0);
  }

  void solve() override {
    std::fill(z_.begin(), z_.end(), 0.0);
    std::fill(w_.begin(), w_.end(), 0.0);
    if (entry_ == SiconosEntry::kDriver) {
      linearComplementarity_driver(&problem_, z_.data(), w_.data(), options_.get());
    } else {
      int info = 0;
      lcp_lexicolemke(&problem_, z_.data(), w_.data(), &info, options_.get());
    }
  }
  const std::vector<double>& z() const override { return z_; }

 private:
  SiconosEntry entry_;
  std::vector<double> q_, z_, w_;
  std::unique_ptr<NumericsMatrix, MatrixDeleter> matrix_;
  std::unique_ptr<SolverOptions, OptionsDeleter> options_;
  LinearComplementarityProblem problem_ = {};
};

}  // namespace

std::unique_ptr<LemkeRival> make_siconos_lemke(const DenseLcp& lcp, SiconosEntry entry) {
  return std::make_unique<SiconosLemke>(lcp, entry);
}

}  // namespace stiction::bench
