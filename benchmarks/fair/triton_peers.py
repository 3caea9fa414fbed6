"""Triton: which programs its kernels are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.fair.clocks import torch_times
from benchmarks.fair.job import Job
from benchmarks.fair.peer import Call, Peer
from benchmarks.fair.torch_peers import on_host, tensor, torch_peer


def triton_peer() -> Peer:
    """Triton on torch's GPU."""
    return Peer("triton", _absent, _ways, torch_times, on_host, torch_peer("gpu", False).free)


def _absent() -> str | None:
    try:
        import triton  # noqa: F401
    except ImportError as error:
        return f"triton cannot be imported ({error})"
    return torch_peer("gpu", False).absent()


def _ways(job: Job) -> Mapping[str, Callable[[], Call]]:
    return {"a kernel": partial(call, job, "cuda")} if job.key in KERNELS else {}


def call(job: Job, place: str) -> Call:
    """A call of the program's kernel, its inputs on torch's device `place`."""
    import torch

    from benchmarks.fair import triton_kernels

    tensors = {name: tensor(torch, value, place) for name, value in job.inputs.items()}
    return partial(KERNELS[job.key], triton_kernels, **tensors)


#: by the key of a program, a function of the module of kernels and tensors
KERNELS: dict[str, Callable[..., Any]] = {
    "softmax_rows": lambda t, A: t.softmax(A),
    "matmul-f32": lambda t, A, B: t.product(A, B),
    "batched_matmul": lambda t, A, B: t.product(A, B),
    "linear_relu": lambda t, A, B, bias: t.product(A, B, "relu", bias),
    "attention": lambda t, Q, K, V: t.attention(Q, K, V),
    "brought/softmax": lambda t, A: t.softmax(A),
    "brought/log_softmax": lambda t, A: t.softmax(A, log=True),
    "brought/two_mm": lambda t, A, B, C: t.product(t.product(A, B), C),
    "brought/product_of_transposed": lambda t, A, B: t.product(A.T, B),
    "brought/batched_relu_product": lambda t, A, B: t.product(A, B, "relu"),
    "brought/bias_relu_residual": lambda t, A, B, bias, R: t.product(A, B, "relu", bias, R),
    "brought/batched_attention": lambda t, Q, K, V: t.attention(Q, K, V),
    "cases/layernorm_rows": lambda t, A: t.layer_norm(A),
    "cases/square_of_product": lambda t, X, W: t.product(X, W, "square"),
    "cases/gelu_of_product": lambda t, X, W: t.product(X, W, "gelu"),
    "cases/batched_small": lambda t, A, B: t.product(A, B),
    "cases/attention": lambda t, Q, K, V: t.attention(Q, K, V),
}
