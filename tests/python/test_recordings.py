"""Recordings read by h5py alone are those that the engine wrote; plots are drawn."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stiction as st


def assert_same(one, other):
    for key, value in one._data.items():
        if key == "wall" or key == "times":
            continue
        if isinstance(value, np.ndarray):
            assert value.dtype == other._data[key].dtype, key
            for field in value.dtype.names or [...]:  # NaN has its equal in plain arrays only
                np.testing.assert_array_equal(value[field], other._data[key][field], key)
        elif isinstance(value, dict):
            for name in value:
                np.testing.assert_array_equal(value[name], other._data[key][name])
        else:
            assert value == other._data[key], key


@pytest.mark.parametrize("scene", ["woodpecker", "four-bar", "two-carts"])
def test_a_file_holds_what_the_run_returned(examples, tmp_path, scene):
    path = tmp_path / "run.h5"
    run = st.load(examples / f"{scene}.json").simulation().run(0.1, out=path, every=3)
    assert_same(run, st.read(path))
    assert run.step[1] == 3


def test_recordings_are_read_without_the_engine(woodpecker, tmp_path):
    path = tmp_path / "run.h5"
    run = woodpecker.simulation().run(0.01, out=path)
    package = Path(st.__file__).resolve().parent
    alone = tmp_path / "alone" / "stiction"
    alone.mkdir(parents=True)
    for source in package.glob("*.py"):
        (alone / source.name).write_text(source.read_text())
    code = (
        "import stiction as st, sys\n"
        f"run = st.read({str(path)!r})\n"
        "print(repr(float(run['phi_S'][-1])))\n"
        "assert not any('_engine' in name for name in sys.modules)\n"
        "try: st.load('x')\n"
        "except AttributeError as error: assert 'not built here' in str(error)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(alone.parent)},
        capture_output=True, text=True,
    )
    assert out.returncode == 0, out.stderr
    assert float(out.stdout) == run["phi_S"][-1]


def test_a_recording_whose_writer_died_is_read_up_to_its_last_flush(tmp_path, examples):
    path = tmp_path / "run.h5"
    code = (
        "import os, stiction as st\n"
        f"sim = st.load({str(examples / 'woodpecker.json')!r}).simulation()\n"
        "sim.run(100, out="
        f"{str(path)!r}, stop=lambda sim: sim.t > 1 and os._exit(9))\n"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 9
    run = st.read(path)
    assert run.status == "running"
    steps = len(run)
    assert np.array_equal(run.step, np.arange(steps))


def test_what_is_no_recording_is_refused(tmp_path, woodpecker):
    import h5py

    with pytest.raises(st.IoError, match="no such file"):
        st.read(tmp_path / "none.h5")
    text = tmp_path / "text.h5"
    text.write_text("no HDF5")
    with pytest.raises(st.IoError, match="cannot read"):
        st.read(text)
    other = tmp_path / "other.h5"
    h5py.File(other, "w").close()
    with pytest.raises(st.InputError, match="not a recording"):
        st.read(other)
    path = tmp_path / "newer.h5"
    woodpecker.simulation().run(0.001, out=path)
    with h5py.File(path, "r+") as file:
        file.attrs["format_version"] = 2
    with pytest.raises(st.InputError, match="version is 2"):
        st.read(path)


def test_slip_adds_up_while_a_contact_lasts(tmp_path):
    import h5py

    scene = '''{"stiction": 1, "name": "block", "gravity": [0, 0, -9.81],
      "simulate": {"h": 1e-3, "duration": 1, "friction": "disc"}, "materials": {"wood": {"mu": 0.3}},
      "bodies": [{"name": "block", "mass": 1, "inertia": [0.01, 0.01, 0.01],
        "position": [0, 0, 0.05], "velocity": [1.5, 0, 0],
        "shapes": [{"type": "box", "size": [0.4, 0.4, 0.1], "material": "wood"}]},
       {"name": "table", "static": true, "shapes": [{"type": "plane", "material": "wood"}]}]}'''
    path = tmp_path / "block.h5"
    sim = st.loads(scene).simulation()
    run = sim.run(1.0, out=path)
    way = np.abs(run.contacts_of(len(run) - 1)["accumulated_slip"][:, 0])
    assert np.all(np.abs(way - 1.5**2 / (2 * 0.3 * 9.81)) < 1e-5)
    assert np.array_equal(sim.contacts["accumulated_slip"], run.contacts[-4:]["accumulated_slip"])
    assert np.array_equal(st.read(path).contacts["accumulated_slip"], run.contacts["accumulated_slip"])
    with h5py.File(path, "r+") as file:  # as earlier programs wrote it
        del file["contacts/accumulated_slip"]
    older = st.read(path)
    assert np.all(np.isnan(older.contacts["accumulated_slip"]))
    assert np.array_equal(older.contacts["slip"], run.contacts["slip"])


def test_columns_are_found_by_name(woodpecker):
    run = woodpecker.simulation().run(0.01)
    assert np.array_equal(run["v.phi_S"], run.v[:, 2])
    assert "phi_M" in run and "phi" not in run
    with pytest.raises(KeyError, match="did you mean 'phi_S'"):
        run["phi_s"]
    with pytest.raises(AttributeError, match="there are kinetic"):
        run.energy.kinetik
    assert set(run.contacts_of(len(run) - 1)["step"]) <= {run.step[-1]}


def test_pictures_are_drawn(woodpecker, tmp_path):
    run = woodpecker.simulation().run(0.2)
    for axes in (run.plot("phi_S", "phi_M"), run.plot_energy(), run.plot_contacts(),
                 st.plot.phase(run, "phi_S"), st.plot.certificate(run)):
        assert len(axes.lines) > 0
        axes.figure.savefig(tmp_path / "picture.png")
        assert (tmp_path / "picture.png").stat().st_size > 1000
        import matplotlib.pyplot as plt

        plt.close(axes.figure)
