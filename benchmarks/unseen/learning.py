"""Losses, cells, lookups and steps of learning."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.unseen.drawn import ints, normal, uniform
from benchmarks.unseen.program import Unseen

f32, i32 = el.f32, el.i32


def swiglu(n: int, d: int, h: int) -> Any:
    """SwiGLU."""
    x, gate, up = el.array("x", f32, (n, d)), el.array("gate", f32, (d, h)), el.array("up", f32, (d, h))
    g = x @ gate
    return g / (1 + np.exp(-g)) * (x @ up)


def swiglu_numpy(x: Any, gate: Any, up: Any) -> Any:
    """The same in NumPy."""
    g = x @ gate
    return g / (1 + np.exp(-g)) * (x @ up)


def cross_entropy(n: int, c: int) -> Any:
    """The mean cross entropy with labels."""
    logits, labels = el.array("logits", f32, (n, c)), el.array("labels", i32, n)
    top = logits.max(axis=1)
    log_sum = np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top
    return (log_sum - el.take_along_axis(logits, labels[:, None], axis=1)[:, 0]).mean()


def cross_entropy_numpy(logits: Any, labels: Any) -> Any:
    """The same in NumPy."""
    x = logits.astype("f8")
    top = x.max(1)
    return (np.log(np.exp(x - top[:, None]).sum(1)) + top - x[np.arange(len(x)), labels]).mean()


def cross_entropy_torch(torch: Any, logits: Any, labels: Any) -> Any:
    """The same in torch."""
    return torch.nn.functional.cross_entropy(logits, labels.long())


def info_nce(n: int, d: int) -> Any:
    """InfoNCE of two views: similarities of all pairs, of which the diagonal is right."""
    a, b = el.array("a", f32, (n, d)), el.array("b", f32, (n, d))

    def unit(x: Any) -> Any:
        return x / np.sqrt((x * x).sum(axis=1, keepdims=True))

    logits = unit(a) @ unit(b).T * 10.0
    return (np.log(np.exp(logits).sum(axis=1)) - el.diagonal(logits)).mean()


def info_nce_numpy(a: Any, b: Any) -> Any:
    """The same in NumPy."""

    def unit(x: Any) -> Any:
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    logits = unit(a) @ unit(b).T * 10
    return (np.log(np.exp(logits).sum(1)) - np.diagonal(logits)).mean()


def info_nce_torch(torch: Any, a: Any, b: Any) -> Any:
    """The same in torch."""
    F = torch.nn.functional
    logits = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T * 10.0
    return (torch.logsumexp(logits, 1) - logits.diagonal()).mean()


def triplet(n: int, d: int) -> Any:
    """Triplet loss."""
    a, p, q = (el.array(name, f32, (n, d)) for name in "apq")
    return np.maximum(el.norm(a - p, axis=1) - el.norm(a - q, axis=1) + 1.0, 0).mean()


def triplet_numpy(a: Any, p: Any, q: Any) -> Any:
    """The same in NumPy."""
    return np.maximum(np.linalg.norm(a - p, axis=1) - np.linalg.norm(a - q, axis=1) + 1, 0).mean()


def triplet_torch(torch: Any, a: Any, p: Any, q: Any) -> Any:
    """The same in torch."""
    return torch.relu((a - p).norm(dim=1) - (a - q).norm(dim=1) + 1.0).mean()


def distillation(n: int, c: int) -> Any:
    """KL divergence of two softmaxes, the mean of a batch."""
    s, t = el.array("student", f32, (n, c)), el.array("teacher", f32, (n, c))

    def log_softmax(x: Any) -> Any:
        shifted = x - x.max(axis=1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))

    ls, lt = log_softmax(s / 2), log_softmax(t / 2)
    return (np.exp(lt) * (lt - ls)).sum() * (4.0 / n)


def distillation_numpy(student: Any, teacher: Any) -> Any:
    """The same in NumPy."""

    def log_softmax(x: Any) -> Any:
        x = x - x.max(1, keepdims=True)
        return x - np.log(np.exp(x).sum(1, keepdims=True))

    ls, lt = log_softmax(student.astype("f8") / 2), log_softmax(teacher.astype("f8") / 2)
    return (np.exp(lt) * (lt - ls)).sum() * 4 / len(ls)


def distillation_torch(torch: Any, student: Any, teacher: Any) -> Any:
    """The same in torch."""
    F = torch.nn.functional
    ls, lt = F.log_softmax(student / 2, 1), F.log_softmax(teacher / 2, 1)
    return F.kl_div(ls, lt, reduction="batchmean", log_target=True) * 4.0


def embedding_bag(v: int, d: int, b: int, bag: int) -> Any:
    """The mean of the rows of a table that each bag names."""
    return el.array("table", f32, (v, d))[el.array("ids", i32, (b, bag))].mean(axis=1)


def embedding_bag_torch(torch: Any, table: Any, ids: Any) -> Any:
    """The same in torch."""
    return torch.nn.functional.embedding_bag(ids, table, mode="mean")


def adamw(n: int) -> Any:
    """A step of AdamW: three results."""
    p, g, m, v = (el.array(name, f32, n) for name in "pgmv")
    m2, v2 = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return el.tuple(p * (1 - 1e-5) - 1e-3 * m2 / (np.sqrt(v2) + 1e-8), m2, v2)


def adamw_numpy(p: Any, g: Any, m: Any, v: Any) -> Any:
    """The same in NumPy."""
    m2, v2 = np.float32(0.9) * m + np.float32(0.1) * g, np.float32(0.999) * v + np.float32(0.001) * g * g
    return p * np.float32(1 - 1e-5) - np.float32(1e-3) * m2 / (np.sqrt(v2) + np.float32(1e-8)), m2, v2


def adamw_torch(torch: Any, p: Any, g: Any, m: Any, v: Any) -> Any:
    """The same in torch."""
    m2, v2 = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return p * (1 - 1e-5) - 1e-3 * m2 / (torch.sqrt(v2) + 1e-8), m2, v2


def lstm_cell(b: int, d: int) -> Any:
    """A cell of an LSTM: its output and its state."""
    x, h, c = (el.array(name, f32, (b, d)) for name in "xhc")
    wx, wh, bias = el.array("wx", f32, (d, 4 * d)), el.array("wh", f32, (d, 4 * d)), el.array("bias", f32, 4 * d)
    gates = x @ wx + h @ wh + bias
    i, f, g, o = (gates[:, j * d : (j + 1) * d] for j in range(4))

    def sigmoid(v: Any) -> Any:
        return 1 / (1 + np.exp(-v))

    state = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return el.tuple(sigmoid(o) * np.tanh(state), state)


def lstm_numpy(x: Any, h: Any, c: Any, wx: Any, wh: Any, bias: Any) -> Any:
    """The same in NumPy."""
    i, f, g, o = np.split(x @ wx + h @ wh + bias, 4, 1)

    def sigmoid(v: Any) -> Any:
        return 1 / (1 + np.exp(-v))

    state = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(state), state


def lstm_torch(torch: Any, x: Any, h: Any, c: Any, wx: Any, wh: Any, bias: Any) -> Any:
    """The same in torch."""
    i, f, g, o = (torch.addmm(bias, x, wx) + h @ wh).chunk(4, 1)
    state = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(state), state


def focal(n: int) -> Any:
    """The mean focal loss of logits and labels of 0 and 1."""
    x, y = el.array("x", f32, n), el.array("y", f32, n)
    ce = np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x)))
    p = 1 / (1 + np.exp(-x))
    miss = p + y - 2 * p * y
    return ((0.25 * y + 0.75 * (1 - y)) * miss * miss * ce).mean()


def focal_numpy(x: Any, y: Any) -> Any:
    """The same in NumPy."""
    ce = np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x)))
    p = 1 / (1 + np.exp(-x))
    return ((0.25 * y + 0.75 * (1 - y)) * (p + y - 2 * p * y) ** 2 * ce).mean()


def focal_torch(torch: Any, x: Any, y: Any) -> Any:
    """The same in torch."""
    ce = torch.nn.functional.binary_cross_entropy_with_logits(x, y, reduction="none")
    p = torch.sigmoid(x)
    return ((0.25 * y + 0.75 * (1 - y)) * (p + y - 2 * p * y) ** 2 * ce).mean()


def dice(n: int, h: int, w: int) -> Any:
    """The Dice loss of every image."""
    x, y = el.array("x", f32, (n, h, w)), el.array("y", f32, (n, h, w))
    p = 1 / (1 + np.exp(-x))
    return 1 - (2 * (p * y).sum(axis=(1, 2)) + 1) / (p.sum(axis=(1, 2)) + y.sum(axis=(1, 2)) + 1)


def dice_numpy(x: Any, y: Any) -> Any:
    """The same in NumPy."""
    p = 1 / (1 + np.exp(-x))
    return 1 - (2 * (p * y).sum((1, 2)) + 1) / (p.sum((1, 2)) + y.sum((1, 2)) + 1)


def dice_torch(torch: Any, x: Any, y: Any) -> Any:
    """The same in torch."""
    p = torch.sigmoid(x)
    return 1 - (2 * (p * y).sum((1, 2)) + 1) / (p.sum((1, 2)) + y.sum((1, 2)) + 1)


def router(n: int, d: int, experts: int) -> Any:
    """A router of experts: greatest probability, which expert, how many tokens each has."""
    x, w = el.array("x", f32, (n, d)), el.array("w", f32, (d, experts))
    logits = x @ w
    place = logits.argmax(axis=1)
    best = 1 / np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1)
    return el.tuple(best, place, el.bincount(place, experts))


def router_numpy(x: Any, w: Any) -> Any:
    """The same in NumPy."""
    s = x @ w
    place = s.argmax(1)
    return 1 / np.exp(s - s.max(1, keepdims=True)).sum(1), place, np.bincount(place, minlength=w.shape[1])


def router_torch(torch: Any, x: Any, w: Any) -> Any:
    """The same in torch."""
    best, place = torch.softmax(x @ w, 1).max(1)
    return best, place, (place[:, None] == torch.arange(w.shape[1], device=x.device)).sum(0)


def gru(x: Any, h: Any, wx: Any, wh: Any, sigmoid: Any, tanh: Any) -> Any:
    """A GRU's cell, by functions of a library."""
    d = h.shape[1]
    a, b = x @ wx, h @ wh
    z, r = sigmoid(a[:, :d] + b[:, :d]), sigmoid(a[:, d : 2 * d] + b[:, d : 2 * d])
    return (1 - z) * tanh(a[:, 2 * d :] + r * b[:, 2 * d :]) + z * h


