"""Runs as files and as pages of a notebook."""

import base64
import html
import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

import stiction as st
from stiction import replay

from test_recordings import assert_same


@pytest.fixture
def page():
    """Skips where the page of the viewer is not built."""
    try:
        return replay.read_page()
    except st.IoError as error:
        pytest.skip(str(error))


def resources(text):
    """What a page carries, by name."""
    found = re.findall(r'<script type="application/x-stiction" data-name="([^"]*)">([^<]*)</script>', text)
    return {name: zlib.decompress(base64.b64decode(data)) for name, data in found}


@pytest.mark.parametrize("scene", ["woodpecker", "four-bar", "two-carts"])
def test_a_saved_run_is_a_recording(examples, tmp_path, scene):
    path, direct = tmp_path / "saved.h5", tmp_path / "direct.h5"
    run = st.load(examples / f"{scene}.json").simulation().run(0.05, out=direct, every=2)
    run.save(path)
    assert_same(run, st.read(path))
    assert_same(st.read(direct), st.read(path))
    st.read(path).save(path)  # over itself
    assert_same(run, st.read(path))


def test_a_run_is_saved_whole_or_not_at_all(woodpecker, tmp_path):
    run = woodpecker.simulation().run(0.001)
    with pytest.raises(st.IoError, match="cannot write"):
        run.save(tmp_path / "none" / "run.h5")
    assert list(tmp_path.iterdir()) == []


def test_a_page_holds_viewer_and_data(ball, page, tmp_path):
    run = ball.build().simulation(h=1e-3).run(0.5)
    shown = run.show()
    assert shown.html.startswith("<!doctype html>") and len(shown.html) > len(page)
    assert "http://" not in re.sub(r"http://www\.w3\.org/[\w/.]*", "", shown.html.replace(page, ""))
    data = resources(shown.html)
    header = json.loads(data["0/header.json"])
    assert header["name"] == "ball"
    assert json.loads(data["0/extent.json"])["rows"] == len(run) == 501
    framed = shown._repr_html_()
    assert framed.startswith("<iframe") and 'sandbox="allow-scripts' in framed
    assert html.unescape(re.search('srcdoc="([^"]*)"', framed)[1]) == shown.html
    shown.save(tmp_path / "ball.html")
    assert (tmp_path / "ball.html").read_text() == shown.html
    both = resources(run.show(ghost=run, height=300).html)
    assert both["1/extent.json"] == both["0/extent.json"]


def test_what_does_not_fit_into_a_page_is_told(ball, page):
    run = ball.build().simulation(h=1e-4).run(0.5)
    with pytest.warns(UserWarning, match="th recorded step is shown"):
        shown = run.show(max_size=0.1)
    assert json.loads(resources(shown.html)["0/extent.json"])["rows"] < len(run)
    with pytest.raises(st.InputError, match="max_size"):
        run.show(max_size=0)
    with pytest.raises(st.InputError, match="height"):
        run.show(height=0)
    with pytest.raises(TypeError, match="must be a Run"):
        run.show(ghost="other")


def test_without_the_page_it_says_what_to_do(woodpecker, monkeypatch):
    monkeypatch.setattr(replay, "_places", lambda: iter(()))
    with pytest.raises(st.IoError, match="./stiction view"):
        woodpecker.simulation().run(0.001).show()


def test_models_of_functions_are_shown_as_plots(page):
    run = st.generalized(
        {"y": (1.0, 0.0)}, mass=[[1.0]], force=lambda t, q, v: -q, gaps=lambda t, q: q + 2,
        gaps_gradient=[[1.0]], gaps_drift=[0.0], contacts=[{}],
    ).simulation(h=1e-3).run(0.1)  # fmt: skip
    assert json.loads(resources(run.show().html)["0/extent.json"])["rows"] == len(run)


def test_the_frame_of_a_notebook_is_drawn(ball, page, tmp_path):
    """In a browser: the page inside of the frame is ready, without an error, and asks nobody."""
    run = ball.build().simulation(h=1e-3).run(0.3)
    notebook = tmp_path / "notebook.html"
    notebook.write_text("<!doctype html><p>Out[1]:</p>" + run.show()._repr_html_())
    if shutil.which("node") is None:
        pytest.skip("there is no Node.js")
    out = subprocess.run(
        ["node", Path(__file__).parent / "open_frame.mjs", notebook], capture_output=True, text=True, timeout=120
    )
    if out.returncode == 77:
        pytest.skip("needs chromium, and viewer/node_modules")
    assert out.returncode == 0, out.stderr
    seen = json.loads(out.stdout)
    assert seen["rows"] == len(run) and seen["canvases"] > 0 and seen["problems"] == []
