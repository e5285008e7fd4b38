"""Pictures of runs with matplotlib. Every function draws into ``axes``, or into new ones, and
returns them: what matplotlib can do with them is for the caller."""

from __future__ import annotations

import numpy as np


def _axes(axes):
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def states(run, *names, axes=None):
    """Columns over time, by name; without names all positions."""
    axes = _axes(axes)
    for name in names or run.q_names:
        axes.plot(run.time, run[name], label=name)
    axes.set_xlabel("time [s]")
    axes.set_title(run.name)
    axes.legend()
    return axes


def phase(run, position, velocity=None, axes=None):
    """A velocity over its position; v.NAME for a coordinate of that name."""
    axes = _axes(axes)
    velocity = velocity or f"v.{position}"
    axes.plot(run[position], run[velocity])
    axes.set_xlabel(position)
    axes.set_ylabel(velocity)
    axes.set_title(run.name)
    return axes


def energy(run, axes=None):
    """The energy account [J] over time; entries that are zero throughout are left out."""
    axes = _axes(axes)
    axes.plot(run.time, run.energy.total, "k", label="total")
    for name, values in run.energy.items():
        if np.any(values != 0):
            axes.plot(run.time, values, label=name)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("energy [J]")
    axes.set_title(run.name)
    axes.legend()
    return axes


def certificate(run, axes=None):
    """Residuals of the recorded steps over time, on a logarithmic scale."""
    axes = _axes(axes)
    for name in ("momentum", "bilateral", "cone"):
        values = run.certificate[name]
        axes.semilogy(run.time, np.where(values > 0, values, np.nan), ".", label=name)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("residual")
    axes.set_title(run.name)
    axes.legend()
    return axes


def contacts(run, axes=None):
    """Normal impulses [N s] of contacts over time, those that stick and those that slip apart."""
    axes = _axes(axes)
    rows = np.searchsorted(run.step, run.contacts["step"])
    times = run.time[rows] if len(rows) else np.zeros(0)
    for status, label in ((1, "stick"), (2, "slip")):
        chosen = run.contacts["status"] == status
        axes.plot(times[chosen], run.contacts["impulse"][chosen, 0], ".", label=label)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("normal impulse [N s]")
    axes.set_title(run.name)
    axes.legend()
    return axes
