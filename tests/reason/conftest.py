"""A lake small enough to reason about by hand: two shops with look-alike tables, yearly files, copies."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from suffice.catalogs.home import Home
from suffice.index.build import build_index
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.reason.rules import RulesPolicy
from suffice.report import Report

SHOP = """
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(customer_id), placed_on TEXT);
CREATE TABLE products (product_id INTEGER PRIMARY KEY, title TEXT, price REAL);
CREATE TABLE order_items (
  order_id INTEGER REFERENCES orders(order_id), product_id INTEGER REFERENCES products(product_id), quantity INTEGER,
  PRIMARY KEY (order_id, product_id));
"""
CITIES = ("Paris", "Oslo", "Lima", "Kyiv", "Bern")


def fill_shop(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SHOP)
        rows = {
            "customers": [(i, f"Customer {i}", CITIES[i % 5]) for i in range(1, 61)],
            "orders": [(i, 1 + i % 60, f"2024-{1 + i % 12:02}-{1 + i % 28:02}") for i in range(1, 201)],
            "products": [(i, f"Lamp {i}", 5.0 + i) for i in range(1, 31)],
            "order_items": [(i, 1 + (i * 7) % 30, 1 + i % 4) for i in range(1, 201)],
        }
        for table, held in rows.items():
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", held)
        connection.execute("CREATE TABLE customers_tmp AS SELECT * FROM customers WHERE customer_id % 6 = 1")
        connection.execute("CREATE TABLE k7 AS SELECT * FROM products")


def fill_weather(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for year in range(2018, 2024):
            connection.execute(f"CREATE TABLE rainfall_{year} (station TEXT, month INTEGER, millimetres REAL)")
            rows = [(f"S{s}", m, (s * 31 + m * 17 + year) % 97 + 0.5) for s in range(9) for m in range(1, 13)]
            connection.executemany(f"INSERT INTO rainfall_{year} VALUES (?, ?, ?)", rows)


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("reason")
    fill_shop(folder / "shop.sqlite")
    fill_weather(folder / "weather.sqlite")
    home, report = Home(folder / "home", create=True), Report("test")
    with home.writing():
        for name in ("shop", "weather"):
            ingest(home, str(folder / f"{name}.sqlite"), None, report)
        enrich(home, report=report)
        build_index(home, report)
    assert report.failures == []
    return home


@pytest.fixture(scope="session")
def rules(lake: Home) -> RulesPolicy:
    return RulesPolicy(lake)
