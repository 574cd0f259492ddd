"""Rows of a table into Arrow by their stored types: SQLite lets a cell hold another type than its column declares."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from suffice.errors import DataUnreachable
from suffice.libs import duck
from suffice.model import Asset, Column

__all__ = ["Fetched", "SQLiteReader", "columns_to_arrow", "fetch_sql", "password_variable", "url_with_password"]

_INT64 = 2**63
_TYPE_NAMES = {int: "integer", float: "real", str: "text", bytes: "blob", bool: "boolean", Decimal: "number"}


@dataclass(frozen=True, slots=True)
class Fetched:
    """An Arrow table, the row count of the whole source table, stored-type shares of mixed columns, skipped columns."""

    table: Any
    rows: int
    types: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)


class SQLiteReader:
    """Rows of one SQLite file by their stored types, on one read-only connection.

    Opening a file of a thousand tables parses its whole schema, so the connection is kept.
    """

    def __init__(self, path: Path, source: str) -> None:
        if not path.exists():
            raise DataUnreachable(f"'{path}' is gone", mend=f"bring it back, or ingest '{source}' again")
        self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30)
        self._connection.text_factory = lambda raw: raw.decode("utf-8", "replace")

    def close(self) -> None:
        self._connection.close()

    def rows(self, asset: Asset, limit: int) -> list[tuple[Any, ...]]:
        """The first `limit` rows. Raises DataUnreachable, as `fetch` does, with what SQLite said."""
        with _told(asset):
            return self._select(asset, f" LIMIT {limit}")

    def fetch(self, asset: Asset, max_rows: int) -> Fetched:
        """The table; a systematic sample by rowid above `max_rows`."""
        table = duck.quote(asset.name)
        with _told(asset):
            rows = int(self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            where = f" LIMIT {max_rows}"
            if rows > max_rows and asset.kind == "table" and self._has_rowid(table):
                where = f" WHERE rowid % {-(-rows // max_rows)} = 0"
            cells = self._select(asset, where)
        return columns_to_arrow([c.name for c in asset.columns], cells, rows)

    def _select(self, asset: Asset, tail: str) -> list[tuple[Any, ...]]:
        chosen = ", ".join(duck.quote(_in_source(c)) for c in asset.columns) or "1"
        return self._connection.execute(f"SELECT {chosen} FROM {duck.quote(asset.name)}{tail}").fetchall()

    def _has_rowid(self, table: str) -> bool:
        try:
            self._connection.execute(f"SELECT rowid FROM {table} LIMIT 1")
        except sqlite3.Error:
            return False
        return True


def _in_source(column: Column) -> str:
    """The name in the source: an empty one is a name too."""
    return column.name if column.original is None else column.original


@contextmanager
def _told(asset: Asset) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise DataUnreachable(f"the rows of '{asset.path}' cannot be read: {error}") from error


def fetch_sql(location: str, asset: Asset, max_rows: int) -> Fetched:
    """A table of any SQLAlchemy database, at most `max_rows` of it, in a read-only transaction.

    Of a larger one PostgreSQL gives a random sample, the same as long as the table is; others the first rows.
    """
    import sqlalchemy as sa

    engine = sa.create_engine(url_with_password(location, asset.source), poolclass=sa.pool.NullPool)
    names = [c.name for c in asset.columns]
    schema = asset.schema if asset.schema != "main" else None
    table = sa.table(asset.name, *[sa.column(_in_source(c)) for c in asset.columns], schema=schema)
    try:
        with engine.connect() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(sa.text("SET TRANSACTION READ ONLY"))
            rows = int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())
            wanted = sa.select(table).limit(max_rows)
            if rows > max_rows and asset.kind == "table" and engine.dialect.name == "postgresql":
                share = sa.func.bernoulli(100.0 * max_rows / rows)
                wanted = sa.select(table.tablesample(share, seed=sa.literal(1))).limit(max_rows)
            cells = [tuple(r) for r in connection.execute(wanted)]
    except (sa.exc.SQLAlchemyError, ValueError, OverflowError) as error:
        reason = str(getattr(error, "orig", error)).split("\n")[0]
        mend = f"the password is read from {password_variable(asset.source)}" if "password" in reason else ""
        raise DataUnreachable(f"the rows of '{asset.path}' cannot be read: {reason}", mend=mend) from error
    finally:
        engine.dispose()
    return columns_to_arrow(names, cells, rows)


def url_with_password(location: str, source: str) -> Any:
    """The URL with the password that `SUFFICE_PASSWORD_<SOURCE>` holds, if any; it is kept nowhere else."""
    import sqlalchemy as sa

    url = sa.make_url(location)
    password = os.environ.get(password_variable(source))
    return url.set(password=password) if password else url


def password_variable(source: str) -> str:
    """The variable that holds the password of a source.

    >>> password_variable("shop-eu")
    'SUFFICE_PASSWORD_SHOP_EU'
    """
    return "SUFFICE_PASSWORD_" + "".join(c if c.isalnum() else "_" for c in source).upper()


def columns_to_arrow(names: Sequence[str], rows: Sequence[Sequence[Any]], total: int) -> Fetched:
    """Rows to Arrow. One stored type stays; integers with reals become double; any other mix becomes text, with the
    share of each type told apart; blobs and nested values are left out and named.
    """
    import pyarrow as pa

    arrays, kept = [], []
    types: dict[str, Mapping[str, float]] = {}
    skipped: dict[str, str] = {}
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * len(names)
    for name, cells in zip(names, columns, strict=True):
        found = set(map(type, cells)) - {type(None)}
        if found & {bytes, bytearray, memoryview, list, dict, tuple, set}:
            odd = [c for c in cells if isinstance(c, bytes | bytearray | memoryview | list | dict | tuple | set)]
            if len(odd) == sum(c is not None for c in cells):
                skipped[name] = "binary" if isinstance(odd[0], bytes | bytearray | memoryview) else "nested"
                continue
        if len(found) > 1 and found != {int, float}:
            types[name] = _shares(cells)
        kept.append(name)
        arrays.append(_array(pa, cells, found))
    return Fetched(pa.table(arrays, names=kept), total, types, skipped)


def _array(pa: Any, cells: Sequence[Any], found: set[type]) -> Any:
    if found == {int}:
        whole = all(-_INT64 <= c < _INT64 for c in cells if c is not None)
        return pa.array(cells, pa.int64()) if whole else pa.array([_text(c) for c in cells], pa.string())
    if found in ({float}, {int, float}):
        return pa.array([None if c is None else float(c) for c in cells], pa.float64())
    if not found or found == {str}:
        return pa.array(cells, pa.string())
    if len(found) == 1 and found <= {bool, date, datetime, time, Decimal}:
        try:
            return pa.array(cells)
        except pa.ArrowInvalid:
            if found == {Decimal}:
                return pa.array([None if c is None else float(c) for c in cells], pa.float64())
    return pa.array([_text(c) for c in cells], pa.string())


def _text(cell: Any) -> str | None:
    if cell is None:
        return None
    return cell.hex() if isinstance(cell, bytes | bytearray | memoryview) else str(cell)


def _shares(cells: Sequence[Any]) -> dict[str, float]:
    from collections import Counter

    counts = Counter(_TYPE_NAMES.get(type(c), type(c).__name__) for c in cells if c is not None)
    total = sum(counts.values())
    return {name: n / total for name, n in counts.most_common()}