def gru_cell(n: int, d: int) -> Any:
    """A GRU's cell."""
    inputs = (
        el.array("x", f32, (n, d)),
        el.array("h", f32, (n, d)),
        el.array("wx", f32, (d, 3 * d)),
        el.array("wh", f32, (d, 3 * d)),
    )
    return gru(*inputs, lambda v: 1 / (1 + np.exp(-v)), np.tanh)


def gru_numpy(x: Any, h: Any, wx: Any, wh: Any) -> Any:
    """The same in NumPy."""
    return gru(x, h, wx, wh, lambda v: 1 / (1 + np.exp(-v)), np.tanh)


PROGRAMS = (
    Unseen(
        "swiglu",
        swiglu,
        (12, 16, 20),
        (1024, 1024, 2816),
        swiglu_numpy,
        lambda torch, x, gate, up: torch.nn.functional.silu(x @ gate) * (x @ up),
        lambda rng, n, d, h: {"x": normal(rng, n, d), "gate": normal(rng, d, h) / 16, "up": normal(rng, d, h) / 16},
    ),
    Unseen(
        "cross_entropy_labels",
        cross_entropy,
        (12, 30),
        (4096, 32000),
        cross_entropy_numpy,
        cross_entropy_torch,
        lambda rng, n, c: {"logits": normal(rng, n, c), "labels": ints(rng, 0, c, n)},
    ),
    Unseen(
        "info_nce",
        info_nce,
        (10, 12),
        (4096, 256),
        info_nce_numpy,
        info_nce_torch,
        lambda rng, n, d: {"a": normal(rng, n, d), "b": normal(rng, n, d)},
    ),
    Unseen(
        "triplet_loss",
        triplet,
        (20, 12),
        (131072, 256),
        triplet_numpy,
        triplet_torch,
        lambda rng, n, d: {name: normal(rng, n, d) for name in "apq"},
    ),
    Unseen(
        "distillation_kl",
        distillation,
        (10, 30),
        (4096, 8192),
        distillation_numpy,
        distillation_torch,
        lambda rng, n, c: {"student": normal(rng, n, c), "teacher": normal(rng, n, c)},
    ),
    Unseen(
        "embedding_bag_mean",
        embedding_bag,
        (50, 12, 6, 5),
        (100000, 128, 16384, 32),
        lambda table, ids: table[ids].mean(1),
        embedding_bag_torch,
        lambda rng, v, d, b, bag: {"table": normal(rng, v, d), "ids": ints(rng, 0, v, b, bag)},
    ),
    Unseen(
        "adamw_step",
        adamw,
        (100,),
        (1 << 25,),
        adamw_numpy,
        adamw_torch,
        lambda rng, n: {"p": normal(rng, n), "g": normal(rng, n), "m": normal(rng, n), "v": normal(rng, n) ** 2},
    ),
    Unseen(
        "lstm_cell",
        lstm_cell,
        (6, 8),
        (512, 1024),
        lstm_numpy,
        lstm_torch,
        lambda rng, b, d: {
            "x": normal(rng, b, d),
            "h": normal(rng, b, d),
            "c": normal(rng, b, d),
            "wx": normal(rng, d, 4 * d) / 32,
            "wh": normal(rng, d, 4 * d) / 32,
            "bias": normal(rng, 4 * d),
        },
    ),
    Unseen(
        "focal_loss",
        focal,
        (200,),
        (1 << 25,),
        focal_numpy,
        focal_torch,
        lambda rng, n: {"x": normal(rng, n), "y": (uniform(rng, n) < 0.3).astype("f4")},
    ),
    Unseen(
        "dice_loss",
        dice,
        (3, 6, 7),
        (64, 1024, 1024),
        dice_numpy,
        dice_torch,
        lambda rng, *s: {"x": normal(rng, *s), "y": (uniform(rng, *s) < 0.3).astype("f4")},
    ),
    Unseen(
        "expert_router",
        router,
        (20, 8, 4),
        (65536, 1024, 64),
        router_numpy,
        router_torch,
        lambda rng, n, d, e: {"x": normal(rng, n, d), "w": normal(rng, d, e) / 32},
    ),
    Unseen(
        "gru_cell",
        gru_cell,
        (5, 8),
        (1024, 1024),
        gru_numpy,
        lambda torch, x, h, wx, wh: gru(x, h, wx, wh, torch.sigmoid, torch.tanh),
        lambda rng, n, d: {
            "x": normal(rng, n, d),
            "h": normal(rng, n, d),
            "wx": normal(rng, d, 3 * d) / 32,
            "wh": normal(rng, d, 3 * d) / 32,
        },
    ),
)
