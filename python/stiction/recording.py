"""Reads recordings with h5py and numpy alone: the engine is not needed, nor the machine that made
them. The format is a contract, docs/recording-format.md; a test compares this reader with the
engine's own."""

from __future__ import annotations

import os

import numpy as np

from .errors import InputError, IoError
from .run import Run

_FORMAT = "stiction recording"
_VERSION = 1
_ENERGY = ("kinetic", "potential", "spring", "applied", "motor", "friction", "impact", "numerical")
_CERTIFICATE = ("momentum", "bilateral", "cone", "gap", "joint")
_TIMES = ("detect", "assemble", "certify")
_CONTACT = np.dtype(
    [
        ("step", "i8"),
        ("a", "i4"),
        ("b", "i4"),
        ("id", "u8"),
        ("position", "f8", 3),
        ("normal", "f8", 3),
        ("gap", "f8"),
        ("impulse", "f8", 3),
        ("slip", "f8", 2),
        ("status", "i4"),
    ],
    align=True,
)
_EVENT = np.dtype(
    [("step", "i8"), ("time", "f8"), ("kind", "i4"), ("contact", "i8"), ("energy", "f8")],
    align=True,
)


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def _texts(values):
    return [_text(value) for value in np.atleast_1d(values)]


def _open(path):
    """As a reader of a file that may still grow, or whose writer died; reading changes nothing."""
    import h5py

    if not os.path.exists(path):
        raise IoError(f"cannot read '{path}': no such file")
    errors = []
    for swmr in (False, True):
        try:
            return h5py.File(path, "r", swmr=swmr, locking=False)
        except (OSError, ValueError) as error:
            errors.append(str(error))
    raise IoError(f"cannot read '{path}': {errors[0]}")


def _is_closed(file):
    """Whether its writer came to an end: then all rows count, whatever became of the file since."""
    status = file["status"]
    return len(status) > 0 and _text(status[-1]) != "running"


def _extent(path, file):
    """Steps, rows of contacts and flushes that are complete."""
    commit = file["commit"][:]
    if commit.ndim != 2 or commit.shape[1] != 3:
        raise InputError(f"recording '{path}': 'commit' does not have 3 columns")
    if np.any(np.diff(commit[:, :2], axis=0) < 0):
        raise InputError(f"recording '{path}': the rows of 'commit' decrease")
    flushes = len(commit)
    if not _is_closed(file):
        beyond = np.nonzero(commit[:, 2] > os.path.getsize(path))[0]
        flushes = int(beyond[0]) if len(beyond) else flushes
    if flushes == 0:
        return 0, 0, 0
    return int(commit[flushes - 1, 0]), int(commit[flushes - 1, 1]), flushes


def _rows(path, file, name, count):
    if name not in file:
        raise InputError(f"recording '{path}': '{name}' is missing")
    data = file[name]
    if len(data) < count:
        raise InputError(
            f"recording '{path}': '{name}' has {len(data)} rows, the last flush counts {count}"
        )
    return data[:count]


def _group(path, file, group, names, count):
    if f"{group}/{names[0]}" not in file:
        return {}
    return {name: _rows(path, file, f"{group}/{name}", count) for name in names}


def _table(path, file, group, dtype, count):
    table = np.zeros(count, dtype)
    for field in dtype.names:
        table[field] = _rows(path, file, f"{group}/{field}", count)
    return table


def _read(path, file):
    if _text(file.attrs.get("format", "")) != _FORMAT:
        raise InputError(f"'{path}' is not a recording of this program")
    version = int(file.attrs.get("format_version", -1))
    if version != _VERSION:
        raise InputError(
            f"recording '{path}': its format version is {version}, this reads version {_VERSION}"
        )
    steps, contacts, flushes = _extent(path, file)
    data = {name: _text(file.attrs[name]) for name in ("name", "scheme", "solver", "version")}
    data["h"] = float(file.attrs["h"])
    data["scene"] = _text(file["scene"][()])
    status = _texts(file["status"][:])
    data["status"] = status[-1] if status else "running"
    data["q_names"] = _texts(file["q"].attrs["names"])
    data["v_names"] = _texts(file["v"].attrs["names"])
    data["joint_names"] = _texts(file["joints/impulse"].attrs["names"])
    data["contact_names"] = _texts(file["contacts"].attrs["names"])
    data["reaction_names"] = []
    data["reactions"] = np.zeros((steps, 0))
    if "joints/reaction" in file:
        data["reaction_names"] = _texts(file["joints/reaction"].attrs["names"])
        data["reactions"] = _rows(path, file, "joints/reaction", steps)
    for name in ("time", "step", "q", "v"):
        data[name] = _rows(path, file, name, steps)
    data["joint_impulses"] = _rows(path, file, "joints/impulse", steps)
    data["energy"] = _group(path, file, "energy", _ENERGY, steps)
    data["certificate"] = _group(path, file, "certificate", _CERTIFICATE, steps)
    data["times"] = _group(path, file, "times", _TIMES, steps)
    for name in ("iterations", "stage", "wall"):
        data[name] = _rows(path, file, f"solver/{name}", steps)
    data["flagged"] = np.zeros(0, "i4")
    if "solver/flagged" in file:
        data["flagged"] = _rows(path, file, "solver/flagged", steps)
    data["contacts"] = _table(path, file, "contacts", _CONTACT, contacts)
    data["event_kinds"], data["events"] = [], np.zeros(0, _EVENT)
    if "events" in file:
        data["event_kinds"] = _texts(file["events"].attrs["kinds"])
        complete = _rows(path, file, "events/complete", flushes)
        count = int(complete[-1]) if flushes else 0
        data["events"] = _table(path, file, "events", _EVENT, count)
    return Run(data)


def read(path):
    """Reads a recording, all complete steps of it, also one whose writer died.

    Raises IoError if the file cannot be read, InputError if it is no recording.
    """
    path = os.fspath(path)
    with _open(path) as file:
        return _read(path, file)
