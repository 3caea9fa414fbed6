"""The dot product of two vectors."""

import egglift as el


def dot(devices, x, y):
    """The sum of all x[i] * y[i]."""
    a, b = el.array("x", el.f32, len(x)), el.array("y", el.f32, len(y))
    return el.optimize(el.dot(a, b), devices=devices)(x, y)
