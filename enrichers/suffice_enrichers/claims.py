"""Claims about a table that a query can prove or refute. The query is built here; a claim only names its parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suffice.extend import Lake
from suffice.libs.duck import quote, text
from suffice.model import Asset

__all__ = ["KINDS", "Checked", "check", "says_more_than", "unproved"]

KINDS = {
    "rows": '{"kind": "rows", "value": 120}',
    "only_values": '{"kind": "only_values", "column": "city", "values": ["Oslo"]}',
    "range": '{"kind": "range", "column": "day", "low": "2024-01-01", "high": "2024-01-31"}',
    "unique": '{"kind": "unique", "column": "order_id"}',
    "more_rows_than": '{"kind": "more_rows_than", "table": "orders_2023"}',
    "fewer_rows_than": '{"kind": "fewer_rows_than", "table": "orders"}',
    "has_column": '{"kind": "has_column", "column": "discount", "not_in": "orders_2023"}',
    "lacks_column": '{"kind": "lacks_column", "column": "discount", "in": "orders"}',
}
"""Each kind of claim with an example, as the model is told."""

_MOST_VALUES = 50


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether a claim holds; `query` is what was asked of the data, "" where the schemas tell."""

    holds: bool
    query: str = ""
    numbers: Mapping[str, Any] | None = None


def check(claim: Any, asset: Asset, siblings: Sequence[Asset], lake: Lake) -> Checked:
    """A claim that is malformed, or names what is not there, does not hold. Raises DataUnreachable."""
    if not isinstance(claim, Mapping):
        return Checked(False)
    others = {other.name: other for other in siblings}
    kind, column = claim.get("kind"), claim.get("column")
    known = isinstance(column, str) and asset.column(column) is not None
    if kind == "rows":
        return _equals(lake, f"SELECT count(*) FROM {_sql(asset, lake)}", claim.get("value"))
    if kind in ("more_rows_than", "fewer_rows_than") and claim.get("table") in others:
        return _compared(lake, asset, others[str(claim["table"])], kind == "more_rows_than")
    if kind == "only_values" and known:
        return _only(lake, asset, str(column), claim.get("values"))
    if kind == "range" and known:
        return _range(lake, asset, str(column), claim.get("low"), claim.get("high"))
    if kind == "unique" and known:
        cell = quote(str(column))
        query = f"SELECT count({cell}) - count(DISTINCT {cell}) FROM {_sql(asset, lake)}"
        return _equals(lake, query, 0)
    if kind == "has_column" and known and claim.get("not_in") in others:
        return Checked(others[str(claim["not_in"])].column(str(column)) is None)
    if kind == "lacks_column" and isinstance(column, str) and claim.get("in") in others:
        return Checked(asset.column(column) is None and others[str(claim["in"])].column(column) is not None)
    return Checked(False)


def _sql(asset: Asset, lake: Lake) -> str:
    return lake.rows.relation(asset).sql


def _equals(lake: Lake, query: str, value: Any) -> Checked:
    found = lake.rows.query(query)[0][0]
    return Checked(isinstance(value, int | float) and found == value, query, {"found": found})


def _compared(lake: Lake, asset: Asset, other: Asset, more: bool) -> Checked:
    query = f"SELECT (SELECT count(*) FROM {_sql(asset, lake)}), (SELECT count(*) FROM {_sql(other, lake)})"
    mine, theirs = lake.rows.query(query)[0]
    return Checked(mine > theirs if more else mine < theirs, query, {"rows": mine, "other_rows": theirs})


def _only(lake: Lake, asset: Asset, column: str, values: Any) -> Checked:
    if not isinstance(values, list) or not 0 < len(values) <= _MOST_VALUES:
        return Checked(False)
    cell = f"CAST({quote(column)} AS VARCHAR)"
    listed = ", ".join(text(str(v)) for v in values)
    query = (
        f"SELECT count(*) FILTER ({cell} NOT IN ({listed})), count(DISTINCT {cell}) FILTER ({cell} IN ({listed})) "
        f"FROM {_sql(asset, lake)}"
    )
    others, held = lake.rows.query(query)[0]
    return Checked(others == 0 and held == len(set(map(str, values))), query, {"other_rows": others, "values": held})


def _range(lake: Lake, asset: Asset, column: str, low: Any, high: Any) -> Checked:
    if not isinstance(low, str | int | float) or not isinstance(high, str | int | float):
        return Checked(False)
    cell = quote(column)
    numbers = isinstance(low, int | float) and isinstance(high, int | float)
    asked = f"TRY_CAST({cell} AS DOUBLE)" if numbers else f"CAST({cell} AS VARCHAR)"
    query = f"SELECT min({asked}), max({asked}) FROM {_sql(asset, lake)}"
    least, most = lake.rows.query(query)[0]
    if numbers:
        return Checked((least, most) == (float(low), float(high)), query, {"min": least, "max": most})
    holds = least is not None and str(least).startswith(str(low)) and str(most).startswith(str(high))
    return Checked(holds, query, {"min": least, "max": most})


_COMPARES = re.compile(
    r"\b(all|always|complete|copy|each|entire|every|fewer|full|largest|latest|less|more|most|never|newer|newest|no|none|"
    r"not|older|oldest|only|other|others|same|single|smallest|sole|subset|than|unique|unlike|without)\b",
    re.IGNORECASE,
)
"""Words that state a difference or a totality, which needs a proof."""


_PROVES = {
    "only_values": "all each every no none not only other others same single",
    "range": "all each every",
    "unique": "each every no single than two unique",
    "more_rows_than": "fewer less more than",
    "fewer_rows_than": "fewer less more than",
    "has_column": "no not only unlike without",
    "lacks_column": "no not unlike without",
}
"""The words of difference that a claim of each kind can prove."""


def unproved(sentence: str, claim: Any, siblings: Sequence[str]) -> bool:
    """Whether a sentence states a difference that its claim does not prove: by a word, or by naming another sibling.

    >>> unproved("Orders of one year.", None, ["returns"]), unproved("The newest orders.", {"kind": "rows"}, [])
    (False, True)
    >>> unproved("More rows than returns.", {"kind": "more_rows_than", "table": "returns"}, ["returns"])
    False
    """
    told = claim if isinstance(claim, Mapping) else {}
    proved = set(_PROVES.get(str(told.get("kind")), "").split())
    meant = {str(told.get(key)).casefold() for key in ("table", "in", "not_in")}
    words = {word.casefold() for word in _COMPARES.findall(sentence)}
    named = {s.casefold() for s in siblings if re.search(rf"(?<!\w){re.escape(s)}(?!\w)", sentence, re.IGNORECASE)}
    return bool(words - proved or named - meant)


_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def says_more_than(sentence: str, claim: Any, allowed: Sequence[str]) -> bool:
    """Whether a sentence holds a number that neither its claim nor an allowed name holds.

    >>> says_more_than("It has 1,200 rows.", {"kind": "rows", "value": 1200}, []), says_more_than("Of 2024.", None, [])
    (False, True)
    >>> says_more_than("Orders of 2024.", None, ["orders_2024"])
    False
    """
    held = re.sub(r"(?<=\d)[,_](?=\d)", "", f"{claim} {' '.join(allowed)}") if claim else " ".join(allowed)
    figures = (figure.replace(",", "") for figure in _FIGURE.findall(sentence))
    return any(not re.search(rf"(?<!\d){re.escape(figure)}(?!\d)", held) for figure in figures)
