"""How far a run is: a line on a terminal, one output that is updated in a notebook, else nothing."""

from __future__ import annotations

import sys
import time


def _in_notebook():
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    instance = shell.get_ipython()
    return instance is not None and type(instance).__name__ == "ZMQInteractiveShell"


class Progress:
    """Called with the simulated time; ``show`` is None to find out, True or False to decide."""

    _WIDTH = 30

    def __init__(self, start, duration, show=None):
        self._start, self._duration = start, duration
        self._began = time.monotonic()
        self._display = None
        self._length = 0
        self._notebook = _in_notebook()
        self.enabled = bool(self._notebook or sys.stderr.isatty()) if show is None else bool(show)

    def _line(self, t):
        share = min(1.0, (t - self._start) / self._duration) if self._duration > 0 else 1.0
        full = int(self._WIDTH * share)
        wall = time.monotonic() - self._began
        left = f", {wall / share - wall:.0f} s left" if 0 < share < 1 else ""
        bar = "█" * full + "·" * (self._WIDTH - full)
        return f"{bar} {100 * share:3.0f} %  t = {t:.4g} s{left}"

    def __call__(self, t):
        if not self.enabled:
            return
        line = self._line(t)
        if self._notebook:
            from IPython.display import Markdown, display

            shown = Markdown(f"`{line}`")
            if self._display is None:
                self._display = display(shown, display_id=True)
            else:
                self._display.update(shown)
        else:
            sys.stderr.write("\r" + line.ljust(self._length))
            sys.stderr.flush()
            self._length = len(line)

    def end(self, t):
        """Leaves the terminal as it was; a notebook keeps the last line."""
        if not self.enabled or (self._length == 0 and self._display is None):
            return
        if self._notebook:
            self(t)
        else:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()
