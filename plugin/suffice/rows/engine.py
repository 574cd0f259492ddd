"""One DuckDB through which every table can be read, wherever its rows lie.

A DuckDB file is attached read-only; tables of SQLite, of other databases and small files are fetched into memory by
their stored types; large files are read in place. So an enricher writes one dialect, and joins cross sources.
Nothing here can write to a source.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suffice.errors import DataUnreachable
from suffice.libs import duck
from suffice.model import Asset, SourceRef, digest
from suffice.rows import files, marks
from suffice.rows.fetch import Fetched, SQLiteReader, fetch_sql

__all__ = ["Cells", "Engine", "Relation"]


@dataclass(frozen=True, slots=True)
class Relation:
    """A table as DuckDB sees it: `sql` stands in a FROM clause and reads `"source"."schema"."table"`.

    `rows` counts the whole table, `base` what is here (less when sampled). `types` gives, for a column whose cells
    have several stored types, the share of each; such a column is text here. `skipped` names columns that are not
    here, and why.
    """

    sql: str
    rows: int
    base: int
    columns: tuple[str, ...]
    types: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)

    @property
    def sampled(self) -> bool:
        return self.base < self.rows


@dataclass(frozen=True, slots=True)
class Cells:
    """All rows of a small table as Python values, column by column; `types` and `skipped` as in `Relation`."""

    rows: int
    columns: Mapping[str, Sequence[Any]]
    types: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)


class Engine:
    """Opens sources lazily and answers DuckDB SQL over them. Not for use by two threads at once.

    `max_rows` bounds what is fetched from a table into memory; above it a sample is taken. `statements` counts the
    queries run. Raises DataUnreachable where the rows of a known table cannot be read now.
    """

    def __init__(
        self,
        sources: Mapping[str, SourceRef],
        *,
        max_rows: int = 1_000_000,
        cache_rows: int = 5_000_000,
        timeout_s: float = 60.0,
    ) -> None:
        self._sources = dict(sources)
        self._max_rows = max_rows
        self._cache_rows = cache_rows
        self._timeout_s = timeout_s
        self._con: Any = None
        self._watch: _Watch | None = None
        self._attached: set[str] = set()
        self._held: OrderedDict[str, Relation] = OrderedDict()
        self._taken: dict[str, str] = {}
        self._marks: dict[tuple[str, str], str] = {}
        self._table_marks: dict[str, dict[tuple[str, str], str]] = {}
        self._readers: dict[str, SQLiteReader] = {}
        self.statements = 0

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        if self._con is not None:
            self._con.close()
            self._con = None
        self._attached.clear()
        self._held.clear()
        self._taken.clear()

    # what is asked of it

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of one statement; interrupted after `timeout_s`."""
        self.statements += 1
        connection = self._connection()
        with self._bounded(connection):
            return list(connection.execute(sql, list(parameters)).fetchall())

    def numpy(self, sql: str) -> dict[str, Any]:
        """Columns of one statement as numpy arrays by name."""
        self.statements += 1
        connection = self._connection()
        with self._bounded(connection):
            return dict(connection.execute(sql).fetchnumpy())

    def mark(self, asset: Asset) -> str:
        """Changes whenever the rows may have changed; "" where the source gives no mark (then nothing is assumed)."""
        ref = self._sources.get(asset.source)
        if ref is None:
            return ""
        where = asset.properties.get("path", ref.location) if ref.kind == "files" else ref.location
        if ref.kind == "sqlalchemy":
            if ref.name not in self._table_marks:
                self._table_marks[ref.name] = marks.table_marks(ref.location, ref.name)
            return self._table_marks[ref.name].get((asset.schema, asset.name), "")
        key = (ref.name, where)
        if key not in self._marks:
            self._marks[key] = marks.file_mark(Path(where))
        return self._marks[key]

    def reachable(self, asset: Asset) -> bool:
        ref = self._sources.get(asset.source)
        return ref is not None and (ref.kind == "sqlalchemy" or Path(ref.location).exists())

    def relation(self, asset: Asset) -> Relation:
        """The table as a DuckDB relation, fetched or attached at first use."""
        held = self._held.get(asset.urn)
        if held is not None:
            self._held.move_to_end(asset.urn)
            return held
        ref = self._sources.get(asset.source)
        if ref is None:
            raise DataUnreachable(
                f"the rows of '{asset.path}' cannot be read: no source '{asset.source}'",
                mend=f"suffice ingest it again, or set [sources.{asset.source}] url in suffice.toml",
            )
        try:
            relation = self._open(ref, asset)
        except DataUnreachable:
            raise
        except duck.readable_errors() as error:
            raise DataUnreachable(f"the rows of '{asset.path}' cannot be read: {error}") from error
        self._held[asset.urn] = relation
        self._evict()
        return relation

    def cells(self, asset: Asset, max_rows: int) -> Cells | None:
        """The rows of a table of at most `max_rows`, None for a larger one.

        SQLite gives them by their stored types without going through DuckDB, which is what makes a lake of many
        small tables quick to profile.
        """
        ref = self._sources.get(asset.source)
        if ref is not None and ref.kind == "sqlite" and asset.urn not in self._held:
            self.statements += 1
            rows = self._reader(ref).rows(asset, max_rows + 1)
            if len(rows) > max_rows:
                return None
            names: tuple[str, ...] = tuple(c.name for c in asset.columns)
            return Cells(len(rows), _by_column(names, rows))
        relation = self.relation(asset)
        if relation.rows > max_rows or relation.sampled:
            return None
        found = self.query(f"SELECT * FROM {relation.sql}") if relation.columns else []
        return Cells(relation.rows, _by_column(relation.columns, found), relation.types, relation.skipped)

    # how it is done

    def _reader(self, ref: SourceRef) -> SQLiteReader:
        if ref.name not in self._readers:
            self._readers[ref.name] = SQLiteReader(Path(ref.location), ref.name)
        return self._readers[ref.name]

    def _connection(self) -> Any:
        if self._con is None:
            self._con = duck.connect()
            self._con.execute("SET threads=2")
            self._con.execute("SET preserve_insertion_order=true")
        return self._con

    @contextmanager
    def _bounded(self, connection: Any) -> Iterator[None]:
        if self._watch is None:
            self._watch = _Watch(connection.interrupt)
        self._watch.deadline = time.monotonic() + self._timeout_s
        try:
            yield
        finally:
            self._watch.deadline = None

    def _open(self, ref: SourceRef, asset: Asset) -> Relation:
        if ref.kind == "duckdb":
            return self._attach_duckdb(ref, asset)
        self._attach_memory(ref.name, asset.schema)
        sql = self._name(asset)
        if ref.kind == "files":
            fetched = files.read(asset, self._max_rows)
            if isinstance(fetched, str):
                self._connection().execute(f"CREATE OR REPLACE VIEW {sql} AS {fetched}")
                return self._counted(sql, asset)
        elif ref.kind == "sqlite":
            fetched = self._reader(ref).fetch(asset, self._max_rows)
        else:
            fetched = fetch_sql(ref.location, asset, self._max_rows)
        return self._load(sql, fetched)

    def _name(self, asset: Asset) -> str:
        """The quoted name. DuckDB folds case: of tables that differ in case only, the second gets a mark of its urn."""
        sql = duck.quote(asset.source, asset.schema, asset.name)
        if self._taken.setdefault(sql.casefold(), asset.urn) == asset.urn:
            return sql
        return duck.quote(asset.source, asset.schema, f"{asset.name}~{digest(asset.urn)[:6]}")

    def _load(self, sql: str, fetched: Fetched) -> Relation:
        connection = self._connection()
        fetched = _apart_in_case(fetched)
        connection.register("__fetched", fetched.table)
        try:
            connection.execute(f"CREATE OR REPLACE TABLE {sql} AS SELECT * FROM __fetched")
        finally:
            connection.unregister("__fetched")
        names = tuple(str(n) for n in fetched.table.column_names)
        return Relation(sql, fetched.rows, fetched.table.num_rows, names, fetched.types, fetched.skipped)

    def _attach_duckdb(self, ref: SourceRef, asset: Asset) -> Relation:
        if ref.name not in self._attached:
            path = Path(ref.location)
            if not path.exists():
                raise DataUnreachable(f"'{path}' is gone", mend=f"bring it back, or ingest '{ref.name}' again")
            self._connection().execute(f"ATTACH {duck.text(str(path))} AS {duck.quote(ref.name)} (READ_ONLY)")
            self._attached.add(ref.name)
        return self._counted(duck.quote(ref.name, asset.schema, asset.name), asset)

    def _attach_memory(self, source: str, schema: str) -> None:
        connection = self._connection()
        if source not in self._attached:
            if source.casefold() not in {name.casefold() for name in self._attached}:
                connection.execute(f"ATTACH ':memory:' AS {duck.quote(source)}")
            self._attached.add(source)
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {duck.quote(source, schema)}")

    def _counted(self, sql: str, asset: Asset) -> Relation:
        rows = int(self.query(f"SELECT count(*) FROM {sql}")[0][0])
        return Relation(sql, rows, rows, tuple(c.name for c in asset.columns))

    def _evict(self) -> None:
        loaded = [(u, r) for u, r in self._held.items() if r.base and r.sql.split(".")[0].strip('"') in self._memory()]
        total = sum(r.base for _, r in loaded)
        for urn, relation in loaded[:-2]:
            if total <= self._cache_rows:
                break
            self._connection().execute(f"DROP TABLE IF EXISTS {relation.sql}")
            del self._held[urn]
            total -= relation.base

    def _memory(self) -> set[str]:
        return {n for n in self._attached if self._sources[n].kind in ("sqlite", "sqlalchemy")}


