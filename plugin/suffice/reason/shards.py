"""From a family that stands as one node to the members that a task needs.

Members are told apart by their shard (a value, or a range), or by the words of their names that not all share. A task
that names some of them needs exactly those; one that names none needs them all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.reason.knowledge import Knowledge, TableFacts
from suffice.reason.nodes import Nodes
from suffice.reason.requirements import Task, normalise
from suffice.reason.words import STOP, singular

__all__ = ["Members", "members_needed", "out_of_time"]

_YEAR = re.compile(r"(?:1[6-9]|20)\d\d")
_LONGEST = 6


@dataclass(frozen=True, slots=True)
class Members:
    """Table numbers of a family that the task needs, and why these."""

    tables: tuple[int, ...]
    why: str


def members_needed(task: Task, knowledge: Knowledge, family: Sequence[int]) -> Members:
    """The members of `family` (two or more table numbers) that `task` names, or all.

    Where a task names both a time and something else, the members that answer to both are meant.
    """
    tables = [knowledge.tables[i] for i in family]
    shared = frozenset.intersection(*(frozenset(t.words) for t in tables))
    said = _Said.of(task)
    reasons = {t.number: _reasons(t, [w for w in t.words if w not in shared], said) for t in tables}
    most = max(len(found) for found in reasons.values())
    if not most:
        return Members(tuple(family), "the task names no part, so all are needed")
    named = {number: found for number, found in reasons.items() if len(found) == most}
    told = dict.fromkeys(reason for found in named.values() for reason in found)
    return Members(tuple(named), "named by the task: " + ", ".join(told))


def out_of_time(task: Task, knowledge: Knowledge, nodes: Nodes) -> frozenset[int]:
    """Nodes of families whose members are years, none of which the task asks for."""
    years = {year for span in task.spans for year in span.years}
    if not years:
        return frozenset()
    barred = set()
    for i, members in enumerate(nodes.members):
        held = [_years_of(knowledge.tables[m]) for m in members] if len(members) > 1 else [set[int]()]
        if all(held) and not any(year in years for found in held for year in found):
            barred.add(i)
    return frozenset(barred)


def _years_of(table: TableFacts) -> set[int]:
    texts = [*map(str, (table.shard or {}).get("values", ())), *table.words]
    return {int(text) for text in texts if _YEAR.fullmatch(text)}


@dataclass(frozen=True, slots=True)
class _Said:
    """What the task says: every run of up to six of its words as one text, the years and the months."""

    runs: frozenset[str]
    years: frozenset[int]
    months: frozenset[str]

    @staticmethod
    def of(task: Task) -> _Said:
        forms = [[singular(t.word) for t in task.tokens], [normalise(t.text) for t in task.tokens]]
        spans = [(i, i + n) for n in range(1, _LONGEST + 1) for i in range(len(task.tokens) - n + 1)]
        runs = frozenset(" ".join(words[a:b]) for words in forms for a, b in spans)
        years = frozenset(year for span in task.spans for year in span.years)
        return _Said(runs, years, frozenset(str(month) for month in task.months))

    def part_of(self, own: Sequence[str]) -> str:
        """What the task says of a member's own words: all of them, or two in a row; else "".

        >>> said = _Said(frozenset({"pleasure bay", "point"}), frozenset(), frozenset())
        >>> said.part_of(["pleasure", "bay", "castle"]), said.part_of(["city", "point"]), said.part_of(["point"])
        ('pleasure bay', '', 'point')
        """
        whole = " ".join(own)
        if whole in self.runs and not STOP.issuperset(own):
            return whole
        pairs = (own[i : i + 2] for i in range(len(own) - 1))
        return next((" ".join(pair) for pair in pairs if " ".join(pair) in self.runs and not STOP & set(pair)), "")


def _reasons(table: TableFacts, own: Sequence[str], said: _Said) -> list[str]:
    """What of the task names this member: a time, and a value or words of its name."""
    return [reason for reason in (_time(table, own, said), _value(table, own, said)) if reason]


def _time(table: TableFacts, own: Sequence[str], said: _Said) -> str:
    shard = table.shard or {}
    values = [str(value) for value in shard.get("values", ())]
    for year in (*values, *own):
        if _YEAR.fullmatch(year) and int(year) in said.years:
            return year
    if "low" in shard and said.years:
        low, high = (_YEAR.match(str(shard[side])) for side in ("low", "high"))
        if low and high and any(int(low[0]) <= year <= int(high[0]) for year in said.years):
            return f"{shard['low']} to {shard['high']}"
    if "month" in str(shard.get("column", "")).casefold() and said.months & set(values):
        return f"month {values[0]}"
    return ""


def _value(table: TableFacts, own: Sequence[str], said: _Said) -> str:
    texts = [normalise(str(value)) for value in (table.shard or {}).get("values", ())]
    named = next((text for text in texts if text in said.runs and not text.isdigit()), "")
    return named or said.part_of([w for w in own if not w.isdigit()])
