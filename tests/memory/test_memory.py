"""Memories: kept whole, recalled by likeness, held back when what they name changes, never stronger than evidence."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from suffice.catalogs import tables as t
from suffice.catalogs.home import Home
from suffice.errors import UsageError
from suffice.index.build import build_index
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.memory.commands import listed, remember
from suffice.memory.gate import SIMILAR, SURE, Evidence, judge
from suffice.memory.model import Memory, Object
from suffice.memory.store import ASPECT, IN_ASPECT, MemoryStore
from suffice.model import Scope
from suffice.reason.rules import RulesPolicy
from suffice.report import Report

TWO_SCHOOLS = {
    "north": "CREATE TABLE students (student_id INTEGER PRIMARY KEY, name TEXT, grade INTEGER);",
    "south": "CREATE TABLE students (student_id INTEGER PRIMARY KEY, name TEXT, grade INTEGER);",
}
VECTOR = np.ones(4, dtype=np.float32) / 2


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Two schools with the same table: a question alone cannot tell which one is meant."""
    home, report = Home(tmp_path / "home", create=True), Report("test")
    with home.writing():
        for i, (name, script) in enumerate(TWO_SCHOOLS.items()):
            with closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as connection, connection:
                connection.executescript(script)
                rows = [(k, f"{name} pupil {k}", k % 9) for k in range(40 + i)]
                connection.executemany("INSERT INTO students VALUES (?, ?, ?)", rows)
            ingest(home, str(tmp_path / f"{name}.sqlite"), None, report)
        enrich(home, report=report)
        build_index(home, report)
    assert report.failures == []
    return home


def answer(home: Home, task: str, **options: Any) -> Any:
    return RulesPolicy(home, **options).select(task, Scope())


def chosen(home: Home, task: str, **options: Any) -> set[str]:
    return {f"{table.source}.{table.table}" for table in answer(home, task, **options).tables}


def test_a_memory_decides_where_the_catalog_cannot(home: Home) -> None:
    task = "How many students are in each grade?"
    before = chosen(home, task)
    [other] = {"north.students", "south.students"} - before
    kept = remember(home, "Number of students in each grade", [other])
    assert chosen(home, task) == {other}
    assert chosen(home, task, memory="off") == before
    recalled = answer(home, task).memory["recalled"]
    assert [(m["id"], m["used"]) for m in recalled] == [(kept["id"], True)]
    assert listed(home)[0]["uses"] >= 1


def test_a_failed_memory_and_a_memory_of_another_task_do_nothing(home: Home) -> None:
    task = "How many students are in each grade?"
    before = chosen(home, task)
    [other] = {"north.students", "south.students"} - before
    remember(home, "Number of students in each grade", [other], outcome="failed")
    remember(home, "Where do the school buses stop?", [other])
    assert chosen(home, task) == before


def test_held_back_while_the_schema_differs(home: Home, tmp_path: Path) -> None:
    remember(home, "Number of students in each grade", ["north.students"])
    assert listed(home)[0]["held_back"] == ""
    with closing(sqlite3.connect(tmp_path / "north.sqlite")) as connection, connection:
        connection.execute("ALTER TABLE students ADD COLUMN house TEXT")
    report = Report("test")
    ingest(home, str(tmp_path / "north.sqlite"), None, report)
    assert "schema of north.main.students has changed" in listed(home)[0]["held_back"]
    assert not any(m["used"] for m in answer(home, "How many students are in each grade?").memory["recalled"])
    with closing(sqlite3.connect(tmp_path / "north.sqlite")) as connection, connection:
        connection.execute("ALTER TABLE students DROP COLUMN house")
    ingest(home, str(tmp_path / "north.sqlite"), None, report)
    assert listed(home)[0]["held_back"] == ""
    with closing(sqlite3.connect(tmp_path / "north.sqlite")) as connection, connection:
        connection.execute("ALTER TABLE students RENAME TO pupils")
    ingest(home, str(tmp_path / "north.sqlite"), None, report)
    assert "is gone" in listed(home)[0]["held_back"]


def test_wrong_use(home: Home) -> None:
    with pytest.raises(UsageError, match="no column 'shoe'"):
        remember(home, "shoes", ["north.students#shoe"])
    with pytest.raises(UsageError, match="the task is empty"):
        remember(home, " \n ", ["north.students"])
    with pytest.raises(UsageError, match="no memory"):
        MemoryStore(home.catalog).forget("nothing")


