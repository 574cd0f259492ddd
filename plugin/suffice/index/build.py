"""Catalog and findings to a new generation of the index; what has not changed is neither embedded nor written again."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import NotReady
from suffice.index import store
from suffice.index.embed import EmbeddingCache, load_embedder, token_counter, token_window
from suffice.index.text import TEXT_VERSION, Document, Told, documents
from suffice.index.values import ValueIndex
from suffice.index.words import WordIndex
from suffice.libs.vectors import FlatVectors
from suffice.model import digest

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.extend import Embedder
    from suffice.report import Report

__all__ = ["build_index", "documents_of", "read_seen", "table_ids", "write_seen"]

_TABLES = """
CREATE TABLE tables (
  id INTEGER PRIMARY KEY, urn TEXT UNIQUE, source TEXT, schema TEXT, name TEXT, mark TEXT, text TEXT, name_row INTEGER,
  column_rows BLOB
);
CREATE TABLE texts (row INTEGER PRIMARY KEY, text TEXT);
"""


@dataclass(frozen=True, slots=True)
class _Contents:
    """All that a generation is made from."""

    documents: Sequence[Document]
    values: Mapping[str, Mapping[str, Sequence[tuple[str, int]]]]
    values_mark: str


def build_index(
    home: Home,
    report: Report,
    progress: Callable[[int, int], None] | None = None,
    embedder: Embedder | None = None,
) -> None:
    """Build or update the index of `home`; `progress(done, all)` counts the texts that are embedded.

    The caller holds the home. A run in which nothing changed writes nothing. Readers keep the old generation until
    they open the index again; a kill at any moment leaves the old one in force. Raises NotReady without a catalog.
    """
    chosen = embedder if embedder is not None else load_embedder(home.settings)
    seen = home.store.mark()
    contents = _contents(home, chosen)
    for document in contents.documents:
        if document.was_cut:
            report.warn("text longer than the embedder's window: what many tables share was left out", document.path)
    before = store.open_or_none(home.index_dir)
    if before is None and not contents.documents:
        raise NotReady("the catalog holds no table", mend="run: suffice ingest PATH")
    try:
        if before is not None and _unchanged(before, contents, chosen):
            report.count("tables unchanged", len(contents.documents))
        else:
            _write(home, contents, chosen, before, report, progress)
    finally:
        if before is not None:
            before.close()
    write_seen(home.index_dir, seen)


def documents_of(home: Home, embedder: Embedder | None) -> list[Document]:
    """The documents of every asset of the catalog as they would be indexed now."""
    return _documents(home, embedder, _told(home))


def table_ids(urns: Sequence[str]) -> list[int]:
    """A 63-bit number for each urn, the same from generation to generation; a collision is stepped over."""
    taken: set[int] = set()
    found = []
    for urn in urns:
        number = int.from_bytes(hashlib.blake2b(urn.encode(), digest_size=8).digest(), "big") >> 1
        while number in taken:
            number = (number + 1) % 2**63
        taken.add(number)
        found.append(number)
    return found


def write_seen(index_dir: Path, mark: str) -> None:
    """Note the state of catalog and store that the generation in force was compared with."""
    current = index_dir / "CURRENT"
    if current.exists():
        with suppress(OSError):  # a reader may not be allowed to; the comparison is made again then
            store.replace_text(index_dir / "seen.json", json.dumps({"of": current.read_text().strip(), "mark": mark}))


def read_seen(index_dir: Path, generation: str) -> str:
    """The noted state, or "" when it was noted for another generation."""
    try:
        noted = json.loads((index_dir / "seen.json").read_text())
        return str(noted["mark"]) if noted["of"] == generation else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _contents(home: Home, embedder: Embedder) -> _Contents:
    told = _told(home)
    found = _documents(home, embedder, told)
    values = {d.urn: told[d.urn].values for d in found if d.urn in told and told[d.urn].values}
    return _Contents(found, values, digest([d.urn for d in found], values))


def _documents(home: Home, embedder: Embedder | None, told: Mapping[str, Told]) -> list[Document]:
    if embedder is None:
        return documents(home.catalog.assets(), told)
    return documents(
        home.catalog.assets(), told, window=token_window(embedder), count_tokens=token_counter(embedder)
    )  # fmt: skip


def _told(home: Home) -> dict[str, Told]:
    """What was found of each asset; a proposed description counts until a person rejects it."""
    described: dict[str, dict[str, str]] = {}
    for finding in home.store.findings(["description"]):
        if isinstance(finding.value, dict):
            described.setdefault(finding.urn, {})[finding.column] = str(finding.value.get("text", ""))
    values = _values(home)
    told = {}
    for urn in described.keys() | values.keys():
        texts = described.get(urn, {})
        told[urn] = Told(texts.pop("", ""), texts, values.get(urn, {}))
    return told


def _values(home: Home) -> dict[str, dict[str, list[tuple[str, int]]]]:
    """Values by urn and column: none of a sensitive column, none at all when the site wants none kept."""
    if not home.settings.sample_values:
        return {}
    barred = {(f.urn, f.column) for f in home.store.findings(["sensitive"])}
    return {
        urn: {
            column: [(str(value), int(count)) for value, count in held]
            for column, held in by_column.items()
            if (urn, column) not in barred
        }
        for urn, by_column in home.store.all_evidence("values").items()
    }


def _unchanged(before: store.Generation, contents: _Contents, embedder: Embedder) -> bool:
    manifest = before.manifest
    if not before.fits(embedder) or manifest.values_mark != contents.values_mark:
        return False
    with closing(sqlite3.connect(f"{(before.path / 'tables.db').as_uri()}?mode=ro&immutable=1", uri=True)) as tables:
        held = {row[0]: (row[1], row[2]) for row in tables.execute("SELECT urn, mark, text FROM tables")}
    return held == {d.urn: (d.mark, d.text) for d in contents.documents}


def _write(
    home: Home,
    contents: _Contents,
    embedder: Embedder,
    before: store.Generation | None,
    report: Report,
    progress: Callable[[int, int], None] | None,
) -> None:
    found = contents.documents
    names = sorted({text for d in found for text in (d.name, *d.columns)})
    cache = EmbeddingCache(home.cache_dir / "embeddings.db", embedder)
    texts = [document.text for document in found]
    vectors = cache.embed([*texts, *names], progress)
    ids = table_ids([document.urn for document in found])
    with store.writing(home.index_dir) as folder:
        index = FlatVectors(embedder.width)
        index.put(ids, vectors[: len(texts)])
        index.save(folder / "tables.faiss")
        np.save(folder / "texts.npy", vectors[len(texts) :])
        _write_tables(folder / "tables.db", found, ids, names)
        (folder / "words").mkdir()
        WordIndex.build(folder / "words", zip(ids, found, strict=True))
        if before is not None and before.manifest.values_mark == contents.values_mark:
            shutil.copyfile(before.path / "values.db", folder / "values.db")
            held = before.manifest.counts["values"]
        else:
            held = ValueIndex.build(folder / "values.db", found, contents.values)
        counts = {"tables": len(found), "texts": len(names), "values": held}
        store.write_manifest(
            folder, store.Manifest(embedder.name, embedder.width, TEXT_VERSION, counts, contents.values_mark)
        )
    cache.keep_only([*texts, *names])
    report.count("tables indexed", len(found))
    report.count("texts embedded", cache.embedded)
    report.count("values indexed", held)


def _write_tables(path: Path, found: Iterable[Document], ids: Sequence[int], names: Sequence[str]) -> None:
    place = {text: row for row, text in enumerate(names)}
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _TABLES)
        connection.execute("BEGIN")
        for number, d in zip(ids, found, strict=True):
            rows = np.array([place[text] for text in d.columns], dtype=np.int32).tobytes()
            connection.execute(
                "INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (number, d.urn, d.source, d.schema, d.table, d.mark, d.text, place[d.name], rows),
            )
        connection.executemany("INSERT INTO texts VALUES (?, ?)", enumerate(names))
        connection.execute("COMMIT")
