"""SQLite as it is found: odd columns, odd keys, odd names, odd views; one odd table costs nothing else."""

from __future__ import annotations

import sqlite3

import pytest

from suffice.errors import SourceError
from suffice.rows.engine import Engine


def test_a_column_that_holds_other_types_than_declared(run, assets, home, sqlite):
    """Case 1: the table is there with its declared types; its rows are read by their stored ones."""
    path = sqlite(
        "plant.db",
        """CREATE TABLE readings(id INTEGER PRIMARY KEY, taken_at TIMESTAMP, ok BOOLEAN);
        INSERT INTO readings VALUES (1, 1700000000, 1), (2, '2024-01-02 03:04:05', 'yes');""",
    )
    assert run(path).exit_code == 0
    asset = assets()["plant.main.readings"]
    assert [(c.name, c.kind) for c in asset.columns] == [("id", "integer"), ("taken_at", "time"), ("ok", "boolean")]
    relation = Engine(home.sources()).relation(asset)
    assert (relation.rows, relation.types["taken_at"]) == (2, {"integer": 0.5, "text": 0.5})


def test_generated_columns(run, assets, sqlite):
    """Case 6: both kinds, one after the other."""
    path = sqlite(
        "g.db",
        """CREATE TABLE t(a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1) VIRTUAL,
                         c TEXT GENERATED ALWAYS AS (a || ',') STORED, d REAL);""",
    )
    run(path)
    columns = assets()["g.main.t"].columns
    assert [(c.name, c.type, c.generated) for c in columns] == [
        ("a", "INTEGER", None), ("b", "INTEGER", "virtual"), ("c", "TEXT", "stored"), ("d", "REAL", None),
    ]  # fmt: skip


def test_a_key_to_a_missing_table_and_a_view_over_a_dropped_one(run, assets, sqlite):
    """Case 7: all are catalogued; the key has no target, the view says why it does not run."""
    path = sqlite(
        "shop.db",
        """CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER); CREATE TABLE c(id INTEGER);
        CREATE TABLE orphan(id INTEGER REFERENCES gone(id), a_id INTEGER REFERENCES A);
        CREATE TABLE dropped(x); CREATE VIEW v AS SELECT x FROM dropped; DROP TABLE dropped;""",
    )
    report = run(path)
    held = assets()
    assert (report.exit_code, len(held)) == (0, 5)
    keys = {key.columns: key for key in held["shop.main.orphan"].foreign_keys}
    assert (keys["id",].ref_urn, keys["id",].ref_table, keys["id",].ref_columns) == ("", "shop.main.gone", ("id",))
    view = held["shop.main.v"]
    assert (view.kind, view.columns) == ("view", ())
    assert "no such table: main.dropped" in view.properties["broken"]


def test_a_key_names_its_table_in_another_case_and_no_columns(run, assets, sqlite):
    path = sqlite(
        "k.db",
        """CREATE TABLE Parent(x INTEGER, y TEXT, PRIMARY KEY (y, x));
        CREATE TABLE child(p INTEGER, q TEXT, FOREIGN KEY (q, p) REFERENCES PARENT);""",
    )
    run(path)
    held = assets()
    (key,) = held["k.main.child"].foreign_keys
    assert held["k.main.Parent"].primary_key == ("y", "x")
    assert (key.columns, key.ref_columns, key.ref_urn) == (("q", "p"), ("y", "x"), held["k.main.Parent"].urn)


