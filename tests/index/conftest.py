"""A home of five tables with an index of hashed words: built in milliseconds, no model."""

from __future__ import annotations

from pathlib import Path

import pytest
from shop_lake import SHOP, new_home, put

from suffice.catalogs.home import Home
from suffice.index.build import build_index
from suffice.report import Report
from suffice.testing import HashEmbedder


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder(64)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """The shop's catalog, not indexed."""
    made = new_home(tmp_path / "home")
    for path, columns in SHOP.items():
        put(made, path, columns)
    return made


@pytest.fixture
def indexed(home: Home, embedder: HashEmbedder) -> Home:
    build_index(home, Report("index"), embedder=embedder)
    return home
