// Dense kernels of the saddle LDLᵀ: the factors of one front, column by column in storage. The
// pivots of a front are static; bodies have positive pivots and rows negative ones, so that no
// exchange is needed (quasi-definite matrices; the order of the graph keeps rows behind bodies).
// No allocation; plain loops that compilers vectorise.
#pragma once

namespace stiction {

/// The columns of the pivots of one front: num_rows × num_pivots numbers with leading dimension
/// num_rows, of which the part on and below the diagonal counts.
struct LdltPanel {
  double* values = nullptr;
  int num_rows = 0;
  int num_pivots = 0;
  const char* is_row = nullptr;  // per pivot: a row of R, with a negative pivot
  double* weight = nullptr;      // per row of the front: what its pivot was before cancellation
  double* pivot = nullptr;       // out: D
  double* inverse = nullptr;     // out: D⁻¹, zero for rows that depend on others
};

/// Overwrites the panel by L. A row whose pivot has cancelled to less than `tiny` of its weight
/// gets an empty column and the inverse zero: its impulse will be zero. False if a body's pivot is
/// not positive or a number is not finite.
bool factor_panel(const LdltPanel& panel, double tiny);

/// update −= L₂ D L₂ᵀ with L₂ the rows below the pivots; lower part of a square matrix with leading
/// dimension num_rows − num_pivots.
void subtract_outer_product(const LdltPanel& panel, double* update);

/// x₁ ← L₁⁻¹x₁, and x₂ −= L₂x₁; x₁ are the pivots' numbers.
void solve_lower(const LdltPanel& panel, double* x1, double* x2);
/// x₁ ← L₁⁻ᵀ(x₁ − L₂ᵀx₂).
void solve_upper(const LdltPanel& panel, double* x1, const double* x2);

}  // namespace stiction
