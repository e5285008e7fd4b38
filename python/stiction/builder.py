"""Models in code: the same words as in scene files, and the same checks with the same messages.

    world = st.ModelBuilder(gravity=[0, 0, -9.81])
    world.add_material("rubber", mu=0.8, restitution=0.5)
    world.add_body("ball", mass=1, position=[0, 0, 1], shapes=[st.sphere(0.1, material="rubber")])
    world.add_body("ground", static=True, shapes=[st.plane(material="rubber")])
    run = world.build().simulation(h=1e-3).run(2)

Numbers may be texts that hold an expression in ``t`` and in parameters, as in scenes. The builder
writes a scene: ``world.scene`` is it, and recordings hold it.
"""

from __future__ import annotations

import copy

from .errors import InputError
from .model import loads, to_json


def _without_none(keys):
    return {key: value for key, value in keys.items() if value is not None}


def _shape(kind, keys, more):
    return {"type": kind, **_without_none(keys), **more}


def sphere(radius, **more):
    """A sphere [m]. All shapes take position, orientation, material, density and the like."""
    return _shape("sphere", {"radius": radius}, more)


def capsule(radius, length, **more):
    """All points within ``radius`` [m] of a segment of ``length`` [m] along z."""
    return _shape("capsule", {"radius": radius, "length": length}, more)


def box(size, **more):
    """A box with whole edges [m] along x, y, z."""
    return _shape("box", {"size": size}, more)


def cylinder(radius, length, **more):
    """A cylinder [m] along z, ``length`` from end to end."""
    return _shape("cylinder", {"radius": radius, "length": length}, more)


def ellipsoid(radii, **more):
    """An ellipsoid with these semi-axes [m]."""
    return _shape("ellipsoid", {"radii": radii}, more)


def convex(points, **more):
    """The convex hull of points [m]."""
    return _shape("convex", {"points": points}, more)


def plane(normal=(0, 0, 1), offset=0, **more):
    """The half-space below a plane; free on the side that the normal points to."""
    return _shape("plane", {"normal": normal, "offset": offset}, more)


def heightfield(size, heights, **more):
    """Ground below a surface over a rectangle of ``size`` [m]; heights [m] are rows along x."""
    return _shape("heightfield", {"size": size, "heights": heights}, more)


def mesh(vertices=None, triangles=None, file=None, **more):
    """A triangulated surface, from arrays or from a file (OBJ or STL)."""
    return _shape("mesh", {"vertices": vertices, "triangles": triangles, "file": file}, more)


class ModelBuilder:
    """Collects bodies, joints, springs and so on, and builds a Model of them.

    Every ``add_…`` takes the keys of the scene format as keywords; what is wrong with them,
    ``build()`` says, all at once. The builder may go on after ``build()`` and build again: models
    that are built do not change any more.
    """

    def __init__(self, name="model", gravity=(0, 0, -9.81), parameters=None):
        self._scene = {"stiction": 1, "name": name, "gravity": gravity}
        if parameters:
            self._scene["parameters"] = dict(parameters)

    def _append(self, kind, default_name, name, entry):
        entries = self._scene.setdefault(kind, [])
        name = name or f"{default_name} {len(entries) + 1}"
        if any(other.get("name") == name for other in entries):
            raise InputError(f"there is a {default_name} '{name}' already")
        entries.append({"name": name, **entry})
        return name

    def set_gravity(self, gravity):
        """[m/s²], world axes."""
        self._scene["gravity"] = gravity

    def set_parameter(self, name, value):
        """A number that expressions may use, and that ``Model.varied`` may change."""
        self._scene.setdefault("parameters", {})[name] = value

    def add_material(self, name, *, mu=0, restitution=0, **more):
        """How a surface answers to touch: friction and restitution [-], compliance [m/N], impact."""
        materials = self._scene.setdefault("materials", {})
        if name in materials:
            raise InputError(f"there is a material '{name}' already")
        materials[name] = {"mu": mu, "restitution": restitution, **more}
        return name

    def set_material_pair(self, first, second, **law):
        """How two materials answer to each other, instead of what follows from both."""
        self._scene.setdefault("material_pairs", []).append({"between": [first, second], **law})

    def add_body(self, name=None, *, shapes=(), **more):
        """A body: mass [kg], inertia [kg m²], position [m], velocity [m/s], static, free_axes, …

        Without an inertia it follows from the shapes. Returns the name.
        """
        entry = dict(more)
        if len(shapes):
            entry["shapes"] = list(shapes)
        return self._append("bodies", "body", name, entry)

    def add_joint(self, kind, bodies=None, *, name=None, **more):
        """A joint of two bodies (None is the world): at [m], axis, limits, motor, friction, …

        ``kind`` as in ``stiction list joints``; gears and racks name joints instead. Returns the
        name.
        """
        entry = {"type": kind, **more}
        if bodies is not None:
            entry["bodies"] = list(bodies)
        return self._append("joints", "joint", name, entry)

    def add_spring(self, between=None, *, name=None, **more):
        """A spring or damper: stiffness [N/m], damping [N s/m], rest_length [m], …

        ``between`` are two places, {"body": "cart", "point": [0, 0, 0]} or {"world": [1, 0, 0]}.
        Returns the name.
        """
        entry = dict(more)
        if between is not None:
            entry["between"] = list(between)
        return self._append("springs", "spring", name, entry)

    def add_force(self, body, **more):
        """A force [N] and a torque [N m] on a body, which may be expressions in t."""
        self._scene.setdefault("forces", []).append({"body": body, **more})

    def let_pass(self, first, second):
        """Shapes of the two bodies pass through each other."""
        self._scene.setdefault("no_contact", []).append([first, second])

    def set_generalized(self, **system):
        """A system in its own coordinates, by expressions, beside the bodies; as in scenes."""
        self._scene["generalized"] = system

    @property
    def scene(self):
        """The scene so far, a copy."""
        return copy.deepcopy(self._scene)

    def to_json(self):
        """The scene so far as the text of a scene file."""
        return to_json(self._used(), "scene")

    def _used(self):
        scene = dict(self._scene)
        if "bodies" not in scene:
            scene.pop("gravity", None)
        return scene

    def build(self):
        """The model. Raises SceneError with everything that is wrong."""
        return loads(self.to_json(), place=self._scene["name"])
