"""A plate that cools: again and again each element becomes the mean of its four neighbours."""

import egglift as el


def heat(devices, plate, steps):
    """The plate after some steps."""

    def mean(w):
        return (w[0, 1] + w[1, 0] + w[1, 2] + w[2, 1]) / 4

    def step(s):
        return el.stencil(mean, (3, 3), 1, 1, 1, "clamp", s)

    program = el.iterate(steps, step, el.array("plate", el.f32, plate.shape))
    return el.optimize(program, devices=devices)(plate)
