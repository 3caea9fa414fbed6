"""JAX, compiled by `jit`: by what libraries share, or by NumPy's way of a program."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.fair.clocks import jax_times
from benchmarks.fair.job import Job
from benchmarks.fair.peer import Call, Peer
from benchmarks.fair.rebound import rebound
from benchmarks.programs.convolution_17 import weights


def jax_peer(kind: str) -> Peer:
    """JAX on the kind of device: "gpu" or "cpu"."""
    return Peer("jax", partial(_absent, kind), _ways, jax_times, on_host, _free)


def _absent(kind: str) -> str | None:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else it takes most of the GPU's memory
    try:
        import jax

        found = jax.devices()[0].platform
    except (ImportError, RuntimeError) as error:
        return f"jax cannot be imported ({' '.join(str(error).split())[:200]})"
    return f"jax sees no GPU, but {found}" if kind == "gpu" and found not in ("gpu", "cuda") else None


class JaxNumpy:
    """jax.numpy, with the few names of NumPy that programs here use and it has not."""

    def __init__(self, jnp: Any) -> None:
        self.jnp = jnp

    def __getattr__(self, name: str) -> Any:
        return getattr(self.jnp, name)

    def ascontiguousarray(self, x: Any) -> Any:
        """Its arrays always are."""
        return x


def _ways(job: Job) -> Mapping[str, Callable[[], Call]]:
    import jax

    numpy = JaxNumpy(jax.numpy)
    found: dict[str, Callable[..., Any]] = {"as in NumPy": rebound(job.numpy, numpy)}
    if job.arrays:
        found = {"array operations": partial(job.arrays, jax.numpy)}
    if job.key in GIVEN:
        found = {"its library": partial(_convolution, GIVEN[job.key])}
    if job.key == "brought/convolution_channels":
        found = {"its library": _channels}
    return {name: partial(_call, f, job) for name, f in found.items()}


def _convolution(given: Any, x: Any, **named: Any) -> Any:
    """The library's, behind a pad; given: the weights, where they are no input."""
    import jax

    kernel = named["weights"] if given is None else jax.numpy.asarray(given, x.dtype)
    padded = jax.numpy.pad(x, kernel.shape[0] // 2, "edge")
    return _windows(padded[None, None], kernel[None, None])[0, 0]


def _channels(I: Any, W: Any) -> Any:
    return _windows(I, W)


def _windows(images: Any, kernels: Any) -> Any:
    """Windows of all channels times the weights of each output, without edges."""
    import jax

    highest = jax.lax.Precision.HIGHEST
    return jax.lax.conv_general_dilated(images, kernels, (1, 1), "VALID", precision=highest)


#: convolutions of many weights that are no outer product: the weights, None where they are an input
GIVEN = {"convolution_17-general": weights("general"), "convolution_17-given": None}


def _call(function: Callable[..., Any], job: Job) -> Call:
    import jax

    wide = any(leaf.dtype.itemsize == 8 for leaf in jax.tree.leaves(job.inputs))
    jax.config.update("jax_enable_x64", wide)
    # scalars are part of the program, as they are elsewhere
    still = {name: value for name, value in job.inputs.items() if not isinstance(value, tuple) and not np.shape(value)}
    arrays = {k: jax.tree.map(jax.device_put, v) for k, v in job.inputs.items() if k not in still}
    numbers = {name: value.item() for name, value in still.items()}
    with jax.default_matmul_precision("highest"):  # f32 as it is, as everywhere here; on GPUs it may be TF32 else
        compiled = jax.jit(lambda **given: function(**given, **numbers)).lower(**arrays).compile()
    return partial(compiled, **arrays)


def on_host(value: Any) -> Any:
    """A result of JAX as NumPy's."""
    return tuple(map(on_host, value)) if isinstance(value, (tuple, list)) else np.asarray(value)


def _free() -> None:
    import jax

    jax.clear_caches()
