"""Decisions land where they were meant, survive new runs, can be taken back, and leave people's texts alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from newcomer import Cli, make_shop

from suffice.catalogs.home import Home
from suffice.errors import UsageError
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.model import Scope
from suffice.reason.tools import describe_table
from suffice.report import Report
from suffice.review.queue import DOCUMENTATION, SOURCE, Queue, Stale


@pytest.fixture
def shop_file(tmp_path: Path) -> Path:
    return make_shop(tmp_path / "shop.sqlite")


@pytest.fixture
def home(tmp_path: Path, shop_file: Path) -> Home:
    home = Home(tmp_path / "home", create=True)
    refresh(home, shop_file)
    return home


def refresh(home: Home, shop_file: Path) -> None:
    report = Report("test")
    with home.writing():
        ingest(home, str(shop_file), None, report)
        enrich(home, report=report)
    assert report.failures == []


@pytest.fixture
def queue(home: Home) -> Queue:
    return Queue(home, "ada")


def description(queue: Queue, table: str) -> str:
    [item] = [i for i in queue.waiting(kinds=["description"]) if i.path == f"shop.main.{table}"]
    return item.finding.id


def documentation(home: Home, table: str) -> list[dict[str, object]]:
    urn = next(a.urn for a in home.catalog.assets() if a.name == table)
    return list(home.catalog.aspects(urn).get(DOCUMENTATION, {}).get("documentations", []))


def test_an_accepted_text_stands_in_the_documentation_and_stays(home: Home, queue: Queue, shop_file: Path) -> None:
    chosen = description(queue, "orders")
    item = queue.accept(chosen, reason="right")
    assert item.finding.status == "accepted"
    [entry] = documentation(home, "orders")
    assert entry["documentation"] == item.finding.value["text"]
    assert documentation(home, "customers") == []
    with closing(sqlite3.connect(shop_file)) as connection, connection:
        connection.execute("INSERT INTO orders VALUES (13, 2, '2024-03-01', 1.0)")
    refresh(home, shop_file)
    assert documentation(home, "orders") == [entry]
    assert queue.item(chosen).finding.status == "accepted"


def test_an_edited_text_is_never_overwritten(home: Home, queue: Queue, shop_file: Path) -> None:
    chosen = description(queue, "orders")
    queue.edit(chosen, "One row an order, as the till wrote it.")
    with closing(sqlite3.connect(shop_file)) as connection, connection:
        connection.execute("DELETE FROM orders WHERE order_id = 12")
    refresh(home, shop_file)
    assert queue.item(chosen).finding.value["text"] == "One row an order, as the till wrote it."
    assert describe_table(home, "orders")["proposed_description"] == "One row an order, as the till wrote it."


def test_a_rejected_text_comes_back_only_with_new_inputs(home: Home, queue: Queue, shop_file: Path) -> None:
    chosen = description(queue, "orders")
    queue.reject(chosen, reason="says nothing")
    refresh(home, shop_file)
    assert chosen not in {i.finding.id for i in queue.waiting()}
    assert describe_table(home, "orders")["proposed_description"] == ""
    with closing(sqlite3.connect(shop_file)) as connection, connection:
        connection.execute("INSERT INTO orders VALUES (14, 2, '2024-03-01', 1.0)")
    refresh(home, shop_file)
    assert chosen in {i.finding.id for i in queue.waiting()}


def test_undo_takes_back_the_decision_and_the_text(home: Home, queue: Queue) -> None:
    chosen = description(queue, "orders")
    before = queue.item(chosen)
    queue.edit(chosen, "Mine.")
    queue.undo(chosen)
    assert queue.item(chosen) == before
    assert documentation(home, "orders") == []
    with pytest.raises(UsageError, match="nothing was decided"):
        queue.undo(chosen)
    assert [d["undone"] for d in queue.decided()] == [True]


def test_a_decision_on_what_has_changed_is_refused(queue: Queue) -> None:
    chosen = description(queue, "orders")
    seen = queue.item(chosen).state
    queue.accept(chosen, state=seen)
    with pytest.raises(Stale, match="has changed"):
        queue.reject(chosen, state=seen)
    assert queue.item(chosen).finding.status == "accepted"


def test_what_others_wrote_stays_byte_for_byte(home: Home, queue: Queue) -> None:
    urn = next(a.urn for a in home.catalog.assets() if a.name == "orders")
    theirs = {"documentation": "Written by a person.", "attribution": {"source": "urn:li:dataHubAction:other"}}
    home.catalog.put(urn, DOCUMENTATION, {"documentations": [theirs]})
    home.catalog.put(urn, "editableDatasetProperties", {"description": "A steward's own words."})
    chosen = description(queue, "orders")
    assert queue.item(chosen).present == "A steward's own words."
    queue.accept(chosen)
    assert documentation(home, "orders")[0] == theirs
    queue.undo(chosen)
    assert documentation(home, "orders") == [theirs]
    assert home.catalog.aspects(urn)["editableDatasetProperties"] == {"description": "A steward's own words."}
    assert next(a for a in home.catalog.assets() if a.urn == urn).description == "A steward's own words."


def test_our_text_is_known_by_its_attribution(home: Home, queue: Queue) -> None:
    queue.edit(description(queue, "orders"), "Edited.")
    [entry] = documentation(home, "orders")
    attribution = entry["attribution"]
    assert isinstance(attribution, dict)
    assert (attribution["source"], attribution["actor"]) == (SOURCE, "urn:li:corpuser:ada")
    assert attribution["sourceDetail"] == {"how": "AI-edited"}


def test_pages_and_scope(queue: Queue) -> None:
    everything = [i.finding.id for i in queue.waiting()]
    paged: list[str] = []
    while page := queue.waiting(limit=1, after=paged[-1] if paged else ""):
        paged += [i.finding.id for i in page]
    assert paged == everything
    assert {i.path for i in queue.waiting(scope=Scope(("shop.main.orders",)))} == {"shop.main.orders"}


def test_from_the_command_line(cli: Cli, shop: Path) -> None:
    import json

    for command in (["ingest", str(shop)], ["enrich"]):
        assert cli(*command).returncode == 0
    items = json.loads(cli("review", "ls", "--kind", "description", "--json").stdout)["items"]
    chosen = next(item for item in items if item["table"] == "shop.main.orders")
    done = cli("review", "accept", chosen["id"], "--state", chosen["state"], "--as", "ada")
    assert done.returncode == 0, done.stderr
    stale = cli("review", "reject", chosen["id"], "--state", chosen["state"])
    assert (stale.returncode, "has changed" in stale.stderr) == (2, True)
    assert "ada" in cli("review", "log").stdout
    assert cli("review", "undo", chosen["id"]).returncode == 0
    assert cli("review", "show", "nothing").returncode == 2
