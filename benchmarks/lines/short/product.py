"""The product of two matrices."""

import egglift as el


def product(devices, a, b):
    """a @ b."""
    program = el.array("A", el.f32, a.shape) @ el.array("B", el.f32, b.shape)
    return el.optimize(program, devices=devices)(a, b)
