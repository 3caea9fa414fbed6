"""The picture of the README, made from raw results."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.tables.raw import lines
from benchmarks.tables.search import LEAST, measured_times

PICTURES = Path(__file__).resolve().parent.parent / "pictures"
PICTURE = PICTURES / "beside_numpy.png"
#: of these raw results every candidate is drawn
TRIED, SHOWN = "h100_ranking", ("matmul-f32", "softmax_rows", "jacobi_2d-5", "nbody")


def draw() -> None:
    """All pictures."""
    try:
        import matplotlib
    except ImportError:
        print("no picture: matplotlib is not installed (pip install 'egglift[report]')")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    _beside_numpy(pyplot)
    _search(pyplot)


def _search(pyplot: Any) -> None:
    """Dots: all candidates that were tried, in the model's order; a line: the best so far."""
    found = {p["program"]: measured_times(p) for p in lines(TRIED) if p["program"] in SHOWN}
    found = {name: times for name, times in found.items() if len(times) >= LEAST}
    with pyplot.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = pyplot.subplots(1, len(found), figsize=(9, 2.6), constrained_layout=True, sharey=True)
        for axis, (name, times) in zip(axes, found.items(), strict=True):
            relative = [t / min(times) for t in times]
            places = range(1, len(times) + 1)
            axis.scatter(places, relative, s=6, color="C7")
            axis.step(places, list(accumulate(relative, min)), where="post", color="C0")
            axis.axvline(8, color="black", linewidth=0.6, linestyle=":")
            axis.set(title=name.replace("_", " "), yscale="log", xlabel="candidates tried")
        axes[0].set_ylabel("times the best")
        figure.savefig(PICTURES / "search.png", dpi=110)
        pyplot.close(figure)


def _beside_numpy(pyplot: Any) -> None:
    """Bars: how many times as fast as NumPy, program by program, on a logarithmic axis."""
    found = sorted(lines("pocl_schedules"), key=lambda p: p["times_numpy"])
    names = [p["program"].replace("_", " ") for p in found]
    times = [p["times_numpy"] for p in found]
    with pyplot.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axis = pyplot.subplots(figsize=(8, 4.2), constrained_layout=True)
        bars = axis.barh(names, [t - 1 for t in times], left=1, color=["C0" if t >= 1 else "C3" for t in times])
        axis.bar_label(bars, [f"{t:.2g}" for t in times], padding=3, fontsize=8)
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set(xscale="log", xlim=(0.7, 60), xlabel="times NumPy's speed, on the same two cores")
        axis.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
        axis.tick_params(axis="y", length=0)
        figure.savefig(PICTURE, dpi=110)
        pyplot.close(figure)
