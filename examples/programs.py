"""Programs to try on the command line: `egglift optimize examples/programs.py:dot --explain`."""

import egglift as el

n = 1 << 20
x, y = el.array("x", el.f32, n), el.array("y", el.f32, n)
dot = el.reduce(el.add, 0.0, el.map(lambda p: p[0] * p[1], el.zip(x, y)))

A, v = el.array("A", el.f32, (2048, 2048)), el.array("v", el.f32, 2048)
gemv = A.map(lambda row: el.reduce(el.add, 0.0, el.zip(row, v).map(lambda p: p[0] * p[1])))

blur = el.map(lambda w: el.reduce(el.add, 0.0, w) / 3, el.slide(3, 1, el.pad(1, 1, "clamp", x)))
