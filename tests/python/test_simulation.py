"""Load, step, run, look: the names that INTERFACE.md promises."""

import threading

import numpy as np
import pytest

import stiction as st


def test_the_promise_of_the_interface(woodpecker, tmp_path):
    sim = woodpecker.simulation(h=1e-4)
    run = sim.run(0.2)
    assert run["phi_S"].shape == run.time.shape == (2001,)
    assert run.time[-1] == pytest.approx(0.2, abs=1e-12)
    assert run.certificate.max() <= sim.tolerance
    assert run.contacts["impulse"].shape == (len(run.contacts), 3)
    assert np.all(run.contacts["impulse"][:, 0] >= 0)
    # The account closes by construction (T30), to rounding of its largest entry.
    e = run.energy
    booked = e.total[0] + e.applied + e.motor + e.friction + e.impact + e.numerical
    assert np.abs(e.total - booked).max() <= 1e-14 * np.abs(e.total).max() + 1e-17
    sim.step(1e-4)
    assert sim.q.shape == sim.v.shape == (3,)
    assert sim.contacts.dtype == run.contacts.dtype
    sim.save(tmp_path / "state.h5")


def test_steps_and_runs_give_the_same_bits(woodpecker):
    one, other = woodpecker.simulation(), woodpecker.simulation()
    run = one.run(0.05)
    for _ in range(500):
        other.step()
    assert one.q.tobytes() == other.q.tobytes() == run.q[-1].tobytes()
    assert one.t == other.t


def test_views_show_the_present_and_cannot_be_written(woodpecker):
    sim = woodpecker.simulation()
    q, before = sim.q, sim.q.copy()
    sim.step()
    assert q is sim.q and not np.array_equal(q, before)
    assert q[0] == sim["y"]
    with pytest.raises(ValueError, match="read-only"):
        q[0] = 1
    del sim
    assert np.all(np.isfinite(q))  # the view outlives the simulation


def test_a_checkpoint_goes_on_with_the_same_bits(woodpecker, tmp_path):
    sim = woodpecker.simulation()
    sim.run(0.1)
    sim.save(tmp_path / "a.h5")
    sim.run(0.1)
    end = sim.q.copy(), sim.v.copy(), sim.t
    sim.restore(tmp_path / "a.h5")
    sim.run(0.1)
    assert np.array_equal(sim.q, end[0]) and np.array_equal(sim.v, end[1]) and sim.t == end[2]
    other = woodpecker.simulation(scheme="stewart-trinkle")
    with pytest.raises(st.InputError, match="scheme"):
        other.restore(tmp_path / "a.h5")
    with pytest.raises(st.IoError, match="nowhere"):
        sim.restore(tmp_path / "nowhere.h5")


def test_keywords_of_simulate_win_and_wrong_ones_are_named(woodpecker):
    assert woodpecker.simulation(scheme="stewart-trinkle", h=2e-4).scheme == "stewart-trinkle"
    with pytest.raises(st.SceneError, match="did you mean 'h'") as caught:
        woodpecker.simulation(hh=1e-4)
    assert caught.value.diagnostics[0]["path"] == "simulate"
    with pytest.raises(ValueError, match="must be > 0"):
        woodpecker.simulation(h=-1)
    with pytest.raises(st.InputError, match="not finite"):
        woodpecker.simulation(h=float("nan"))
    with pytest.raises(TypeError, match="no scene can"):
        woodpecker.simulation(h=object())
    with pytest.raises(st.SceneError, match="No such file"):
        st.load("no/such/scene.json")


def test_all_faults_of_a_scene_are_told_at_once():
    scene = {"stiction": 1, "bodies": [{"name": "a", "mass": -1}, {"name": "a", "masss": 1}]}
    with pytest.raises(st.SceneError) as caught:
        st.loads(scene)
    assert len(caught.value.diagnostics) >= 3
    assert any("mass" in one["help"] for one in caught.value.diagnostics)


def test_models_do_not_change(woodpecker):
    with pytest.raises(AttributeError, match="cannot be changed"):
        woodpecker.name = "other"
    heavier = woodpecker.varied(m_S=0.009)
    assert "0.0045" in woodpecker.scene and heavier.scene != woodpecker.scene
    assert heavier.varied({"generalized.contacts[0].mu": 0}).simulation().run(0.01)
    with pytest.raises(st.SceneError, match="no such parameter"):
        woodpecker.varied(m_X=1)
    with pytest.raises(st.SceneError, match="did you mean 'beak'"):
        woodpecker.varied({"generalized.contacts.beek.mu": 0})


