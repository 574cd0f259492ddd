"""Tables as sets of row hashes, so that two of them can be compared whatever their order, size and number types.

DuckDB hashes, numpy compares. Hashes have 64 bits: that two different rows among ten million share one has odds of
about one in 400,000, so equality of hashes is taken for equality of rows.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.libs.duck import quote
from suffice.model import Asset

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows.engine import Engine

__all__ = ["NUMBERS", "TIMES", "Cells", "Content", "Contents", "distinct_values", "positions"]

INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
NUMBERS = {*INTEGERS, "HUGEINT", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN"}
TIMES = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}
_MAX_CELLS = 60_000_000
_KEPT_CELLS = 30_000_000
_LEAST_KEPT = 2


@dataclass(frozen=True, slots=True)
class Content:
    """What a table holds: its distinct row hashes, sorted, and how often each occurs."""

    asset: Asset
    sql: str
    rows: int
    hashes: NDArray[np.uint64]
    counts: NDArray[np.int64]

    @property
    def distinct(self) -> int:
        return len(self.hashes)

    @property
    def fingerprint(self) -> str:
        """Equal for two tables that hold the same rows equally often."""
        state = hashlib.blake2b(self.hashes.tobytes(), digest_size=16)
        state.update(self.counts.tobytes())
        return state.hexdigest()


@dataclass(slots=True)
class Cells:
    """The distinct rows of a table, column by column, as cell hashes in the order of `Content.hashes`; 0 is null."""

    names: tuple[str, ...]
    columns: list[NDArray[np.uint64]]
    _domains: dict[int, NDArray[np.uint64]] = field(default_factory=dict)
    _orders: dict[tuple[int, ...], tuple[NDArray[np.int64], NDArray[np.uint64]]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def domain(self, column: int) -> NDArray[np.uint64]:
        """The distinct non-null values of a column, sorted."""
        if column not in self._domains:
            values = distinct_values(self.columns[column])
            self._domains[column] = values[values != 0]
        return self._domains[column]

    def key(self, columns: tuple[int, ...], rows: NDArray[Any] | None = None) -> NDArray[np.uint64]:
        """One hash for several cells of each row (all rows, or those at `rows`); 0 where one of them is null."""
        picked = [self.columns[c] if rows is None else self.columns[c][rows] for c in columns]
        return combined(picked)

    def order(self, columns: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """(row numbers, their keys) sorted by the key of `columns`."""
        if columns not in self._orders:
            keys = self.key(columns)
            rows = np.argsort(keys)
            self._orders[columns] = (rows, keys[rows])
        return self._orders[columns]


class Contents:
    """Reads the contents of tables that share their column names, in one canonical form a column.

    A column that is whole numbers everywhere is compared as such; where the tables disagree, numbers are compared as
    doubles, and numbers or times kept as text by what the text means. `columns` are those that all tables have;
    `aliases` gives, by urn, columns that a table calls otherwise ({its name: the others'}, lower case).
    """

    def __init__(
        self, engine: Engine, assets: Iterable[Asset], aliases: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        self._engine = engine
        self._cells: OrderedDict[str, Cells] = OrderedDict()
        types: dict[str, set[str]] = {}
        own: dict[str, dict[str, str]] = {}
        for asset in assets:
            relation = engine.relation(asset)
            described = engine.query(f"DESCRIBE SELECT * FROM {relation.sql}")
            alias = (aliases or {}).get(asset.urn, {})
            own[asset.urn] = {alias.get(name.lower(), name.lower()): name for name in (str(r[0]) for r in described)}
            for row in described:
                name = str(row[0]).lower()
                types.setdefault(alias.get(name, name), set()).add(str(row[1]).split("(")[0])
        shared = sorted(n for n in types if all(n in names for names in own.values()))
        self.columns = tuple(shared)
        self._own = own
        self.types: Mapping[str, set[str]] = {name: types[name] for name in shared}

    def name(self, asset: Asset, column: str) -> str:
        """The asset's own spelling of a shared column."""
        return self._own[asset.urn][column]

    def read(self, asset: Asset) -> Content:
        relation = self._engine.relation(asset)
        hashes = self._engine.numpy(f"SELECT hash({', '.join(self._expressions(asset))}) AS r FROM {relation.sql}")["r"]
        values, counts = distinct_counts(np.asarray(hashes, np.uint64))
        return Content(asset, relation.sql, relation.rows, values, counts)

    def cells(self, content: Content) -> Cells | None:
        """The cell hashes of a table; None when they would not fit into memory. Those used last are kept."""
        if content.distinct * len(self.columns) > _MAX_CELLS:
            return None
        urn = content.asset.urn
        if urn in self._cells:
            self._cells.move_to_end(urn)
            return self._cells[urn]
        relation = self._engine.relation(content.asset)
        expressions = self._expressions(content.asset)
        picked = [_cell(e, f"c{i}") for i, e in enumerate(expressions)]
        raw = self._engine.numpy(f"SELECT hash({', '.join(expressions)}) AS r, {', '.join(picked)} FROM {relation.sql}")
        hashes = np.asarray(raw["r"], np.uint64)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        first = order[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else order
        cells = Cells(self.columns, [np.asarray(raw[f"c{i}"], np.uint64)[first] for i in range(len(expressions))])
        self._cells[urn] = cells
        held = sum(len(kept) for kept in self._cells.values()) * len(self.columns)
        while held > _KEPT_CELLS and len(self._cells) > _LEAST_KEPT:
            held -= len(self._cells.popitem(last=False)[1]) * len(self.columns)
        return cells

    def _expressions(self, asset: Asset) -> list[str]:
        return [_canonical(quote(self.name(asset, column)), self.types[column]) for column in self.columns]


def _cell(expression: str, name: str) -> str:
    # DuckDB hashes the number 0 to 0, which stands for null here.
    return f"CASE WHEN {expression} IS NULL THEN 0::UBIGINT ELSE greatest(hash({expression}), 1::UBIGINT) END AS {name}"


def _canonical(column: str, types: set[str]) -> str:
    """The form in which the cells of a column are compared, given the types it has in the tables of a group."""
    if types <= INTEGERS:
        return f"CAST({column} AS BIGINT)"
    if len(types) == 1:
        return column
    if types <= NUMBERS:
        return f"CAST({column} AS DOUBLE)"
    if types <= TIMES:
        return f"CAST({column} AS TIMESTAMP)"
    if types <= {*NUMBERS, "VARCHAR"}:
        meant = f"CAST(TRY_CAST({column} AS DOUBLE) AS VARCHAR)"
    elif types <= {*TIMES, "VARCHAR"}:
        meant = f"CAST(TRY_CAST({column} AS TIMESTAMP) AS VARCHAR)"
    else:
        return f"CAST({column} AS VARCHAR)"
    return f"COALESCE({meant}, CAST({column} AS VARCHAR))"


def distinct_values(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sorted distinct values (sort and mask: many times faster than `np.unique` on large arrays)."""
    ordered = np.sort(values)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def distinct_counts(values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    if not len(values):
        return values, np.zeros(0, np.int64)
    ordered = np.sort(values)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.diff(np.concatenate([starts, [len(ordered)]])).astype(np.int64)


def positions(wanted: NDArray[np.uint64], known: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each of `wanted` stands in the sorted `known`, and whether it is there at all."""
    if not len(known):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return at, known[at] == wanted


def combined(parts: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """One hash of several, row by row; 0 where one of them is 0."""
    total = parts[0].copy()
    filled = parts[0] != 0
    for part in parts[1:]:
        total = (total ^ (total >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15) + part
        filled &= part != 0
    total[~filled] = 0
    return total
