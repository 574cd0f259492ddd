from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Protocol

import pytest

from suffice.catalogs.home import Home
from suffice.ingestion.run import ingest
from suffice.model import Asset
from suffice.report import Report


class Ingest(Protocol):
    def __call__(self, target: object, name: str | None = None) -> Report: ...


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home", create=True)


@pytest.fixture
def run(home: Home) -> Ingest:
    """Ingest a target into `home` and give its report."""

    def ingest_target(target: object, name: str | None = None) -> Report:
        report = Report("ingest")
        ingest(home, str(target), name, report)
        return report

    return ingest_target


@pytest.fixture
def assets(home: Home) -> Callable[[], dict[str, Asset]]:
    """What the catalog holds now, by `source.schema.table`."""
    return lambda: {asset.path: asset for asset in home.catalog.assets()}


@pytest.fixture
def sqlite(tmp_path: Path) -> Callable[..., Path]:
    """Run a script on a SQLite file, made when it is not there; gives its path."""

    def write(name: str, script: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
        return path

    return write