def test_a_state_is_set_only_where_the_simulation_could_start(ball):
    sim = ball.build().simulation(h=1e-3)
    sim.run(0.1)
    sim.set_state(t=0, q=[0, 0, 2, 1, 0, 0, 0], v=[1, 0, 0, 0, 0, 3])
    assert sim.t == 0 and sim["ball.z"] == 2 and sim["ball.wz"] == 3
    before = sim.q.copy()
    for bad, message in (
        ({"q": [0, 0, -1, 1, 0, 0, 0]}, "ball"),
        ({"q": [0, 0, 1]}, "shape"),
        ({"q": [0, 0, np.nan, 1, 0, 0, 0]}, "finite"),
        ({"q": [0, 0, 1, 2, 0, 0, 0]}, "quaternion"),
        ({"t": np.inf}, "finite"),
    ):
        with pytest.raises(st.InputError, match=message):
            sim.set_state(**bad)
        assert np.array_equal(sim.q, before)
    with pytest.raises(TypeError, match="dtype"):
        sim.set_state(q=np.zeros(7, complex))
    with pytest.raises(TypeError, match="dtype"):
        sim.set_state(q=["a"] * 7)
    sim.run(0.1)


def test_a_state_read_back_is_the_state(examples):
    sim = st.load(examples / "four-bar.json").simulation()
    sim.run(0.05)
    q, v = sim.q.copy(), sim.v.copy()
    sim.set_state(q=q, v=v)
    # To and from the centre of mass: a few roundings of numbers of order one.
    assert np.abs(sim.q - q).max() < 1e-14 and np.abs(sim.v - v).max() < 1e-13


def test_a_rejected_step_leaves_the_state_and_the_recording(woodpecker):
    sim = woodpecker.simulation(tol=1e-300, solver="pgs")
    with pytest.raises(st.StepRejected) as caught:
        sim.run(0.5)
    error = caught.value
    assert error.run.status == "rejected" and error.run.time[-1] == error.time == sim.t
    assert error.certificate.residual > 1e-300
    before = sim.q.copy()
    with pytest.raises(st.StepRejected):
        sim.step()
    assert np.array_equal(sim.q, before)


def test_a_run_can_be_stopped_and_interrupted(woodpecker):
    sim = woodpecker.simulation()
    run = sim.run(1.0, stop=lambda sim: sim.t >= 0.01)
    assert run.time[-1] == pytest.approx(0.01)

    def fail(sim):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        sim.run(1.0, stop=fail)
    assert caught.value.run.status == "interrupted"
    with pytest.raises(st.InputError, match="every"):
        sim.run(1.0, every=0)
    with pytest.raises(st.InputError, match="duration"):
        sim.run(-1.0)


def test_events_are_there(examples):
    run = st.load(examples / "two-carts.json").simulation().run()
    kinds = [run.event_kinds[kind] for kind in run.events["kind"]]
    assert "collision" in kinds
    assert np.all(np.diff(run.events["step"]) >= 0)


def test_two_threads_cannot_step_one_simulation(woodpecker):
    sim = woodpecker.simulation()
    sim.add_controller(lambda sim: sim.step())
    with pytest.raises(st.Error, match="middle of a step"):
        sim.step()
    sim.clear_controllers()
    sims = [woodpecker.simulation() for _ in range(3)]
    threads = [threading.Thread(target=one.run, args=(0.05,)) for one in sims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sims[0].q.tobytes() == sims[1].q.tobytes() == sims[2].q.tobytes()


def test_batches_do_not_depend_on_workers(woodpecker):
    variations = [{"c_phi": 0.0056 * (1 + 0.01 * i), "simulate.duration": 0.05} for i in range(6)]
    one = st.batch(woodpecker, variations, workers=1)
    three = st.batch(woodpecker, variations, workers=3)
    assert [run.q.tobytes() for run in one] == [run.q.tobytes() for run in three]
    assert not np.array_equal(one[0].q, one[1].q)
    mixed = st.batch(woodpecker, [{"l_M": 0.010}, {"nothing": 1}], 0.01, check=False)
    assert mixed[0].status == "complete" and isinstance(mixed[1], st.SceneError)
    with pytest.raises(st.SceneError, match="nothing"):
        st.batch(woodpecker, [{"nothing": 1}], 0.01)
    with pytest.raises(st.InputError, match="workers"):
        st.batch(woodpecker, [], workers=0)
