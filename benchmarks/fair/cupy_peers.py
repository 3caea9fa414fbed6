"""CuPy: kernels of its own for what is one map or one reduction, else its operations on arrays, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.fair.clocks import cupy_times
from benchmarks.fair.job import Job
from benchmarks.fair.peer import Call, Peer
from benchmarks.fair.rebound import rebound
from benchmarks.programs import black_scholes as bs
from benchmarks.programs.convolution_17 import bell, weights
from benchmarks.programs.stencil_2d import WEIGHTS


def cupy_peer() -> Peer:
    """CuPy on its GPU."""
    return Peer("cupy", _absent, _ways, cupy_times, on_host, _free)


def _absent() -> str | None:
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # it has errors of its own for drivers that it does not find
        return f"cupy cannot be used ({' '.join(str(error).split())[:200]})"
    return None


def _ways(job: Job) -> Mapping[str, Callable[[], Call]]:
    import cupy

    found: dict[str, Callable[..., Any]] = {}
    if kernel := KERNELS.get(job.key):
        found["a kernel"] = kernel(cupy)
    if job.arrays:
        found["array operations"] = partial(job.arrays, cupy)
    elif not found:
        found["as in NumPy"] = rebound(job.numpy, cupy)
    return {name: partial(_call, f, job) for name, f in found.items()}


def _call(function: Callable[..., Any], job: Job) -> Call:
    import cupy

    def there(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(there(part) for part in value)
        return cupy.asarray(value) if getattr(value, "shape", ()) else value

    return partial(function, **{name: there(value) for name, value in job.inputs.items()})


def on_host(value: Any) -> Any:
    """A result of CuPy as NumPy's."""
    import cupy

    return tuple(map(on_host, value)) if isinstance(value, (tuple, list)) else cupy.asnumpy(value)


def _free() -> None:
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()


# ---------------------------------------------------------------------------------------- kernels

Written = Callable[[Any], Callable[..., Any]]


def _map(takes: str, gives: str, body: str, order: tuple[str, ...]) -> Written:
    """An ElementwiseKernel; order: the program's inputs as the kernel takes them."""

    def made(cupy: Any) -> Callable[..., Any]:
        kernel = cupy.ElementwiseKernel(takes, gives, body, "mapped")
        return lambda **given: kernel(*_flat(given, order))

    return made


def _fold(
    takes: str, term: str, order: tuple[str, ...], *, fold: str = "a + b", last: str = "r = a", zero: str = "0",
    t: str = "float32", axis: int | None = None,
) -> Written:  # fmt: skip
    """A ReductionKernel along an axis, or of all elements."""

    def made(cupy: Any) -> Callable[..., Any]:
        kernel = cupy.ReductionKernel(takes, f"{t} r", term, fold, last, zero, "folded")
        return lambda **given: kernel(*_flat(given, order), axis=axis)

    return made


def _flat(given: Mapping[str, Any], order: tuple[str, ...]) -> list[Any]:
    found = []
    for name in order:
        value = given[name]
        found += list(value) if isinstance(value, tuple) else [value]
    return found


def _black_scholes() -> Written:
    c = [f"{v}f" for v in bs.COEFFICIENTS]
    polynomial = f"k * ({c[0]} + k * ({c[1]} + k * ({c[2]} + k * ({c[3]} + k * {c[4]}))))"
    normal = f"""
__device__ float normal(float d) {{
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail = expf(-0.5f * d * d) * 0.3989422804f * {polynomial};
  return d > 0.0f ? 1.0f - tail : tail;
}}"""
    body = f"""
      float spread = {bs.VOLATILITY}f * sqrtf(t);
      float d1 = (logf(s / k) + {bs.RATE + bs.VOLATILITY**2 / 2}f * t) / spread;
      float d2 = d1 - spread;
      float discounted = k * expf(-{bs.RATE}f * t);
      call = s * normal(d1) - discounted * normal(d2);
      put = discounted * normal(-d2) - s * normal(-d1)"""

    def made(cupy: Any) -> Callable[..., Any]:
        takes, gives = "float32 s, float32 k, float32 t", "float32 call, float32 put"
        kernel = cupy.ElementwiseKernel(takes, gives, body, "black_scholes", preamble=normal)
        return lambda price, strike, years: kernel(price, strike, years)

    return made


