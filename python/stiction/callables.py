"""Systems in their own coordinates, given by functions of Python."""

from __future__ import annotations

import warnings

import numpy as np

from . import _engine
from .errors import InputError
from .model import Model


def _number(what, value):
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{what} is {value!r}, must be a number")
    if not np.isfinite(value):
        raise InputError(f"{what} is {value}, must be finite")
    return float(value)


def _checked(what, value, low, high=np.inf):
    number = _number(what, value)
    if not low <= number <= high:
        limit = f">= {low}" if np.isinf(high) else f"in [{low}, {high}]"
        raise InputError(f"{what} is {number}, must be {limit}")
    return number


def _function(name, value, constant=False):
    """A function, or None; where a constant will do, an array of numbers that are finite."""
    if value is None or callable(value):
        return value
    if not constant:
        raise TypeError(f"'{name}' is a {type(value).__name__}, must be a function")
    array = _numbers(name, value)
    if not np.all(np.isfinite(array)):
        raise InputError(f"'{name}' holds a number that is not finite")
    return array


def _numbers(name, value):
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"'{name}' has dtype {array.dtype}, must be real numbers or a function")
    return np.array(array, dtype=float)


def _start(coordinates):
    names, positions, velocities = [], [], []
    for name, start in coordinates.items():
        start = start if isinstance(start, (tuple, list)) else (start, 0.0)
        if len(start) != 2:
            raise InputError(f"coordinate '{name}' must have a position and a velocity")
        names.append(str(name))
        positions.append(_number(f"position of '{name}'", start[0]))
        velocities.append(_number(f"velocity of '{name}'", start[1]))
    if not names:
        raise InputError("a system needs at least one coordinate")
    return names, positions, velocities


def _contact(number, given):
    given = dict(given)
    name = str(given.pop("name", f"contact {number + 1}"))
    contact = {
        "name": name,
        "mu": _checked(f"mu of '{name}'", given.pop("mu", 0.0), 0),
        "restitution": _checked(f"restitution of '{name}'", given.pop("restitution", 0.0), 0, 1),
        "restitution_tangential": _checked(
            f"restitution_tangential of '{name}'", given.pop("restitution_tangential", 0.0), 0, 1
        ),
    }
    if given:
        raise InputError(f"contact '{name}' has unknown keys: {', '.join(given)}")
    return contact


def _spring(number, given):
    given = dict(given)
    name = str(given.pop("name", f"spring {number + 1}"))
    spring = {
        "name": name,
        "stiffness": _checked(f"stiffness of '{name}'", given.pop("stiffness", 0.0), 0),
        "damping": _checked(f"damping of '{name}'", given.pop("damping", 0.0), 0),
    }
    if given:
        raise InputError(f"spring '{name}' has unknown keys: {', '.join(given)}")
    return spring


def _tangents(tangents, num_contacts, q):
    """The function or array with an axis for the tangents, and how many there are."""
    if tangents is None:
        return None, 0
    n = len(q)

    def shaped(value):
        array = np.asarray(value)
        return array.reshape(num_contacts, 1, n) if array.shape == (num_contacts, n) else array

    sample = shaped(tangents(0.0, np.array(q)) if callable(tangents) else tangents)
    if sample.ndim != 3 or sample.shape[0] != num_contacts or sample.shape[2] != n:
        raise InputError(
            f"'tangents' has shape {np.shape(sample)}, must be ({num_contacts}, {n}) in the plane "
            f"or ({num_contacts}, 2, {n}) in space"
        )
    if sample.shape[1] not in (1, 2):
        raise InputError(f"'tangents' has {sample.shape[1]} directions per contact, must have 1 or 2")
    if callable(tangents):
        return (lambda t, q: shaped(tangents(t, q))), sample.shape[1]
    return np.array(sample, dtype=float), sample.shape[1]


