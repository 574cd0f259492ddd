"""DataHub source `suffice-sqlite`: SQLite read from its own tables, where SQLAlchemy's reflection stumbles.

One foreign key to a missing table, a view over a dropped table or a generated column costs nothing else.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from datahub.ingestion.api.common import PipelineContext
from datahub.ingestion.api.decorators import SupportStatus, config_class, platform_name, support_status

from suffice.errors import SourceError
from suffice.ingestion.emit import dataset_urn
from suffice.ingestion.sources.base import BROKEN, AssetSource, Listing, PathConfig
from suffice.ingestion.types import kind_of
from suffice.model import Asset, Column, ForeignKey, SourceRef
from suffice.recipe import database_files, source_name

__all__ = ["SQLiteConfig", "SQLiteSource"]

_SCHEMA = "main"
_GENERATED: dict[int, Literal["virtual", "stored"]] = {2: "virtual", 3: "stored"}
_GENERATED_SUFFIX = re.compile(r"\s*GENERATED\s+ALWAYS.*$", re.I | re.S)


class SQLiteConfig(PathConfig):
    """`path` is a SQLite file, or a folder in which each SQLite file is a source named by its stem."""


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    kind: Literal["table", "view"]
    sql: str


@platform_name("SQLite")
@config_class(SQLiteConfig)
@support_status(SupportStatus.BETA)
class SQLiteSource(AssetSource):
    """Lists tables and views of SQLite files with keys, generated columns and view lineage."""

    platform: ClassVar[str] = "sqlite"

    @classmethod
    def create(cls, config_dict: dict[str, object], ctx: PipelineContext) -> SQLiteSource:
        return cls(SQLiteConfig.model_validate(config_dict), ctx)

    def places(self) -> Iterable[SourceRef]:
        path = Path(self.config.path)
        named = self.config.platform_instance
        for file in database_files(path, "sqlite"):
            yield SourceRef(named or source_name(file), "sqlite", str(file.resolve()), self.platform)

    def list_place(self, listing: Listing) -> None:
        path = Path(listing.ref.location)
        try:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
                connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
                entries = _entries(connection)
                keys = _primary_keys(connection, entries)
                for entry in entries:
                    self._describe(connection, listing, entry, keys)
        except sqlite3.Error as error:
            raise SourceError(f"not readable as SQLite: {error}", mend="is it whole, and not locked?") from error

    def _describe(
        self,
        connection: sqlite3.Connection,
        listing: Listing,
        entry: _Entry,
        keys: Mapping[str, tuple[str, Sequence[str]]],
    ) -> None:
        source = listing.ref.name
        path = f"{source}.{_SCHEMA}.{entry.name}"
        try:
            urn = dataset_urn(self.platform, source, _SCHEMA, entry.name, self.config.env)
        except SourceError as error:
            self.fail_table(path, error)
            return
        listing.urns.add(urn)
        columns: list[Column] = []
        foreign: list[ForeignKey] = []
        broken = ""
        try:
            columns = _columns(connection, entry.name)
            if entry.kind == "view":
                connection.execute(f"SELECT * FROM {_quoted(entry.name)} LIMIT 0")
            else:
                foreign = self._foreign_keys(connection, source, entry.name, keys)
        except sqlite3.OperationalError as error:
            if entry.kind == "table":
                self.fail_table(path, error)
                return
            broken = str(error)
        except sqlite3.DatabaseError as error:
            self.fail_table(path, error)
            return
        primary = keys.get(entry.name.casefold(), ("", ()))[1] if entry.kind == "table" else ()
        listing.assets.append(
            Asset(
                urn=urn,
                source=source,
                schema=_SCHEMA,
                name=entry.name,
                platform=self.platform,
                kind=entry.kind,
                columns=tuple(columns),
                primary_key=tuple(primary),
                foreign_keys=tuple(foreign),
                definition=entry.sql if entry.kind == "view" else "",
                properties={BROKEN: broken} if broken else {},
            )
        )

    def _foreign_keys(
        self,
        connection: sqlite3.Connection,
        source: str,
        table: str,
        keys: Mapping[str, tuple[str, Sequence[str]]],
    ) -> list[ForeignKey]:
        """Names of tables match without case; a key that names no columns means the other's primary key."""
        grouped: dict[int, list[tuple[str, str, str | None]]] = {}
        rows = connection.execute(
            'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq', (table,)
        )
        for number, target, column, referred in rows:
            grouped.setdefault(number, []).append((target, column, referred))
        found = []
        for number, parts in sorted(grouped.items(), reverse=True):
            written = parts[0][0]
            target, primary = keys.get(written.casefold(), (written, ()))
            columns = tuple(column for _, column, _ in parts)
            referred = tuple(to for _, _, to in parts if to is not None) or tuple(primary)
            known = written.casefold() in keys
            found.append(
                ForeignKey(
                    name=f"{table}_{'_'.join(columns)}_fkey{number}",
                    columns=columns,
                    ref_table=f"{source}.{_SCHEMA}.{target}",
                    ref_columns=referred,
                    ref_urn=dataset_urn(self.platform, source, _SCHEMA, target, self.config.env) if known else "",
                )
            )
        return found


def _entries(connection: sqlite3.Connection) -> list[_Entry]:
    """Tables and views in their order of creation, without SQLite's own and the shadows of virtual tables."""
    shadows = {
        name for (name,) in connection.execute("SELECT name FROM pragma_table_list WHERE type = 'shadow'").fetchall()
    }
    rows = connection.execute(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    )
    return [_Entry(name, kind, sql or "") for name, kind, sql in rows if name not in shadows]


def _primary_keys(connection: sqlite3.Connection, entries: Iterable[_Entry]) -> dict[str, tuple[str, Sequence[str]]]:
    """Folded table name -> its name as written and the columns of its primary key in order."""
    found: dict[str, tuple[str, Sequence[str]]] = {}
    for entry in entries:
        if entry.kind != "table":
            continue
        try:
            rows = connection.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (entry.name,))
            found[entry.name.casefold()] = (entry.name, tuple(name for (name,) in rows))
        except sqlite3.Error:
            found[entry.name.casefold()] = (entry.name, ())
    return found


def _columns(connection: sqlite3.Connection, table: str) -> list[Column]:
    """Also generated columns, whose type SQLite may give with `GENERATED ALWAYS` behind it; not hidden ones."""
    rows = connection.execute('SELECT cid, name, type, "notnull", hidden FROM pragma_table_xinfo(?)', (table,))
    columns = []
    for number, name, declared, not_null, hidden in rows:
        if hidden == 1:
            continue
        native = _GENERATED_SUFFIX.sub("", declared or "")
        columns.append(
            Column(
                name=name or f"column_{number + 1}",
                type=native,
                kind=kind_of(native),
                nullable=not not_null,
                generated=_GENERATED.get(hidden),
                original=None if name else name,
            )
        )
    return columns


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
