"""What must not grow, and what must be fast."""

import gc
import resource
import time

import numpy as np
import pytest

import stiction as st


def memory():
    """Resident memory [bytes]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def growth(action, times):
    """By how much memory grows, after a warm-up of the same work."""
    for _ in range(times // 10 + 1):
        action()
    gc.collect()
    before = memory()
    for _ in range(times):
        action()
    gc.collect()
    return memory() - before


def step_all(sim):
    sim.step()
    sim.q, sim.v, sim.contacts, sim.certificate, sim.energy, sim.events  # noqa: B018


# A leak of one array of 100 bytes per step would be 10 MB at 10^5 steps.


def test_steps_do_not_leak(woodpecker):
    sim = woodpecker.simulation()
    sim.add_controller(lambda sim: None)
    assert growth(lambda: step_all(sim), 5000) < 300_000


def test_models_and_runs_do_not_leak(woodpecker):
    assert growth(lambda: woodpecker.varied(g=9.8).simulation().run(0.001), 40) < 1_000_000


@pytest.mark.slow
def test_a_hundred_thousand_steps_do_not_leak(woodpecker):
    sim = woodpecker.simulation()
    sim.add_controller(lambda sim: None)
    assert growth(lambda: step_all(sim), 100_000) < 1_000_000


@pytest.mark.slow
def test_a_thousand_models_do_not_leak(woodpecker, ball):
    def build():
        ball.build().simulation().run(0.002)
        st.generalized(
            {"y": (1.0, 0.0)}, mass=[[1.0]], force=lambda t, q, v: -q, gaps=lambda t, q: q + 2,
            gaps_gradient=[[1.0]], gaps_drift=[0.0], contacts=[{}],
        ).simulation().run(0.002)
        with pytest.raises(st.SceneError):
            woodpecker.varied(nothing=1)

    assert growth(build, 1000) < 4_000_000


@pytest.mark.slow
def test_a_hundred_megabytes_are_read_within_a_second(examples, tmp_path):
    path = tmp_path / "large.h5"
    sim = st.load(examples / "chain-100.json").simulation()
    steps = 500
    sim.run(steps * sim.h, out=path)
    steps *= 1.05 * 100e6 / path.stat().st_size
    sim.run(int(steps) * sim.h, out=path)
    assert path.stat().st_size > 100e6
    best = min(timed(lambda: st.read(path)) for _ in range(3))
    print(f"{path.stat().st_size / 1e6:.0f} MB in {best:.3f} s")
    assert best < 1.0


@pytest.mark.slow
def test_a_step_costs_less_than_two_microseconds_more_than_in_the_engine(woodpecker):
    """Processor time of steps one by one, and of the same number within one call."""
    steps = 20_000

    def cost(action):
        began = time.process_time()
        action()
        return (time.process_time() - began) / steps

    def one_by_one():
        step = woodpecker.simulation().step
        return cost(lambda: [step() for _ in range(steps)])

    def at_once():
        sim = woodpecker.simulation()
        return cost(lambda: sim.run(steps * sim.h, every=steps, progress=False))

    # Others disturb, and only ever lengthen: the least of several.
    single, whole = zip(*((one_by_one(), at_once()) for _ in range(7)))
    overhead = min(single) - min(whole)
    print(f"{1e6 * min(single):.2f} us a step, {1e6 * overhead:.2f} us of it for Python")
    assert overhead < 2e-6


def timed(action):
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
