"""Choosing among copies: answers on a messy lake, judged by where each chosen table comes from.

A base must be there through itself, an exact copy, or a part that the task's filter selects. A degraded table never
counts, and neither does a second table for the same base.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from suffice.evaluate.lake import DEGRADED
from suffice.evaluate.metrics import Score

__all__ = ["degraded_share", "fits", "lineage_score"]

_RULE = re.compile(r'^"(?P<column>[^"]+)" = (?P<value>.*)$', re.DOTALL)


def fits(entry: Mapping[str, Any], filters: Sequence[Sequence[Any]], tables: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a part of a base holds all rows that the task's filters ask for: an equal filter on its column.

    `filters` are [table.column, operator, value, ...] as the task's query has them.
    """
    while entry["rule"] == "exact copy":
        entry = tables[entry["parent"]]
    rule = _RULE.match(entry["rule"])
    if rule is None:
        return False
    wanted = f"{entry['base']}.{rule['column']}".casefold()
    asked = [(str(f[0]).casefold(), f[1], str(f[2]).strip("'\"").casefold()) for f in filters if len(f) > 2]
    return (wanted, "=", rule["value"].casefold()) in asked


def lineage_score(
    truth: Mapping[str, Any], gold: Sequence[str], filters: Sequence[Sequence[Any]], chosen: Sequence[str]
) -> Score:
    """Recall over the bases that are needed, precision over the tables that were chosen.

    >>> tables = {"t": {"base": "t", "kind": "base", "rule": ""}, "c": {"base": "t", "kind": "subset_of", "rule": "x"}}
    >>> lineage_score({"tables": tables}, ["T"], [], ["c"]), lineage_score({"tables": tables}, ["T"], [], ["t"])
    (Score(recall=0.0, precision=0.0, exact=False), Score(recall=1.0, precision=1.0, exact=True))
    """
    tables = truth["tables"]
    wanted = {g.casefold() for g in gold}
    got: set[str] = set()
    for name in chosen:
        entry = tables[name]
        clean = entry["kind"] in ("base", "identical") or (
            entry["kind"] == "partition" and fits(entry, filters, tables)
        )
        if clean and entry["base"].casefold() in wanted:
            got.add(entry["base"].casefold())
    recall, precision = len(got) / len(wanted), len(got) / len(chosen) if chosen else 0.0
    return Score(recall, precision, recall == precision == 1.0)


def degraded_share(truth: Mapping[str, Any], chosen: Sequence[Sequence[str]]) -> tuple[int, int]:
    """How many of all chosen tables are degraded, and how many were chosen."""
    kinds = [truth["tables"][name]["kind"] for picked in chosen for name in picked]
    return sum(kind in DEGRADED for kind in kinds), len(kinds)
