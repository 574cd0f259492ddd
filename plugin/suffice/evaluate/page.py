"""The report of a run as one HTML file: tables and plots, readable without anything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from suffice.evaluate.metrics import FAULTS
from suffice.evaluate.rankings import LONGEST, RANKINGS
from suffice.libs import plots

__all__ = ["page"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2530 }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2.2rem } figure { margin: 1rem 0 } svg { max-width: 100%;
height: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums } th, td { text-align: left;
padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #dde3ea; vertical-align: top } .note { color: #5b6876 }
"""

_TERMS = (
    "Recall: gold tables found of gold tables. Precision: gold tables found of tables chosen. F1 of the two a task, "
    "then the mean. Exact: the sets are equal. A ranking answers with its first k tables, k chosen in hindsight in its "
    "favour. In brackets and as whiskers: 95 % intervals, "
)
_OVER = {
    "over sources": "from resampled sources, since the tasks of one source stand or fall together.",
    "over tasks": "from tasks resampled in each source: too few sources to say anything of others.",
}


def page(summary: Mapping[str, Any]) -> str:
    """HTML of the summary that `evaluate_select` gives. Raises MissingExtra without matplotlib."""
    told = summary["selectors"]
    parts = [
        _text(
            f"{summary['tasks']:,} solved tasks of {summary['groups']:,} sources, asked of "
            + ("the source that each belongs to." if summary["scope"] == "source known" else "the whole catalog.")
        ),
        _note(_TERMS + _OVER[summary["intervals"]]),
        _figure(plots.bars([_bar(name, s) for name, s in told.items()], label="mean F1"), "Mean F1 a selector"),
        _overview(told),
        *_cuts(told),
        *_leads(told),
        "<h2>What goes wrong</h2>",
        _faults(told),
        *(part for name, s in told.items() if "reliability" in s for part in _confidence(name, s)),
        *_groups(told),
    ]
    body = "\n".join(parts)
    title = "Table selection, judged against solved tasks"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f"</head><body><h1>{title}</h1>\n{body}\n<p class=note>Suffice {escape(summary['suffice'])}</p></body></html>\n"
    )


def _bar(name: str, s: Mapping[str, Any]) -> plots.Bar:
    return f"{name} (k = {s['k']})" if "k" in s else name, s["f1"]["mean"], s["f1"]["low"], s["f1"]["high"]


def _overview(told: Mapping[str, Any]) -> str:
    rows = []
    for name, s in told.items():
        shown = [_interval(s[key]) for key in ("recall", "precision", "f1", "f1_by_group", "exact")]
        rows.append([_bar(name, s)[0], *shown, f"{s['size']:.2f}", f"{1000 * s['cpu_s']:.1f}"])
    gold = next(iter(told.values()))["gold_size"]
    head = ("selector", "recall", "precision", "F1", "F1, mean of sources", "exact", "tables", "CPU ms a task")
    return _table(head, rows) + _note(f"The right sets have {gold:.2f} tables on average.")


def _cuts(told: Mapping[str, Any]) -> list[str]:
    """F1 of each ranking at every k, beside the selectors that need none."""
    curves = {
        name: (range(1, LONGEST + 1), s["f1_at_k"])
        for name, s in told.items()
        if "f1_at_k" in s and RANKINGS[name].cut is None
    }
    if not curves:
        return []
    levels = {name: s["f1"]["mean"] for name, s in told.items() if "f1_at_k" not in s}
    plot = plots.lines(
        curves, x="tables taken from the ranking (k)", y="mean F1", levels=levels, ticks=range(1, LONGEST + 1)
    )
    return ["<h2>How many tables of a ranking to take</h2>", _figure(plot, "Mean F1 by k")]


def _leads(told: Mapping[str, Any]) -> list[str]:
    rows = [
        [name, f"{a['f1']:+.3f}", f"{a['p']:.4f}", f"{a['exact_won']:,}", f"{a['exact_lost']:,}", f"{a['p_exact']:.4f}"]
        for name, s in told.items()
        if (a := s.get("against"))
    ]
    if not rows:
        return []
    first = next(iter(told))
    head = (f"{first} against", "F1", "p (flips of sign)", "exact only here", "exact only there", "p (McNemar)")
    return ["<h2>Task by task</h2>", _table(head, rows)]


def _faults(told: Mapping[str, Any]) -> str:
    rows = [
        [name, *(f"{s['faults'][name]['tasks']:,} ({s['faults'][name]['f1_lost']:.3f})" for s in told.values())]
        for name in FAULTS
    ]
    return _table(("tasks (mean F1 lost)", *told), rows)


def _confidence(name: str, s: Mapping[str, Any]) -> list[str]:
    points = [
        (b["confidence"], b["exact"]["mean"], b["exact"]["low"], b["exact"]["high"], b["n"]) for b in s["reliability"]
    ]
    told = (
        f"Exact among the surer half: {_interval(s['exact_surer_half'])}. Confidence above .9: "
        f"{_interval(s['sure'])} of the answers, of which exact {_interval(s['exact_sure'])}. Called insufficient: "
        f"{_interval(s['insufficient'])}."
    )
    return [
        f"<h2>What the confidence of {escape(name)} is worth</h2>",
        _text(told),
        _figure(plots.reliability(points), "Confidence against exactness, ten bins; the number of answers beside each"),
    ]


def _groups(told: Mapping[str, Any]) -> list[str]:
    first = next(iter(told.values()))
    rows = [
        [group, f"{g['tasks']:,}", *(f"{s['by_group'][group]['f1']:.3f}" for s in told.values())]
        for group, g in sorted(first["by_group"].items(), key=lambda item: item[1]["f1"])
    ]
    return ["<h2>F1 a source, the hardest first</h2>", _table(("source", "tasks", *told), rows)]


def _interval(told: Mapping[str, float]) -> str:
    return f"{told['mean']:.3f} ({told['low']:.3f}-{told['high']:.3f})"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}" for cell in row) for row in rows)
    return "<table><tr>" + "".join(f"<th>{escape(name)}" for name in head) + body + "</table>"


def _figure(svg: str, says: str) -> str:
    return f"<figure>{svg}<figcaption class=note>{escape(says)}</figcaption></figure>"


def _text(words: str) -> str:
    return f"<p>{escape(words)}</p>"


def _note(words: str) -> str:
    return f"<p class=note>{escape(words)}</p>"
