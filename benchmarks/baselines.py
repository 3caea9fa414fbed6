"""What the programs of the catalogue are in torch: the libraries' kernels beside egglift's.

Each function takes torch and the program's inputs by name, as tensors and (scalars) Python's numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

#: calls that warm up, calls that are timed
WARM, TIMED = 3, 11


def _gemm(torch: Any, variant: str, a: Any, b: Any, A: Any, B: Any, C: Any) -> Any:
    left, right = (M.T if how == "t" else M for M, how in zip((A, B), variant, strict=True))
    return torch.addmm(C, left, right, beta=b, alpha=a)


def _attention(torch: Any, Q: Any, K: Any, V: Any) -> Any:
    return torch.nn.functional.scaled_dot_product_attention(Q[None, None], K[None, None], V[None, None])


TORCH: dict[str, Callable[..., Any]] = {
    "scal": lambda torch, a, x: torch.mul(x, a),
    "axpy": lambda torch, a, x, y: torch.add(y, x, alpha=a),
    "vec_sum": lambda torch, x: torch.sum(x),
    "asum": lambda torch, x: torch.linalg.vector_norm(x, ord=1),
    "dot": lambda torch, x, y: torch.dot(x, y),
    "nrm2": lambda torch, x: torch.linalg.vector_norm(x),
    "arg_max": lambda torch, x: torch.max(x, 0),
    "mean_variance": lambda torch, x: torch.var_mean(x, correction=0),
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
    tensors = {key: _tensor(torch, value) for key, value in inputs.items()}
    function = partial(TORCH[name], torch)
    if compiled:
        function = torch.compile(function)
    times = []
    for _ in range(WARM + TIMED):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function(**tensors)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e-3)
    return float(median(times[WARM:]))


def _tensor(torch: Any, value: Any) -> Any:
    """A NumPy value on the GPU; scalars as they are."""
    return torch.from_numpy(value).cuda() if getattr(value, "shape", ()) else value.item()
