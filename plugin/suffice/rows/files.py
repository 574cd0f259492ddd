"""Data files as tables: how one is read is decided once, at ingestion, and kept in the asset's properties.

`path` is absolute; `format` is "csv", "json", "parquet" or "excel"; `options` is JSON:

- csv: `delimiter`, `quote` ("" for none), `encoding`, `skip` (physical lines before the first row of values) and
  `nulls`, for a column the texts besides the empty one that stand for no value
- json: `format` as DuckDB calls it, `columns` (name to type), `ignore_errors`
- excel: `sheet`, `skip` (rows before the first row of values)

The asset's columns are the file's, in order; their native types are those of DuckDB.
"""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import IO, Any

from suffice.errors import DataUnreachable
from suffice.libs import duck
from suffice.model import Asset
from suffice.rows.fetch import Fetched, columns_to_arrow

__all__ = ["IN_PLACE_BYTES", "csv_sql", "excel_cell", "excel_rows", "json_sql", "read", "utf8_file"]

IN_PLACE_BYTES = 200_000_000
"""Larger files are read where they lie at each query; smaller ones are fetched once."""

_MAX_LINE_BYTES = 32_000_000
_EXCEL_TEXT = "VARCHAR"


def read(asset: Asset, max_rows: int) -> Fetched | str:
    """The rows of a file's table: fetched, or the SELECT with which DuckDB reads a large file in place.

    Raises DataUnreachable when the file is gone or no longer what it was when it was ingested.
    """
    path = Path(asset.properties.get("path", ""))
    kind = asset.properties.get("format", "")
    if not path.is_file():
        raise DataUnreachable(f"'{path}' is gone", mend=f"bring it back, or ingest '{asset.source}' again")
    options = json.loads(asset.properties.get("options") or "{}")
    if kind == "excel":
        return _read_excel(path, asset, options, max_rows)
    if kind == "parquet":
        return _fetched(asset, _parquet_sql(path, asset), max_rows, _large(path))
    if kind == "json":
        return _fetched(asset, json_sql(path, options), max_rows, _large(path))
    if kind != "csv":
        raise DataUnreachable(f"'{asset.path}' says not how it is read", mend=f"ingest '{asset.source}' again")
    with utf8_file(path, str(options["encoding"])) as readable:
        sql = csv_sql(readable, options, [(c.name, c.type) for c in asset.columns])
        return _fetched(asset, sql, max_rows, _large(path) and readable == path)


def csv_sql(path: Path, options: Mapping[str, Any], columns: Sequence[tuple[str, str]]) -> str:
    """SELECT over a CSV in UTF-8: each of `columns` (name, DuckDB type) by its position, the empty text as null."""
    nulls = options.get("nulls") or {}
    cells = []
    for number, (name, type_) in enumerate(columns):
        cell = f"c{number}"
        if nulls.get(name):
            cell = f"CASE WHEN c{number} IN ({', '.join(map(duck.text, nulls[name]))}) THEN NULL ELSE c{number} END"
        cells.append(f"{cell if type_ == 'VARCHAR' else f'CAST({cell} AS {type_})'} AS {duck.quote(name)}")
    names = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(len(columns)))
    quote = duck.text(options["quote"])
    return (
        f"SELECT {', '.join(cells)} FROM read_csv({duck.text(str(path))}, auto_detect=false, header=false, "
        f"skip={int(options['skip'])}, delim={duck.text(options['delimiter'])}, quote={quote}, escape={quote}, "
        f"columns={{{names}}}, null_padding=true, strict_mode=false, parallel=false, max_line_size={_MAX_LINE_BYTES})"
    )


def json_sql(path: Path, options: Mapping[str, Any]) -> str:
    columns = ", ".join(f"{duck.text(name)}: {duck.text(type_)}" for name, type_ in options["columns"].items())
    bad = " WHERE NOT (" + " AND ".join(f"{duck.quote(name)} IS NULL" for name in options["columns"]) + ")"
    return (
        f"SELECT * FROM read_json({duck.text(str(path))}, format={duck.text(options['format'])}, "
        f"columns={{{columns}}}, ignore_errors={'true' if options.get('ignore_errors') else 'false'}, "
        f"maximum_object_size={_MAX_LINE_BYTES}){bad if options.get('ignore_errors') else ''}"
    )


