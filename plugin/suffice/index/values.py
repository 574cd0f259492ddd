"""From a value to the columns that hold it: normalised texts in one SQLite file of a generation."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from suffice.errors import IndexMismatch
from suffice.index.text import Document
from suffice.model import Scope

__all__ = ["ValueIndex", "ValueMatch", "normalised"]

LONGEST = 200
"""Longer texts are prose, which nobody names whole in a task."""
_CHUNK = 500
_SIGNS = re.compile(r"[\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SCHEMA = """
CREATE TABLE tables (id INTEGER PRIMARY KEY, urn TEXT, source TEXT, schema TEXT, name TEXT);
CREATE TABLE columns (id INTEGER PRIMARY KEY, of INTEGER, name TEXT);
CREATE TABLE held (text TEXT, of INTEGER, value TEXT, count INTEGER, PRIMARY KEY (text, of, value)) WITHOUT ROWID;
"""


def normalised(text: str) -> str:
    """A text as it is compared: without case, accents, punctuation and repeated spaces.

    >>> normalised("  São  Paulo/SP "), normalised("O'Hare Int'l."), normalised("--")
    ('sao paulo sp', 'o hare int l', '')
    """
    if text.isascii():
        return _SIGNS.sub(" ", text.casefold()).strip()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return _SIGNS.sub(" ", unicodedata.normalize("NFKC", bare)).strip()


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """`column` of `urn` holds `value`, in `count` of the examined rows; `phrase` is what was asked for."""

    phrase: str
    urn: str
    column: str
    value: str
    count: int


class ValueIndex:
    """Presence is proved by a match; no match proves nothing, since only the most frequent values are kept."""

    def __init__(self, path: Path) -> None:
        try:
            self._connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
            self._connection.execute("SELECT 1 FROM held LIMIT 1").fetchall()
        except sqlite3.Error as error:
            raise IndexMismatch(f"'{path}' cannot be read: {error}", mend="run: suffice index") from error

    @staticmethod
    def build(
        path: Path, documents: Iterable[Document], values: Mapping[str, Mapping[str, Sequence[tuple[str, int]]]]
    ) -> int:
        """Write the values of `documents`, by urn and column; returns how many were written."""
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _SCHEMA)
            connection.execute("BEGIN")
            columns = 0
            for number, document in enumerate(documents):
                if document.urn not in values:
                    continue
                place = (number, document.urn, document.source, document.schema, document.table)
                connection.execute("INSERT INTO tables VALUES (?, ?, ?, ?, ?)", place)
                for column, held in values[document.urn].items():
                    connection.execute("INSERT INTO columns VALUES (?, ?, ?)", (columns, number, column))
                    connection.executemany("INSERT OR IGNORE INTO held VALUES (?, ?, ?, ?)", _rows(columns, held))
                    columns += 1
            connection.execute("COMMIT")
            return int(connection.execute("SELECT count(*) FROM held").fetchone()[0])

    def lookup(self, phrases: Iterable[str], scope: Scope | None = None) -> list[ValueMatch]:
        """Every column in `scope` that holds one of the phrases, whatever their case and punctuation.

        Ordered by phrase as asked, then by table and column.
        """
        asked: dict[str, str] = {}
        for phrase in phrases:
            text = normalised(phrase)
            if text and len(text) <= LONGEST:
                asked.setdefault(text, phrase)
        found: list[tuple[str, ValueMatch]] = []
        texts = list(asked)
        for start in range(0, len(texts), _CHUNK):
            part = texts[start : start + _CHUNK]
            marks = ",".join("?" * len(part))
            rows = self._connection.execute(
                "SELECT h.text, t.urn, t.source, t.schema, t.name, c.name, h.value, h.count FROM held h"
                f" JOIN columns c ON c.id = h.of JOIN tables t ON t.id = c.of WHERE h.text IN ({marks})",
                part,
            )
            for text, urn, source, schema, table, column, value, count in rows:
                if scope is None or scope.admits(source, schema, table):
                    found.append((text, ValueMatch(asked[text], urn, column, value, count)))
        place = {text: i for i, text in enumerate(texts)}
        found.sort(key=lambda m: (place[m[0]], m[1].urn, m[1].column, m[1].value))
        return [match for _, match in found]

    def close(self) -> None:
        self._connection.close()


def _rows(column: int, held: Sequence[tuple[str, int]]) -> Iterable[tuple[str, int, str, int]]:
    for value, count in held:
        text = normalised(str(value))
        if text and len(text) <= LONGEST:
            yield text, column, str(value), int(count)
