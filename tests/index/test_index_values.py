"""From a value to its columns: near forms, scope, and what must never be held."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from shop_lake import find, new_home, put, urn_of

from suffice.catalogs.home import Home
from suffice.index.build import build_index
from suffice.index.search import Index
from suffice.model import Finding, Scope
from suffice.report import Report
from suffice.testing import HashEmbedder

CASES = Path(__file__).parent.parent / "cases" / "index"
CUSTOMERS, AIRPORTS = urn_of("shop.main.customers"), urn_of("air.main.airports")
VALUES = {CUSTOMERS: {"home_town": [["Paris", 3], ["Lyon", 1]]}, AIRPORTS: {"airport_name": [["PARIS", 1]]}}


def opened(home: Home) -> Index:
    embedder = HashEmbedder()
    build_index(home, Report("index"), embedder=embedder)
    return Index.open(home, embedder)


@pytest.mark.parametrize("case", yaml.safe_load((CASES / "values.yml").read_text()), ids=lambda c: c["asked"])
def test_near_forms(case: dict[str, Any], tmp_path: Path) -> None:
    home = new_home(tmp_path / "h")
    urn = put(home, "s.main.t", ["c"])
    find(home, values={urn: {"c": [[case["held"], 2]]}})
    matches = opened(home).values.lookup([case["asked"]])
    assert [(m.value, m.count, m.phrase) for m in matches] == (
        [(case["held"], 2, case["asked"])] if case["found"] else []
    )


def test_a_value_in_several_tables_and_the_scope(home: Home) -> None:
    find(home, values=VALUES)
    values = opened(home).values
    assert [(m.urn, m.column) for m in values.lookup(["paris", "nowhere", "lyon"])] == [
        (AIRPORTS, "airport_name"),
        (CUSTOMERS, "home_town"),
        (CUSTOMERS, "home_town"),
    ]
    assert [m.urn for m in values.lookup(["paris"], Scope(("shop",)))] == [CUSTOMERS]


def test_no_value_of_a_sensitive_column_is_anywhere_in_the_index(home: Home) -> None:
    find(
        home,
        Finding(CUSTOMERS, "sensitive", {"pattern": "name"}, column="first_name"),
        values={CUSTOMERS: {"first_name": [["Zaphodius", 1]], "home_town": [["Paris", 1]]}},
    )
    assert [m.column for m in opened(home).values.lookup(["Zaphodius", "Paris"])] == ["home_town"]
    written = b"".join(p.read_bytes() for p in home.path.rglob("*") if p.is_file() and "catalog.db" not in p.name)
    assert b"paris" in written
    assert b"aphodiu" not in written.lower()


def test_sample_values_off_keeps_none(tmp_path: Path) -> None:
    home = new_home(tmp_path / "h", sample_values=False)
    urn = put(home, "s.main.t", ["c"])
    find(home, values={urn: {"c": [["Paris", 2]]}})
    assert opened(home).values.lookup(["Paris"]) == []


def test_a_task_of_ten_thousand_words_is_looked_up_at_once(home: Home) -> None:
    find(home, values=VALUES)
    values = opened(home).values
    started = time.process_time()
    found = values.lookup([f"phrase {i}" for i in range(60_000)] + ["Lyon"])
    assert [m.value for m in found] == ["Lyon"]
    assert time.process_time() - started < 2


def test_prose_is_not_held(home: Home) -> None:
    find(home, values={CUSTOMERS: {"home_town": [["word " * 100, 1]]}})
    assert opened(home).values.lookup(["word " * 100]) == []
