"""DataHub source `suffice-duckdb`: DuckDB files by their own catalog, which the SQLAlchemy dialect cannot list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from datahub.ingestion.api.common import PipelineContext
from datahub.ingestion.api.decorators import SupportStatus, config_class, platform_name, support_status

from suffice.errors import SourceError
from suffice.ingestion.emit import dataset_urn
from suffice.ingestion.sources.base import BROKEN, AssetSource, Listing, PathConfig
from suffice.ingestion.types import kind_of
from suffice.libs import duck
from suffice.model import Asset, Column, ForeignKey, SourceRef
from suffice.recipe import database_files, source_name

__all__ = ["DuckDBConfig", "DuckDBSource"]

_Key = tuple[str, str]
"""Schema and table as DuckDB spells them."""

_HERE = "database_name = current_database() AND NOT internal"


class DuckDBConfig(PathConfig):
    """`path` is a DuckDB file, or a folder in which each DuckDB file is a source named by its stem."""


@dataclass(frozen=True, slots=True)
class _Entry:
    key: _Key
    kind: Literal["table", "view"]
    comment: str
    sql: str


@platform_name("DuckDB")
@config_class(DuckDBConfig)
@support_status(SupportStatus.BETA)
class DuckDBSource(AssetSource):
    """Lists tables and views of DuckDB files with schemas, comments, keys, generated columns and view lineage."""

    platform: ClassVar[str] = "duckdb"

    @classmethod
    def create(cls, config_dict: dict[str, object], ctx: PipelineContext) -> DuckDBSource:
        return cls(DuckDBConfig.model_validate(config_dict), ctx)

    def places(self) -> Iterable[SourceRef]:
        named = self.config.platform_instance
        for file in database_files(Path(self.config.path), "duckdb"):
            yield SourceRef(named or source_name(file), "duckdb", str(file.resolve()), self.platform)

    def list_place(self, listing: Listing) -> None:
        try:
            with duck.connect(listing.ref.location, read_only=True) as connection:
                entries = _entries(connection)
                constraints = _constraints(connection)
                for entry in entries:
                    self._describe(connection, listing, entry, constraints)
        except duck.error_types() as error:
            raise SourceError(
                f"not readable as DuckDB: {str(error).splitlines()[0]}", mend="is it open for writing elsewhere?"
            ) from error

    def _describe(
        self, connection: Any, listing: Listing, entry: _Entry, constraints: dict[_Key, list[dict[str, Any]]]
    ) -> None:
        source, (schema, name) = listing.ref.name, entry.key
        path = f"{source}.{schema}.{name}"
        try:
            urn = dataset_urn(self.platform, source, schema, name, self.config.env)
        except SourceError as error:
            self.fail_table(path, error)
            return
        listing.urns.add(urn)
        properties = {}
        try:
            if entry.kind == "view":
                try:
                    connection.execute(f"SELECT * FROM {duck.quote(schema, name)} LIMIT 0")
                except duck.error_types() as error:
                    properties[BROKEN] = str(error).splitlines()[0]
            columns = [] if BROKEN in properties else _columns(connection, entry.key)
        except duck.error_types() as error:
            self.fail_table(path, str(error).splitlines()[0])
            return
        held = constraints.get(entry.key, [])
        primary = next((c["columns"] for c in held if c["type"] == "PRIMARY KEY"), ())
        listing.assets.append(
            Asset(
                urn=urn,
                source=source,
                schema=schema,
                name=name,
                platform=self.platform,
                kind=entry.kind,
                columns=tuple(columns),
                primary_key=tuple(primary),
                foreign_keys=tuple(
                    ForeignKey(
                        name=c["name"] or f"{name}_{'_'.join(c['columns'])}_fkey",
                        columns=tuple(c["columns"]),
                        ref_table=f"{source}.{schema}.{c['target']}",
                        ref_columns=tuple(c["referred"]),
                        ref_urn=dataset_urn(self.platform, source, schema, c["target"], self.config.env),
                    )
                    for c in held
                    if c["type"] == "FOREIGN KEY"
                ),
                description=entry.comment,
                definition=entry.sql if entry.kind == "view" else "",
                properties=properties,
            )
        )


def _entries(connection: Any) -> list[_Entry]:
    rest = f"WHERE {_HERE} AND NOT temporary ORDER BY ALL"
    tables = connection.execute(f"SELECT schema_name, table_name, comment, sql FROM duckdb_tables() {rest}").fetchall()
    views = connection.execute(f"SELECT schema_name, view_name, comment, sql FROM duckdb_views() {rest}").fetchall()
    return [_Entry((s, n), "table", comment or "", sql or "") for s, n, comment, sql in tables] + [
        _Entry((s, n), "view", comment or "", sql or "") for s, n, comment, sql in views
    ]


def _columns(connection: Any, key: _Key) -> list[Column]:
    cursor = connection.execute(
        f"SELECT * FROM duckdb_columns() WHERE {_HERE} AND schema_name = ? AND table_name = ? ORDER BY column_index",
        list(key),
    )
    names = [d[0] for d in cursor.description]
    columns = []
    for row in cursor.fetchall():
        told = dict(zip(names, row, strict=True))
        native = str(told["data_type"])
        columns.append(
            Column(
                name=told["column_name"],
                type=native,
                kind=kind_of(native),
                nullable=bool(told["is_nullable"]),
                description=told.get("comment") or "",
                generated="virtual" if told.get("is_generated") else None,
            )
        )
    return columns


def _constraints(connection: Any) -> dict[_Key, list[dict[str, Any]]]:
    """Primary and foreign keys by table; the target of a foreign key lies in the schema of the table."""
    cursor = connection.execute(
        "SELECT * FROM duckdb_constraints() WHERE database_name = current_database() "
        "AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') ORDER BY constraint_index"
    )
    names = [d[0] for d in cursor.description]
    found: dict[_Key, list[dict[str, Any]]] = {}
    for row in cursor.fetchall():
        told = dict(zip(names, row, strict=True))
        found.setdefault((told["schema_name"], told["table_name"]), []).append(
            {
                "type": told["constraint_type"],
                "name": told.get("constraint_name") or "",
                "columns": told["constraint_column_names"],
                "target": told.get("referenced_table") or "",
                "referred": told.get("referenced_column_names") or [],
            }
        )
    return found
