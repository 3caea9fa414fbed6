"""How long points of the plane stay near: z -> z * z + c, so many times at most."""

import numpy as np

import egglift as el


def mandelbrot(devices, height, width, most):
    """For each point, after how many steps it is far away; `most` at most."""

    def step(s):
        x, y, near = s[0] * s[0] - s[1] * s[1] + s[2], 2 * s[0] * s[1] + s[3], s[0] * s[0] + s[1] * s[1] < 4
        return el.tuple(el.where(near, x, s[0]), el.where(near, y, s[1]), s[2], s[3], el.where(near, s[4] + 1, s[4]))

    def count(x, y):
        zero = el.literal(0.0, el.f32)
        return el.iterate(most, step, el.tuple(zero, zero, x, y, el.literal(0, el.i32)))[4]

    xs, ys = el.array("x", el.f32, width), el.array("y", el.f32, height)
    program = ys.map(lambda y: xs.map(lambda x: count(x, y)))
    x, y = np.linspace(-2, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)
    return el.optimize(program, devices=devices)(x, y)
