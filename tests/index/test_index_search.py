"""Search over both sides, updates that rank as a rebuild does, embedders that changed, freshness."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shop_lake import SHOP, drop, find, new_home, put, urn_of

from suffice.catalogs.home import Home
from suffice.errors import IndexMismatch, SufficeError
from suffice.index.build import build_index, table_ids
from suffice.index.search import Index
from suffice.libs.vectors import FlatVectors
from suffice.model import Finding, Scope
from suffice.report import Report
from suffice.testing import HashEmbedder

QUERIES = ["orders of a customer", "home town", "delay by carrier", "latitude of airports", "nothing of this", ""]


def build(home: Home, embedder: HashEmbedder) -> Index:
    build_index(home, Report("index"), embedder=embedder)
    return Index.open(home, embedder)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("What did each order cost in total price?", "shop.main.orders"),
        ("homeTown", "shop.main.customers"),
        ("product name", "shop.main.products"),
        ("flights delayed", "air.main.flights"),
        ("AIRPORT", "air.main.airports"),
    ],
)
def test_the_table_asked_for_comes_first(indexed: Home, embedder: HashEmbedder, query: str, path: str) -> None:
    hit = Index.open(indexed, embedder).search(query, 3)[0]
    assert (hit.urn, hit.word_rank) == (urn_of(path), 1)


def test_case_32_never_more_hits_than_tables(indexed: Home, embedder: HashEmbedder) -> None:
    for query in QUERIES:
        hits = Index.open(indexed, embedder).search(query, 100)
        assert len({hit.urn for hit in hits}) == len(hits) == 5
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_case_32_names_still_match_vectors_after_removal(indexed: Home, embedder: HashEmbedder) -> None:
    drop(indexed, "shop.main.customers")
    put(indexed, "shop.main.zebras", ["stripes"])
    index = build(indexed, embedder)
    assert {hit.urn for hit in index.search("stripes of zebras", 10)} == {
        urn_of(p) for p in [*SHOP.keys() - {"shop.main.customers"}, "shop.main.zebras"]
    }
    for urn, text in index._tables.execute("SELECT urn, text FROM tables"):
        assert np.allclose(index.vectors_of([urn]), embedder.embed([text]), atol=1e-6)
    with pytest.raises(KeyError):
        index.vectors_of([urn_of("shop.main.customers")])


def test_case_32_the_vectors_refuse_what_faiss_takes() -> None:
    vectors = FlatVectors(3)
    eye = np.eye(3, dtype=np.float32)
    vectors.put([1, 2, 3], eye)
    vectors.put([3], eye[:1])  # takes the place of the old one
    assert len(vectors) == 3
    assert vectors.search(np.full(3, np.nan, dtype=np.float32), 2) == []
    assert {i for i, _ in vectors.search(eye[0], 10)[:2]} == {1, 3}
    assert [i for i, _ in vectors.search(eye[0], 10, [2, 99])] == [2]
    vectors.remove([1])
    assert len(vectors.search(eye[0], 10)) == 2
    with pytest.raises(ValueError, match="2 ids"):
        vectors.put([7, 8], eye)
    with pytest.raises(ValueError, match="1 ids"):
        vectors.put([7, 7], eye[:2])
    with pytest.raises(ValueError, match="finite"):
        vectors.put([7], np.full((1, 3), np.inf, dtype=np.float32))
    with pytest.raises(KeyError):
        vectors.get([1])


def test_scope_holds_on_both_sides(indexed: Home, embedder: HashEmbedder) -> None:
    index = Index.open(indexed, embedder)
    for scope in (Scope(("shop",)), Scope(("!air",)), Scope(("shop.main.*",))):
        assert {h.urn for h in index.search("flights and orders", 10, scope)} == {
            urn_of(p) for p in SHOP if p.startswith("shop")
        }
    only = index.search("flights", 10, Scope(("shop.main.orders",)))
    assert [h.urn for h in only] == [urn_of("shop.main.orders")]
    assert index.search("flights", 10, Scope(("nowhere",))) == []


def test_a_scope_narrower_than_its_source_is_searched_deep_enough(tmp_path: Path, embedder: HashEmbedder) -> None:
    home = new_home(tmp_path / "h")
    for i in range(300):
        put(home, f"s.main.price{i:03}", ["price"])
    put(home, "s.other.last", ["price", "a", "b", "c", "d", "e", "f"])
    hits = build(home, embedder).search("price", 5, Scope(("s.other",)))
    assert [(h.urn, h.word_rank) for h in hits] == [(urn_of("s.other.last"), 1)]


@pytest.mark.parametrize(
    "query", ["", "   ", "?!", "the of and", "word " * 10_000, "住所はどこ", "'; DROP TABLE x; --", "\x00"]
)
def test_odd_queries_answer(indexed: Home, embedder: HashEmbedder, query: str) -> None:
    assert len(Index.open(indexed, embedder).search(query, 3)) == 3


def test_case_31_another_embedder_is_told(indexed: Home) -> None:
    with pytest.raises(IndexMismatch, match=r"'hash' \(64 wide\).*'hash' \(16 wide\).*suffice index"):
        Index.open(indexed, HashEmbedder(16))
    with pytest.raises(IndexMismatch, match=r"'hash' \(64 wide\).*'other' \(64 wide\)"):
        Index.open(indexed, HashEmbedder(64, name="other"))
    other = HashEmbedder(64, name="other")
    assert len(build(indexed, other)) == 5
    assert other.embedded > 0  # nothing of the old model was taken over


def test_case_35_without_an_embedder_words_still_answer(indexed: Home) -> None:
    indexed.settings.embedder_model = str(indexed.path / "gone")
    index = Index.open(indexed)
    assert "words only" in index.notes[0] and "embedder_model" in index.notes[0]
    assert index.search("home town", 1)[0].urn == urn_of("shop.main.customers")
    with pytest.raises(SufficeError, match="no embedding model"):
        index.embed(["x"])


def test_an_embedder_that_fails_late_is_told_and_words_answer(indexed: Home) -> None:
    class Late(HashEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            raise SufficeError("the weights are unreadable")

    index = Index.open(indexed, Late(64))
    assert index.search("home town", 1)[0].urn == urn_of("shop.main.customers")
    assert index.notes == ["words only, no vectors: the weights are unreadable"]


def test_an_embedder_that_gives_no_numbers_is_refused(home: Home) -> None:
    class Broken(HashEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            return super().embed(texts) * np.nan

    with pytest.raises(SufficeError, match="finite"):
        build_index(home, Report("index"), embedder=Broken(64))


def test_only_what_changed_is_embedded(indexed: Home, embedder: HashEmbedder) -> None:
    embedder.embedded = 0
    put(indexed, "shop.main.orders", ["order_id", "customer_id", "ordered_on", "grand_total"])
    build(indexed, embedder)
    assert embedder.embedded == 2  # the table, and the name of its new column


def test_stale_counts_changes_additions_and_removals(indexed: Home, embedder: HashEmbedder) -> None:
    index = Index.open(indexed, embedder)
    assert index.stale(indexed) == 0
    put(indexed, "shop.main.orders", ["order_id"])
    put(indexed, "shop.main.new", ["a"])
    drop(indexed, "air.main.flights")
    find(indexed, Finding(urn_of("shop.main.products"), "description", {"text": "what is sold"}, fact=False))
    assert index.stale(indexed) == 4
    assert build(indexed, embedder).stale(indexed) == 0
    assert index.stale(indexed) == 4  # the old generation is as old as before


def test_a_finding_that_the_index_does_not_hold_makes_nothing_stale(indexed: Home, embedder: HashEmbedder) -> None:
    find(indexed, Finding(urn_of("shop.main.orders"), "empty", {}))
    index = Index.open(indexed, embedder)
    assert index.stale(indexed) == 0


def test_column_vectors_are_in_the_order_of_the_asset(indexed: Home, embedder: HashEmbedder) -> None:
    vectors = Index.open(indexed, embedder).column_vectors()
    for path, columns in SHOP.items():
        texts = [vectors.texts[row] for row in vectors.columns[urn_of(path)]]
        assert len(texts) == len(columns)
        assert np.allclose(vectors.of(urn_of(path)), embedder.embed(texts), atol=1e-6)
        assert vectors.texts[vectors.names[urn_of(path)]] == path.rsplit(".", 1)[1]


def test_ids_do_not_hang_on_the_other_tables() -> None:
    urns = [f"urn:{i}" for i in range(1000)]
    ids = table_ids(urns)
    assert len(set(ids)) == 1000 and all(0 <= i < 2**63 for i in ids)
    assert table_ids(urns[500:]) == ids[500:]


TABLES = [f"s.main.t{i}" for i in range(5)]
COLUMNS = ["customer", "order_total", "homeTown", "delay", "latitude", "productname"]
steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(TABLES), st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4, unique=True)),
        st.tuples(st.sampled_from(TABLES), st.none()),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=15, deadline=None)
@given(steps, st.sampled_from([1, 32]))
def test_an_update_ranks_as_a_rebuild_does(done: list[tuple[str, list[str] | None]], batch: int) -> None:
    embedder = HashEmbedder(64)
    state: dict[str, list[str]] = {"s.main.base": ["id", "customer"]}
    with TemporaryDirectory() as folder:
        updated = new_home(Path(folder) / "updated")
        put(updated, "s.main.base", state["s.main.base"])
        for i, (path, columns) in enumerate(done):
            if columns is None and path in state:
                drop(updated, path)
                del state[path]
            elif columns is not None:
                put(updated, path, columns)
                state[path] = columns
            if i % batch == 0:
                build_index(updated, Report("index"), embedder=embedder)
        fresh = new_home(Path(folder) / "fresh")
        for path, columns in state.items():
            put(fresh, path, columns)
        one, other = build(updated, embedder), build(fresh, embedder)
        for query in QUERIES:
            assert one.search(query, 10) == other.search(query, 10)
