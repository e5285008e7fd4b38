"""Exceptions of the package; they mirror those of the C++ library."""


class Error(RuntimeError):
    """Something went wrong in the engine. All others derive from it."""


class InputError(Error, ValueError):
    """An argument is out of range; the message names it, its value and what is allowed."""


class SceneError(InputError):
    """A scene has faults.

    The text has all of them, with their places; ``diagnostics`` is a list of dictionaries with the
    keys severity, line, column, path, message, help.
    """

    diagnostics: list = []


class IoError(Error, OSError):
    """A file could not be read or written; the message says why."""


class StepRejected(Error):
    """A step missed the tolerance and was not taken; the state is as before it.

    ``time`` [s] is where the step began, ``certificate`` its figures, ``status`` the solver's word.
    Out of ``Simulation.run`` it also has ``run``, the recording up to there.
    """

    time: float = float("nan")
    certificate = None
    status: str = ""
    run = None
