"""What a simulation did, as numpy arrays: out of memory or out of a file, it is the same."""

from __future__ import annotations

import difflib

import numpy as np

from .errors import InputError

#: Kinds of contacts in ``contacts["status"]``.
OPEN, STICK, SLIP = 0, 1, 2


class Columns:
    """Named columns of equal length, as attributes and as items: ``energy.kinetic``,
    ``energy["kinetic"]``."""

    def __init__(self, columns):
        self._columns = dict(columns)

    def __getitem__(self, name):
        return self._columns[name]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._columns[name]
        except KeyError:
            raise AttributeError(f"no column '{name}'; there are {', '.join(self)}") from None

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        return len(self._columns)

    def __dir__(self):
        return [*super().__dir__(), *self._columns]

    def keys(self):
        return self._columns.keys()

    def items(self):
        return self._columns.items()

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(self)})"


class CertificateColumns(Columns):
    """Residuals of every recorded step [-] (momentum, bilateral, cone), its smallest ``gap`` [m]
    and its largest error of a ``joint``."""

    @property
    def residual(self):
        """The worst residual of every recorded step."""
        return np.maximum(np.maximum(self["momentum"], self["bilateral"]), self["cone"])

    def max(self):
        """The worst residual of all recorded steps."""
        return float(self.residual.max(initial=0.0))


class EnergyColumns(Columns):
    """[J] kinetic, potential and spring energy of every recorded state, and since the start what
    was applied, what motors gave, what friction and impacts took (negative), and what is left over:
    ``numerical``."""

    @property
    def total(self):
        return self["kinetic"] + self["potential"] + self["spring"]


def _structured(matrix, names):
    """Rows of a matrix as a structured array; no copy."""
    if not names:
        return np.zeros(len(matrix), dtype=[])
    dtype = np.dtype([(name, float) for name in names])
    return np.ascontiguousarray(matrix).view(dtype).reshape(len(matrix))


class Run:
    """A recording: ``run["phi_S"]`` is a column of positions or velocities by its name.

    time, step : [s] and numbers of the recorded states
    q, v : positions and velocities, columns in the order of q_names and v_names
    contacts : structured array, one row per contact and recorded step: step, a, b, id, position,
        normal, gap, impulse [N s] (normal, tangent 1, tangent 2), slip [m/s], status,
        accumulated_slip [m] since the contact was made
    joints : structured array, impulses [N s or N m s] of joint rows by their names
    reactions : structured array, mean forces [N] and torques [N m] of joints by their names
    events : structured array: step, time, kind (see event_kinds), contact, energy [J]
    certificate, energy : columns over time; ``certificate.max()`` is the worst residual
    """

    def __init__(self, data, folder=""):
        self._data = data
        self._folder = folder  # where files that the scene names are looked for
        self.name = data["name"]
        self.scene = data["scene"]
        self.scheme = data["scheme"]
        self.solver = data["solver"]
        self.version = data["version"]
        self.status = data["status"]
        self.h = data["h"]
        self.q_names = list(data["q_names"])
        self.v_names = list(data["v_names"])
        self.joint_names = list(data["joint_names"])
        self.reaction_names = list(data["reaction_names"])
        self.contact_names = list(data["contact_names"])
        self.event_kinds = list(data["event_kinds"])
        self.time = data["time"]
        self.step = data["step"]
        self.q = data["q"]
        self.v = data["v"]
        self.contacts = data["contacts"]
        self.events = data["events"]
        self.energy = EnergyColumns(data["energy"])
        self.certificate = CertificateColumns(data["certificate"])
        self.iterations = data["iterations"]
        self.wall = data["wall"]
        self.flagged = data["flagged"]
        # Where a generalised coordinate and a velocity have one name, velocities are v.NAME.
        self._columns = {name: (self.v, i) for i, name in enumerate(self.v_names)}
        self._columns.update({name: (self.q, i) for i, name in enumerate(self.q_names)})

    @property
    def joints(self):
        return _structured(self._data["joint_impulses"], self.joint_names)

    @property
    def reactions(self):
        return _structured(self._data["reactions"], self.reaction_names)

    def names(self):
        """Everything that ``run[name]`` knows."""
        return ["time", *self.q_names, *self.v_names]

    def __contains__(self, name):
        return name == "time" or name in self._columns

    def __getitem__(self, name):
        if name == "time":
            return self.time
        try:
            values, column = self._columns[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), self.names(), 1)
            hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(self.names())}"
            raise KeyError(f"no column '{name}'; {hint}") from None
        return values[:, column]

    def position(self, body):
        """[m] of a body's frame, world axes, one row per recorded state."""
        return np.column_stack([self[f"{body}.{axis}"] for axis in ("x", "y", "z")])

    def orientation(self, body):
        """Unit quaternions of a body, w first."""
        return np.column_stack([self[f"{body}.{axis}"] for axis in ("qw", "qx", "qy", "qz")])

    def contacts_of(self, row):
        """The contacts of one row of the recording."""
        step = self.step[row]
        steps = self.contacts["step"]
        return self.contacts[np.searchsorted(steps, step) : np.searchsorted(steps, step, "right")]

    def plot(self, *names, axes=None):
        """Draws columns over time with matplotlib and returns the axes; see stiction.plot."""
        from . import plot

        return plot.states(self, *names, axes=axes)

    def plot_energy(self, axes=None):
        """Draws the energy account over time."""
        from . import plot

        return plot.energy(self, axes=axes)

    def plot_contacts(self, axes=None):
        """Draws normal impulses of contacts over time."""
        from . import plot

        return plot.contacts(self, axes=axes)

    def save(self, path):
        """Writes a recording with all that is here, for ``read``, ``stiction view`` and the other
        commands. What only ``run(..., out=FILE)`` writes, the parts that steps are made of, is not
        here: ``stiction verify`` can check less of it."""
        from .recording import write

        write(self, path)

    def show(self, ghost=None, *, height=540, max_size=64.0, meshes=(".", "examples")):
        """The run as a moving picture with plots, for notebooks; a page of its own, offline.

        ghost : a second Run, shown through the first
        height : of the picture [pixels]
        max_size : of the data [MB]; beyond it, every n-th step is shown, and a warning says so
        meshes : folders of mesh files that the scene names

        The result has ``save(FILE.html)``. Raises IoError if the page of the viewer is not built.
        """
        from .replay import show

        runs = [self] if ghost is None else [self, ghost]
        for run in runs:
            if not isinstance(run, Run):
                raise TypeError(f"ghost is a {type(run).__name__}, must be a Run")
        folders = [run._folder for run in runs if run._folder] + [str(folder) for folder in meshes]
        return show(runs, folders, height, max_size)

    def __len__(self):
        return len(self.time)

    def __repr__(self):
        if not len(self):
            return f"<Run of '{self.name}': {self.status}, no states>"
        return (
            f"<Run of '{self.name}': {self.status}, {len(self)} states, "
            f"t = {self.time[0]:g} … {self.time[-1]:g} s, residual {self.certificate.max():.2g}>"
        )


def check_count(name, value):
    """An integer ≥ 1, or an InputError."""
    if isinstance(value, bool) or int(value) != value or value < 1:
        raise InputError(f"{name} is {value!r}, must be an integer >= 1")
    return int(value)
