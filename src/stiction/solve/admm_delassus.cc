#include "stiction/solve/admm_delassus.h"

namespace stiction {

void AdmmDelassus::bind(const FrictionBlocks& blocks, SaddleLu* lu) {
  blocks_ = &blocks;
  lu_ = lu;
}

bool AdmmDelassus::factor(const std::vector<double>& D) {
  const BlockMatrix& W = blocks_->W;
  B_.assign(9 * static_cast<std::size_t>(W.num_blocks()), 0);
  for (int i = 0; i < W.num_blocks(); ++i)
    for (int k = 0; k < W.size(i); ++k)
      B_[9 * static_cast<std::size_t>(i) + 4 * k] = D[W.row_start[i] + k];
  return lu_->factor(W, B_);
}

double AdmmDelassus::measure(const ConstVectorRef& x) {
  blocks_->compute_velocity(x, u_);
  return blocks_->residual(x, u_);
}

}  // namespace stiction
