"""The suite's results as figures: ratios to the peers, every program's times, and the model beside measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.line import Line

#: panels in a row of the small multiples
ACROSS = 6
#: programs in a row of the ratios
A_ROW = 24
OURS, FLOOR = "egglift", "floor"


def draw(lines: Sequence[Line], kinds: Sequence[str], path: Path) -> None:
    """Writes `path`.png, `path`_times.png and `path`_model.png, of the programs that have a kernel."""
    try:
        import matplotlib
    except ImportError:
        print("no figures: matplotlib is not installed (pip install 'egglift[bench]')")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    timed = [line for line in lines if line.seconds]
    if not timed:
        return
    with pyplot.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        for end, made in (("", ratios), ("_times", times), ("_model", model)):
            figure = made(timed, kinds)
            figure.savefig(path.with_name(f"{path.name}{end}.png"), dpi=120)
            pyplot.close(figure)


def ratios(lines: Sequence[Line], kinds: Sequence[str]) -> Any:
    """Bars: how many times faster than each peer, on a logarithmic axis; some programs to a row."""
    from matplotlib import pyplot

    rows = [lines[i : i + A_ROW] for i in range(0, len(lines), A_ROW)]
    size = (max(6, 0.42 * len(rows[0])), 3.4 * len(rows))
    figure, axes = pyplot.subplots(len(rows), 1, figsize=size, squeeze=False, constrained_layout=True)
    for axis, row in zip(axes.flat, rows, strict=True):
        for i, kind in enumerate(kinds):
            own = [(n, line.peers[kind] / (line.seconds or 1)) for n, line in enumerate(row) if kind in line.peers]
            places = [n + (i - (len(kinds) - 1) / 2) * 0.8 / len(kinds) for n, _ in own]
            # from 1 up or down
            axis.bar(places, [r - 1 for _, r in own], 0.8 / len(kinds), bottom=1, label=kind, color=f"C{i}")
        axis.axhline(1, color="black", linewidth=0.8)
        axis.set(yscale="log", ylabel="times faster than", xticks=range(len(row)), xlim=(-0.6, len(rows[0]) - 0.4))
        axis.set_xticklabels([f"{line.program}\n{line.size}" for line in row], rotation=90, fontsize=7)
    if kinds:
        axes[0, 0].legend(fontsize="small")
    return figure


def times(lines: Sequence[Line], kinds: Sequence[str]) -> Any:
    """A panel for every program: the floor, our time and the peers', on a logarithmic axis."""
    from matplotlib import pyplot

    colours = {FLOOR: "0.75", OURS: "black", **{kind: f"C{i}" for i, kind in enumerate(kinds)}}
    down = -(-len(lines) // ACROSS)
    size = (2.4 * ACROSS, (0.55 + 0.14 * len(colours)) * down)
    figure, axes = pyplot.subplots(down, ACROSS, figsize=size, squeeze=False, constrained_layout=True)
    for axis in axes.flat[len(lines) :]:
        axis.set_visible(False)
    for axis, line in zip(axes.flat, lines, strict=False):
        seconds = {FLOOR: line.floor, OURS: line.seconds or 0, **line.peers}
        microseconds = {name: 1e6 * s for name, s in seconds.items()}
        bars = [name for name in colours if name in microseconds]
        axis.barh(range(len(bars)), [microseconds[name] for name in bars], color=[colours[name] for name in bars])
        axis.set(xscale="log", xlim=(0.5 * min(microseconds.values()), 2 * max(microseconds.values())))
        axis.set_yticks(range(len(bars)), bars, fontsize=6)
        axis.set_ylim(len(colours) - 0.5, -0.5)  # bars of the same height in all panels
        axis.set_title(f"{line.program} {line.size}, us", fontsize=7)
        axis.tick_params(axis="x", labelsize=6)
    return figure


def model(lines: Sequence[Line], kinds: Sequence[str]) -> Any:
    """Points: the estimate of every measured candidate over its time; where the model is right they lie on the line."""
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(5, 4.6), constrained_layout=True)
    pairs = [(m, e) for line in lines for _, e, m in line.candidates if m]
    axis.scatter([1e6 * m for m, _ in pairs], [1e6 * e for _, e in pairs], s=8, alpha=0.5, linewidths=0)
    ends = [1e6 * min(map(min, pairs)), 1e6 * max(map(max, pairs))] if pairs else [1, 10]
    axis.plot(ends, ends, color="black", linewidth=0.8)
    axis.set(xscale="log", yscale="log", xlabel="measured, us", ylabel="estimated, us", title="candidates")
    return figure
