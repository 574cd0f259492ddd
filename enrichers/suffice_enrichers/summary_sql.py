"""The same counts for a large table, in DuckDB: a statement a column over its distinct values, so each fails alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suffice.libs import duck
from suffice.rows.engine import Engine
from suffice_enrichers.summary import QUANTILES, Summary, ValueClass

__all__ = ["class_of_type", "column_types", "of_relation"]

_INTEGERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
)
_NESTED = ("STRUCT", "MAP", "UNION", "JSON", "VARIANT")
_BINARY = ("BLOB", "BIT", "GEOMETRY")


def class_of_type(native: str) -> ValueClass:
    """What DuckDB's type holds; "skipped" for nested and binary ones.

    >>> [class_of_type(t) for t in ("BIGINT", "DECIMAL(9,2)", "VARCHAR", "TIMESTAMP WITH TIME ZONE", "INTEGER[]")]
    ['integer', 'number', 'text', 'time', 'skipped']
    """
    if native.endswith("]") or native.startswith((*_NESTED, *_BINARY)):
        return "skipped"
    if native in _INTEGERS:
        return "integer"
    if native in ("FLOAT", "DOUBLE") or native.startswith("DECIMAL"):
        return "number"
    if native.startswith(("DATE", "TIME")):
        return "time"
    return "boolean" if native == "BOOLEAN" else "text"


def column_types(rows: Engine, table: str) -> dict[str, str]:
    """DuckDB's type of each column of `table`, in order."""
    return {str(name): str(native) for name, native, *_ in rows.query(f"DESCRIBE SELECT * FROM {table}")}


def of_relation(rows: Engine, table: str, native: Mapping[str, str], base: int, max_values: int) -> dict[str, Summary]:
    """A summary a column of `table`, which has `base` rows, with at most `max_values` of the distinct values.

    A statement that fails leaves its column (or its quantiles) named as skipped.
    """
    found = {name: _column(rows, table, name, kind, base, max_values) for name, kind in native.items()}
    ranged = [n for n, s in found.items() if s.value_class in ("integer", "number", "time") and s.present]
    for name, values in _quantiles(rows, table, ranged, native).items():
        if values is None:
            found[name].skipped.append("quantiles: not computed")
        else:
            found[name].quantiles = values
    return found


def _column(rows: Engine, table: str, name: str, native: str, base: int, max_values: int) -> Summary:
    summary = Summary(class_of_type(native))
    column = duck.quote(name)
    try:
        if summary.value_class == "skipped":
            binary = native.startswith(_BINARY)
            summary.present = int(rows.query(f"SELECT count({column}) FROM {table}")[0][0])
            summary.skipped.append(f"{'binary' if binary else 'nested'}: only nulls are counted")
        else:
            _count(rows, table, column, native, max_values, summary)
    except duck.error_types() as error:
        summary.value_class = "skipped"
        summary.skipped.append(f"all: {type(error).__name__}")
        return summary
    summary.nulls = base - summary.present
    return summary


def _count(rows: Engine, table: str, column: str, native: str, max_values: int, summary: Summary) -> None:
    kind = summary.value_class
    text = kind == "text"
    value = column if not text or native == "VARCHAR" else f"CAST({column} AS VARCHAR)"
    kept = max_values if text else 10
    grouped = f"SELECT {value} AS v, count(*) AS n FROM {table} WHERE {column} IS NOT NULL GROUP BY 1"
    finite = "isfinite(v)" if native in ("FLOAT", "DOUBLE") else "true"
    mean = f"sum(CAST(v AS DOUBLE) * n) FILTER ({finite}) / sum(n) FILTER ({finite})"
    blanks = "sum(n) FILTER (regexp_full_match(v, '\\s*'))"
    found = rows.query(
        f"WITH h AS MATERIALIZED ({grouped}) "
        f"SELECT count(*), sum(n), max(n), min(v) FILTER ({finite}), max(v) FILTER ({finite}), "
        f"sum(n) FILTER (NOT {finite}), {mean if kind in ('integer', 'number') else 'NULL'}, "
        + (f"{blanks}, min(length(v)), max(length(v))" if text else "NULL, NULL, NULL")
        + f", (SELECT list((v, n)) FROM (SELECT v, n FROM h ORDER BY n DESC, v LIMIT {kept})) FROM h"
    )[0]
    distinct, present, most, low, high, nonfinite, average, empty, shortest, longest, top = found
    summary.distinct, summary.present, summary.most = int(distinct), int(present or 0), int(most or 0)
    summary.low, summary.high, summary.mean = low, high, average
    summary.nonfinite, summary.blanks = int(nonfinite or 0), int(empty or 0)
    summary.length = (int(shortest), int(longest)) if shortest is not None else None
    summary.counts = [(v, int(n)) for v, n in top or ()]
    summary.complete = len(summary.counts) == summary.distinct


def _quantiles(
    rows: Engine, table: str, names: Sequence[str], native: Mapping[str, str]
) -> dict[str, tuple[Any, ...] | None]:
    """All in one statement; one by one when that fails."""
    if not names:
        return {}
    try:
        found = rows.query(f"SELECT {', '.join(_quantile(n, native[n]) for n in names)} FROM {table}")[0]
    except duck.error_types():
        if len(names) == 1:
            return {names[0]: None}
        parts = [_quantiles(rows, table, [name], native) for name in names]
        return {name: values for part in parts for name, values in part.items()}
    return {name: tuple(values or ()) for name, values in zip(names, found, strict=True)}


def _quantile(name: str, native: str) -> str:
    column = duck.quote(name)
    where = f" FILTER (isfinite({column}))" if native in ("FLOAT", "DOUBLE") else ""
    return f"quantile_disc({column}, {list(QUANTILES)}){where}"
