"""How a CSV file or a sheet is laid out: encoding, delimiter, header, names and types, told from all of its rows.

Types are those under which every value still equals the file's text: a code with leading zeros stays text, and one
7.9 after 25,000 whole numbers makes the column one of numbers.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from suffice.errors import SourceError
from suffice.ingestion.types import kind_of
from suffice.libs import duck
from suffice.model import Column
from suffice.rows.files import csv_sql, utf8_file

__all__ = ["NULLS", "CsvLayout", "column_names", "csv_layout", "excel_types", "find_header", "named_column"]

NULLS = ("NA", "N/A", "n/a", "NULL", "null", "None", "NaN", "nan", "#N/A", "-", "--", ".", "?")
"""Texts that stand for no value in a column where all others are numbers, times or booleans."""

_SAMPLE_BYTES = 1 << 20
_SAMPLE_RECORDS = 1_000
_CHECKED_BYTES = 50_000_000
"""Rows are held against lines over the first of a file, as many bytes."""
_DELIMITERS = (",", "\t", ";", "|")
_MAX_TITLE_RECORDS = 20
_TYPED = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|\d{4}-\d\d-\d\d([ T].*)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}", re.I)
_YEAR = re.compile(r"(1[5-9]|20|21)\d\d")
_CODECS = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1257", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr",
    "koi8_r",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """Columns of a CSV file, the options with which `suffice.rows.files` reads it, its rows, and what to tell of it."""

    columns: tuple[Column, ...]
    options: dict[str, Any]
    rows: int
    notes: tuple[str, ...]


def csv_layout(path: Path) -> CsvLayout:
    """Read all of a CSV file once. Raises SourceError when there is nothing in it or it cannot be read."""
    encoding = _encoding(path)
    text, whole = _sample(path, encoding)
    if not text.strip():
        raise SourceError(f"'{path}' is empty")
    best = _read_with(path, encoding, text, whole, quote='"')
    if best.rows < best.lines * 0.9 and best.open_quote:
        best = _read_with(path, encoding, text, whole, quote="")
        best.notes.append("a quote is left open; quotes are read as text")
    return best.layout()


class _Reading:
    """One way to read a file, counted."""

    def __init__(self, options: dict[str, Any], names: list[str], originals: list[str | None]) -> None:
        self.options = options
        self.names = names
        self.originals = originals
        self.types: list[str] = []
        self.rows = self.lines = self.ragged = 0
        self.open_quote = False
        self.notes: list[str] = []

    @property
    def width(self) -> int:
        return len(self.names)

    def layout(self) -> CsvLayout:
        columns = tuple(
            named_column(name, type_, original)
            for name, type_, original in zip(self.names, self.types, self.originals, strict=True)
        )
        if self.ragged:
            self.notes.append(f"{self.ragged} rows hold more cells than the header; what is beyond it is not read")
        if any(original is not None for original in self.originals):
            self.notes.append("column names that repeat or are empty are renamed")
        return CsvLayout(columns, self.options, self.rows, tuple(self.notes))


def _read_with(path: Path, encoding: str, text: str, whole: bool, quote: str) -> _Reading:
    delimiter, records, lines = _records(text, whole, quote, path.name.lower())
    header, first = find_header(records)
    skip = lines[first - 1] if first else 0
    width = Counter(len(record) for record in records[first:] or records).most_common(1)[0][0]
    names, originals = column_names(_padded(records, header, first, width))
    if header is None:
        originals = [None] * width
    options: dict[str, Any] = {"delimiter": delimiter, "quote": quote, "encoding": encoding, "skip": skip}
    reading = _Reading(options, names, originals)
    with utf8_file(path, encoding) as readable:
        _type_columns(readable, reading)
        reading.lines, reading.open_quote = _lines_and_quotes(readable, skip, blank=width == 1)
    return reading


def _padded(records: list[list[str]], header: int | None, first: int, width: int) -> list[str]:
    """A name a cell. A header one short lacks the name of the row numbers before it, or of nothing behind it."""
    if header is None:
        return [""] * width
    head = records[header]
    if len(head) == width - 1 and any(len(r) == width and r[-1].strip() for r in records[first:]):
        return ["", *head]
    return head + [""] * (width - len(head))


def _encoding(path: Path) -> str:
    """Python's name of the encoding; "utf-8" only when the whole file is; with `+replace` when a few bytes are not."""
    with _opened(path) as handle:
        head = handle.read(_SAMPLE_BYTES)
        for mark, name in (
            (codecs.BOM_UTF8, "utf-8"),
            (codecs.BOM_UTF16_LE, "utf-16"),
            (codecs.BOM_UTF16_BE, "utf-16"),
        ):
            if head.startswith(mark):
                return name
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            chunk = head
            while chunk:
                decoder.decode(chunk)
                chunk = handle.read(_SAMPLE_BYTES)
            decoder.decode(b"", final=True)
            return "utf-8"
        except UnicodeDecodeError:
            pass
    beyond = [byte for byte in head if byte > 127]
    if len(head.decode("utf-8", "ignore").encode()) >= len(head) - max(3, len(beyond) // 20):
        return "utf-8+replace"
    from charset_normalizer import from_bytes

    best = from_bytes(head[: 1 << 16], cp_isolation=list(_CODECS)).best()
    if best is None or "cp1252" in best.could_be_from_charset:
        return "cp1252"
    return best.encoding


def _sample(path: Path, encoding: str) -> tuple[str, bool]:
    """The first text of a file and whether it is all of it."""
    with _opened(path) as handle:
        raw = handle.read(_SAMPLE_BYTES + 1)
    codec = "utf-8-sig" if encoding.startswith("utf-8") else encoding
    whole = len(raw) <= _SAMPLE_BYTES
    return codecs.getincrementaldecoder(codec)("replace").decode(raw[:_SAMPLE_BYTES], final=whole), whole


def _records(text: str, whole: bool, quote: str, name: str) -> tuple[str, list[list[str]], list[int]]:
    """The delimiter under which most records have the same number of cells, the first records, and the physical line
    at which each ends. One column when none divides them evenly."""
    found: dict[str, tuple[list[list[str]], list[int]]] = {}
    scores: dict[str, tuple[float, int]] = {}
    for delimiter in _DELIMITERS:
        records, lines = _parsed(text, whole, delimiter, quote)
        found[delimiter] = (records, lines)
        counts = Counter(len(record) for record in records)
        if not counts:
            continue
        width, share = max(counts.items(), key=lambda item: (item[1], item[0]))
        even = share / len(records)
        headless = len(records[0]) == 1 and delimiter != "," and find_header(records[1:])[0] is None
        if width > 1 and even >= 0.7 and not headless:
            scores[delimiter] = (round(even, 1), width)
    if "\t" in scores and name.removesuffix(".gz").endswith(".tsv"):
        best = "\t"
    elif scores:
        best = max(scores, key=lambda delimiter: scores[delimiter])
    elif ragged := [d for d in _DELIMITERS if _divides_raggedly(found[d][0])]:
        best = ragged[0]
    else:
        best = _unused(text)
        found[best] = _parsed(text, whole, best, quote)
    return best, *found[best]


def _divides_raggedly(records: list[list[str]]) -> bool:
    """Whether the first record has several cells and nearly all others have some, if not the same number."""
    return bool(records) and len(records[0]) > 1 and sum(len(r) > 1 for r in records) >= 0.9 * len(records)


def _unused(text: str) -> str:
    """A delimiter that does not divide a one-column file."""
    return next(d for d in (",", "\t", ";", "|", "\x1f", "\x1e") if d not in text)


def _parsed(text: str, whole: bool, delimiter: str, quote: str) -> tuple[list[list[str]], list[int]]:
    quoting: Any = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **quoting)
    records: list[list[str]] = []
    lines: list[int] = []
    try:
        for record in reader:
            if record:
                records.append(record)
                lines.append(reader.line_num)
            if len(records) > _SAMPLE_RECORDS:
                break
    except csv.Error:
        pass
    if not whole and len(records) <= _SAMPLE_RECORDS and len(records) > 1:
        del records[-1], lines[-1]
    return records, lines


