"""Complementarity and friction problems from numpy arrays and scipy.sparse matrices."""

from __future__ import annotations

import os

import numpy as np

from . import _engine
from .errors import InputError


class Solution:
    """The answer to a problem, and how good it is.

    z, w : of an LCP or MLCP; r, u, v : of a friction problem (impulses, local velocities,
    velocities); fields that the problem has not are None.
    status : "solved", or why not; error : the published one of the problem's kind; residual : of the
    certificate; iterations, wall_s [s], kind
    """

    def __init__(self, data):
        for key in ("z", "w", "r", "u", "v"):
            setattr(self, key, data.get(key))
        for key in ("kind", "status", "is_solved", "error", "residual", "certificate", "iterations", "wall_s"):
            setattr(self, key, data[key])

    def __bool__(self):
        return self.is_solved

    def __repr__(self):
        return (
            f"<Solution of a {self.kind} problem: {self.status}, error {self.error:.2g}, "
            f"{self.iterations} iterations>"
        )


def _real(name, value):
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {array.dtype}, must be real numbers")
    array = array.astype(float)
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name} holds a number that is not finite")
    return array


def _vector(name, value, size=None):
    array = _real(name, value)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}, must be a vector")
    if size is not None and len(array) != size:
        raise InputError(f"{name} has {len(array)} numbers, must have {size}")
    return array


def _matrix(name, value, rows, columns):
    """Compressed rows, without zeros: sizes, starts of rows, columns, values."""
    if hasattr(value, "tocsr"):
        csr = value.tocsr().copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
        _real(name, csr.data)
        shape, parts = csr.shape, (csr.indptr, csr.indices, csr.data)
    else:
        dense = _real(name, value)
        if dense.ndim != 2:
            raise InputError(f"{name} has shape {dense.shape}, must be a matrix")
        row, column = np.nonzero(dense)
        starts = np.searchsorted(row, np.arange(dense.shape[0] + 1))
        shape, parts = dense.shape, (starts, column, dense[row, column])
    if shape != (rows, columns):
        raise InputError(f"{name} has shape {shape}, must have ({rows}, {columns})")
    start, column, data = parts
    return (rows, columns, start.tolist(), column.tolist(), np.asarray(data, float).tolist())


def _contacts(mu, num_rows, what):
    mu = np.atleast_1d(_real("mu", mu))
    if mu.ndim != 1 or len(mu) == 0:
        raise InputError("mu must be a vector with one number per contact")
    if np.any(mu < 0):
        raise InputError(f"mu is {mu.min()}, must be >= 0")
    if num_rows not in (2 * len(mu), 3 * len(mu)):
        raise InputError(
            f"{what} has {num_rows} numbers for {len(mu)} contacts, must have 2 or 3 for each "
            "(normal, then tangents)"
        )
    return mu.tolist()


def solve(M=None, q=None, *, W=None, H=None, f=None, w=None, mu=None, equations=None, friction="disc",
          solver="auto", tol=1e-8):
    """Solves a problem and judges the answer; see Solution. Matrices are dense or scipy.sparse.

    LCP       solve(M, q)                      w = M z + q, 0 ≤ z ⊥ w ≥ 0
    MLCP      solve(M, q, equations=[0, 3])    w = 0 for these rows, z free there
    friction  solve(W=W, q=q, mu=mu)           u = W r + q, Coulomb's law for every contact
              solve(M=M, f=f, H=H, w=w, mu=mu) M v = H r + f, u = Hᵀ v + w
    file      solve("problem.hdf5")            as ``stiction solve``

    Rows of a contact are its normal, then one or two tangents. ``friction`` is the section of the
    cone: disc, box or polygon:K.
    """
    if isinstance(M, (str, os.PathLike)):
        return Solution(_engine.solve_file(os.fspath(M), solver, tol))
    if mu is None:
        if M is None or q is None or W is not None or H is not None:
            raise InputError("give M and q for an LCP, or mu as well for a friction problem")
        q = _vector("q", q)
        is_equation = np.zeros(len(q), bool)
        if equations is not None:
            chosen = np.asarray(equations)
            if chosen.dtype.kind not in "iub" or chosen.ndim != 1:
                raise TypeError("equations must be indices or a mask of the rows")
            if chosen.dtype.kind != "b" and np.any((chosen < 0) | (chosen >= len(q))):
                raise InputError(f"equations has an index out of 0 … {len(q) - 1}")
            is_equation[chosen] = True
        return Solution(
            _engine.solve_mlcp(
                _matrix("M", M, len(q), len(q)), q.tolist(), is_equation.tolist(), solver, tol
            )
        )
    if W is not None:
        if q is None or M is not None or H is not None:
            raise InputError("give W, q and mu, or M, f, H, w and mu")
        q = _vector("q", q)
        mu = _contacts(mu, len(q), "q")
        return Solution(
            _engine.solve_local(_matrix("W", W, len(q), len(q)), q.tolist(), mu, friction, solver, tol)
        )
    if M is None or H is None or f is None or w is None:
        raise InputError("give W, q and mu, or M, f, H, w and mu")
    f, w = _vector("f", f), _vector("w", w)
    mu = _contacts(mu, len(w), "w")
    rows = H.T if hasattr(H, "tocsr") else np.asarray(H).T
    return Solution(
        _engine.solve_global(
            _matrix("M", M, len(f), len(f)),
            f.tolist(),
            _matrix("H (transposed)", rows, len(w), len(f)),
            w.tolist(),
            mu,
            friction,
            solver,
            tol,
        )
    )
