"""DataHub source `suffice-files`: a folder of CSV, TSV, Parquet, JSON (lines) and Excel files, a table a file or sheet.

How a file is read is decided here, once, and kept with the table: `suffice.rows.files` reads it so and no other way.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from datahub.ingestion.api.common import PipelineContext
from datahub.ingestion.api.decorators import SupportStatus, config_class, platform_name, support_status

from suffice.errors import SourceError
from suffice.ingestion.emit import dataset_urn
from suffice.ingestion.sniff import column_names, csv_layout, excel_types, find_header, named_column
from suffice.ingestion.sources.base import AssetSource, Listing, PathConfig
from suffice.ingestion.types import kind_of
from suffice.libs import duck
from suffice.model import Asset, Column, SourceRef
from suffice.recipe import data_files, source_name
from suffice.rows.files import IN_PLACE_BYTES, excel_rows

__all__ = ["FilesConfig", "FilesSource"]

_EXCEL = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
_HEADER_ROWS = 250


class FilesConfig(PathConfig):
    """`path` is a folder of data files, searched with all below it, or one data file."""


@dataclass(slots=True)
class _Table:
    """A table found in a file, before it has its final name."""

    path: Path
    schema: str
    name: str
    format: str
    columns: Sequence[Column] = ()
    options: dict[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    sheet: str = ""


@platform_name("File", id="file")
@config_class(FilesConfig)
@support_status(SupportStatus.BETA)
class FilesSource(AssetSource):
    """Lists the tables of data files. Schema `main` for the folder itself, else the path of the subfolder."""

    platform: ClassVar[str] = "file"

    @classmethod
    def create(cls, config_dict: dict[str, object], ctx: PipelineContext) -> FilesSource:
        return cls(FilesConfig.model_validate(config_dict), ctx)

    def places(self) -> Iterable[SourceRef]:
        path = Path(self.config.path)
        name = self.config.platform_instance or source_name(path)
        yield SourceRef(name, "files", str(path.resolve()), self.platform)

    def list_place(self, listing: Listing) -> None:
        root = Path(listing.ref.location)
        tables: list[_Table] = []
        for path in data_files(root):
            schema = _schema_of(path, root)
            try:
                tables += _tables_of(path, schema)
            except (SourceError, OSError) as error:
                tables.append(_Table(path, schema, source_name(path), ""))
                self.fail("a file cannot be read", str(path), error)
            except Exception as error:
                tables.append(_Table(path, schema, source_name(path), ""))
                self.fail("a file cannot be read", str(path), f"{type(error).__name__}: {error}")
        _name_apart(tables)
        for table in tables:
            self._add(listing, table)

    def _add(self, listing: Listing, table: _Table) -> None:
        source = listing.ref.name
        path = f"{source}.{table.schema}.{table.name}"
        try:
            urn = dataset_urn(self.platform, source, table.schema, table.name, self.config.env)
        except SourceError as error:
            self.fail_table(path, error)
            return
        listing.urns.add(urn)
        if not table.format:
            return
        for note in table.notes:
            self.warn("a file is not as tables should be", str(table.path), note)
        listing.assets.append(
            Asset(
                urn=urn,
                source=source,
                schema=table.schema,
                name=table.name,
                platform=self.platform,
                columns=tuple(table.columns),
                properties={
                    "path": str(table.path),
                    "format": table.format,
                    "options": json.dumps(table.options, ensure_ascii=False),
                },
            )
        )


def _schema_of(path: Path, root: Path) -> str:
    """`main` at the top, else the subfolder's path with dots and slashes as underscores."""
    if path == root:
        return "main"
    parts = path.relative_to(root).parts[:-1]
    return "_".join(part.replace(".", "_") for part in parts) or "main"


def _tables_of(path: Path, schema: str) -> list[_Table]:
    """The tables of one file: one, or one a sheet. Raises SourceError when it holds none."""
    if path.stat().st_size == 0:
        raise SourceError("it is empty", mend="remove it, or write it again")
    name = path.name.lower()
    stem = source_name(path)
    if name.endswith(_EXCEL):
        return list(_sheets(path, schema, stem))
    if name.endswith(".parquet"):
        columns = _described(f"SELECT * FROM read_parquet({duck.text(str(path))})")
        return [_Table(path, schema, stem, "parquet", columns)]
    if name.removesuffix(".gz").endswith((".json", ".jsonl", ".ndjson")):
        return [_json(path, schema, stem)]
    layout = csv_layout(path)
    return [_Table(path, schema, stem, "csv", layout.columns, layout.options, layout.notes)]