def find_header(records: Sequence[Sequence[str]]) -> tuple[int | None, int]:
    """The index of the record that names the columns, None when none does, and the index of the first of values.

    Title lines before it have fewer cells. A header is not made of what its columns hold: where a column holds numbers
    or dates, its name is none, years apart.

    >>> find_header([["Report 2024"], ["id", "2019", "2020"], ["a", "1.5", "2"], ["b", "2", "7"]])
    (1, 2)
    >>> find_header([["1", "x"], ["2", "y"]]), find_header([["note"], ["hello"]])
    ((None, 0), (0, 1))
    """
    if not records:
        return None, 0
    width = Counter(len(record) for record in records).most_common(1)[0][0]
    start = next(
        (
            n
            for n, record in enumerate(records[:_MAX_TITLE_RECORDS])
            if (len(record) == width and _filled(record) >= width * 0.5)
            or (len(record) == width - 1 >= 2 and _filled(record) == len(record))
            or (len(record) == width + 1 >= 5 and _filled(record) >= width * 0.5)
        ),
        0,
    )
    head, body = records[start], records[start + 1 : start + 201]
    named = 0
    for number, cell in enumerate(head):
        cells = [r[number] for r in body if number < len(r) and r[number].strip()]
        typed = sum(_typed(c) for c in cells) > len(cells) * 0.6
        if cells and typed:
            named += 0 if _YEAR.fullmatch(cell.strip()) else (-1 if _typed(cell) else 1)
    if named == 0:
        named = -1 if any(_typed(c) and not _YEAR.fullmatch(c.strip()) for c in head) or not any(head) else 1
    return (start, start + 1) if named > 0 else (None, start)


