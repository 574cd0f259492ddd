"""What a view is made from, read off its definition by DataHub's sqlglot lineage.

Names match without regard to case, as SQLite and DuckDB match them, and are given back as the catalog spells them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from suffice.ingestion.emit import FieldLineage
from suffice.model import Asset

__all__ = ["MAX_DEPTH", "Origin", "ViewLineage", "nesting_depth"]

MAX_DEPTH = 100
"""Brackets nested deeper are not parsed: the parser recurses, and its compiled form can end the whole process."""

_MAX_COLUMN_LINEAGE_CHARS = 20_000
_SKIPPED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.S)
_DIALECTS = {"file": "duckdb"}


def nesting_depth(sql: str) -> int:
    """How deep brackets nest outside strings, quoted names and comments.

    >>> nesting_depth("SELECT ((a)) FROM t WHERE b = '((((' -- ((("), nesting_depth("SELECT 1")
    (2, 0)
    """
    depth = deepest = 0
    for char in re.findall(r"[()\[\]]", _SKIPPED.sub(" ", sql)):
        depth += 1 if char in "([" else -1
        deepest = max(deepest, depth)
    return deepest


@dataclass(frozen=True, slots=True)
class Origin:
    """Urns a view reads from and its columns' lineage. `unknown` says why it could not be told; then both are empty."""

    upstreams: tuple[str, ...] = ()
    fields: tuple[FieldLineage, ...] = ()
    unknown: str = ""


class ViewLineage:
    """The lineage of views among the assets of one source. A name that is a CTE is no table."""

    def __init__(self, platform: str, assets: Iterable[Asset]) -> None:
        self._tables = _Tables(_DIALECTS.get(platform, platform), assets)

    def of(self, view: Asset) -> Origin:
        depth = nesting_depth(view.definition)
        if depth > MAX_DEPTH:
            return Origin(unknown=f"brackets nest {depth} deep, more than {MAX_DEPTH}")
        from datahub.sql_parsing.sqlglot_lineage import sqlglot_lineage

        found = sqlglot_lineage(
            view.definition,
            schema_resolver=self._tables,
            default_schema="main",
            generate_column_lineage=len(view.definition) <= _MAX_COLUMN_LINEAGE_CHARS,
        )
        if found.debug_info.table_error is not None:
            return Origin(unknown=str(found.debug_info.table_error).split("\n")[0][:200])
        upstreams = dict.fromkeys(urn for urn in found.in_tables if urn in self._tables.by_urn and urn != view.urn)
        return Origin(tuple(upstreams), self._fields(view, found.column_lineage or ()))

    def _fields(self, view: Asset, lineage: Iterable[Any]) -> tuple[FieldLineage, ...]:
        """Output columns come in the order of the view's own, which may be renamed in its head."""
        told = list(lineage)
        if len(told) != len(view.columns):
            return ()
        fields = []
        for column, line in zip(view.columns, told, strict=True):
            sources = dict.fromkeys(
                (ref.table, name) for ref in line.upstreams if (name := self._tables.column(ref.table, ref.column))
            )
            if sources:
                fields.append(FieldLineage(column.name, tuple(sources)))
        return tuple(fields)


class _Tables:
    """DataHub's schema resolver over assets at hand, by folded names."""

    platform_instance: str | None = None

    def __init__(self, dialect: str, assets: Iterable[Asset]) -> None:
        self._dialect = dialect
        self.by_urn = {asset.urn: asset for asset in assets}
        self._urns = {(a.schema.casefold(), a.name.casefold()): a.urn for a in self.by_urn.values()}
        self._columns = {a.urn: {c.name.casefold(): c.name for c in a.columns} for a in self.by_urn.values()}

    @property
    def platform(self) -> str:
        return self._dialect

    def includes_temp_tables(self) -> bool:
        """True keeps DataHub from caching the parse by this resolver, which would keep every source in memory."""
        return True

    def resolve_table(self, table: Any) -> tuple[str, dict[str, str] | None]:
        urn = self._urns.get(((table.db_schema or "main").casefold(), table.table.casefold()))
        if urn is None:
            return f"unknown:{table.db_schema}.{table.table}", None
        return urn, dict.fromkeys(self._columns[urn], "unknown")

    def column(self, urn: str, name: str) -> str | None:
        return self._columns.get(urn, {}).get(name.casefold())

    def __hash__(self) -> int:
        return id(self)
