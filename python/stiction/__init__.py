"""Rigid bodies that touch: hard contact, friction and impacts by complementarity time-stepping.

    import stiction as st
    run = st.load("examples/woodpecker.json").simulation(h=1e-4).run(2.0)
    run.plot("phi_S")

SI units throughout; angles in radians. ``read`` opens recordings also where the engine itself is
not built.
"""

from __future__ import annotations

from . import plot
from .errors import Error, InputError, IoError, SceneError, StepRejected
from .recording import read
from .run import OPEN, SLIP, STICK, Run

__all__ = [
    "Error", "InputError", "IoError", "SceneError", "StepRejected",
    "OPEN", "STICK", "SLIP", "Run", "read", "plot",
]  # fmt: skip

try:
    from ._engine import Certificate, Energy, scheme_names, solver_names, version
except ModuleNotFoundError as _error:  # a recording can be read without
    if not (_error.name or "").endswith("_engine"):
        raise

    def __getattr__(name):
        raise AttributeError(
            f"stiction.{name} needs the engine, which is not built here: only recordings can be read"
        )

else:
    from .builder import (
        ModelBuilder,
        box,
        capsule,
        convex,
        cylinder,
        ellipsoid,
        heightfield,
        mesh,
        plane,
        sphere,
    )
    from .callables import generalized
    from .model import Model, Simulation, batch, load, loads
    from .problems import Solution, solve
    from .replay import Replay

    __version__ = version()
    __all__ += [
        "Certificate", "Energy", "Model", "ModelBuilder", "Replay", "Simulation", "Solution", "batch", "box",
        "capsule", "convex", "cylinder", "ellipsoid", "generalized", "heightfield", "load", "loads",
        "mesh", "plane", "scheme_names", "solve", "solver_names", "sphere", "version",
    ]  # fmt: skip