@contextmanager
def utf8_file(path: Path, encoding: str) -> Iterator[Path]:
    """`path` when it holds UTF-8, else a copy of it in UTF-8 that lasts as long as the context; what does not decode
    becomes the replacement character."""
    if encoding == "utf-8":
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="suffice-") as folder:
        copy = Path(folder) / "utf8.csv"
        codec, errors = encoding.removesuffix("+replace"), "replace"
        with _opened(path) as raw, copy.open("w", encoding="utf-8", newline="", errors="replace") as out:
            text = io.TextIOWrapper(raw, encoding=codec, errors=errors, newline="")
            while chunk := text.read(1 << 20):
                out.write(chunk)
        yield copy


def excel_rows(path: Path, sheet: str) -> list[list[Any]]:
    """The cells of a sheet, row by row from the first, empty ones as ""."""
    from python_calamine import CalamineWorkbook

    rows: list[list[Any]] = (
        CalamineWorkbook.from_path(str(path)).get_sheet_by_name(sheet).to_python(skip_empty_area=False)
    )
    return rows


def excel_cell(cell: Any, type_: str) -> Any:
    """A cell as its column's type: Excel keeps every number as a float, and text columns show it as people read it.

    >>> excel_cell(7.0, "VARCHAR"), excel_cell(7.0, "BIGINT"), excel_cell(7.5, "VARCHAR"), excel_cell("", "DOUBLE")
    ('7', 7, '7.5', None)
    """
    if cell == "" or cell is None:
        return None
    if type_ == _EXCEL_TEXT:
        if isinstance(cell, float) and cell.is_integer():
            return str(int(cell))
        return cell.isoformat(" ") if isinstance(cell, datetime) else str(cell)
    if type_ == "BIGINT":
        return int(cell)
    if type_ == "DOUBLE":
        return float(cell)
    if type_ == "TIMESTAMP" and isinstance(cell, date) and not isinstance(cell, datetime):
        return datetime(cell.year, cell.month, cell.day)
    return cell


def _read_excel(path: Path, asset: Asset, options: Mapping[str, Any], max_rows: int) -> Fetched:
    try:
        rows = excel_rows(path, str(options["sheet"]))[int(options["skip"]) :]
    except Exception as error:
        raise DataUnreachable(f"the rows of '{asset.path}' cannot be read: {error}") from error
    kept = [row for row in rows if any(cell != "" for cell in row)]
    step = max(1, -(-len(kept) // max_rows))
    types = [column.type for column in asset.columns]
    try:
        cells = [
            tuple(excel_cell(row[n] if n < len(row) else "", type_) for n, type_ in enumerate(types))
            for row in kept[::step]
        ]
    except (TypeError, ValueError) as error:
        raise DataUnreachable(f"'{path}' is not what it was: {error}", mend=f"ingest '{asset.source}' again") from error
    return columns_to_arrow([column.name for column in asset.columns], cells, len(kept))


def _fetched(asset: Asset, sql: str, max_rows: int, in_place: bool) -> Fetched | str:
    if in_place:
        return sql
    try:
        with duck.connect() as connection:
            connection.execute("SET threads=2")
            table = connection.sql(sql).to_arrow_table()
    except duck.error_types() as error:
        raise DataUnreachable(
            f"the rows of '{asset.path}' cannot be read: {str(error).splitlines()[0]}",
            mend=f"if the file changed, ingest '{asset.source}' again",
        ) from error
    total = table.num_rows
    if total > max_rows:
        import numpy as np

        table = table.take(np.arange(0, total, -(-total // max_rows)))
    return Fetched(table, total)


def _parquet_sql(path: Path, asset: Asset) -> str:
    names = ", ".join(duck.quote(column.name) for column in asset.columns)
    return f"SELECT {names} FROM read_parquet({duck.text(str(path))})"


def _large(path: Path) -> bool:
    return path.stat().st_size > IN_PLACE_BYTES


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]