def column_names(head: Iterable[Any]) -> tuple[list[str], list[str | None]]:
    """Names that differ also without case, the same on every run, and the name in the file where one was changed.

    >>> column_names(["id", "id", "", "ID", "id_1"])
    (['id', 'id_2', 'column_3', 'ID_3', 'id_1'], [None, 'id', '', 'ID', None])
    """
    texts = [" ".join(str(cell).split()) for cell in head]
    taken = {text.casefold() for text in texts if text}
    used: set[str] = set()
    counts: Counter[str] = Counter()
    names: list[str] = []
    originals: list[str | None] = []
    for number, text in enumerate(texts, start=1):
        name = text or f"column_{number}"
        counts[name.casefold()] += 1
        if name.casefold() in used or (not text and name.casefold() in taken):
            base, number = name, max(2, counts[name.casefold()])
            while f"{base}_{number}".casefold() in used | taken:
                number += 1
            name = f"{base}_{number}"
        used.add(name.casefold())
        names.append(name)
        originals.append(None if name == text else text)
    return names, originals


def named_column(name: str, type_: str, original: str | None) -> Column:
    return Column(name=name, type=type_, kind=kind_of(type_), original=original)


def excel_types(rows: Sequence[Sequence[Any]], width: int) -> list[str]:
    """DuckDB types of a sheet's columns under which no cell changes."""
    types = []
    for number in range(width):
        cells = [row[number] for row in rows if number < len(row) and row[number] != ""]
        found = set(map(type, cells))
        if found == {bool}:
            types.append("BOOLEAN")
        elif found and found <= {float, int}:
            whole = all(float(c).is_integer() and abs(c) < 2**53 for c in cells)
            types.append("BIGINT" if whole else "DOUBLE")
        elif found == {date}:
            types.append("DATE")
        elif found and found <= {date, datetime}:
            types.append("TIMESTAMP")
        else:
            types.append("VARCHAR")
    return types


_FIGURES = (
    "count(x{0})", "count(c{0})", "count(TRY_CAST(x{0} AS DOUBLE))", "count(TRY_CAST(x{0} AS BIGINT))",
    "count_if(x{0} SIMILAR TO '.*[^0-9+-].*')", "count_if(x{0} SIMILAR TO '[+-]?0[0-9].*' OR contains(x{0}, '_'))",
    "count_if(lower(x{0}) IN ('true', 'false'))", "count(TRY_CAST(x{0} AS DATE))", "count(TRY_CAST(x{0} AS TIMESTAMP))",
    "min(length(x{0}))", "max(length(x{0}))",
)  # fmt: skip


def _type_columns(path: Path, reading: _Reading) -> None:
    """Count all rows, those with a cell too many, and give each column its type."""
    width = reading.width
    wide = [(f"c{n}", "VARCHAR") for n in range(width + 1)]
    words = ", ".join(map(duck.text, NULLS))
    plain = ", ".join(f"c{n}, CASE WHEN c{n} IN ({words}) THEN NULL ELSE c{n} END AS x{n}" for n in range(width))
    figures = ", ".join(figure.format(n) for n in range(width) for figure in _FIGURES)
    try:
        with duck.connect() as connection:
            connection.execute("SET threads=2")
            row = connection.execute(
                f"SELECT count(*), count(c{width}), {figures} FROM (SELECT {plain}, c{width} "
                f"FROM ({csv_sql(path, reading.options, wide)}))"
            ).fetchone()
            assert row is not None
            reading.rows, reading.ragged = row[0], row[1]
            nulls: dict[str, list[str]] = {}
            for n, name in enumerate(reading.names):
                told = row[2 + n * len(_FIGURES) : 2 + (n + 1) * len(_FIGURES)]
                reading.types.append(_type(*told))
                if reading.types[-1] != "VARCHAR" and told[1] > told[0]:
                    nulls[name] = list(NULLS)
            if nulls:
                reading.options["nulls"] = nulls
    except duck.error_types() as error:
        raise SourceError(f"'{path}' is not readable as CSV: {str(error).splitlines()[0]}") from error


def _type(
    n: int, _told: int, doubles: int, wholes: int, fractions: int, coded: int, truths: int, days: int, times: int,
    shortest: int | None, longest: int | None,
) -> str:  # fmt: skip
    """The narrowest type that holds every non-null text of a column as it stands."""
    if not n or shortest is None or longest is None:
        return "VARCHAR"
    if truths == n:
        return "BOOLEAN"
    if doubles == n and not coded:
        if not fractions:
            return "BIGINT" if wholes == n else "VARCHAR"
        return "DOUBLE"
    if days == n and shortest == longest == 10:
        return "DATE"
    return "TIMESTAMP" if times == n and shortest >= 10 else "VARCHAR"


def _lines_and_quotes(path: Path, skip: int, *, blank: bool) -> tuple[int, bool]:
    """Physical lines after `skip`, those without anything left out unless `blank`; whether the quotes come to an odd
    number, so that one is left open."""
    with _opened(path) as handle:
        raw = handle.read(_CHECKED_BYTES)
        whole = not handle.read(1)
    lines = raw.splitlines()[skip:]
    return sum(1 for line in lines if blank or line.strip()), whole and raw.count(b'"') % 2 == 1


def _filled(record: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in record)


def _typed(cell: str) -> bool:
    return _TYPED.fullmatch(cell.strip()) is not None


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")
