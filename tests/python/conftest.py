"""The package as built beside the program; scenes of the repository."""

from pathlib import Path

import pytest

import stiction as st

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def examples():
    return ROOT / "examples"


@pytest.fixture
def woodpecker(examples):
    return st.load(examples / "woodpecker.json")


@pytest.fixture
def ball():
    """A ball of 1 kg that falls from 1 m on a ground with friction."""
    world = st.ModelBuilder("ball")
    world.add_material("rubber", mu=0.5, restitution=0.5)
    world.add_body("ball", mass=1, position=[0, 0, 1], shapes=[st.sphere(0.1, material="rubber")])
    world.add_body("ground", static=True, shapes=[st.plane(material="rubber")])
    return world
