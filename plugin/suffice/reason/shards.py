"""From a family that stands as one node to the members that a task needs.

Members are told apart by their shard (a value, or a range), or by the words of their names that not all share. A task
that names some of them needs exactly those; one that names none needs them all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.reason.knowledge import Knowledge, TableFacts
from suffice.reason.requirements import Task, normalise
from suffice.reason.words import STOP, singular

__all__ = ["Members", "members_needed"]

_YEAR = re.compile(r"(?:1[6-9]|20)\d\d")


@dataclass(frozen=True, slots=True)
class Members:
    """Table numbers of a family that the task needs, and why these."""

    tables: tuple[int, ...]
    why: str


def members_needed(task: Task, knowledge: Knowledge, family: Sequence[int]) -> Members:
    """The members of `family` (two or more table numbers) that `task` names, or all."""
    tables = [knowledge.tables[i] for i in family]
    own = _own_words(tables)
    said = {t.word for t in task.tokens} | {singular(t.word) for t in task.tokens} | _phrases(task)
    years = {year for span in task.spans for year in span.years}
    named = {
        table.number: reason
        for table in tables
        if (reason := _reason(table, own[table.number], said, years, task.months))
    }
    if not named:
        return Members(tuple(family), "the task names no part, so all are needed")
    return Members(tuple(named), "named by the task: " + ", ".join(dict.fromkeys(named.values())))


def _own_words(tables: Sequence[TableFacts]) -> dict[int, frozenset[str]]:
    """Words of each name that some other member has not."""
    shared = frozenset.intersection(*(frozenset(t.words) for t in tables))
    return {t.number: frozenset(t.words) - shared for t in tables}


def _phrases(task: Task) -> set[str]:
    words = [normalise(t.text) for t in task.tokens]
    return {" ".join(words[i : i + n]) for n in (2, 3) for i in range(len(words) - n + 1)}


def _reason(table: TableFacts, own: frozenset[str], said: set[str], years: set[int], months: Sequence[int]) -> str:
    """What of the task names this member, or ""."""
    shard = table.shard or {}
    for value in shard.get("values", ()):
        text = normalise(str(value))
        if text in said or (_YEAR.fullmatch(text) and int(text) in years):
            return str(value)
    if "low" in shard and years:
        low, high = (_YEAR.match(str(shard[side])) for side in ("low", "high"))
        if low and high and any(int(low[0]) <= year <= int(high[0]) for year in years):
            return f"{shard['low']} to {shard['high']}"
    if (
        "values" in shard
        and _is_month(str(shard.get("column", "")))
        and any(str(m) in map(str, shard["values"]) for m in months)
    ):
        return f"month {shard['values'][0]}"
    years_in_name = [int(w) for w in own if _YEAR.fullmatch(w)]
    if any(year in years for year in years_in_name):
        return str(years_in_name[0])
    words = sorted(w for w in own if w in said and w not in STOP and not w.isdigit() and len(w) > 1)
    return " ".join(words)


def _is_month(column: str) -> bool:
    return "month" in column.casefold()
