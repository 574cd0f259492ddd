"""Generations: whole or not at all, old ones kept for who reads them, damage told with the mend."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from shop_lake import SHOP, new_home, put, urn_of

from suffice.catalogs.home import Home
from suffice.errors import IndexMismatch, NotReady
from suffice.index.build import build_index
from suffice.index.search import Index
from suffice.report import Report
from suffice.testing import HashEmbedder

FILES = ["manifest.json", "tables.db", "tables.faiss", "texts.npy", "values.db"]


def generations(home: Home) -> list[str]:
    return sorted(p.name for p in home.index_dir.glob("gen-*"))


def change(home: Home, embedder: HashEmbedder, n: int) -> None:
    put(home, "shop.main.orders", ["order_id", f"changed_{n}"])
    build_index(home, Report("index"), embedder=embedder)


def test_no_index_yet(home: Home, embedder: HashEmbedder) -> None:
    with pytest.raises(NotReady, match="suffice index"):
        Index.open(home, embedder)


def test_no_table_yet(tmp_path: Path, embedder: HashEmbedder) -> None:
    with pytest.raises(NotReady, match="suffice ingest"):
        build_index(new_home(tmp_path / "h"), Report("index"), embedder=embedder)


def test_nothing_changed_writes_nothing(indexed: Home, embedder: HashEmbedder) -> None:
    before = {p: p.stat().st_mtime_ns for p in indexed.index_dir.rglob("*") if p.name != "seen.json"}
    embedder.embedded = 0
    report = Report("index")
    build_index(indexed, report, embedder=embedder)
    assert report.done == {"tables unchanged": 5}
    assert embedder.embedded == 0
    assert {p: p.stat().st_mtime_ns for p in indexed.index_dir.rglob("*") if p.name != "seen.json"} == before


@pytest.mark.parametrize("name", [*FILES, "words/meta.json", "CURRENT"])
@pytest.mark.parametrize("damage", ["cut", "garbled", "gone"])
def test_case_33_damage_is_told_and_mended(indexed: Home, embedder: HashEmbedder, name: str, damage: str) -> None:
    file = (indexed.index_dir if name == "CURRENT" else indexed.index_dir / "gen-000001") / name
    held = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(held[: len(held) // 2] if damage == "cut" else bytes(b ^ 255 for b in held))
    error = NotReady if (name, damage) == ("CURRENT", "gone") else IndexMismatch
    with pytest.raises(error, match="suffice index"):
        Index.open(indexed, embedder)
    embedder.embedded = 0
    build_index(indexed, Report("index"), embedder=embedder)
    assert Index.open(indexed, embedder).search("orders", 1)[0].urn == urn_of("shop.main.orders")
    assert embedder.embedded <= 1  # the query; the vectors come from the cache


def test_an_index_of_a_later_format_is_refused(indexed: Home, embedder: HashEmbedder) -> None:
    path = indexed.index_dir / "gen-000001" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    with pytest.raises(IndexMismatch, match="format 99"):
        Index.open(indexed, embedder)


def test_a_reader_keeps_its_generation_and_old_ones_go(indexed: Home, embedder: HashEmbedder) -> None:
    reader = Index.open(indexed, embedder)
    for n in range(4):
        change(indexed, embedder, n)
    assert generations(indexed) == ["gen-000001", "gen-000004", "gen-000005"]
    assert [hit.urn for hit in reader.search("total price", 1)] == [urn_of("shop.main.orders")]
    assert len(reader.column_vectors().of(urn_of("shop.main.orders"))) == 4
    reader.close()
    change(indexed, embedder, 9)
    assert generations(indexed) == ["gen-000005", "gen-000006"]


def test_a_failed_write_leaves_the_old_one(indexed: Home, embedder: HashEmbedder) -> None:
    class Failing(HashEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            raise KeyboardInterrupt

    put(indexed, "shop.main.orders", ["order_id", "new"])
    with pytest.raises(KeyboardInterrupt):
        build_index(indexed, Report("index"), embedder=Failing(64))
    assert generations(indexed) == ["gen-000001"]
    assert len(Index.open(indexed, embedder)) == 5


def test_a_full_cache_or_damaged_one_costs_only_time(indexed: Home, embedder: HashEmbedder) -> None:
    (indexed.cache_dir / "embeddings.db").write_bytes(b"not a database" * 100)
    change(indexed, embedder, 1)
    assert len(Index.open(indexed, embedder)) == 5


WRITER = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from shop_lake import new_home, put
from suffice.index.build import build_index
from suffice.report import Report
from suffice.testing import HashEmbedder
home, embedder = new_home(Path(sys.argv[1])), HashEmbedder(64)
for n in range(int(sys.argv[2])):
    for table in range(5):
        put(home, f"s.main.table{{table}}", ["id", "release" + chr(97 + n // 26) + chr(97 + n % 26)])
    build_index(home, Report("index"), embedder=embedder)
    print(n, flush=True)
"""


def writer(home: Path, times: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(home), str(times)], stdout=subprocess.PIPE, text=True)


def version(index: Index) -> str:
    """The one version that metadata, words and vectors of all tables of a generation speak of."""
    [found] = [text for text in index.column_vectors().texts if text.startswith("release")]
    hits = index.search(found, 10)
    assert [hit.word_rank is not None for hit in hits] == [True] * 5
    held = dict(index._tables.execute("SELECT urn, text FROM tables"))
    assert all(text.endswith(found) for text in held.values())
    assert np.allclose(index.vectors_of(list(held)), HashEmbedder(64).embed(list(held.values())), atol=1e-6)
    return found


def test_case_33_a_reader_beside_a_writer_never_fails_nor_mixes(tmp_path: Path) -> None:
    started = writer(tmp_path / "h", 25)
    assert started.stdout is not None
    started.stdout.readline()
    home, embedder, seen = new_home(tmp_path / "h"), HashEmbedder(64), set()
    while started.poll() is None:
        index = Index.open(home, embedder)
        seen.add(version(index))
        index.close()
    assert started.returncode == 0
    assert len(seen) > 3
    assert version(Index.open(home, embedder)) == "releaseay"
    started.stdout.close()


@pytest.mark.parametrize("seed", range(3))
def test_case_33_a_kill_at_any_moment_leaves_a_readable_index(tmp_path: Path, seed: int) -> None:
    started = writer(tmp_path / "h", 600)
    assert started.stdout is not None
    started.stdout.readline()
    time.sleep(random.Random(seed).uniform(0.01, 0.3))
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    started.stdout.close()
    home, embedder = new_home(tmp_path / "h"), HashEmbedder(64)
    assert version(Index.open(home, embedder)).startswith("release")
    change(home, embedder, seed)
    assert len(Index.open(home, embedder)) == 6
    assert not list(home.index_dir.glob(".new-*"))


def test_the_shop_is_what_these_tests_think() -> None:
    assert len(SHOP) == 5
