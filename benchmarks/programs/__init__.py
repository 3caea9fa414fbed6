"""Programs that egglift must do well on: a module each.

`program(n)` is the program for length (or side) n, `inputs(n, rng)` random arguments for it, `reference` what
a user of NumPy would write, LENGTHS the n to try.  With VARIANTS, each takes one as a further argument.
"""

NAMES = (
    "scal", "axpy", "vec_sum", "asum", "dot", "nrm2", "arg_max", "mean_variance", "gemv", "gesummv", "atax",
    "softmax_rows", "black_scholes", "integer_sums", "bitwise_or", "ten_maps",
)  # fmt: skip
