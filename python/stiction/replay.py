"""Runs as moving pictures inside a notebook: the page of the viewer with its data, in a frame of its
own. Nothing is loaded from anywhere."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import warnings
from pathlib import Path

from . import _engine
from .errors import InputError, IoError

_MISSING = (
    "the page of the viewer is not built: in a clone './stiction view --help' builds it (Node.js 18 or "
    "newer), 'pip install' takes it along if it is there"
)


def _places():
    """Where the page may be: in the package, in the build that the engine is from, installed."""
    module = Path(_engine.__file__).absolute()
    yield module.parent / "viewer.html"
    if len(module.parents) > 3:
        yield module.parents[3] / "viewer" / "index.html"
    for prefix in dict.fromkeys((sys.prefix, "/usr/local", "/usr")):
        yield Path(prefix) / "share" / "stiction" / "viewer" / "index.html"


def read_page():
    """The page of the viewer, without data. Raises IoError, with what to do, if there is none."""
    for place in _places():
        try:
            return place.read_text(encoding="utf-8")
        except OSError:
            continue
    raise IoError(_MISSING)


class Replay:
    """A page with page and data in one text, ``html``. Notebooks show it; ``save`` writes a file that
    any browser opens."""

    def __init__(self, text, height):
        self.html = text
        self.height = height

    def save(self, path):
        """Writes the page; an older file is replaced when the new one is complete."""
        path = os.fspath(path)
        beside = f"{path}.{os.getpid()}.new"
        try:
            with open(beside, "w", encoding="utf-8") as file:
                file.write(self.html)
            os.replace(beside, path)
        except OSError as error:
            if os.path.exists(beside):
                os.unlink(beside)
            raise IoError(f"cannot write '{path}': {error.strerror}") from None

    def _repr_html_(self):
        # A frame without an origin: the page cannot reach the notebook, nor the other way round.
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" style="width:100%;border:0" '
            f'height="{self.height}" srcdoc="{html.escape(self.html)}"></iframe>'
        )

    def __repr__(self):
        return f"<Replay, {len(self.html) / 1e6:.1f} MB; shown by notebooks, or save(FILE.html)>"


def show(runs, folders, height, max_size):
    """See Run.show."""
    if isinstance(height, bool) or int(height) != height or height < 1:
        raise InputError(f"height is {height!r}, must be an integer >= 1")
    if not 0 < max_size <= 1e6:
        raise InputError(f"max_size is {max_size!r}, must be > 0 and <= 1e6")
    page = read_page()
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, run in enumerate(runs):
            paths.append(os.path.join(folder, f"{number}.h5"))
            run.save(paths[-1])
        text, stride, has_all_series = _engine.make_page(page, paths, folders, int(max_size * 1e6))
    if stride > 1:
        warnings.warn(f"every {stride}th recorded step is shown; max_size gives more room", stacklevel=3)
    if not has_all_series:
        warnings.warn("there are no curves of single coordinates; max_size gives more room", stacklevel=3)
    return Replay(text, int(height))
