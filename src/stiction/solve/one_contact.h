// One contact alone, solved exactly: the kernel of every Gauss–Seidel method. For given W (d × d,
// its compliance included, symmetric or not), q and μ find the impulse r = (ν, β) with
//
//   u = W r + q,   0 ≤ u_N ⊥ ν ≥ 0,   β ∈ μν·B,   u_Tᵀβ = −μν σ_B(−u_T)                (T3), (T4)
//
// q_N ≥ 0 opens the contact, also where a jammed solution exists beside the open one. Otherwise u_N
// = 0 and the normal is eliminated, with g = W_NT/W_NN, ρ = −q_N/W_NN > 0, A = W_TT − W_TN g:
//
//   ν = ρ − g·β,   u_T = b + A β,   b = q_T + W_TN ρ.
//
// Disc: sliding means u_T = −κβ with κ > 0, so β(κ) = −(A + κI)⁻¹b = −(c + κb)/D(κ) with c = adj(A)
// b and D = det A + κ tr A + κ². What is left is one root of
//
//   F(κ) = D (μν − ‖β‖) = μ (ρ D + g·(c + κb)) − ‖c + κb‖.
//
// F(0) ≥ 0 is sticking. If W is positive definite, symmetric or not, then D > 0 for κ ≥ 0, F(0) < 0
// and F → ∞: a bracketed root always exists and is a solution. Otherwise the sign change is
// checked, and its absence is reported as a failure. Polygons and boxes: one linear problem per
// vertex and edge.
#pragma once

#include <vector>

#include "stiction/problem/friction_section.h"

namespace stiction {

/// Vertices and edges of a polygonal section. Edge i runs from vertex i to vertex i + 1.
struct PolygonTable {
  struct Corner {
    double vertex[2];
    double normal[2];  // of the edge that starts here, outwards, of length one
  };
  FrictionSection section;
  double apothem = 1;      // distance of the edges from the origin
  double half_length = 0;  // of an edge
  std::vector<Corner> corners;

  explicit PolygonTable(const FrictionSection& section);
  int num_sides() const { return static_cast<int>(corners.size()); }
};

/// A contact prepared for many solves with the same W. Filled by `prepare`.
class OneContact {
 public:
  enum class Kind : char { kNormal, kInterval, kDisc, kPolygon };

  /// `W` is row-major, dim × dim, dim = 1 + number of tangents. `table` belongs to a polygon or box
  /// with two tangents, must outlive this object, and is null for other contacts.
  void prepare(const double* W, int dim, double mu, const PolygonTable* table);

  /// Solves into r (dim numbers). `hint` is a memory of one number per contact that speeds up the
  /// next solve, at first zero; it changes the answer by rounding at most. False if no solution was
  /// found; r is zero then.
  bool solve(const double* q, double* r, double& hint) const;

  int dim() const { return dim_; }
  Kind kind() const { return kind_; }
  double mu() const { return mu_; }
  const PolygonTable* table() const { return table_; }
  /// Row i, column j of W.
  double W(int i, int j) const { return W_[i * dim_ + j]; }
  /// The same of W⁻¹, if there is one that is good enough for an iteration.
  double inverse(int i, int j) const { return inverse_[i * dim_ + j]; }
  bool has_inverse() const { return has_inverse_; }
  /// At least the largest eigenvalue of the symmetric part of W, at most √3 times that if none is
  /// negative. Not positive for some LCPs.
  double size() const { return size_; }

  /// The same question asked by an iteration: r is the present impulse and u the velocity that
  /// belongs to it, its own effect included. Replaces r by the answer, found from r by a step that
  /// is exact for open and sticking contacts and one of Newton's for sliding ones, quadratically
  /// close to the exact answer; by `solve` where that is not safe. kDim = dim(). Defined in
  /// one_contact_visit.h.
  template <int kDim>
  bool visit(const double* u, double* r, double& hint) const;

 private:
  /// What remains of the contact when u_N = 0: u_T = b + Aβ, ν = ρ − g·β. With a small W_NN beside
  /// a large W_NT these are large numbers that cancel: answers are checked against q itself.
  struct Reduced {
    const double* q;
    double rho;
    double b[2];
    double c[2];  // adj(A) b
  };
  struct Slide;

  template <int kDim>
  bool try_stick_from(const double* u, const double* old, double* r) const;
  bool try_slide_interval(const double* q, double* r) const;
  bool try_slide_from(const double* q, const double* direction, double* r) const;
  void prepare_known(const double* W, int dim, double mu, const PolygonTable* table);
  void prepare_inverse();
  bool solve_interval(const double* q, double* r) const;
  bool solve_disc(const double* q, double* r, double& hint) const;
  bool solve_polygon(const double* q, double* r, double& hint) const;
  Reduced reduce(const double* q) const;
  double compute_slip(const double* q, const double* r, double* u) const;
  bool try_stick(const Reduced& reduced, double* r) const;
  bool find_root(const Reduced& reduced, double& kappa) const;
  bool try_slide(const double* q, double cosine, double sine, Slide& slide) const;
  double slide_along(const Reduced& reduced, double kappa, double* r) const;
  bool scan_directions(const double* q, double* r) const;
  double try_vertex(const Reduced& reduced, int corner, double* r) const;
  double try_edge(const Reduced& reduced, int corner, double* r) const;

  double W_[9] = {};
  double A_[4] = {};                    // Schur complement on the tangents
  double g_[2] = {};                    // W_NT / W_NN
  double trace_ = 0, determinant_ = 0;  // of A
  double smallest_kappa_ = 0;           // D > 0 above it
  double inverse_[9] = {};              // of W, if has_inverse_
  double size_ = 0;
  double mu_ = 0;
  const PolygonTable* table_ = nullptr;
  int dim_ = 1;
  Kind kind_ = Kind::kNormal;
  bool has_inverse_ = false;  // W is far from singular, so that steps with it converge
};

}  // namespace stiction
