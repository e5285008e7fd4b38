// The error by which public collections judge an answer (problem/published_error.h), of a state of
// Gauss–Seidel sweeps and by code of its own: cheap enough to be asked after every sweep, since
// the velocities are at hand. The momentum needs no measure, w being computed from the impulses.
#pragma once

#include "stiction/solve/contact_blocks.h"

namespace stiction {

class PublishedMeasure {
 public:
  void prepare(const ContactBlocks& blocks);
  /// x, u, w are a consistent state. Not a number if one of them is not.
  double evaluate(const ContactBlocks& blocks, const double* x, const double* u,
                  const double* w) const;

 private:
  struct Squares;
  double finish(const Squares& squares) const;

  enum class Kind : char { kLocal, kGlobal, kLcp, kMlcp };
  Kind kind_ = Kind::kLocal;
  double contact_bias_ = 0, bilateral_bias_ = 0;  // squares of the norms
};

}  // namespace stiction
