"""Answers for a person's terminal, with rich. Catalog text is escaped: it is data, not markup."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "asset",
    "check",
    "comparison",
    "evaluation",
    "figures",
    "hits",
    "memories",
    "related",
    "report",
    "selection",
]

_STATUS_STYLE = {"sufficient": "bold green", "insufficient": "bold red", "needs_binding": "bold yellow"}
_STATE_STYLE = {"ok": "green", "stale": "yellow", "missing": "yellow", "broken": "bold red", "info": "dim"}

_FILE_WIDTH = 160
"""Columns of a table that goes into a file or a pipe."""


@cache
def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else _FILE_WIDTH)


def _safe(value: Any) -> str:
    from rich.markup import escape

    text = "".join(c if c.isprintable() or c == "\n" else "�" for c in str(value))
    return escape(text)


def _say(line: str = "") -> None:
    _console().print(line)


def selection(answer: Mapping[str, Any]) -> None:
    """A Selection: the set with roles and evidence, joins, what is missing, what was left out and why."""
    names = {t["urn"]: f"{t['source']}.{t['schema']}.{t['table']}" for t in answer["tables"]}
    style = _STATUS_STYLE[answer["status"]]
    _say(f"[{style}]{answer['status']}[/]  confidence {answer['confidence']:.2f}")
    for table in answer["tables"]:
        _say(f"  [bold]{_safe(names[table['urn']])}[/]  [cyan]{table['role']}[/]  trust {table['trust']:.2f}")
        if table["columns"]:
            _say(f"      columns  {_safe(', '.join(table['columns']))}")
        for line in table["evidence"]:
            _say(f"      [dim]•[/] {_safe(line)}")
    for join in answer["joins"]:
        match = "not measured" if join["match"] is None else f"{join['match']:.1%} of its values found"
        left, right = (f"{names.get(join[s]['urn'], join[s]['urn'])}({', '.join(join[s]['columns'])})"
                       for s in ("left", "right"))  # fmt: skip
        _say(f"  [magenta]join[/]  {_safe(left)} = {_safe(right)}  [dim]{join['kind']}, {match}[/]")
    for union in answer["unions"]:
        members = [names.get(u, u) for u in union["tables"]]
        shown = ", ".join(members[:4]) + (f" and {len(members) - 4} more" if len(members) > 4 else "")
        _say(f"  [magenta]union[/] {_safe(shown)}  [dim]{_safe(union['why'])}[/]")
    for gap in answer["missing"]:
        near = f"  [dim]nearest: {_safe(gap['nearest'])}[/]" if gap["nearest"] else ""
        _say(f"  [red]missing[/]  {_safe(gap['text'])}{near}")
    for other in answer["left_out"][:5]:
        _say(f"  [dim]left out  {_safe(other['table'])}: {_safe(other['why'])}[/]")
    if len(answer["left_out"]) > 5:
        _say(f"  [dim]left out  {len(answer['left_out']) - 5} more (--json lists them)[/]")
    for other in answer["alternatives"][:3]:
        differs = f": {_safe(other['differs'])}" if other["differs"] else ""
        _say(f"  [dim]or ({other['confidence']:.2f})  {_safe(', '.join(other['tables']))}{differs}[/]")
    if answer["justification"]:
        _say(_safe(answer["justification"]))


def hits(answer: Mapping[str, Any]) -> None:
    for note in answer["notes"]:
        _say(f"[yellow]{_safe(note)}[/]")
    for hit in answer["hits"]:
        tags = f"  [red]{' '.join(hit['quality'])}[/]" if hit["quality"] else ""
        _say(f"[bold]{_safe(hit['table'])}[/]  [dim]{hit['score']:.4f}[/]{tags}")
        if hit["description"]:
            _say(f"    {_safe(_short(hit['description']))}")
    if not answer["hits"]:
        _say("nothing found")


def asset(answer: Mapping[str, Any]) -> None:
    """One table: what it is, its columns with their profile, keys, family, copies, quality."""
    from rich.table import Table

    rows = "rows unknown" if answer["rows"] is None else f"{answer['rows']:,} rows"
    _say(f"[bold]{_safe(answer['table'])}[/]  {answer['kind']} on {_safe(answer['platform'])}, {rows}")
    for label in ("description", "proposed_description"):
        if answer[label]:
            _say(
                f"  {_safe(answer[label])}" + ("  [dim](generated, not reviewed)[/]" if label != "description" else "")
            )
    if answer["authoritative"]["urn"] != answer["urn"]:
        use = answer["authoritative"]
        _say(f"  [yellow]use instead[/] [bold]{_safe(use['table'])}[/]: {_safe(use['why'])}")
    for tag in answer["quality"]:
        figures = ", ".join(f"{k} {_figure(v)}" for k, v in tag["numbers"].items())
        _say(f"  [red]{_safe(tag['kind'])}[/] {_safe(tag['column'])} {figures}".rstrip())
        if tag["query"]:
            _say(f"      [dim]{_safe(_short(tag['query'], 300))}[/]")
    if answer["family"]:
        family = answer["family"]
        _say(f"  family of {family['members']} by {family['kind']}{_shard(family.get('shard'))}")
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("column", "type", "null", "distinct", "range or most frequent", ""):
        grid.add_column(head, style="dim" if head == "" else None, overflow="fold")
    for column in answer["columns"]:
        p = column.get("profile") or {}
        marks = ["key"] if column["key"] else []
        marks += [f"→ {r['table']}" for r in column.get("references", ())]
        grid.add_row(
            _safe(column["name"]),
            _safe(column["type"]),
            _share(p.get("nulls")),
            "" if p.get("distinct") is None else f"{p['distinct']:,}{'' if p.get('distinct_exact', True) else '~'}",
            _safe(_short(_range(p), 60)),
            _safe(" ".join(marks)),
        )
    _console().print(grid)
    for join in answer["joins"]:
        match = join["numbers"].get("match")
        told = "not measured" if match is None else f"{match:.1%} match"
        _say(f"  [magenta]join[/] {_safe(', '.join(join['left']['columns']))} → {_safe(join['right']['urn'])} "
             f"({_safe(', '.join(join['right']['columns']))})  [dim]{_safe(join['kind'])}, {told}[/]")  # fmt: skip


def related(answer: Mapping[str, Any]) -> None:
    for other in answer["related"]:
        _say(f"[bold]{_safe(other['table'])}[/]  [cyan]{_safe(other['relation'])}[/]  {_safe(other.get('detail', ''))}")
    if not answer["related"]:
        _say(f"no table is related to {_safe(answer['table'])}")


def report(answer: Mapping[str, Any]) -> None:
    done = ", ".join(f"{n:,} {what}" for what, n in answer["done"].items()) or "nothing to do"
    seconds = answer["seconds"].get("total")
    _say(f"{answer['command']}: {done}" + (f"  [dim]{seconds:.1f} s[/]" if seconds is not None else ""))
    for warning in answer["warnings"]:
        some = ", ".join(warning["subjects"][:3]) + (" ..." if warning["count"] > 3 else "")
        _say(f"  [yellow]{warning['count']} x[/] {_safe(warning['message'])}: {_safe(some)}")
    for failure in answer["failures"]:
        _say(f"  [red]failed[/] {_safe(failure['subject'])}: {_safe(failure['why'])}")


def check(answer: Mapping[str, Any]) -> None:
    for line in answer["checks"]:
        mend = f"  [dim]{_safe(line['mend'])}[/]" if line.get("mend") else ""
        _say(
            f"[{_STATE_STYLE[line['state']]}]{line['state']:8}[/] {_safe(line['what'])}  {_safe(line['detail'])}{mend}"
        )
    for name, setting in answer["settings"].items():
        _say(f"[dim]setting[/]  {name} = {_safe(setting['value'])}  [dim]{setting['from']}[/]")


def evaluation(answer: Mapping[str, Any]) -> None:
    """One line a selector, with 95 % intervals; how much the confidence is worth; the first against the others."""
    told = answer["selectors"]
    _say(f"{answer['tasks']:,} tasks of {answer['groups']:,} sources, scope: {answer['scope']}; 95 % intervals "
         f"{answer['intervals']}")  # fmt: skip
    grid = _grid("selector", "recall", "precision", "F1", "exact", "tables", "CPU ms a task")
    for name, s in told.items():
        shown = [_interval(s[key]) for key in ("recall", "precision", "f1", "exact")]
        cut = f" (k = {s['k']})" if "k" in s else ""
        grid.add_row(name + cut, *shown, f"{s['size']:.2f}", f"{1000 * s['cpu_s']:.1f}")
    _console().print(grid)
    for name, s in told.items():
        if "reliability" in s:
            _say(f"{name}: exact in {_interval(s['exact_surer_half'])} of the surer half; confidence above .9 in "
                 f"{s['sure']['mean']:.1%}, exact {_interval(s['exact_sure'])}; "
                 f"called insufficient {_interval(s['insufficient'])}")  # fmt: skip
    for name, s in told.items():
        if "against" in s:
            _say(_lead(f"{s['against']['of']} against {name}", s["against"]))


def comparison(answer: Mapping[str, Any]) -> None:
    """One line a selector: what the second run gained or lost."""
    for name, s in answer["selectors"].items():
        _say(_lead(name, s) + ("  [bold red]worse[/]" if s["worse"] else ""))
        if answer["in_one_only"][name]:
            _say(f"  [yellow]{answer['in_one_only'][name]:,} tasks are in one run only and do not count[/]")


def _lead(what: str, s: Mapping[str, Any]) -> str:
    return (
        f"{_safe(what)}: F1 {s['f1']:+.3f} (p {s['p']:.4f}), exact {s['exact_won']:,} won, {s['exact_lost']:,} lost "
        f"(p {s['p_exact']:.4f}), {s['tasks']:,} tasks"
    )


def _interval(told: Mapping[str, float]) -> str:
    return f"{told['mean']:.3f} ({told['low']:.2f}-{told['high']:.2f})"


def _grid(*heads: str) -> Any:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in heads:
        grid.add_column(head, no_wrap=True)
    return grid


def queue(answer: Mapping[str, Any]) -> None:
    """Findings with what they would replace and the evidence."""
    for item in answer["items"]:
        where = item["table"] + (f".{item['column']}" if item["column"] else "")
        _say(f"[bold]{item['id']}[/]  {_safe(where)}  [cyan]{_safe(item['kind'])}[/]  {item['status']}")
        value = item["value"]
        _say(f"    {_safe(value['text'] if isinstance(value, Mapping) and 'text' in value else value)}")
        if item["present"]:
            _say(f"    [dim]now: {_safe(item['present'])}[/]")
        for difference in value.get("differs", ()) if isinstance(value, Mapping) else ():
            _say(f"    [dim]{_safe(difference['text'])}: {_safe(_short(difference['query'], 200))}[/]")
        if item["numbers"]:
            _say("    [dim]" + ", ".join(f"{_safe(k)} {_figure(v)}" for k, v in item["numbers"].items()) + "[/]")
    if not answer["items"]:
        _say("nothing waits")


def decisions(answer: Mapping[str, Any]) -> None:
    from datetime import datetime

    for each in answer["decisions"]:
        when = datetime.fromtimestamp(each["at"]).isoformat(" ", "seconds")
        undone = "  [yellow]undone[/]" if each["undone"] else ""
        change = f"{each['before']['status']} -> {each['after']['status']}"
        _say(f"{when}  {_safe(each['who'])}  [bold]{each['finding']}[/]  {change}{undone}  {_safe(each['reason'])}")


def memories(answer: Mapping[str, Any]) -> None:
    for memory in answer["memories"]:
        used = f", used {memory['uses']} times" if memory["uses"] else ""
        _say(f"[bold]{memory['id']}[/]  {memory['outcome']}, {memory['provenance']}{used}")
        _say(f"    {_safe(memory['intent'])}")
        _say(f"    [cyan]{_safe(', '.join(memory['objects']))}[/]")
        if memory["held_back"]:
            _say(f"    [yellow]held back:[/] {_safe(memory['held_back'])}")
    if not answer["memories"]:
        _say("nothing is remembered yet")


def figures(answer: Mapping[str, Any], indent: int = 0) -> None:
    """Nested figures, one a line."""
    for name, value in answer.items():
        if isinstance(value, Mapping):
            _say(" " * indent + _safe(name))
            figures(value, indent + 2)
        else:
            _say(" " * indent + f"{_safe(name)}: {_safe(round(value, 4) if isinstance(value, float) else value)}")


def _figure(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.1%}" if 0 <= value <= 1 else f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _range(p: Mapping[str, Any]) -> str:
    if p.get("sensitive"):
        return f"({p['sensitive']}: values withheld)"
    if p.get("skipped") and p.get("distinct") is None:
        return f"({p['skipped']})"
    top, distinct = p.get("top") or (), p.get("distinct") or 0
    if top and distinct <= 12:
        return ", ".join(str(value) for value, _ in top)
    if p.get("min") is not None:
        return f"{p['min']} .. {p['max']}"
    return ", ".join(str(value) for value, _ in top[:3])


def _shard(shard: Mapping[str, Any] | None) -> str:
    if not shard:
        return ""
    if "values" in shard:
        return f", this one {shard.get('column', '')} = {', '.join(map(str, shard['values'][:5]))}"
    if "low" in shard:
        return f", this one {shard.get('column', '')} {shard['low']} .. {shard['high']}"
    return ", " + ", ".join(f"{k} {v}" for k, v in shard.items())


def _short(text: Any, limit: int = 160) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
