"""Models in code, forces and controllers, systems of Python functions."""

import traceback
import warnings

import numpy as np
import pytest

import stiction as st

G = 9.81


def test_a_ball_falls_as_it_should(ball):
    run = ball.build().simulation(h=1e-3).run(0.4)
    # moreau: z = 1 − g t²/2 exactly for constant forces, to rounding.
    assert np.abs(run["ball.z"] - (1 - G * run.time**2 / 2)).max() < 1e-13
    assert run.position("ball").shape == (401, 3)
    assert run.orientation("ball")[0] == pytest.approx([1, 0, 0, 0])


def test_a_builder_goes_on_and_models_do_not(ball):
    first = ball.build()
    ball.add_body("second", mass=1, position=[1, 0, 1], shapes=[st.sphere(0.1)])
    second = ball.build()
    assert len(second.q_names) == 2 * len(first.q_names)
    with pytest.raises(st.InputError, match="already"):
        ball.add_body("second", mass=1)
    with pytest.raises(st.InputError, match="already"):
        ball.add_material("rubber")
    ball.add_body("third", mass=1, densty=1)
    with pytest.raises(st.SceneError, match="densty"):
        ball.build()


def test_everything_that_can_be_built():
    world = st.ModelBuilder("machine", parameters={"speed": 2})
    world.add_material("steel", mu=0.2)
    world.set_material_pair("steel", "steel", mu=0.1)
    world.add_body("base", static=True, shapes=[st.box([2, 2, 0.1], material="steel")])
    world.add_body("arm", mass=1, position=[0, 0, 1], shapes=[st.capsule(0.05, 0.4)])
    world.add_body("block", mass=2, position=[0.5, 0, 0.15], shapes=[st.box(np.full(3, 0.2), material="steel")])
    world.add_joint("hinge", ["base", "arm"], name="axle", at=[0, 0, 1], axis=[0, 1, 0],
                    motor={"speed": "speed", "max_effort": 50}, friction=0.1)
    world.add_spring([{"body": "block"}, {"world": [1, 0, 0.15]}], stiffness=100, damping=10)
    world.add_force("block", force=["5*sin(t)", 0, 0])
    world.let_pass("arm", "block")
    model = world.build()
    run = model.simulation(h=1e-3).run(0.5)
    assert run["axle.angle"][-1] == pytest.approx(1.0, abs=1e-2)  # 2 rad/s from the first step on
    assert "axle.motor" in run.joints.dtype.names
    assert run.reactions.dtype.names[0].startswith("axle.a.")
    assert model.varied(speed=-2).simulation(h=1e-3).run(0.5)["axle.angle"][-1] < 0


def make_pendulum():
    world = st.ModelBuilder("pendulum")
    world.add_body("base", static=True)
    world.add_body("bob", mass=2, inertia=[0.01, 0.01, 0.01], position=[1, 0, 0])
    world.add_joint("hinge", ["base", "bob"], name="axle", at=[0, 0, 0], axis=[0, 1, 0])
    return world.build()


def test_a_controller_holds_a_pendulum():
    sim = make_pendulum().simulation(h=1e-3)
    # Gravity's torque about y at a turn of φ: m g l cos φ; the controller takes it away again.
    sim.add_controller(lambda sim: sim.apply_effort("axle", -2 * G * np.cos(sim.joint_position("axle"))))
    run = sim.run(0.5)
    assert np.abs(run["axle.angle"]).max() < 1e-9
    assert abs(sim.joint_velocity("axle")) < 1e-9
    sim.clear_controllers()
    sim.run(0.1)
    assert sim.joint_velocity("axle") == pytest.approx(sim["bob.wy"], abs=1e-12)
    with pytest.raises(st.InputError, match="no joint 'axel'; known: axle"):
        sim.apply_effort("axel", 1)
    with pytest.raises(st.InputError, match="no coordinate 'slide'"):
        sim.apply_effort("axle", 1, "slide")
    with pytest.raises(st.InputError, match="finite"):
        sim.apply_effort("axle", np.nan)