def _described(sql: str) -> list[Column]:
    try:
        with duck.connect() as connection:
            rows = connection.execute(f"DESCRIBE {sql}").fetchall()
    except duck.error_types() as error:
        raise SourceError(str(error).splitlines()[0]) from error
    return [Column(name=row[0], type=row[1], kind=kind_of(row[1]), nullable=row[2] != "NO") for row in rows]


def _json(path: Path, schema: str, stem: str) -> _Table:
    """All of a small file decides the types; one broken line of JSON lines does not lose the others."""
    sample = -1 if path.stat().st_size <= IN_PLACE_BYTES else 100_000
    style = "newline_delimited" if path.name.lower().removesuffix(".gz").endswith(("jsonl", "ndjson")) else "auto"
    source = f"read_json({duck.text(str(path))}, format='{style}', sample_size={sample}, maximum_object_size=32000000"
    notes = []
    ignore = False
    try:
        columns = _described(f"SELECT * FROM {source})")
        if sample == -1:
            _counted(f"SELECT count(*) FROM {source})")
    except SourceError:
        if style != "newline_delimited":
            raise
        ignore = True
        columns = _described(f"SELECT * FROM {source}, ignore_errors=true)")
        notes.append("lines that are no JSON are left out")
    if not columns:
        raise SourceError("it holds no object", mend="a table is an array of objects, or an object a line")
    options = {"format": style, "columns": {c.name: c.type for c in columns}, "ignore_errors": ignore}
    return _Table(path, schema, stem, "json", columns, options, notes)


def _counted(sql: str) -> None:
    try:
        with duck.connect() as connection:
            connection.execute(sql).fetchall()
    except duck.error_types() as error:
        raise SourceError(str(error).splitlines()[0]) from error


def _sheets(path: Path, schema: str, stem: str) -> Iterator[_Table]:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        names = CalamineWorkbook.from_path(str(path)).sheet_names
        held = [(name, rows) for name in names if (rows := _without_edges(excel_rows(path, name)))]
    except CalamineError as error:
        raise SourceError(str(error)) from error
    if not held:
        raise SourceError("no sheet holds a cell", mend="remove it, or write it again")
    for name, rows in held:
        header, first = find_header([_texts(row) for row in rows[:_HEADER_ROWS]])
        body = [row for row in rows[first:] if any(cell != "" for cell in row)]
        width = max(map(len, rows))
        head = [*_texts(rows[header]), *[""] * width][:width] if header is not None else [""] * width
        columns, originals = column_names(head)
        if header is None:
            originals = [None] * width
        types = excel_types(body, width)
        yield _Table(
            path,
            schema,
            stem if len(held) == 1 else f"{stem}_{name}",
            "excel",
            [named_column(*parts) for parts in zip(columns, types, originals, strict=True)],
            {"sheet": name, "skip": first},
            sheet=name,
        )


def _without_edges(rows: list[list[Any]]) -> list[list[Any]]:
    """The rows with columns beyond the last used one cut off; [] for a sheet without a cell."""
    width = max((n + 1 for row in rows for n, cell in enumerate(row) if cell != ""), default=0)
    return [row[:width] for row in rows] if width else []


def _texts(row: Sequence[Any]) -> list[str]:
    return [str(int(c)) if isinstance(c, float) and c.is_integer() else str(c) for c in row]


def _name_apart(tables: list[_Table]) -> None:
    """Files whose stems are equal without case get their suffix behind the name, and a number when that is not enough.

    All of them, so that a file added later does not take over the name of another.
    """
    stems = Counter((t.schema.casefold(), t.name.casefold()) for t in tables)
    used: set[tuple[str, str]] = set()
    for table in tables:
        if stems[table.schema.casefold(), table.name.casefold()] > 1:
            suffix = table.path.name[len(source_name(table.path)) :].strip(".").replace(".", "_")
            table.name = f"{table.name}_{suffix}"
        base, number = table.name, 2
        while (table.schema.casefold(), table.name.casefold()) in used:
            table.name, number = f"{base}_{number}", number + 1
        used.add((table.schema.casefold(), table.name.casefold()))
