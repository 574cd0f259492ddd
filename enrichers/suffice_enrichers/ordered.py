"""Parts that a range picks out: a span of time, a span of numbers, or all rows up to a moment (an older state)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from suffice.libs.duck import quote
from suffice_enrichers.contents import NUMBERS, TIMES, Contents
from suffice_enrichers.relations import Copy, log2_choose
from suffice_enrichers.snapshots import is_dated_copy

if TYPE_CHECKING:
    from suffice.rows.engine import Engine

__all__ = ["ordered", "refine"]

_RULE_BITS = 10.0
_UNITS = ("year", "quarter", "month", "week", "day")


@dataclass(frozen=True, slots=True)
class _Span:
    """The rows of the origin with `column` in low..high are exactly those of the part.

    `whole` says that the span is made of whole periods (year to day) or ends where values repeat, which a cut after
    so many rows does not give; `first` that it starts with the origin's first value.
    """

    column: int
    low: Any
    high: Any
    whole: bool
    first: bool
    bits: float


def refine(copy: Copy, contents: Contents, engine: Engine) -> Copy:
    """A sample as what a range says of it: a partition or an older state; any other copy as it is.

    A span of a column that is unique may as well be the first rows of a query with a limit: such a partition is not
    `sure` and keeps the sample as its `otherwise`, for the case that no sibling holds the next span.
    """
    if copy.relation != "sample" or copy.numbers.get("extra_rows"):
        return copy
    saved = log2_choose(copy.origin.distinct, copy.table.distinct)
    spans = [s for s in _spans(copy, contents, engine) if saved - s.bits >= _RULE_BITS]
    share = copy.table.distinct / copy.origin.distinct
    dated = is_dated_copy(copy.table.asset.name, copy.origin.asset.name)
    first = next((s for s in spans if s.first), None)
    if share >= 0.5 and (dated or (first is not None and not first.whole)):
        kept = {"low": first.low, "high": first.high, "columns": (first.column,)} if first else {}
        return replace(copy, relation="snapshot", numbers={**copy.numbers, "newer_rows": _more(copy)}, **kept)
    if not spans:
        return copy
    best = min(spans, key=lambda s: (not s.whole, s.bits, s.column))
    part = replace(copy, relation="partition", columns=(best.column,), low=best.low, high=best.high)
    return part if best.whole else replace(part, sure=False, otherwise=copy)


def _more(copy: Copy) -> int:
    return copy.origin.rows - copy.table.rows


def _spans(copy: Copy, contents: Contents, engine: Engine) -> list[_Span]:
    columns = [
        (i, expression)
        for i, name in enumerate(contents.columns)
        if (expression := ordered(quote(contents.name(copy.table.asset, name)), contents.types[name]))
    ]
    if not columns:
        return []
    asked = ", ".join(f"min({e}), max({e}), count({e})" for _, e in columns)
    answer = engine.query(f"SELECT {asked} FROM {copy.table.sql}")[0]
    ranged = [
        (i, answer[3 * k], answer[3 * k + 1])
        for k, (i, _) in enumerate(columns)
        if answer[3 * k + 2] == copy.table.rows and answer[3 * k] != answer[3 * k + 1]
    ]
    if not ranged:
        return []
    named = {
        i: ordered(quote(contents.name(copy.origin.asset, contents.columns[i])), contents.types[contents.columns[i]])
        for i, _, _ in ranged
    }
    asked = ", ".join(
        f"count(*) FILTER ({named[i]} BETWEEN ? AND ?), min({named[i]}), count({named[i]})" for i, _, _ in ranged
    )
    answer = engine.query(
        f"SELECT {asked} FROM {copy.origin.sql}", [v for _, low, high in ranged for v in (low, high)]
    )[0]
    spans = []
    for k, (i, low, high) in enumerate(ranged):
        inside, least, filled = answer[3 * k : 3 * k + 3]
        if inside == copy.table.rows and filled:
            spans.append(_span(copy, contents, engine, i, named[i], (low, high, low == least)))
    return spans


def _span(
    copy: Copy, contents: Contents, engine: Engine, column: int, expression: str, found: tuple[Any, Any, bool]
) -> _Span:
    low, high, first = found
    cells = contents.cells(copy.origin)
    values = len(cells.domain(column)) if cells else copy.origin.distinct
    bits = math.log2(len(contents.columns)) + 2 * math.log2(max(2, values))
    if contents.types[contents.columns[column]] <= NUMBERS:
        whole = values < 0.5 * copy.origin.distinct
    else:
        whole = _whole_periods(copy, engine, expression, low, high)
    return _Span(column, low, high, whole, first, bits)


def _whole_periods(copy: Copy, engine: Engine, expression: str, low: Any, high: Any) -> bool:
    asked, given = [], []
    for unit in _UNITS:
        period = f"date_trunc('{unit}', CAST({expression} AS TIMESTAMP))"
        bounds = " AND ".join(f"date_trunc('{unit}', CAST(? AS TIMESTAMP))" for _ in range(2))
        asked.append(f"count(DISTINCT {period}), count(*) FILTER ({period} BETWEEN {bounds})")
        given += [low, high]
    answer: Sequence[Any] = engine.query(f"SELECT {', '.join(asked)} FROM {copy.origin.sql}", given)[0]
    return any(
        answer[2 * k] <= 0.5 * copy.origin.distinct and answer[2 * k + 1] == copy.table.rows for k in range(len(_UNITS))
    )


def ordered(column: str, types: set[str]) -> str:
    """The expression by which a column is ordered; "" for one that has no order worth a range."""
    if types <= NUMBERS - {"BOOLEAN"} or types <= TIMES:
        return column
    return f"TRY_CAST({column} AS TIMESTAMP)" if types == {"VARCHAR"} else ""