def test_applied_forces_act_for_one_step_and_are_booked(ball):
    sim = ball.build().simulation(h=1e-3)
    sim.apply_wrench("ball", force=[3, 0, G], torque=[0, 0, 0.5])
    sim.step()
    # One step at constant force: v = f h/m; a sphere of 0.1 m has inertia 0.4 m r².
    assert sim["ball.vx"] == pytest.approx(3e-3, rel=1e-12)
    assert sim["ball.vz"] == pytest.approx(0, abs=1e-15)
    assert sim["ball.wz"] == pytest.approx(0.5e-3 / 0.004, rel=1e-12)
    applied = sim.energy.applied
    assert applied == pytest.approx(sim.energy.kinetic, rel=1e-12)
    sim.step()
    assert sim["ball.vz"] == pytest.approx(-G * 1e-3) and sim.energy.applied == applied
    # A force at a point off the centre: r × f.
    sim.set_state(q=[0, 0, 1, 1, 0, 0, 0], v=np.zeros(6))
    sim.apply_wrench("ball", force=[0, 0, 2], point=[0.1, 0, 0])
    sim.step()
    assert sim["ball.wy"] == pytest.approx(-0.2e-3 / 0.004, rel=1e-12)
    with pytest.raises(st.InputError, match="no body 'bal'; did you mean 'ball'"):
        sim.apply_wrench("bal")
    with pytest.raises(st.InputError, match="shape"):
        sim.apply_wrench("ball", force=[1, 2])


