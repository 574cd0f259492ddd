"""Two small sources, ingested, enriched and indexed, and a file of tasks solved on them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from newcomer import make_shop

from suffice.catalogs.home import Home
from suffice.index.build import build_index
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.report import Report

SOLVED: list[dict[str, Any]] = [
    {"id": 1, "db": "shop", "question": "orders of customers from Paris", "gold_tables": ["Orders", "customers"]},
    {"id": 2, "db": "shop", "question": "names of all customers", "gold_tables": ["customers"]},
    {"id": 3, "db": "zoo", "question": "which species of animal weighs most?", "gold_tables": ["animals"]},
    {"id": 4, "db": "zoo", "question": "how many keepers are there?", "gold_tables": ["keepers"]},
]


@pytest.fixture(scope="session")
def two_sources(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("two")
    make_shop(folder / "shop.sqlite")
    with closing(sqlite3.connect(folder / "zoo.sqlite")) as connection:
        connection.executescript(
            """
            CREATE TABLE animals (animal_id INTEGER PRIMARY KEY, species TEXT, weight REAL);
            CREATE TABLE keepers (keeper_id INTEGER PRIMARY KEY, name TEXT, since INTEGER);
            INSERT INTO animals VALUES (1, 'heron', 2.1), (2, 'otter', 8.5);
            INSERT INTO keepers VALUES (1, 'Alan', 1999), (2, 'Barbara', 2004);
            """
        )
    home, report = Home(folder / "home", create=True), Report("test")
    with home.writing():
        for name in ("shop", "zoo"):
            ingest(home, str(folder / f"{name}.sqlite"), None, report)
        enrich(home, report=report)
        build_index(home, report)
    return home


@pytest.fixture
def solved_file(tmp_path: Path) -> Path:
    path = tmp_path / "solved.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in SOLVED))
    return path