def test_brackets_and_commas_in_names(run, assets, home, sqlite):
    """Case 8: the key is kept, the urn can be read, the names are shown as they are."""
    path = sqlite(
        "odd.db",
        '''CREATE TABLE "(final)"("a, b" INTEGER PRIMARY KEY);
        CREATE TABLE "rates, (2024)"("x.y" INTEGER REFERENCES "(final)"("a, b"), "" TEXT, "say ""hi""" TEXT);''',
    )
    run(path)
    held = assets()
    rates = held["odd.main.rates, (2024)"]
    assert rates.urn == "urn:li:dataset:(urn:li:dataPlatform:sqlite,odd.main.rates%2C %282024%29,PROD)"
    assert [c.name for c in rates.columns] == ["x.y", "column_2", 'say "hi"']
    (key,) = rates.foreign_keys
    assert (key.columns, key.ref_columns, key.ref_urn) == (("x.y",), ("a, b",), held["odd.main.(final)"].urn)
    sqlite("odd.db", """INSERT INTO "rates, (2024)" VALUES (1, 'two', 'three')""")
    engine = Engine(home.sources())
    assert engine.query(f"SELECT * FROM {engine.relation(rates).sql}") == [(1, "two", "three")]


def test_a_cte_is_no_table(run, assets, sqlite):
    """Case 17: the view's CTE bears the name of a real table."""
    path = sqlite(
        "c.db",
        """CREATE TABLE orders(id INTEGER); CREATE TABLE raw_orders(id INTEGER, total REAL);
        CREATE VIEW v AS WITH orders AS (SELECT id, total FROM RAW_ORDERS) SELECT * FROM orders;""",
    )
    run(path)
    held = assets()
    assert held["c.main.v"].upstreams == (held["c.main.raw_orders"].urn,)


def test_full_text_tables_without_their_shadows(run, assets, sqlite):
    path = sqlite("f.db", "CREATE VIRTUAL TABLE notes USING fts5(title, body); CREATE TABLE t(a);")
    assert run(path).exit_code == 0
    held = assets()
    assert sorted(held) == ["f.main.notes", "f.main.t"]
    assert [c.name for c in held["f.main.notes"].columns] == ["title", "body"]


def test_a_virtual_table_of_an_unknown_module_fails_alone(run, assets, sqlite):
    path = sqlite("m.db", "CREATE TABLE t(a);")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute(
        "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 0, 'CREATE VIRTUAL TABLE x USING nowhere(a)')"
    )
    connection.commit()
    connection.close()
    report = run(path)
    assert (report.exit_code, sorted(assets())) == (1, ["m.main.t"])
    assert report.failures[0][0] == "m.main.x"


def test_a_second_run_writes_nothing(run, home, sqlite):
    path = sqlite("s.db", "CREATE TABLE t(a INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT a FROM t;")
    assert run(path).done["written"] > 0
    before = _count(home)
    report = run(path)
    assert (report.done["written"], _count(home)) == (0, before)
    sqlite("s.db", "ALTER TABLE t ADD COLUMN b TEXT")
    assert run(path).done["written"] == 1


def test_a_folder_of_databases(run, home, assets, sqlite, tmp_path):
    """Each is a source named by its stem, wherever below it lies and whatever its suffix; a damaged one fails alone."""
    sqlite("lake/shop.sqlite", "CREATE TABLE t(a);")
    whole = sqlite("lake/deeper/bank", "CREATE TABLE t(a);").read_bytes()
    (tmp_path / "lake" / "torn.db").write_bytes(whole[:200] + b"\xff" * 400)
    (tmp_path / "lake" / "readme.md").write_text("not a table")
    report = run(tmp_path / "lake")
    assert sorted(assets()) == ["bank.main.t", "shop.main.t"]
    assert sorted(home.store.sources()) == ["bank", "shop"]
    assert [subject for subject, _ in report.failures] == [str(tmp_path / "lake" / "torn.db")]
    assert (report.exit_code, report.done["sources"]) == (1, 2)


def test_a_database_without_tables(run, sqlite):
    with pytest.raises(SourceError, match="there is no table in it"):
        run(sqlite("empty.db", "CREATE TABLE t(a); DROP TABLE t;"))


def _count(home) -> int:
    connection = sqlite3.connect(home.path / "catalog.db")
    try:
        return connection.execute("SELECT count(*) FROM aspects").fetchone()[0]
    finally:
        connection.close()