def test_the_aspect_follows_the_store_and_stays_bounded(home: Home) -> None:
    urn = next(a.urn for a in home.catalog.assets() if a.source == "north")
    store = MemoryStore(home.catalog)
    for i in range(IN_ASPECT + 5):
        store.remember(Memory(f"task {i}", (Object(urn),), learned_at=1000.0 + i), "hash", VECTOR)
    value = home.catalog.aspects(urn)[ASPECT]
    assert (value["total"], len(value["memories"])) == (IN_ASPECT + 5, IN_ASPECT)
    assert value["memories"][0]["intent"] == f"task {IN_ASPECT + 4}"
    for memory in store.all():
        store.forget(memory.id)
    assert home.catalog.aspects(urn)[ASPECT] == {"memories": [], "total": 0}


def test_the_same_task_and_tables_are_one_memory(home: Home) -> None:
    first = remember(home, "Students by grade", ["north.students", "north.students"])
    again = remember(home, "students by GRADE", ["north.students"], outcome="failed")
    assert first["id"] == again["id"]
    assert [m["outcome"] for m in listed(home)] == ["failed"]


def _write(url: str, start: int) -> None:
    from suffice.catalogs.local import LocalCatalog

    store = MemoryStore(LocalCatalog(t.connect(url, create=False)))
    for i in range(start, start + 40):
        store.remember(Memory(f"task {i}", (Object("urn:li:dataset:x"),)), "hash", VECTOR)


def test_two_writers_lose_nothing(home: Home) -> None:
    home.catalog.put("urn:li:dataset:x", "status", {"removed": False})
    writers = [multiprocessing.get_context("spawn").Process(target=_write, args=(home.catalog_url, n)) for n in (0, 40)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    assert len(MemoryStore(home.catalog).all()) == 80
    assert home.catalog.aspects("urn:li:dataset:x")[ASPECT]["total"] == 80


def test_a_kill_leaves_no_half_memory(home: Home) -> None:
    home.catalog.put("urn:li:dataset:x", "status", {"removed": False})
    writer = multiprocessing.get_context("spawn").Process(target=_write, args=(home.catalog_url, 0))
    writer.start()
    store = MemoryStore(home.catalog)
    while not store.all():
        time.sleep(0.01)
    os.kill(writer.pid or 0, signal.SIGKILL)
    writer.join(30)
    whole = store.all()
    assert all(memory.objects for memory in whole)
    assert home.catalog.aspects("urn:li:dataset:x")[ASPECT]["total"] == len(whole)
    with home.catalog.engine.connect() as connection:
        named = connection.execute(sa.select(sa.func.count()).select_from(t.memory_objects)).scalar_one()
    assert named == len(whole)


def test_an_older_home_gets_the_new_tables(home: Home) -> None:
    with home.catalog.engine.begin() as connection:
        t.memories.drop(connection)
        t.memory_objects.drop(connection)
        connection.execute(sa.update(t.meta).where(t.meta.c.key == "format").values(value="1"))
    again = Home(home.path)
    remember(again, "Students by grade", ["north.students"])
    assert len(listed(again)) == 1


share = st.floats(0, 1)
evidence = st.builds(Evidence, share, share, share, share, share, st.floats(0, 3), st.floats(0, 3), st.floats(0, 20))


@given(evidence)
def test_a_memory_never_acts_against_the_evidence(e: Evidence) -> None:
    verdict = judge(e)
    assert verdict.why
    assert verdict.lift >= 0
    if verdict.lift:
        assert e.similarity >= SIMILAR
        assert e.sure <= SURE
        assert e.values_lost <= e.best_values_lost
        assert e.best_said - e.said <= 0.05


@given(evidence)
def test_more_support_never_lifts_less(e: Evidence) -> None:
    assert judge(replace(e, said=max(e.said, e.best_said))).lift >= judge(e).lift
    assert judge(replace(e, rival=0.0)).lift >= judge(e).lift


@given(st.text(max_size=300))
def test_an_intent_is_one_bounded_line_of_signs_that_print(text: str) -> None:
    clean = Memory.clean(text * 20)
    assert len(clean) <= 2000
    assert clean.isprintable()
    assert Memory.clean(clean) == clean.strip()