def test_a_controller_that_fails_changes_nothing(ball):
    sim = ball.build().simulation(h=1e-3)
    before = sim.q.copy()
    sim.add_controller(lambda sim: np.zeros(5))
    with pytest.raises(st.InputError, match=r"shape \(5,\), must have \(6,\)"):
        sim.step()
    sim.clear_controllers()
    sim.add_controller(lambda sim: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sim.step()
    with pytest.raises(ZeroDivisionError):
        sim.run(1)
    assert np.array_equal(sim.q, before) and sim.t == 0
    sim.clear_controllers()
    sim.run(0.1)
    assert sim["ball.z"] == pytest.approx(1 - G * 0.01 / 2)


def test_what_is_no_function_or_number_is_refused_at_once(ball):
    sim = ball.build().simulation(h=1e-3)
    with pytest.raises(TypeError, match="controller is a int, must be a function"):
        sim.add_controller(3)
    with pytest.raises(TypeError, match="stop is a float"):
        sim.run(0.1, stop=0.5)
    with pytest.raises(TypeError, match="must be real number"):
        sim.step("long")
    with pytest.raises(TypeError, match=r"variations\[1\] is a int"):
        st.batch(ball.build(), [{}, 3], 0.1)
    for key in ("mass", "gaps_gradient", "tangents"):
        with pytest.raises(TypeError, match=f"'{key}' has dtype <U1"):
            bouncing(**{key: [["a"]]})
    assert sim.t == 0
    sim.step()


def bouncing(**changes):
    system = {
        "coordinates": {"y": (1.0, 0.0)},
        "mass": [[2.0]],
        "force": lambda t, q, v: np.array([-2 * G]),
        "gaps": lambda t, q: q,
        "gaps_gradient": [[1.0]],
        "gaps_drift": [0.0],
        "contacts": [{"name": "floor", "restitution": 0.5}],
    }
    return st.generalized(**{**system, **changes})


def test_a_system_of_functions_gives_what_its_formulas_give():
    scene = {
        "stiction": 1,
        "name": "ball",
        "generalized": {
            "coordinates": {"y": {"position": 1, "velocity": 0}},
            "mass": [[2]],
            "potential": "2*9.81*y",
            "contacts": [{"name": "floor", "gap": "y", "restitution": 0.5}],
        },
    }
    expected = st.loads(scene).simulation(h=1e-3).run(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = bouncing()
    run = model.simulation(h=1e-3).run(2)
    assert np.abs(run["y"] - expected["y"]).max() < 1e-12
    assert run.contact_names == ["floor"]


def test_differences_are_announced_and_good():
    # A pendulum in a polar coordinate whose mass depends on q: a bead on the curve y = x²/2.
    with pytest.warns(UserWarning, match="mass_gradient, potential_gradient"):
        model = st.generalized(
            {"x": (1.0, 0.0)},
            mass=lambda q: np.array([[1 + q[0] ** 2]]),
            potential=lambda t, q: G * q[0] ** 2 / 2,
        )
    scene = {
        "stiction": 1,
        "generalized": {
            "coordinates": {"x": {"position": 1, "velocity": 0}},
            "mass": [["1 + x^2"]],
            "potential": "9.81*x^2/2",
        },
    }
    expected = st.loads(scene).simulation(h=1e-3, scheme="trapezoidal-1").run(2)
    run = model.simulation(h=1e-3, scheme="trapezoidal-1", jacobians="differences").run(2)
    # Ten digits of the derivatives, over 2000 steps of a motion that does not amplify errors.
    assert np.abs(run["x"] - expected["x"]).max() < 1e-7
    assert np.abs(run.energy.total - run.energy.total[0]).max() < 1e-4


def test_friction_and_constraints_of_functions():
    block = st.generalized(
        {"x": (0.0, 1.0), "y": (0.0, 0.0)},
        mass=np.eye(2),
        force=lambda t, q, v: np.array([0, -G]),
        gaps=lambda t, q: q[1:],
        gaps_gradient=[[0.0, 1.0]],
        gaps_drift=[0.0],
        tangents=[[1.0, 0.0]],
        contacts=[{"mu": 0.5}],
    )
    run = block.simulation(h=1e-3).run(1)
    assert run["v.x"][-1] == pytest.approx(0, abs=1e-12)
    assert run["x"][-1] == pytest.approx(1 / (2 * 0.5 * G), abs=1e-3)  # v²/2μg, to O(h)
    assert set(run.contacts["status"]) == {st.STICK, st.SLIP}
    with pytest.warns(UserWarning, match="constraints_gradient"):
        rod = st.generalized(
            {"x": (1.0, 0.0), "y": (0.0, 0.0)},
            mass=np.eye(2),
            force=lambda t, q, v: np.array([0, -G]),
            constraints=lambda t, q: [q[0] ** 2 + q[1] ** 2 - 1],
            constraint_names=["rod"],
        )
    run = rod.simulation(h=1e-3, scheme="trapezoidal-1", jacobians="differences").run(1)
    assert np.abs(np.hypot(run["x"], run["y"]) - 1).max() < 1e-5
    assert run.joints.dtype.names == ("rod",)


def test_functions_that_fail_leave_the_state_and_tell_why():
    flaw = {"kind": None}

    def force(t, q, v):
        if flaw["kind"] == "raise":
            raise RuntimeError("out of fuel")
        if flaw["kind"] == "shape":
            return np.zeros(2)
        if flaw["kind"] == "nan":
            return np.array([np.nan])
        if flaw["kind"] == "text":
            return ["a"]
        if flaw["kind"] == "none":
            return None
        return np.array([-2 * G])

    sim = bouncing(force=force).simulation(h=1e-3)
    sim.run(0.1)
    before = sim.t, sim.q.copy(), sim.v.copy()
    for kind, error, message in (
        ("raise", RuntimeError, "out of fuel"),
        ("shape", st.InputError, r"'force' has shape \(2,\), must have \(1,\)"),
        ("nan", st.InputError, "'force' holds nan"),
        ("text", TypeError, "'force' has dtype"),
        ("none", (TypeError, st.InputError), "'force'"),
    ):
        flaw["kind"] = kind
        with pytest.raises(error, match=message) as caught:
            sim.step()
        if kind == "raise":
            assert "out of fuel" in "".join(traceback.format_tb(caught.tb))  # its own line is there
        assert (sim.t, *sim.q, *sim.v) == (before[0], *before[1], *before[2])
    flaw["kind"] = None
    sim.run(0.1)
    assert sim.t == pytest.approx(0.2)


def test_systems_that_do_not_fit_are_refused():
    for changes, error, message in (
        ({"mass": [[1.0, 0.0]]}, st.InputError, "'mass' has shape"),
        ({"mass": [[np.nan]]}, st.InputError, "finite"),
        ({"contacts": []}, st.InputError, "belong together"),
        ({"contacts": [{"mu": 0.3}]}, st.InputError, "no 'tangents'"),
        ({"contacts": [{"restitution": 2}]}, st.InputError, r"in \[0, 1\]"),
        ({"contacts": [{"mue": 0.3}]}, st.InputError, "unknown keys: mue"),
        ({"coordinates": {}}, st.InputError, "at least one"),
        ({"coordinates": {"y": "high"}}, TypeError, "must be a number"),
        ({"force": 3}, TypeError, "must be a function"),
        ({"tangents": [[1.0, 2.0]]}, st.InputError, "'tangents' has shape"),
    ):
        with pytest.raises(error, match=message):
            bouncing(**changes)
    with pytest.raises(st.InputError, match="no values to vary"):
        bouncing().varied(mass=1)
    with pytest.raises(st.InputError, match="'floor' penetrates"):
        bouncing(coordinates={"y": (-1.0, 0.0)}).simulation()
    with pytest.raises(st.SceneError, match="did you mean 'h'"):
        bouncing().simulation(hh=1)
