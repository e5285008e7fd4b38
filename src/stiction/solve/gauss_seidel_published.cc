#include "stiction/solve/gauss_seidel_published.h"

#include <algorithm>
#include <cmath>

#include "stiction/solve/gauss_seidel_projection.h"
#include "stiction/solve/gauss_seidel_sweep.h"

namespace stiction {
namespace {

constexpr double kLocalFloor = 2.2e-16;
constexpr double kGlobalFloor = 1.5e-8;

double scaled(double defect_square, double scale_square, double floor) {
  const double scale = std::sqrt(scale_square);
  return std::sqrt(defect_square) / (scale > floor ? scale : 1);
}

/// ‖r − P(r − û)‖² with a step of one, in two and three dimensions, for the round section.
template <int kDim>
double disc_defect_square(double mu, const double* r, const double* u) {
  double slip = 0, reach = 0;
  for (int a = 1; a < kDim; ++a) {
    slip += u[a] * u[a];
    reach += (r[a] - u[a]) * (r[a] - u[a]);
  }
  const double opening = u[0] + mu * std::sqrt(slip);
  const double normal = r[0] - opening, tangential = std::sqrt(reach);
  // The first matters where μ = 0.
  if (normal >= 0 && tangential <= mu * normal) return opening * opening + slip;
  const double nu = std::max(0.0, (normal + mu * tangential) / (1 + mu * mu));
  const double shrink = tangential > 0 ? mu * nu / tangential : 0;
  double square = (r[0] - nu) * (r[0] - nu);
  for (int a = 1; a < kDim; ++a) {
    const double defect = r[a] - shrink * (r[a] - u[a]);
    square += defect * defect;
  }
  return square;
}

template <int kDim>
double defect_square(const OneContact& law, const double* r, const double* u) {
  if (kDim == 1) {
    const double defect = std::min(r[0], u[0]);
    return defect * defect;
  }
  if (!law.table()) return disc_defect_square<kDim>(law.mu(), r, u);
  double z[3], projected[3], square = 0;
  for (int a = 0; a < kDim; ++a) z[a] = r[a] - u[a];
  z[0] -= law.mu() * support_against(law, u);
  project_on_cone(law, z, projected);
  for (int a = 0; a < kDim; ++a) square += (r[a] - projected[a]) * (r[a] - projected[a]);
  return square;
}

}  // namespace

struct PublishedMeasure::Squares {
  double defect = 0, r = 0, u = 0;                                 // of contacts
  double row_defect = 0, slack = 0, lambda = 0, row_velocity = 0;  // of bilateral rows

  template <int kDim>
  void add_contact(const ContactBlocks& blocks, int unit, const double* x, const double* u_rows,
                   const double* w) {
    double velocity[kDim];
    compute_unit_velocity<kDim>(blocks, unit, u_rows, w, velocity);
    const double* impulse = x + blocks.unit(unit).row;
    for (int a = 0; a < kDim; ++a) {
      r += impulse[a] * impulse[a];
      u += velocity[a] * velocity[a];
    }
    defect += defect_square<kDim>(blocks.contact(unit - blocks.num_bilateral()), impulse, velocity);
  }
};

void PublishedMeasure::prepare(const ContactBlocks& blocks) {
  const int num_bilateral = blocks.num_bilateral();
  bool has_tangents = false;
  for (int i = num_bilateral; i < blocks.num_units() && !has_tangents; ++i)
    has_tangents = blocks.unit(i).dim > 1;
  kind_ = blocks.has_bodies() ? Kind::kGlobal
          : has_tangents      ? Kind::kLocal
          : num_bilateral > 0 ? Kind::kMlcp
                              : Kind::kLcp;
  contact_bias_ = bilateral_bias_ = 0;
  for (int row = 0; row < blocks.num_rows(); ++row)
    (row < num_bilateral ? bilateral_bias_ : contact_bias_) += blocks.bias(row) * blocks.bias(row);
}

double PublishedMeasure::evaluate(const ContactBlocks& blocks, const double* x, const double* u,
                                  const double* w) const {
  Squares squares;
  const int num_bilateral = blocks.num_bilateral(), num_units = blocks.num_units();
  for (int i = 0; i < num_bilateral; ++i) {
    double s;
    compute_unit_velocity<1>(blocks, i, u, w, &s);
    const double shifted = x[i] - s,
                 projected = std::clamp(shifted, blocks.lower(i), blocks.upper(i));
    const double defect = projected == shifted ? s : x[i] - projected;
    squares.row_defect += defect * defect;
    squares.slack += s * s;
    squares.lambda += x[i] * x[i];
    squares.row_velocity += (s - u[i]) * (s - u[i]);
  }
  for (int i = num_bilateral; i < num_units; ++i) switch (blocks.unit(i).dim) {
      case 1:
        squares.add_contact<1>(blocks, i, x, u, w);
        break;
      case 2:
        squares.add_contact<2>(blocks, i, x, u, w);
        break;
      default:
        squares.add_contact<3>(blocks, i, x, u, w);
    }
  return finish(squares);
}

double PublishedMeasure::finish(const Squares& squares) const {
  switch (kind_) {
    case Kind::kGlobal:
      return scaled(squares.defect, std::max(squares.r, squares.u), kGlobalFloor) +
             scaled(squares.row_defect, std::max(bilateral_bias_, squares.row_velocity),
                    kGlobalFloor);
    case Kind::kLcp:
      return scaled(squares.defect, contact_bias_, kLocalFloor);
    case Kind::kLocal:
    case Kind::kMlcp:
      break;
  }
  return scaled(squares.defect + squares.row_defect,
                std::max({contact_bias_ + bilateral_bias_, squares.r + squares.lambda,
                          squares.u + squares.slack}),
                kLocalFloor);
}

}  // namespace stiction
