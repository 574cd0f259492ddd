"""A lake over one DuckDB file for tests of enrichers: real rows, findings kept in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from suffice.extend import Enricher
from suffice.libs import duck
from suffice.model import Asset, Column, ColumnKind, Finding, SourceRef
from suffice.rows.engine import Engine

KINDS: dict[str, ColumnKind] = {
    "VARCHAR": "text",
    "INTEGER": "integer",
    "BIGINT": "integer",
    "DOUBLE": "number",
    "DECIMAL": "number",
    "DATE": "time",
    "BOOLEAN": "boolean",
}


class DuckLake:
    """Tables of a new DuckDB file, made from SQL in the order given; `settings` go to the engine."""

    def __init__(self, path: Path, tables: Mapping[str, str], **settings: Any) -> None:
        connection = duck.connect(str(path))
        self.assets: dict[str, Asset] = {}
        for name, sql in tables.items():
            connection.execute(f"CREATE TABLE {duck.quote(name)} AS {sql}")
        listed = connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns()"
            " WHERE database_name = current_database() AND NOT internal ORDER BY table_name, column_index"
        ).fetchall()
        connection.close()
        columns: dict[str, list[Column]] = {}
        for table, column, kind in listed:
            columns.setdefault(table, []).append(Column(column, kind, KINDS.get(kind.split("(")[0], "other")))
        for name in tables:
            urn = f"urn:{name}"
            self.assets[urn] = Asset(urn, "lake", "main", name, "duckdb", columns=tuple(columns[name]))
        self.rows = Engine({"lake": SourceRef("lake", "duckdb", str(path), "duckdb")}, **settings)
        self.found: list[Finding] = []
        self.kept: dict[tuple[str, str], Any] = {}
        self.settings: dict[str, Any] = {}
        self.notes: list[str] = []

    def findings(self, kind: str, urn: str | None = None) -> Sequence[Finding]:
        return [f for f in self.found if f.kind == kind and urn in (None, f.urn)]

    def evidence(self, urn: str, name: str) -> Any:
        return self.kept.get((urn, name))

    def mark(self, asset: Asset) -> str:
        return self.rows.mark(asset)

    def run(self, *enrichers: Enricher) -> None:
        for enricher in enrichers:
            for unit in enricher.units(self):
                result = enricher.enrich(unit, self)
                self.found += result.findings
                self.notes += result.notes
                self.kept.update(result.evidence or {})
