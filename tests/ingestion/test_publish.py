"""What reaches a DataHub through the official client, what stays a person's, and what is taken back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from newcomer import make_shop

from suffice.catalogs.home import Home
from suffice.ingestion.enrich import enrich
from suffice.ingestion.publish import ATTRIBUTION, publish, withdraw
from suffice.ingestion.run import ingest
from suffice.model import Scope
from suffice.report import Report
from suffice.review.queue import Queue
from suffice.testing.datahub import LoopbackDataHub

PERSONAL = {"documentation": "A person's words.", "attribution": {"source": "urn:li:dataHubAction:other", "time": 1}}
KEPT = {"tags": [{"tag": "urn:li:tag:certified"}]}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackDataHub]:
    with LoopbackDataHub(token="t0ken") as hub:
        monkeypatch.setenv("DATAHUB_GMS_URL", hub.url)
        monkeypatch.setenv("DATAHUB_GMS_TOKEN", "t0ken")
        yield hub


@pytest.fixture
def shop_file(tmp_path: Path) -> Path:
    path = make_shop(tmp_path / "shop.sqlite")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE wishes (wish TEXT)")
    return path


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


def sent(home: Home, **options: bool) -> Report:
    report = Report("publish")
    publish(home, Scope(), report, **options)
    return report


def urn(home: Home, name: str) -> str:
    return next(a.urn for a in home.catalog.assets() if a.name == name)


def accept_orders(home: Home) -> str:
    queue = Queue(home, "ada")
    [item] = [i for i in queue.waiting(kinds=["description"]) if i.path == "shop.main.orders"]
    queue.accept(item.finding.id)
    return str(item.finding.value["text"])


def test_accepted_texts_tags_and_counts_arrive_and_no_more(home: Home, hub: LoopbackDataHub) -> None:
    text = accept_orders(home)
    report = sent(home)
    assert report.failures == []
    [entry] = hub.aspects[urn(home, "orders"), "documentation"]["documentations"]
    assert (entry["documentation"], entry["attribution"]["source"]) == (text, ATTRIBUTION)
    assert (urn(home, "customers"), "documentation") not in hub.aspects
    [tag] = hub.aspects[urn(home, "wishes"), "globalTags"]["tags"]
    assert (tag["tag"], tag["attribution"]["source"]) == ("urn:li:tag:suffice.empty", ATTRIBUTION)
    assert hub.aspects[urn(home, "orders"), "datasetProfile"]["rowCount"] == 3


def test_a_second_run_sends_nothing_and_a_change_sends_itself(
    home: Home, hub: LoopbackDataHub, shop_file: Path
) -> None:
    sent(home)
    before = len(hub.received)
    assert sent(home).done["unchanged"] == 3
    assert len(hub.received) == before
    with closing(sqlite3.connect(shop_file)) as connection, connection:
        connection.execute("INSERT INTO wishes VALUES ('a bell')")
    refresh(home, shop_file)
    sent(home)
    assert {each[0] for each in hub.received[before:]} == {urn(home, "wishes")}
    assert hub.aspects[urn(home, "wishes"), "globalTags"]["tags"] == []


def test_what_people_wrote_is_the_same_before_and_after(home: Home, hub: LoopbackDataHub) -> None:
    orders, wishes = urn(home, "orders"), urn(home, "wishes")
    hub.aspects[orders, "documentation"] = {"documentations": [PERSONAL]}
    hub.aspects[wishes, "globalTags"] = KEPT
    hub.aspects[orders, "editableDatasetProperties"] = {"description": "Mine."}
    accept_orders(home)
    sent(home)
    assert PERSONAL in hub.aspects[orders, "documentation"]["documentations"]
    assert KEPT["tags"][0] in hub.aspects[wishes, "globalTags"]["tags"]
    withdraw(home, Scope(), Report("withdraw"))
    assert hub.aspects[orders, "documentation"] == {"documentations": [PERSONAL]}
    assert hub.aspects[wishes, "globalTags"] == KEPT
    assert hub.aspects[orders, "editableDatasetProperties"] == {"description": "Mine."}


def test_a_refused_table_is_named_and_sent_the_next_time(home: Home, hub: LoopbackDataHub) -> None:
    hub.faults = [400]
    report = sent(home)
    assert len(report.failures) == 1
    assert sent(home).failures == []
    assert {each[0] for each in hub.received} == {a.urn for a in home.catalog.assets()}


def test_a_failing_server_is_asked_again(home: Home, hub: LoopbackDataHub) -> None:
    hub.faults = [503, 429]
    assert sent(home).failures == []


def test_a_dry_run_sends_nothing(home: Home, hub: LoopbackDataHub) -> None:
    assert sent(home, dry_run=True).done["sent"] > 0
    assert hub.received == []


def test_a_wrong_token_is_said_for_each_table(
    home: Home, hub: LoopbackDataHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAHUB_GMS_TOKEN", "wrong")
    report = sent(home)
    assert len(report.failures) == 3
    assert "wrong" not in str(report.failures)