def generalized(
    coordinates,
    mass,
    *,
    name="system",
    mass_gradient=None,
    force=None,
    force_jacobians=None,
    potential=None,
    potential_gradient=None,
    constraints=None,
    constraints_gradient=None,
    constraints_drift=None,
    constraint_names=(),
    springs=None,
    springs_gradient=None,
    springs_drift=None,
    spring_list=(),
    gaps=None,
    gaps_gradient=None,
    gaps_drift=None,
    tangents=None,
    contacts=(),
):
    """A model of a system q̇ = v in its own coordinates, n of them, from functions.

    coordinates : {name: (position, velocity)} at the start
    mass : M(q) → (n, n), or a constant matrix. If it depends on q, its velocity terms are added.
    force(t, q, v) : applied forces → (n,)
    potential(t, q) : V [J] → number; its force −∂V/∂q is added
    constraints(t, q) : Θ → one number per name in constraint_names, held at zero
    springs(t, q) : extensions → one per entry of spring_list, {"stiffness": …, "damping": …}
    gaps(t, q) : Φ [m] → one per entry of contacts, ≥ 0 when apart
    contacts : {"name": …, "mu": …, "restitution": …, "restitution_tangential": …}
    tangents : (t, q) → (contacts, n), or (contacts, 2, n) in space, or such an array: rows that give
        the sliding velocity from v. Needed where a contact has friction.

    Derivatives are optional: mass_gradient(q) → (n, n, n) with [i, j, k] = ∂M_ij/∂q_k,
    potential_gradient(t, q), …_gradient(t, q) → (count, n), …_drift(t, q) → ∂/∂t (or an array),
    force_jacobians(t, q, v) → (k_q, k_v) of all forces together (asked for by the trapezoidal schemes
    unless they are made with jacobians="differences"). Where another one is missing, central differences are taken, good
    to about ten digits, and a warning says so.

    A function that raises ends the step with its own exception; one that returns another shape, or a
    number that is not finite, with InputError. The state is as before the step then.
    """
    names, q, v = _start(coordinates)
    n = len(names)
    if mass is None:
        raise InputError("'mass' is missing")
    given = {
        "coordinates": names,
        "q": q,
        "v": v,
        "mass": _function("mass", mass, constant=True),
        "tangents": None,
        "constraint_names": [str(one) for one in constraint_names],
        "spring_list": [_spring(i, one) for i, one in enumerate(spring_list)],
        "contact_list": [_contact(i, one) for i, one in enumerate(contacts)],
    }
    for key in ("mass_gradient", "force", "force_jacobians", "potential", "potential_gradient"):
        given[key] = _function(key, locals()[key])
    for key in ("constraints", "springs", "gaps"):
        given[key] = _function(key, locals()[key])
        given[f"{key}_gradient"] = _function(f"{key}_gradient", locals()[f"{key}_gradient"], True)
        given[f"{key}_drift"] = _function(f"{key}_drift", locals()[f"{key}_drift"], True)
    for key, count, what in (
        ("constraints", len(given["constraint_names"]), "constraint_names"),
        ("springs", len(given["spring_list"]), "spring_list"),
        ("gaps", len(given["contact_list"]), "contacts"),
    ):
        if (given[key] is None) != (count == 0):
            raise InputError(f"'{key}' and '{what}' belong together: {what} has {count} entries")
    given["tangents"], given["num_tangents"] = _tangents(
        tangents if callable(tangents) or tangents is None else _numbers("tangents", tangents),
        len(given["contact_list"]),
        q,
    )
    if given["num_tangents"] == 0:
        for contact in given["contact_list"]:
            if contact["mu"] > 0:
                raise InputError(f"contact '{contact['name']}' has friction, but there are no 'tangents'")
    if not callable(given["mass"]) and given["mass"].shape != (n, n):
        raise InputError(f"'mass' has shape {given['mass'].shape}, must have ({n}, {n})")
    _warn_of_differences(given)
    return Model(_engine.generalized(name, given))


def _warn_of_differences(given):
    missing = []
    if callable(given["mass"]) and given["mass_gradient"] is None:
        missing.append("mass_gradient")
    if given["potential"] is not None and given["potential_gradient"] is None:
        missing.append("potential_gradient")
    for key in ("constraints", "springs", "gaps"):
        if given[key] is not None:
            missing += [f"{key}_{end}" for end in ("gradient", "drift") if given[f"{key}_{end}"] is None]
    if missing:
        warnings.warn(
            f"central differences stand in for {', '.join(missing)}: good to about ten digits, and "
            "slower than functions would be",
            stacklevel=3,
        )
