"""Reads and writes recordings with h5py and numpy alone: the engine is not needed, nor the machine
that made them. The format is a contract, docs/recording-format.md; tests compare with the engine's
own reader and writer."""

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
        ("accumulated_slip", "f8", 2),
    ],
    align=True,
)
_ADDED = ("accumulated_slip",)  # absent from recordings of earlier programs: NaN
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
        if field in _ADDED and f"{group}/{field}" not in file:
            table[field] = np.nan
            continue
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
        run = _read(path, file)
    run._folder = os.path.dirname(os.path.abspath(path))
    return run


def _put_texts(place, name, texts):
    import h5py

    size = max((len(text.encode()) for text in texts), default=0)
    encoded = np.array([text.encode() for text in texts], f"S{max(size, 1)}")
    place.attrs.create(name, encoded, dtype=h5py.string_dtype("utf-8", max(size, 1)))


def _fill(file, run):
    import h5py

    data = run._data
    file.attrs["format_version"] = np.int32(_VERSION)
    file.attrs["h"] = float(run.h)
    texts = {"format": _FORMAT, **{name: data[name] for name in ("name", "scheme", "solver", "version")}}
    for name, text in texts.items():
        encoded = text.encode()
        file.attrs.create(name, encoded, dtype=h5py.string_dtype("utf-8", max(len(encoded), 1)))
    scene = run.scene.encode()
    file.create_dataset("scene", data=scene, dtype=h5py.string_dtype("utf-8", max(len(scene), 1)))
    file.create_dataset("status", data=np.array([run.status.encode()], "S32"))
    for name in ("time", "step", "q", "v"):
        file.create_dataset(name, data=data[name])
    file.create_dataset("joints/impulse", data=data["joint_impulses"])
    file.create_dataset("joints/reaction", data=data["reactions"])
    for group in ("energy", "certificate", "times"):
        for name, values in data[group].items():
            file.create_dataset(f"{group}/{name}", data=values)
    for name in ("iterations", "stage", "wall"):
        file.create_dataset(f"solver/{name}", data=data[name])
    if len(data["flagged"]) == len(run):
        file.create_dataset("solver/flagged", data=data["flagged"])
    for group in ("contacts", "events"):
        for name in data[group].dtype.names:
            file.create_dataset(f"{group}/{name}", data=data[group][name])
    file.create_dataset("events/complete", data=np.array([len(run.events)], "i8"))
    _put_texts(file["q"], "names", run.q_names)
    _put_texts(file["v"], "names", run.v_names)
    _put_texts(file["joints/impulse"], "names", run.joint_names)
    _put_texts(file["joints/reaction"], "names", run.reaction_names)
    _put_texts(file["contacts"], "names", run.contact_names)
    _put_texts(file["events"], "kinds", run.event_kinds)
    # The third number is the size of the file at a flush; of a file that is closed it is not asked.
    file.create_dataset("commit", data=np.array([[len(run), len(run.contacts), 0]], "i8"))
    _put_texts(file["commit"], "names", ["steps", "contacts", "bytes"])


def write(run, path):
    """Writes a Run as a recording; a file of that name is replaced when the new one is complete.

    Raises IoError if it cannot be written.
    """
    import h5py

    path = os.fspath(path)
    beside = f"{path}.{os.getpid()}.new"
    try:
        with h5py.File(beside, "w", libver=("earliest", "v110")) as file:
            _fill(file, run)
        os.replace(beside, path)
    except OSError as error:
        if os.path.exists(beside):
            os.unlink(beside)
        raise IoError(f"cannot write '{path}': {error}") from None
