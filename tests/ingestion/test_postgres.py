"""PostgreSQL through DataHub's own source: what it lists, what its rows are, and that no password stays anywhere."""

from __future__ import annotations

import sqlite3
import time

import pytest
import yaml
from postgres import PASSWORD
from test_run import RECIPES

from suffice.errors import SourceError
from suffice.rows.engine import Engine
from suffice.rows.marks import table_marks

SHOP = """
CREATE TABLE "Orders"(id int PRIMARY KEY, "Amount" numeric(10,2), meta json, tags text[], u uuid, at timestamptz,
                      d date, ok bool, raw bytea, state varchar(5));
CREATE TABLE orders(id int PRIMARY KEY REFERENCES "Orders"(id), note text, "Note" text);
CREATE SCHEMA hr;
CREATE TABLE hr.people(id serial PRIMARY KEY, name varchar(20));
CREATE VIEW recent AS WITH orders AS (SELECT id FROM "Orders") SELECT * FROM orders;
COMMENT ON TABLE orders IS 'what was ordered';
COMMENT ON COLUMN orders.note IS 'free text';
INSERT INTO "Orders" VALUES (1, 12.50, '{"a": 1}', '{x,y}', '6f9619ff-8b86-d011-b42d-00cf4fc964ff',
                             '2024-01-02 03:04:05+02', '2020-01-01', true, 'abc', 'new');
INSERT INTO "Orders"(id) VALUES (2), (3);
INSERT INTO orders VALUES (1, 'small', 'great');
INSERT INTO hr.people(name) VALUES ('ann'), ('bob');
"""


@pytest.fixture
def shop(postgres, monkeypatch) -> str:
    """A database of a few odd tables; its password in the variable of the source `shop`."""
    monkeypatch.setenv("SUFFICE_PASSWORD_SHOP", PASSWORD)
    return postgres.database(SHOP)


def test_tables_keys_comments_and_lineage(shop, postgres, run, assets) -> None:
    """Case 21: `"Orders"` and `orders` stay two. Case 17: the view's upstream is the table behind its CTE."""
    report = run(postgres.url(shop), "shop")
    held = assets()
    assert (report.failures, report.warnings) == ([], {})
    assert sorted(held) == ["shop.hr.people", "shop.public.Orders", "shop.public.orders", "shop.public.recent"]
    orders = held["shop.public.orders"]
    assert (orders.description, orders.column("note").description) == ("what was ordered", "free text")
    (key,) = orders.foreign_keys
    assert (key.columns, key.ref_columns, key.ref_urn) == (("id",), ("id",), held["shop.public.Orders"].urn)
    assert held["shop.public.recent"].upstreams == (held["shop.public.Orders"].urn,)


def test_rows(shop, postgres, run, home, assets) -> None:
    run(postgres.url(shop), "shop")
    held, engine = assets(), Engine(home.sources())
    big, small = engine.relation(held["shop.public.Orders"]), engine.relation(held["shop.public.orders"])
    assert engine.query(f'SELECT id, "Amount", u, ok, d::VARCHAR, state FROM {big.sql} ORDER BY id LIMIT 1') == [
        (1, pytest.approx(12.5), "6f9619ff-8b86-d011-b42d-00cf4fc964ff", True, "2020-01-01", "new")
    ]
    assert engine.query(f'SELECT epoch("at") FROM {big.sql} WHERE id = 1') == [(1704157445.0,)]
    assert big.skipped == {"meta": "nested", "tags": "nested", "raw": "binary"}
    assert engine.query(f"SELECT count(*), (SELECT count(*) FROM {small.sql}) FROM {big.sql}") == [(3, 1)]
    assert engine.query(f"SELECT note FROM {small.sql}") == [("small",)]
    assert "in case only" in small.skipped["Note"]
    people = engine.relation(held["shop.hr.people"])
    assert engine.query(f"SELECT name FROM {people.sql} ORDER BY id") == [("ann",), ("bob",)]


def test_a_sample_is_not_the_first_rows(postgres, run, home, assets, monkeypatch) -> None:
    monkeypatch.setenv("SUFFICE_PASSWORD_SHOP", PASSWORD)
    shop = postgres.database("CREATE TABLE t AS SELECT n FROM generate_series(1, 20000) n")
    run(postgres.url(shop), "shop")
    asset = assets()["shop.public.t"]
    first = Engine(home.sources(), max_rows=1_000)
    relation = first.relation(asset)
    assert relation.rows == 20_000
    assert relation.base == pytest.approx(1_000, rel=0.2)
    assert first.query(f"SELECT max(n) > 15000 FROM {relation.sql}") == [(True,)]
    second = Engine(home.sources(), max_rows=1_000)
    assert second.relation(asset).base == relation.base