def _nine_points() -> Written:
    middle, side, corner = (f"{w}f" for w in WEIGHTS)
    body = f"""
      int y = i / w, x = i - y * w;
      int up = max(y - 1, 0) * w, here = y * w, down = min(y + 1, h - 1) * w;
      int left = max(x - 1, 0), right = min(x + 1, w - 1);
      out = {middle} * p[here + x] + {side} * (p[up + x] + p[here + left] + p[here + right] + p[down + x])
          + {corner} * (p[up + left] + p[up + right] + p[down + left] + p[down + right])"""

    def made(cupy: Any) -> Callable[..., Any]:
        kernel = cupy.ElementwiseKernel("raw float32 p, int32 h, int32 w", "float32 out", body, "nine_points")
        return lambda x: kernel(x, *x.shape, cupy.empty_like(x))

    return made


def _windows(given: Any = None) -> Written:
    """Its correlation with all weights at once; given: these, where they are no input."""

    def made(cupy: Any) -> Callable[..., Any]:
        from cupyx.scipy import ndimage

        known = None if given is None else cupy.asarray(given, cupy.float32)
        return lambda x, **named: ndimage.correlate(x, named["weights"] if known is None else known, mode="nearest")

    return made


def _in_two() -> Written:
    def made(cupy: Any) -> Callable[..., Any]:
        from cupyx.scipy import ndimage

        row = cupy.asarray(bell())

        def run(x: Any) -> Any:
            along = ndimage.correlate1d(x, row, axis=1, mode="nearest")
            return ndimage.correlate1d(along, row, axis=0, mode="nearest")

        return run

    return made


_HALVES = "float y = (x + 1.0f) * 0.5f; y = fmaxf(sqrtf(fabsf(y * y - 0.25f)), 0.125f); "
#: by the key of a program
KERNELS: dict[str, Written] = {
    "scal": _map("float32 a, float32 x", "float32 z", "z = a * x", ("a", "x")),
    "axpy": _map("float32 a, float32 x, float32 y", "float32 z", "z = a * x + y", ("a", "x", "y")),
    "ten_maps": _map("float32 x", "float32 z", f"{_HALVES}z = fminf(1.0f / y, 4.0f) * 3.0f - 1.0f", ("x",)),
    "record_distances": _map(
        "float32 p, float32 q, float32 s, float32 t",
        "float32 z",
        "z = sqrtf((p - s) * (p - s) + (q - t) * (q - t))",
        ("records", "latitude", "longitude"),
    ),
    "black_scholes": _black_scholes(),
    "stencil_2d": _nine_points(),
    "convolution_17-general": _windows(weights("general")),
    "convolution_17-given": _windows(),
    "convolution_17-gaussian": _in_two(),
    "convolution_17-separable": _in_two(),
    "vec_sum": _fold("float32 x", "x", ("x",)),
    "asum": _fold("float32 x", "fabsf(x)", ("x",)),
    "dot": _fold("float32 x, float32 y", "x * y", ("x", "y")),
    "nrm2": _fold("float32 x", "x * x", ("x",), last="r = sqrtf(a)"),
    "bitwise_or": _fold("uint32 x", "x", ("x",), fold="a | b", t="uint32"),
    "brought/frobenius": _fold("float32 x", "x * x", ("A",), last="r = sqrtf(a)"),
    "brought/maxima_of_columns": _fold("float32 x", "x", ("A",), fold="max(a, b)", zero="-3.4e38f", axis=0),
    "cases/column_sums": _fold("float32 x", "x", ("A",), axis=0),
    "cases/row_sums_short": _fold("float32 x", "x", ("A",), axis=1),
    "cases/row_squares": _fold("float32 x", "x * x", ("A",), axis=1),
}
