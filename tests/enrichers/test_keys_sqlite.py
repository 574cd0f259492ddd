"""References in SQLite, where a cell's type is its own and numbers compare as numbers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from suffice.catalogs.home import Home
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.report import Report

TABLES = """
CREATE TABLE technician (technician_id REAL PRIMARY KEY, name TEXT);
CREATE TABLE repair (repair_id INTEGER PRIMARY KEY, technician_id INT REFERENCES technician (technician_id));
INSERT INTO technician VALUES (1.0, 'Ann'), (2.0, 'Ben'), (3.0, 'Cem'), (4.0, 'Dag');
INSERT INTO repair VALUES (10, 1), (11, 2), (12, 2), (13, {last});
"""


@pytest.mark.parametrize(("last", "match", "tags"), [(4, 1.0, []), (9, 0.75, ["broken_reference"])])
def test_whole_numbers_refer_to_a_key_of_fractions(tmp_path: Path, last: int, match: float, tags: list[str]) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        connection.executescript(TABLES.format(last=last))
    home, report = Home(tmp_path / "home", create=True), Report("test")
    with home.writing():
        ingest(home, str(tmp_path / "shop.sqlite"), None, report)
        enrich(home, only=("profile", "keys", "copies", "quality"), report=report)
    assert report.failures == []
    [join] = home.store.findings(["join"])
    assert (join.value["kind"], join.numbers["match"]) == ("declared", match)
    assert [f.kind for f in home.store.findings(["broken_reference"])] == tags
