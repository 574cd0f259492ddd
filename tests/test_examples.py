"""The examples run as they stand."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from newcomer import Cli, make_shop

from suffice.catalogs.home import Home
from suffice.ingestion.enrich import HomeLake
from suffice.ingestion.run import ingest
from suffice.report import Report

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_ask(cli: Cli, shop: Path, tmp_path: Path) -> None:
    for command in (["ingest", str(shop)], ["enrich"], ["index"]):
        assert cli(*command).returncode == 0
    command = [
        sys.executable,
        str(EXAMPLES / "ask.py"),
        str(tmp_path / "home"),
        "total of the orders of customers from Paris",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "sufficient" in done.stdout
    assert "shop.main.orders (answers)" in done.stdout
    assert "join on customer_id = customer_id" in done.stdout


def test_an_enricher_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from own_enricher import TemporaryEnricher  # type: ignore[import-not-found]

    from suffice_enrichers.keys import KeysEnricher
    from suffice_enrichers.profile import ProfileEnricher

    path = make_shop(tmp_path / "shop.sqlite")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE customers RENAME TO tmp_customers")
    home = Home(tmp_path / "home", create=True)
    ingest(home, str(path), None, Report("test"))
    with HomeLake(home) as lake:
        for enricher in (ProfileEnricher(), KeysEnricher(), TemporaryEnricher()):
            done = [(unit, enricher.enrich(unit, lake)) for unit in enricher.units(lake)]
            home.store.replace_many(enricher.name, enricher.version, done)
            lake.refresh()
    [found] = home.store.findings(["temporary_in_use"])
    assert home.catalog.asset(found.urn).name == "tmp_customers"  # type: ignore[union-attr]


def test_nightly(tmp_path: Path) -> None:
    shop = make_shop(tmp_path / "shop.sqlite")
    env = {**os.environ, "SUFFICE_HOME": str(tmp_path / "home"), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(
        [EXAMPLES / "nightly.sh", shop, tmp_path / "gone.sqlite"], env=env, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert "gone.sqlite" in done.stderr
    assert "tables indexed" in done.stdout
