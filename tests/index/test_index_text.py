"""Names to words, and the one document a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from shop_lake import new_home, put, urn_of

from suffice.index.build import build_index
from suffice.index.names import NameSplitter
from suffice.index.search import Index
from suffice.index.text import Told, documents
from suffice.model import Asset, Column
from suffice.report import Report
from suffice.testing import HashEmbedder

CASES = Path(__file__).parent.parent / "cases" / "index"


def table(name: str, columns: list[str], **more: Any) -> Asset:
    return Asset(f"urn:{name}", "shop", "main", name, "sqlite", columns=tuple(Column(c) for c in columns), **more)


@pytest.mark.parametrize("case", yaml.safe_load((CASES / "names.yml").read_text()), ids=lambda c: c["name"])
def test_names_to_words(case: dict[str, Any]) -> None:
    assert list(NameSplitter(case.get("known", ())).words(case["name"])) == case["words"]


def test_the_text_begins_with_what_sets_the_table_apart() -> None:
    told = {"urn:orders": Told(description="Orders of 2019 only.")}
    [document] = documents([table("orders", ["orderId", "unit_price"], description="From the shop.")], told)
    assert document.text.startswith("From the shop. Orders of 2019 only. orders")
    assert "order id, unit price" in document.text
    assert not document.was_cut


def test_values_stand_in_the_words_and_not_in_the_text() -> None:
    values = {"status": [("shipped", 3), ("2019-01-01", 1)], "name": [(f"name {i}", 1) for i in range(60)]}
    [document] = documents([table("orders", ["status", "name"])], {"urn:orders": Told(values=values)})
    assert document.fields["values"] == "shipped"
    assert "shipped" not in document.text


def test_case_34_siblings_that_differ_late_keep_their_difference(tmp_path: Path) -> None:
    shared = " ".join(f"word{i}" for i in range(300))
    home, embedder = new_home(tmp_path / "h"), HashEmbedder(256, window=256)
    put(home, "s.main.left", ["id"], shared + " apples of the northern orchard")
    put(home, "s.main.right", ["id"], shared + " salaries of the southern office")
    report = Report("index")
    build_index(home, report, embedder=embedder)
    index = Index.open(home, embedder)
    left, right = index.vectors_of([urn_of("s.main.left"), urn_of("s.main.right")])
    assert float(left @ right) < 0.99
    assert [hit.urn for hit in index.search("salaries southern", 1)] == [urn_of("s.main.right")]
    assert [len(subjects) for subjects in report.warnings.values()] == [2]


def test_a_wide_table_keeps_the_columns_that_only_it_has() -> None:
    common = [f"measure{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(300)]
    wide = [table("a", [*common, "glacier"]), table("b", [*common, "harbour"])]
    a, b = documents(wide, {}, window=100)
    assert a.was_cut and b.was_cut
    assert "glacier" in a.text and "harbour" in b.text
    assert len(a.columns) == 301


@pytest.mark.parametrize("window", [16, 64, 256])
def test_a_cut_text_fits_the_window(window: int) -> None:
    embedder = HashEmbedder(window=window)
    long = table("t", [f"c{i}" for i in range(500)], description="One. " * 400)
    [document] = documents([long], {}, window=window, count_tokens=embedder.count_tokens)
    assert document.was_cut
    assert embedder.count_tokens(document.text) <= window
    assert np.isfinite(embedder.embed([document.text])).all()


def test_the_mark_follows_the_contents() -> None:
    before = documents([table("t", ["a"])], {})[0].mark
    assert documents([table("t", ["a"])], {})[0].mark == before
    assert documents([table("t", ["a", "b"])], {})[0].mark != before
    assert documents([table("t", ["a"])], {"urn:t": Told(description="x")})[0].mark != before
    assert documents([table("t", ["a"])], {"urn:t": Told(values={"a": [("x", 1)]})})[0].mark != before
