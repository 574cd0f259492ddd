"""Choosing among copies: answers on a messy lake, judged by where each chosen table comes from.

A base must be there whole (itself or an exact copy), or as the parts that the task's filters ask for. A degraded table
never counts, and neither does a second table with the same rows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from suffice.evaluate.lake import DEGRADED
from suffice.evaluate.metrics import Score

__all__ = ["degraded_share", "lineage_score"]

_RULE = re.compile(r'^"(?P<column>[^"]+)" = (?P<value>.*)$', re.DOTALL)
_Part = tuple[str, str]
_WHOLE: _Part = ("", "")


def lineage_score(
    truth: Mapping[str, Any], gold: Iterable[str], filters: Sequence[Sequence[Any]], chosen: Sequence[str]
) -> Score:
    """Recall over the bases that are needed, precision over the tables that were chosen.

    `filters` are [table.column, operator, value, ...] as the task's query has them. A part by the value of a column
    fits when the query asks for that value; parts stand for their base when every value asked of the column is there.

    >>> tables = {"t": {"base": "t", "kind": "base", "rule": ""}, "c": {"base": "t", "kind": "subset_of", "rule": "x"}}
    >>> lineage_score({"tables": tables}, ["T"], [], ["c"]), lineage_score({"tables": tables}, ["T"], [], ["t"])
    (Score(recall=0.0, precision=0.0, exact=False), Score(recall=1.0, precision=1.0, exact=True))
    """
    held: dict[str, set[_Part]] = {base.casefold(): set() for base in gold}
    asked = _asked(filters)
    for name in chosen:
        base, part = _origin(truth["tables"], name)
        if base in held and part is not None and (part == _WHOLE or part[1] in asked[f"{base}.{part[0]}"]):
            held[base].add(part)
    right = sum(1 if _WHOLE in parts else len(parts) for parts in held.values())
    found = sum(_suffices(base, parts, asked) for base, parts in held.items())
    recall, precision = found / len(held), right / len(chosen) if chosen else 0.0
    return Score(recall, precision, recall == precision == 1.0)


def degraded_share(truth: Mapping[str, Any], chosen: Sequence[Sequence[str]]) -> tuple[int, int]:
    """How many of all chosen tables are degraded, and how many were chosen."""
    kinds = [truth["tables"][name]["kind"] for picked in chosen for name in picked]
    return sum(kind in DEGRADED for kind in kinds), len(kinds)


def _asked(filters: Sequence[Sequence[Any]]) -> dict[str, set[str]]:
    """The values that equality filters ask for, by table.column, all without case."""
    found: dict[str, set[str]] = defaultdict(set)
    for column, operator, value, *_ in filters:
        if operator == "=":
            found[str(column).casefold()].add(str(value).strip("'\"").casefold())
    return found


def _origin(tables: Mapping[str, Mapping[str, Any]], name: str) -> tuple[str, _Part | None]:
    """The base, and which part of it the table holds: (column, value), the whole, or None when that is not known."""
    entry = tables[name]
    while entry["rule"] == "exact copy":
        entry = tables[entry["parent"]]
    base = entry["base"].casefold()
    if entry["kind"] == "base":
        return base, _WHOLE
    rule = _RULE.match(entry["rule"]) if entry["kind"] == "partition" else None
    return base, (rule["column"].casefold(), rule["value"].casefold()) if rule else None


def _suffices(base: str, parts: set[_Part], asked: Mapping[str, set[str]]) -> bool:
    if _WHOLE in parts:
        return True
    columns = {column for column, _ in parts}
    return any(asked[f"{base}.{c}"] <= {value for column, value in parts if column == c} for c in columns)
