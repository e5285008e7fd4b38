"""Models and simulations: the engine's own, with the comforts of Python."""

from __future__ import annotations

import json
import os
import warnings

import numpy as np

from . import _engine
from .errors import InputError
from .progress import Progress
from .run import Run, _structured, check_count


def to_json(value, what="value"):
    """JSON text of what Python and numpy call numbers, texts, lists and dictionaries."""

    def convert(thing):
        if isinstance(thing, np.ndarray):
            return thing.tolist()
        if isinstance(thing, np.generic):
            return thing.item()
        raise TypeError(f"{what} holds a {type(thing).__name__}, which no scene can")

    try:
        return json.dumps(value, default=convert, allow_nan=False)
    except ValueError:
        raise InputError(f"{what} holds a number that is not finite") from None


def _pairs(values, what):
    return [(str(key), to_json(value, f"{what} '{key}'")) for key, value in values.items()]


def _check_callable(name, function):
    if not callable(function):
        raise TypeError(f"{name} is a {type(function).__name__}, must be a function")


class Model:
    """What the world is. Immutable: to change something, change the scene or the builder and make
    another one, or take ``varied``."""

    __slots__ = ("_model",)

    def __init__(self, engine_model):
        if not isinstance(engine_model, _engine.Model):
            raise TypeError("models come from load(), loads(), generalized() or ModelBuilder.build()")
        object.__setattr__(self, "_model", engine_model)

    def __setattr__(self, name, value):
        raise AttributeError(
            f"a model cannot be changed once it is built ('{name}'): build another one, or use varied()"
        )

    @property
    def name(self):
        return self._model.name

    @property
    def scene(self):
        """The scene as text; empty for a model of Python functions."""
        return self._model.scene

    @property
    def _folder(self):
        """Where files that the scene names are looked for."""
        return os.path.dirname(os.path.abspath(self._model.place))

    @property
    def q_names(self):
        """Names of positions: coordinates, or body.x … body.qz, then angles of joints."""
        return self._model.q_names

    @property
    def v_names(self):
        """Names of velocities: v.coordinate, or body.vx … body.wz (world axes)."""
        return self._model.v_names

    @property
    def joint_names(self):
        return self._model.joint_names

    @property
    def contact_names(self):
        """Of contacts that have names: those of generalised systems, and limits of joints."""
        return self._model.contact_names

    def varied(self, values=None, **more):
        """The same scene with other values: by the names of parameters, ``varied(mu=0.3)``, or by
        paths, ``varied({"bodies.cart.mass": 2, "generalized.contacts[0].mu": 0.1})``."""
        return Model(self._model.varied(_pairs({**(values or {}), **more}, "value of")))

    def simulation(self, *, threads=1, budget=0.0, **simulate):
        """A simulation that starts from the model's initial state.

        Keywords are those of "simulate" in scenes (h [s], scheme, solver, tol, friction, …) and win
        over the scene's. ``threads`` serve collision detection, ``budget`` is the wall time [s] that
        a step may take (0: any).
        """
        return Simulation(self, threads=threads, budget=budget, **simulate)

    def __repr__(self):
        return f"<Model '{self.name}': {len(self.q_names)} positions, {len(self.v_names)} velocities>"


