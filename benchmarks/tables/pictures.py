"""The picture of the README, made from raw results."""

from __future__ import annotations

from pathlib import Path

from benchmarks.tables.raw import lines

PICTURE = Path(__file__).resolve().parent.parent / "pictures" / "beside_numpy.png"


def draw() -> None:
    """Bars: how many times as fast as NumPy, program by program, on a logarithmic axis."""
    try:
        import matplotlib
    except ImportError:
        print("no picture: matplotlib is not installed (pip install 'egglift[report]')")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

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
