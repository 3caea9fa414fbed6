"""What the programs of the catalogue are in torch: the libraries' kernels beside egglift's.

Each function takes torch and the program's inputs by name, as tensors and (scalars) Python's numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

import numpy as np

#: samples that warm up, samples that are timed; calls of each: the host prepares a call while another runs
WARM, TIMED, CALLS = 3, 11, 4


def _gemm(torch: Any, variant: str, a: Any, b: Any, A: Any, B: Any, C: Any) -> Any:
    left, right = (M.T if how == "t" else M for M, how in zip((A, B), variant, strict=True))
    return torch.addmm(C, left, right, beta=b, alpha=a)


def _attention(torch: Any, Q: Any, K: Any, V: Any) -> Any:
    return torch.nn.functional.scaled_dot_product_attention(Q[None, None], K[None, None], V[None, None])


def window_of(torch: Any, x: Any, kernels: Any, mode: str = "replicate") -> Any:
    """Convolutions of a grid with each of `kernels`, by the library: conv2d or conv3d behind a pad."""
    weights = np.asarray(kernels, np.float32)
    pads = [n // 2 for n in reversed(weights.shape[1:]) for _ in (0, 1)]
    padded = torch.nn.functional.pad(x.float()[None, None], pads, mode)
    convolve = torch.nn.functional.conv2d if weights.ndim == 3 else torch.nn.functional.conv3d
    return convolve(padded, torch.tensor(weights, device=x.device)[:, None])


def _convolution(kernel: Any, mode: str = "replicate") -> Callable[..., Any]:
    return lambda torch, x: window_of(torch, x, [kernel], mode)


def _separate(weights: Any) -> Callable[..., Any]:
    """A row of weights across, then the same down."""
    row = np.asarray(weights)[None]
    return lambda torch, x: window_of(torch, window_of(torch, x, [row])[0, 0], [row.T])


def _star(dims: int, reach: int = 1, middle: float = 1.0) -> Any:
    """Weights that are 1 along the axes."""
    found = np.zeros((2 * reach + 1,) * dims, np.float32)
    for axis in range(dims):
        found[tuple(slice(None) if a == axis else reach for a in range(dims))] = 1
    found[(reach,) * dims] = middle
    return found


def _hotspot(dims: int) -> Callable[..., Any]:
    return lambda torch, temperature, power: window_of(torch, temperature, [_star(dims)]) + power


def _sobel(torch: Any, x: Any) -> Any:
    across = np.outer([1, 2, 1], [-1, 0, 1])
    return torch.linalg.vector_norm(window_of(torch, x, [across, across.T]), dim=1)


def _acoustic(torch: Any, now: Any, before: Any, mask: Any) -> Any:
    return torch.where(mask > 0, window_of(torch, now, [_star(3)], "constant") - before, 0.0)


SLOPE = np.array([[0, 0, 0], [-0.5, 0, 0.5], [0, 0, 0]])
#: of stencils: a convolution of as many points, by the library, with what else is done in kernels of its own
STENCILS: dict[str, Callable[..., Any]] = {
    "jacobi_2d-5": _convolution(_star(2)),
    "jacobi_2d-9": _convolution(np.ones((3, 3))),
    "gaussian_blur-9": _convolution(np.ones((3, 3))),
    "gaussian_blur-25": _convolution(np.ones((5, 5))),
    "stencil_2d": _convolution(np.ones((3, 3))),
    "convolution_17-general": _convolution(np.ones((17, 17))),
    "convolution_17-given": lambda torch, x, weights: _convolution(np.ones((17, 17)))(torch, x),
    "convolution_17-gaussian": _separate(np.ones(17)),
    "convolution_17-separable": _separate(np.ones(17)),
    "sobel": _sobel,
    "gradient": lambda torch, x: window_of(torch, x, [SLOPE, SLOPE.T]),
    "game_of_life": _convolution(np.ones((3, 3)), "circular"),
    "hotspot_2d": _hotspot(2),
    "hotspot_3d": _hotspot(3),
    "jacobi_3d-7": _convolution(_star(3)),
    "jacobi_3d-13": _convolution(_star(3, 2)),
    "heat_3d": _convolution(_star(3), "constant"),
    "poisson": _convolution(np.ones((3, 3, 3))),
    "acoustic": _acoustic,
}

TORCH: dict[str, Callable[..., Any]] = {
    "scal": lambda torch, a, x: torch.mul(x, a),
    "axpy": lambda torch, a, x, y: torch.add(y, x, alpha=a),
    "vec_sum": lambda torch, x: torch.sum(x),
    "asum": lambda torch, x: torch.linalg.vector_norm(x, ord=1),
    "dot": lambda torch, x, y: torch.dot(x, y),
    "nrm2": lambda torch, x: torch.linalg.vector_norm(x),
    "arg_max": lambda torch, x: torch.max(x, 0),
    "mean_variance": lambda torch, x: torch.var_mean(x, correction=0),
    "cumsum": lambda torch, x: torch.cumsum(x, 0),
    "cumsum_axis-rows": lambda torch, A: torch.cumsum(A, 1),
    "cumsum_axis-columns": lambda torch, A: torch.cumsum(A, 0),
    "gemv": lambda torch, a, b, A, x, y: torch.addmv(y, A, x, beta=b, alpha=a),
    "atax": lambda torch, A, x: torch.mv(A.T, torch.mv(A, x)),
    "softmax_rows": lambda torch, A: torch.softmax(A, 1),
    "matmul-f32": lambda torch, A, B: torch.mm(A, B),
    "matmul-f64": lambda torch, A, B: torch.mm(A, B),
    **{f"gemm-{variant}": partial(_gemm, variant=variant) for variant in ("nn", "nt", "tn", "tt")},
    "batched_matmul": lambda torch, A, B: torch.bmm(A, B),
    "linear_relu": lambda torch, A, B, bias: torch.relu(torch.addmm(bias, A, B)),
    "syrk": lambda torch, a, b, A, C: torch.addmm(C, A, A.T, beta=b, alpha=a),
    "attention": _attention,
    "pair_distances-squared": lambda torch, X, Y: torch.cdist(X, Y).square(),
    "pair_distances-manhattan": lambda torch, X, Y: torch.cdist(X, Y, p=1),
    "kmeans": lambda torch, points, centroids: torch.cdist(points, centroids).argmin(1),
    **STENCILS,
}


#: programs of several of torch's kernels, which torch.compile may join
COMPILED = ("linear_relu",)


def torch_seconds(name: str, inputs: Mapping[str, Any], *, compiled: bool = False) -> float | None:
    """The median of torch's times by CUDA events; None without torch, a GPU, or an equivalent in torch.

    compiled: by torch.compile.  TF32 is off, as it is by default.
    """
    try:
        import torch
    except ImportError:
        return None
    if name not in TORCH or not torch.cuda.is_available():
        return None
    return cuda_seconds(on_cuda(TORCH[name], inputs, compiled=compiled))


def on_cuda(function: Callable[..., Any], inputs: Mapping[str, Any], *, compiled: bool = False) -> Callable[[], Any]:
    """A call of a function of torch and tensors, whose inputs are on the GPU already; torch must be there.

    compiled: by torch.compile, which forgets what it compiled before: it keeps few versions of one function.
    """
    import torch

    tensors = {key: _tensor(torch, value) for key, value in inputs.items()}

    def run(**tensors: Any) -> Any:
        return function(torch, **tensors)

    if compiled:
        torch.compiler.reset()
        run = torch.compile(run)
    return partial(run, **tensors)


def cuda_seconds(run: Callable[[], Any]) -> float:
    """The median of the times of a call by CUDA's events, of a few in a row, after some to warm up."""
    import torch

    times = []
    for _ in range(WARM + TIMED):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(CALLS):
            run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e-3 / CALLS)
    return float(median(times[WARM:]))


def _tensor(torch: Any, value: Any) -> Any:
    """A NumPy value on the GPU; scalars as they are."""
    return torch.from_numpy(value).cuda() if getattr(value, "shape", ()) else value.item()
