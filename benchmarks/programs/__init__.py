"""Programs that egglift must do well on: a module each.

`program(n)` is the program for length (or side) n, `inputs(n, rng)` random arguments for it, `reference` what
a user of NumPy would write, LENGTHS the n to try.  A program of several lengths has SHAPES instead: it is
`program(*shape)`, with `inputs(*shape, rng)`.  With VARIANTS, each takes one as a further argument.  Where
arithmetic takes the time and not memory, `operations(*shape)` counts it.
"""
