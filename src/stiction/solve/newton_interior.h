// Nonsmooth interior point method for friction blocks: follows x ∘ y = 2τe from the inside of the
// cones to a solution, where for each contact
//
//   x = T r,  y = T⁻¹û,  û = W r + q + μ‖û_T‖ n,  T = diag(μ, 1, 1)
//
// lie in the Lorentz cone. The shift μ‖û_T‖ is part of the linearisation, so that the limit obeys
// Coulomb's law itself and not its convex relaxation. Rows with bounds, and contacts without
// friction, have one barrier per finite bound; free rows are equations.
//
// Newton steps with Nesterov–Todd scaling and Mehrotra's corrector. Where the exact linearisation
// of the shift leads nowhere (a contact between stick and slip turns its direction at once) it is
// trusted less, contact by contact, and if the step is short all the same it is repeated with the
// shift held: that matrix is W plus a positive definite one. Reaches
// residuals of 1e-8 to 1e-10, below which rounding of almost active cones spoils it: a start for
// ProximalNewton.
#pragma once

#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/solve/friction_blocks.h"
#include "stiction/solve/newton_cone.h"
#include "stiction/solve/saddle_lu.h"

namespace stiction {

struct InteriorOptions {
  double tolerance = 1e-9;
  int max_iterations = 100;
  int max_stalled = 12;  // iterations in a row that hardly move
};

class InteriorPoint {
 public:
  /// Solves from inside the cones, whatever x was; x becomes the best iterate. Returns its
  /// residual.
  double run(const FrictionBlocks& blocks, SaddleLu& lu, const InteriorOptions& options,
             const Deadline& deadline, KeptVector& x);
  int iterations() const { return iterations_; }

 private:
  using Vector = lorentz::Vector;
  struct Cone {  // a contact with friction and at least one tangent
    int block = 0;
    double trust = 1;  // share of the derivative of ‖û_T‖ that the matrix contains
    lorentz::Scaling scaling;
    Vector transform = Vector::Ones();                    // diagonal of T
    lorentz::Matrix shift = lorentz::Matrix::Identity();  // dû ↦ dû − θ μ n tᵀdû_T
  };
  struct Bound {  // lo ≤ x ≤ hi of one row, with multipliers of its finite sides
    int row, block;
    double lower, upper;
    double below = 0, above = 0;      // multipliers
    double d_below = 0, d_above = 0;  // their steps
  };
  struct Direction {
    double sigma;       // target of the centre, relative to τ
    bool is_corrected;  // second-order term of the last direction
  };

  void classify(const FrictionBlocks& blocks);
  void start(const FrictionBlocks& blocks);
  void compute_defect(const FrictionBlocks& blocks);
  double compute_gap() const;
  double compute_gap_after(double step) const;
  bool factor(const FrictionBlocks& blocks, SaddleLu& lu, double theta);
  void build_cone_block(const FrictionBlocks& blocks, Cone& cone, double theta);
  void build_bound_row(const FrictionBlocks& blocks, const Bound& bound);
  double find_direction(const FrictionBlocks& blocks, SaddleLu& lu, const Direction& direction);
  void build_right_side(const FrictionBlocks& blocks, const Direction& direction);
  void solve_refined(const FrictionBlocks& blocks, SaddleLu& lu);
  double recover_steps(const FrictionBlocks& blocks);
  double recover_bound(const Direction& direction, Bound& bound) const;
  static Vector read(const ConstVectorRef& v, const FrictionBlocks& blocks, int block);
  static void write(const Vector& value, const FrictionBlocks& blocks, int block, VectorRef v);
  void update_trust(const FrictionBlocks& blocks, double step);
  void move(double step);

  int iterations_ = 0;
  double tau_ = 0;
  std::vector<Cone> cones_;
  std::vector<Bound> bounds_;
  std::vector<int> cone_of_block_;
  std::vector<double> A_, B_;
  KeptVector x_, y_, u_, defect_;        // y = û of cones; of other rows the multiplier
  KeptVector dx_, dy_, right_, scaled_;  // scaled_: what F dy + F⁻¹dx has to be
  KeptVector refine_, best_;
};

}  // namespace stiction
