"""What is counted of one column, and how for a small table: from its cells, as Python values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Literal

__all__ = ["QUANTILES", "Summary", "ValueClass", "as_json", "as_text", "cut", "of_cells", "rank"]

ValueClass = Literal["text", "integer", "number", "time", "boolean", "none", "skipped"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MAX_TEXT = 200
_TYPE_NAMES = {int: "integer", float: "real", str: "text", bytes: "blob", bool: "boolean", Decimal: "number"}
_UNREADABLE = (bytes, bytearray, memoryview, list, dict, tuple, set)


@dataclass(slots=True)
class Summary:
    """Counts of one column over the examined rows. `counts` are distinct values with their counts, most frequent
    first, ties by value; all of them when `complete`. `skipped` names each metric that was not computed, and why.
    """

    value_class: ValueClass = "none"
    nulls: int = 0
    present: int = 0
    distinct: int | None = None
    counts: list[tuple[Any, int]] = field(default_factory=list)
    complete: bool = False
    most: int = 0
    blanks: int = 0
    nonfinite: int = 0
    low: Any = None
    high: Any = None
    mean: float | None = None
    quantiles: tuple[Any, ...] = ()
    length: tuple[int, int] | None = None
    types: dict[str, float] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def measure(self, metric: str, compute: Callable[[], Any]) -> None:
        """Set one metric; its failure costs that metric only."""
        try:
            setattr(self, metric, compute())
        except (ArithmeticError, TypeError, ValueError) as error:
            self.skipped.append(f"{metric}: {type(error).__name__}")


def of_cells(cells: Sequence[Any], *, nested: bool = False) -> Summary:
    """The summary of a column from all its cells.

    >>> s = of_cells([3, 1, None, 3])
    >>> (s.distinct, s.counts, s.low, s.high, s.nulls)
    (2, [(3, 2), (1, 1)], 1, 3, 1)
    >>> of_cells([1, "a", None]).types
    {'integer': 0.5, 'text': 0.5}
    """
    found = set(map(type, cells))
    empty = type(None) in found
    found.discard(type(None))
    present = [c for c in cells if c is not None] if empty else cells
    summary = Summary(nulls=len(cells) - len(present), present=len(present))
    if nested or any(issubclass(t, _UNREADABLE) for t in found):
        return _unreadable(summary, present, found, nested)
    if not present:
        return summary
    if len(found) > 1 and found != {int, float}:
        summary.types = _shares(present)
        present = [as_text(c) for c in present]
        found = {str}
    summary.value_class = _value_class(found)
    if float in found:
        finite = [c for c in present if not isinstance(c, float) or math.isfinite(c)]
        if len(finite) < len(present):
            summary.nonfinite = len(present) - len(finite)
            present = [math.nan if c != c else c for c in present]
    else:
        finite = list(present)
    counts = Counter(present)
    summary.distinct, summary.complete = len(counts), True
    summary.counts = rank(counts)
    summary.most = summary.counts[0][1]
    if found == {str}:
        summary.blanks = sum(n for v, n in summary.counts if not v or v.isspace())
        lengths = list(map(len, counts))
        summary.length = (min(lengths), max(lengths))
    if finite:
        summary.measure("low", lambda: min(finite))
        summary.measure("high", lambda: max(finite))
    if summary.value_class in ("integer", "number") and finite:
        summary.measure("mean", lambda: float(math.fsum(finite)) / len(finite))
    if summary.value_class in ("integer", "number", "time") and finite:
        summary.measure("quantiles", lambda: _quantiles(sorted(finite)))
    return summary


def _unreadable(summary: Summary, present: Sequence[Any], found: set[type], nested: bool) -> Summary:
    binary = found <= {bytes, bytearray, memoryview} and not nested
    summary.value_class = "skipped"
    summary.skipped.append(f"{'binary' if binary else 'nested'}: only nulls are counted")
    if len(found) > 1 and bytes in found:
        summary.types = _shares(present)
    return summary


def _value_class(found: set[type]) -> ValueClass:
    if found == {str}:
        return "text"
    if found == {bool}:
        return "boolean"
    if found == {int}:
        return "integer"
    if found <= {int, float, Decimal}:
        return "number"
    if all(issubclass(t, date | time) for t in found):
        return "time"
    return "text"


def rank(counts: Counter[Any]) -> list[tuple[Any, int]]:
    """Values with counts, most frequent first, ties by value (by text where values cannot be compared)."""
    items = list(counts.items())
    try:
        items.sort()
    except TypeError:
        items.sort(key=lambda item: as_text(item[0]))
    items.sort(key=lambda item: -item[1])
    return items


def _quantiles(ordered: Sequence[Any]) -> tuple[Any, ...]:
    """The nearest-rank quantiles, as DuckDB's `quantile_disc` gives them."""
    n = len(ordered)
    return tuple(ordered[max(0, math.ceil(round(n * q, 9)) - 1)] for q in QUANTILES)


def _shares(present: Sequence[Any]) -> dict[str, float]:
    counts = Counter(_TYPE_NAMES.get(type(c), type(c).__name__) for c in present)
    return {name: n / len(present) for name, n in counts.most_common()}


def as_text(cell: Any) -> str:
    return cell.hex() if isinstance(cell, bytes | bytearray | memoryview) else str(cell)


def cut(text: str, size: int = _MAX_TEXT) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def as_json(value: Any) -> Any:
    """A value as JSON holds it: times as ISO text, numbers finite and within 64 bits, long texts cut.

    >>> as_json(Decimal("2.50")), as_json(float("nan")), as_json(date(2024, 1, 2)), as_json(2**80)
    (2.5, None, '2024-01-02', '1208925819614629174706176')
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        if not value.is_finite():
            return None
        return as_json(int(value)) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return cut(str(value).encode("utf-8", "replace").decode("utf-8"))