def test_a_second_run_writes_nothing_and_a_dropped_table_goes(shop, postgres, run, home, assets) -> None:
    run(postgres.url(shop), "shop")
    assert run(postgres.url(shop), "shop").done["written"] == 0
    postgres.run(shop, "DROP VIEW recent")
    assert run(postgres.url(shop), "shop").done["removed"] == 1
    assert "shop.public.recent" not in assets()


def test_a_filtered_run_removes_nothing(shop, postgres, run, assets, tmp_path, monkeypatch) -> None:
    """Case 42, the part that a run can spoil: what a filter leaves out is not gone."""
    recipe = yaml.safe_load((RECIPES / "postgres.yml").read_text())
    recipe["source"]["config"]["schema_pattern"] = {"allow": ["hr"]}
    path = tmp_path / "narrow.yml"
    path.write_text(yaml.safe_dump(recipe))
    _variables(monkeypatch, postgres, shop)
    run(RECIPES / "postgres.yml", "shop")
    report = run(path, "shop")
    assert (report.done["removed"], len(assets()), list(report.warnings)) == (
        0, 4, ["Tables were not listed and are kept, since the listing was filtered or not clean"],
    )  # fmt: skip


def test_the_shipped_recipe(shop, postgres, run, home, assets, monkeypatch) -> None:
    _variables(monkeypatch, postgres, shop)
    assert run(RECIPES / "postgres.yml", "shop").exit_code == 0
    assert home.store.sources()["shop"].kind == "sqlalchemy"
    assert Engine(home.sources()).relation(assets()["shop.hr.people"]).rows == 2


@pytest.mark.parametrize("given", ["url", "variable", "recipe"])
def test_no_password_stays(given, postgres, run, home, monkeypatch) -> None:
    shop = postgres.database(SHOP)
    if given == "recipe":
        _variables(monkeypatch, postgres, shop)
        report = run(RECIPES / "postgres.yml", "shop")
    else:
        if given == "variable":
            monkeypatch.setenv("SUFFICE_PASSWORD_SHOP", PASSWORD)
        report = run(postgres.url(shop, password=PASSWORD if given == "url" else ""), "shop")
    assert PASSWORD not in str(report.to_json())
    connection = sqlite3.connect(home.path / "catalog.db")
    assert PASSWORD not in "\n".join(connection.iterdump())
    connection.close()


def test_a_server_that_does_not_let_in(postgres, run) -> None:
    shop = postgres.database("CREATE TABLE t(a int)")
    for url, says in [
        (postgres.url(shop, password="wrong-one"), "password authentication failed.*SUFFICE_PASSWORD_S"),
        (postgres.url("no_such_database", password=PASSWORD), 'database "no_such_database" does not exist'),
        ("postgresql://reader:wrong-one@127.0.0.1:1/shop", "Connection refused"),
    ]:
        with pytest.raises(SourceError, match=says) as raised:
            run(url, "s")
        assert "wrong-one" not in str(raised.value)
        assert "\n" not in str(raised.value)


def test_a_database_without_tables(postgres, run, monkeypatch) -> None:
    with pytest.raises(SourceError, match="no table in 'postgresql://postgres@"):
        run(postgres.url(postgres.database(""), password=PASSWORD), "s")


def test_marks_change_with_the_rows_of_their_table(shop, postgres) -> None:
    def marks() -> dict[tuple[str, str], str]:
        return table_marks(postgres.url(shop), "shop")

    before = marks()
    assert set(before) >= {("public", "Orders"), ("public", "orders"), ("hr", "people")}
    for script in ("UPDATE hr.people SET name = 'eve' WHERE id = 1", "DELETE FROM hr.people", "TRUNCATE hr.people"):
        postgres.run(shop, script)
        after = _until(lambda: marks(), lambda now: now["hr", "people"] != before["hr", "people"])  # noqa: B023
        assert after["hr", "people"] != before["hr", "people"]
        assert after["public", "Orders"] == before["public", "Orders"]
        before = after


def test_databases_without_counters_give_no_marks() -> None:
    assert table_marks("sqlite://", "s") == {}
    assert table_marks("postgresql://u@127.0.0.1:1/d", "s") == {}


def _variables(monkeypatch, postgres, shop: str) -> None:
    monkeypatch.setenv("POSTGRES_HOST_PORT", f"127.0.0.1:{postgres.port}")
    monkeypatch.setenv("POSTGRES_DATABASE", shop)
    monkeypatch.setenv("POSTGRES_USER", "postgres")
    monkeypatch.setenv("POSTGRES_PASSWORD", PASSWORD)
    monkeypatch.setenv("SUFFICE_PASSWORD_SHOP", PASSWORD)


def _until(ask, good, timeout_s: float = 5.0):
    """Ask until the answer is good: a session's counters come up to a second late."""
    end = time.monotonic() + timeout_s
    while not good(found := ask()) and time.monotonic() < end:
        time.sleep(0.1)
    return found