class Simulation(_engine.Simulation):
    """A model in motion: ``step``, or ``run`` for a while; see Model.simulation."""

    def __new__(cls, model, *, threads=1, budget=0.0, **simulate):
        if not isinstance(model, Model):
            raise TypeError(f"model is a {type(model).__name__}, must be a Model")
        prepared = _engine.Prepared(
            model._model, _pairs(simulate, "keyword"), check_count("threads", threads), float(budget)
        )
        self = super().__new__(cls)
        _engine.Simulation.__init__(self, prepared)
        self._folder = model._folder
        return self

    def __init__(self, model, *, threads=1, budget=0.0, **simulate):
        pass  # all is done before the object exists

    @property
    def joints(self):
        """Impulses [N s or N m s] of joint rows in the last step, by their names."""
        return _structured(self._joint_impulses.reshape(1, -1), self.joint_names)[0]

    def __getitem__(self, name):
        """The present value of a position or velocity by its name."""
        for names, values in ((self.q_names, self.q), (self.v_names, self.v)):
            if name in names:
                return float(values[names.index(name)])
        raise KeyError(f"no coordinate '{name}'; known: {', '.join(self.q_names + self.v_names)}")

    def add_controller(self, function):
        """A function of the simulation that is called before every step; what it returns, unless None,
        is a generalised force, one number per free velocity. Forces that it applies act in that step."""
        _check_callable("controller", function)
        super().add_controller(function)

    def run(self, duration=None, *, every=None, out=None, stop=None, progress=None):
        """Steps for ``duration`` [s] (default: the scene's) and returns the Run.

        every : record every n-th step (default: the scene's)
        out : file for a recording on disk as well
        stop : called with the simulation before every step; a true result ends the run
        progress : True or False; default: on terminals and in notebooks

        Raises StepRejected if a step misses the tolerance, and what functions of the user raise;
        such an exception has the recording so far as ``run``.
        """
        duration = self.duration if duration is None else float(duration)
        every = self.every if every is None else check_count("every", every)
        if stop is not None:
            _check_callable("stop", stop)
        shown = Progress(self.t, duration, progress)
        out = "" if out is None else os.fspath(out)
        try:
            self._run(duration, every, out, stop, shown if shown.enabled else None)
        except BaseException as error:
            try:
                error.run = Run(self._take_recording(), self._folder)
            except Exception:
                pass  # it failed before there was one
            raise
        finally:
            shown.end(self.t)
        return Run(self._take_recording(), self._folder)

    def save(self, path):
        """Writes a checkpoint: a run that goes on from it gives the same bits."""
        super().save(os.fspath(path))

    def restore(self, path):
        """Goes on from a checkpoint of the same model, scheme and solver."""
        super().restore(os.fspath(path))

    def __repr__(self):
        return f"<Simulation of '{self.name}': t = {self.t:g} s, {self.scheme}, {self.solver}>"


def _warned(engine_model):
    for text in engine_model.warnings:
        warnings.warn(text.strip(), stacklevel=3)
    return Model(engine_model)


def load(path):
    """The model of a scene file. Raises SceneError with all faults of the file."""
    return _warned(_engine.load(os.fspath(path)))


def loads(scene, place="scene"):
    """The model of a scene given as a text (comments allowed) or as a dictionary."""
    text = scene if isinstance(scene, str) else to_json(scene, "scene")
    return _warned(_engine.loads(text, place))


def batch(model, variations, duration=None, *, every=1, workers=None, check=True):
    """Runs a scene once for every variation, on all cores, without the interpreter's lock.

    variations : dictionaries as of ``Model.varied``; they may hold "simulate.h" and the like
    workers : threads, default: as many as there are cores. Results do not depend on it.
    check : raise the first error; otherwise the result of a failed run is its exception, with the
        recording so far as ``run``
    Returns the Runs in the order of the variations.
    """
    workers = len(os.sched_getaffinity(0)) if workers is None else check_count("workers", workers)
    variations = list(variations)
    for number, variation in enumerate(variations):
        if not hasattr(variation, "items"):
            raise TypeError(f"variations[{number}] is a {type(variation).__name__}, must be a dictionary")
    pairs = [_pairs(variation, "value of") for variation in variations]
    duration = None if duration is None else float(duration)
    results = []
    for data, error in _engine.batch(model._model, pairs, duration, check_count("every", every), workers):
        run = None if data is None else Run(data, model._folder)
        if error is None:
            results.append(run)
            continue
        error.run = run
        if check:
            raise error
        results.append(error)
    return results
