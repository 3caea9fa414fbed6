"""Programs that egglift must do well on: a module each.

`program(n)` is the program for length (or side) n, `inputs(n, rng)` random arguments for it, `reference` what
a user of NumPy would write, LENGTHS the n to try.  A program of several lengths has SHAPES instead: it is
`program(*shape)`, with `inputs(*shape, rng)`.  With VARIANTS, each takes one as a further argument.  Where
arithmetic takes the time and not memory, `operations(*shape)` counts it.
"""

NAMES = (
    "scal", "axpy", "vec_sum", "asum", "dot", "nrm2", "arg_max", "mean_variance", "gemv", "gesummv", "atax",
    "softmax_rows", "black_scholes", "integer_sums", "bitwise_or", "ten_maps",
    "matmul", "gemm", "batched_matmul", "linear_relu", "syrk", "attention",
    "pair_distances", "nbody", "molecular_dynamics", "kmeans", "record_distances", "nearest", "mri_q", "laplace",
    "gaussian_kernels",
    "jacobi_1d", "heat_1d", "game_of_life", "gaussian_blur", "sobel", "gradient", "convolution_17", "jacobi_2d",
    "stencil_2d", "srad", "hotspot_2d", "jacobi_3d", "poisson", "heat_3d", "hotspot_3d", "acoustic",
)  # fmt: skip
