#include "stiction/scheme/mass_symmetry.h"

#include <algorithm>
#include <vector>

namespace stiction {
namespace {

constexpr double kAsymmetry = 1e-6;  // relative: Jacobians may be made of differences

bool is_symmetric(const RowMatrixMap& matrix) {
  const double difference = (matrix - matrix.transpose()).cwiseAbs().maxCoeff();
  return !(difference > kAsymmetry * matrix.cwiseAbs().maxCoeff());
}

/// Asks for `count` matrices of every block at velocities of about 1, none equal to another.
template <class Evaluate>
bool are_blocks_symmetric(const ContactModel& model, int count, const Evaluate& evaluate) {
  VectorXd v(model.num_v());
  for (int i = 0; i < model.num_v(); ++i) v[i] = 1 + 0.1 * (i % 7);
  std::vector<double> storage;
  for (int b = 0; b < static_cast<int>(model.blocks().size()); ++b) {
    const int n = model.blocks()[b].size;
    const std::ptrdiff_t area = static_cast<std::ptrdiff_t>(n) * n;
    storage.assign(count * area, 0.0);
    evaluate(v, b, storage.data(), n);
    for (int k = 0; k < count && n > 0; ++k)
      if (!is_symmetric(RowMatrixMap(storage.data() + k * area, n, n))) return false;
  }
  return true;
}

}  // namespace

bool is_gyroscopic_term_symmetric(const ContactModel& model, const State& state) {
  return are_blocks_symmetric(model, 1, [&](const VectorXd& v, int block, double* out, int n) {
    model.evaluate_gyroscopic(state.t, state.q, v, block, RowMatrixMap(out, n, n));
  });
}

bool are_force_jacobians_symmetric(const ContactModel& model, const State& state) {
  return are_blocks_symmetric(model, 2, [&](const VectorXd& v, int block, double* out, int n) {
    const std::ptrdiff_t area = static_cast<std::ptrdiff_t>(n) * n;
    model.evaluate_jacobians(state.t, state.q, v, block, RowMatrixMap(out, n, n),
                             RowMatrixMap(out + area, n, n));
  });
}

}  // namespace stiction
