"""The index as a reader sees it: one generation, opened whole and kept until it is opened again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from suffice.errors import IndexMismatch, SufficeError
from suffice.index import store
from suffice.index.build import documents_of, read_seen, write_seen
from suffice.index.embed import load_embedder
from suffice.index.values import ValueIndex
from suffice.index.words import WordIndex
from suffice.libs.vectors import FlatVectors
from suffice.model import Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.catalogs.home import Home
    from suffice.extend import Embedder

__all__ = ["ColumnVectors", "Hit", "Index", "Mode"]

Mode = Literal["fused", "vectors", "words"]

WORD_SHARE = 0.8
"""Weight of the words beside the cosine; the best word score of a query counts as 1, so that neither the length of the
query nor the size of the lake moves it. Recall@10 on three development lakes (316, 152, 41 tables): .940, .411, .716;
reciprocal ranks (k = 60) gave .933, .401, .590, the better side alone .930, .375, .677. Flat from .5 to 1.2."""
_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """A table found. Ranks start at 1 and are None where that side did not find it; `cosine` and `words` are the
    scores of the two sides, `words` relative to the best of the query."""

    urn: str
    score: float
    vector_rank: int | None = None
    word_rank: int | None = None
    cosine: float = 0.0
    words: float = 0.0


@dataclass(frozen=True, slots=True)
class ColumnVectors:
    """Vectors of names: `matrix` has one row a distinct text of a column or table name, norm 1.

    `columns` gives the rows of an asset's columns in the asset's order, `names` the row of its own name.
    """

    texts: tuple[str, ...]
    matrix: NDArray[np.float32]
    columns: Mapping[str, NDArray[np.int32]]
    names: Mapping[str, int]

    def of(self, urn: str) -> NDArray[np.float32]:
        """(columns of the asset, width)."""
        return self.matrix[self.columns[urn]]


class Index:
    """Search, look-up and vectors of one generation. Not for use by two threads at once.

    `notes` say what is degraded: without an embedder, words alone are searched.
    """

    def __init__(self, generation: store.Generation, embedder: Embedder | None, notes: Sequence[str] = ()) -> None:
        self._generation = generation
        self._embedder = embedder
        self._embedded: dict[str, NDArray[np.float32]] = {}
        self.notes = list(notes)
        path = generation.path
        self._vectors = FlatVectors.load(path / "tables.faiss")
        self._words = WordIndex(path / "words")
        self._tables = _open_tables(path / "tables.db")
        self._texts = _load_texts(path / "texts.npy")
        self.values = ValueIndex(path / "values.db")

    @classmethod
    def open(cls, home: Home, embedder: Embedder | None = None) -> Index:
        """The generation in force at `home`.

        Raises NotReady when there is none, IndexMismatch when it is damaged, or was built with another embedder or
        another version of the texts. When the embedder cannot be had at all, opens with words only and a note.
        """
        notes = []
        if embedder is None:
            try:
                embedder = load_embedder(home.settings)
            except SufficeError as error:
                notes.append(f"words only, no vectors: {error}")
        generation = store.open_current(home.index_dir)
        try:
            if embedder is not None and not generation.fits(embedder):
                raise _mismatch(generation, embedder)
            return cls(generation, embedder, notes)
        except BaseException:
            generation.close()
            raise

    @property
    def generation(self) -> str:
        return self._generation.name

    @property
    def embedder_name(self) -> str:
        """Of the embedder that this generation was built with."""
        return self._generation.manifest.embedder

    def __len__(self) -> int:
        return int(self._generation.manifest.counts["tables"])

    def search(self, query: str, k: int = 10, scope: Scope | None = None, mode: Mode = "fused") -> list[Hit]:
        """At most `k` tables in `scope`, best first, ties by urn: by cosine plus BM25 in one scale, or one of them."""
        admitted = self._admitted(scope)
        depth = max(_DEPTH, 3 * k)
        vector = None if mode == "words" else self._query_vector(query)
        near = [] if vector is None else self._vectors.search(vector, depth, None if admitted is None else [*admitted])
        worded = [] if mode == "vectors" and vector is not None else self._worded(query, depth, admitted)
        top = max((score for _, score in worded), default=1.0)
        cosines = dict(near)
        words = {number: score / top for number, score in worded}
        if vector is not None:
            beyond = [number for number in words if number not in cosines]
            cosines.update(zip(beyond, (self._vectors.get(beyond) @ vector).tolist(), strict=True))
        vector_rank = {number: rank for rank, (number, _) in enumerate(near, 1)}
        word_rank = {number: rank for rank, (number, _) in enumerate(worded, 1)}
        hits = []
        for number, urn in self._urns(cosines.keys() | words.keys()).items():
            cosine, word = cosines.get(number, 0.0), words.get(number, 0.0)
            # Rounded, so that the order does not hang on the last bit, which the batch of the embedder moves.
            score = round(cosine + WORD_SHARE * word, 5)
            hits.append(Hit(urn, score, vector_rank.get(number), word_rank.get(number), cosine, word))
        return sorted(hits, key=lambda hit: (-hit.score, hit.urn))[:k]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), width), rows of norm 1; each text is embedded once a process. Raises without an embedder."""
        if self._embedder is None:
            raise SufficeError(self.notes[0] if self.notes else "no embedder", mend="run: suffice check")
        missing = [text for text in dict.fromkeys(texts) if text not in self._embedded]
        if missing:
            self._embedded.update(zip(missing, self._embedder.embed(missing), strict=True))
        width = self._embedder.width
        return np.stack([self._embedded[t] for t in texts]) if len(texts) else np.zeros((0, width), dtype=np.float32)

    def vectors_of(self, urns: Sequence[str]) -> NDArray[np.float32]:
        """(len(urns), width) of tables. Raises KeyError for one that this generation does not hold."""
        numbers = []
        for urn in urns:
            row = self._tables.execute("SELECT id FROM tables WHERE urn = ?", (urn,)).fetchone()
            if row is None:
                raise KeyError(urn)
            numbers.append(int(row[0]))
        return self._vectors.get(numbers)

    def column_vectors(self) -> ColumnVectors:
        """Vectors of the names of all columns and tables."""
        return self._column_vectors

    @cached_property
    def _column_vectors(self) -> ColumnVectors:
        texts = tuple(row[0] for row in self._tables.execute("SELECT text FROM texts ORDER BY row"))
        columns, names = {}, {}
        for urn, name, rows in self._tables.execute("SELECT urn, name_row, column_rows FROM tables"):
            columns[urn] = np.frombuffer(rows, dtype=np.int32)
            names[urn] = int(name)
        return ColumnVectors(texts, self._texts, columns, names)

    def stale(self, home: Home) -> int:
        """How many assets were added, changed or removed since this generation was built."""
        seen = home.store.mark()
        if read_seen(home.index_dir, self.generation) == seen:
            return 0
        now = {d.urn: d.mark for d in documents_of(home, self._embedder)}
        held: dict[str, str] = dict(self._tables.execute("SELECT urn, mark FROM tables"))
        changed = sum(held.get(urn) != mark for urn, mark in now.items()) + len(held.keys() - now.keys())
        if not changed:
            write_seen(home.index_dir, seen)
        return changed

    def close(self) -> None:
        self.values.close()
        self._tables.close()
        self._generation.close()

    def _admitted(self, scope: Scope | None) -> dict[int, str] | None:
        """Source by number of the tables in scope; None for all."""
        if scope is None or not scope.globs:
            return None
        rows = self._tables.execute("SELECT id, source, schema, name FROM tables")
        return {int(n): source for n, source, schema, table in rows if scope.admits(source, schema, table)}

    def _query_vector(self, query: str) -> NDArray[np.float32] | None:
        if self._embedder is None:
            return None
        try:
            found: NDArray[np.float32] = self.embed([query])[0]
        except SufficeError as error:
            self._embedder = None
            self.notes.append(f"words only, no vectors: {error}")
            return None
        return found

    def _worded(self, query: str, k: int, admitted: dict[int, str] | None) -> list[tuple[int, float]]:
        if admitted is None:
            return self._words.search(query, k)
        sources = sorted(set(admitted.values()))
        # A scope narrower than its sources: look deeper until enough of it is found.
        while True:
            found = self._words.search(query, k, sources)
            inside = [(number, score) for number, score in found if number in admitted]
            if len(inside) >= min(k, len(admitted)) or len(found) < k:
                return inside
            k *= 4

    def _urns(self, numbers: Iterable[int]) -> dict[int, str]:
        wanted = list(numbers)
        marks = ",".join("?" * len(wanted))
        return dict(self._tables.execute(f"SELECT id, urn FROM tables WHERE id IN ({marks})", wanted))


def _mismatch(generation: store.Generation, embedder: Embedder) -> IndexMismatch:
    made = generation.manifest
    if (made.embedder, made.width) != (embedder.name, embedder.width):
        problem = (
            f"the index was built with embedder '{made.embedder}' ({made.width} wide), in force is "
            f"'{embedder.name}' ({embedder.width} wide)"
        )
        return IndexMismatch(problem, mend="run: suffice index, or set the old embedder again")
    return IndexMismatch("the index holds texts of another version of Suffice", mend=store.MEND)


def _open_tables(path: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        connection.execute("SELECT 1 FROM tables LIMIT 1").fetchall()
    except sqlite3.Error as error:
        raise IndexMismatch(f"'{path}' cannot be read: {error}", mend=store.MEND) from error
    return connection


def _load_texts(path: Path) -> NDArray[np.float32]:
    try:
        held: NDArray[np.float32] = np.load(path, mmap_mode="r" if path.stat().st_size > 2**24 else None)
    except (OSError, ValueError) as error:
        raise IndexMismatch(f"'{path}' cannot be read: {error}", mend=store.MEND) from error
    return held
