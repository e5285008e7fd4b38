// Leaves out candidates of a flat patch that change neither what the contact forbids nor what it
// can exert.
//
// Where all normals are the same, n, and the gap is an affine function of the place along the patch
// (flat on flat), a candidate at x = Σ w_i x_i inside the convex hull of others (w_i ≥ 0, Σ w_i =
// 1) adds nothing:
//   gap(x) = Σ w_i gap(x_i) ≥ 0 follows from gap(x_i) ≥ 0;
//   an impulse r at x has the wrench of w_i r at x_i, and w_i r lies in the same cone as r for the
//   same μ; and where gap(x) = 0, gap(x_i) = 0 for all w_i > 0, so that complementarity agrees.
// The corners of the hull remain; they are kept as they are, in their order.
#pragma once

#include "stiction/geometry/collect_contacts.h"

namespace stiction {

/// Reduces the candidates from `first` to the end of the list, if they are flat as above up to
/// `tolerance`; else leaves them alone. Points in the hull of others up to `tolerance` [m] are left
/// out and counted in num_reduced; the number of them is returned. All must be between the same
/// two materials. O(n log n). The tolerance should be of the order of rounding.
int reduce_flat_patch(ContactList& list, int first, double tolerance, ContactWorkspace& workspace);

}  // namespace stiction