class _Watch:
    """Calls `interrupt` once the deadline has passed. One thread looks now and then: a timer a statement costs 1 ms."""

    _EVERY_S = 0.2

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self.deadline: float | None = None
        self._interrupt = interrupt
        self._done = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def stop(self) -> None:
        self._done.set()

    def _look(self) -> None:
        while not self._done.wait(self._EVERY_S):
            deadline = self.deadline
            if deadline is not None and time.monotonic() > deadline:
                self.deadline = None
                self._interrupt()


def _apart_in_case(fetched: Fetched) -> Fetched:
    """Without the columns whose name another has in another case: DuckDB would read the first for both."""
    seen: set[str] = set()
    twins = []
    for name in fetched.table.column_names:
        if name.casefold() in seen:
            twins.append(name)
        seen.add(name.casefold())
    if not twins:
        return fetched
    why = dict.fromkeys(twins, "its name differs from another's in case only")
    kept = {name: shares for name, shares in fetched.types.items() if name not in why}
    return Fetched(fetched.table.drop_columns(twins), fetched.rows, kept, {**fetched.skipped, **why})


def _by_column(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, Sequence[Any]]:
    if not names or not rows:
        return dict.fromkeys(names, ())
    return dict(zip(names, zip(*rows, strict=True), strict=True))
