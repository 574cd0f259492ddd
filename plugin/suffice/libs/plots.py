"""The only importer of matplotlib: small plots as SVG text, for a page that needs nothing else."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from suffice.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Bar", "bars", "lines", "reliability"]

Bar = tuple[str, float, float, float]
"""Label, value, low and high end of its interval."""

_STYLE: Any = {
    "font.size": 9.0,
    "svg.hashsalt": "suffice",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}
_FIRST, _REST = "#1f5fa8", "#9aa7b5"
_CURVES = ("#c2571a", "#2e8b57", "#7b4fa3", "#8a6d1d", "#5b6876")


def bars(given: Sequence[Bar], *, label: str) -> str:
    """Horizontal bars from 0 to 1 with intervals, the first one on top and in colour."""
    figure, axes = _blank(6.4, 0.6 + 0.32 * len(given))
    with _styled():
        places = range(len(given) - 1, -1, -1)
        values = [value for _, value, _, _ in given]
        reach = [[v - low for _, v, low, _ in given], [high - v for _, v, _, high in given]]
        colours = [_FIRST if i == 0 else _REST for i in range(len(given))]
        axes.barh(places, values, xerr=reach, color=colours, height=0.62, error_kw={"lw": 1.1, "capsize": 2.5})
        axes.set_yticks(list(places), [name for name, *_ in given])
        for place, (_, value, _, high) in zip(places, given, strict=True):
            axes.annotate(f"{value:.3f}", (min(high, 1) + 0.012, place), va="center", fontsize=8)
        axes.set_xlim(0, 1.1)
        axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
        axes.set_xlabel(label)
        axes.grid(axis="x", lw=0.4)
        return _svg(figure)


def lines(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x: str,
    y: str,
    levels: Mapping[str, float] | None = None,
    ticks: Sequence[float] | None = None,
) -> str:
    """Curves by name as (xs, ys) and level lines by name; both axes are told, y runs from 0 to 1."""
    figure, axes = _blank(6.4, 3.0)
    with _styled():
        for name, height in (levels or {}).items():
            axes.axhline(height, color=_FIRST, lw=1.6, label=name)
        for i, (name, (xs, ys)) in enumerate(curves.items()):
            axes.plot(xs, ys, color=_CURVES[i % len(_CURVES)], marker="os^Dv"[i % 5], ms=3.5, lw=1.2, label=name)
        axes.set_ylim(0, 1.02)
        if ticks is not None:
            axes.set_xticks(list(ticks))
        _told(axes, x, y)
        return _svg(figure)


def reliability(points: Sequence[tuple[float, float, float, float, int]]) -> str:
    """What was said against what was right: points of (mean confidence, share, low, high, answers)."""
    figure, axes = _blank(4.2, 4.0)
    with _styled():
        axes.plot([0, 1], [0, 1], color=_REST, lw=1, ls="--", label="as sure as right")
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        reach = [[p[1] - p[2] for p in points], [p[3] - p[1] for p in points]]
        axes.errorbar(xs, ys, yerr=reach, fmt="o", ms=5, color=_FIRST, lw=1.2, capsize=2.5, label="answers")
        for said, right, _, _, n in points:
            axes.annotate(f"{n:,}", (said, right), xytext=(6, -9), textcoords="offset points", fontsize=7.5)
        axes.set_xlim(0, 1)
        axes.set_ylim(-0.05, 1.05)
        _told(axes, "confidence of the answer", "share of the answers that is exact")
        return _svg(figure)


def _told(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(lw=0.4)
    axes.legend(loc="best", framealpha=0.8, edgecolor="none", fontsize=8)


def _styled() -> Any:
    from matplotlib import rc_context

    return rc_context(_STYLE)


def _blank(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of `width` by `height` inches with one pair of axes."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtra("matplotlib", "report") from error
    with _styled():
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot()


def _svg(figure: Figure) -> str:
    held = io.StringIO()
    figure.savefig(held, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return held.getvalue()[held.getvalue().index("<svg") :]
