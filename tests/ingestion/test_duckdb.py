"""DuckDB files: schemas, comments, keys, awkward names, views, and one entity whatever the case."""

from __future__ import annotations

import duckdb
import pytest

from suffice.errors import SourceError
from suffice.rows.engine import Engine


@pytest.fixture
def duck(tmp_path):
    def write(name, *statements):
        with duckdb.connect(str(tmp_path / name)) as connection:
            for statement in statements:
                connection.execute(statement)
        return tmp_path / name

    return write


def test_awkward_names(run, assets, home, duck):
    """Case 5: quoted everywhere; a dot in a name is not turned into nesting."""
    path = duck(
        "odd.duckdb",
        'CREATE TABLE content("order" INTEGER, "wind.speed" DOUBLE, "2nd_choice" TEXT, "unit price" DECIMAL(10,2))',
        "INSERT INTO content VALUES (1, 2.5, 'x', 9.99)",
    )
    assert run(path).exit_code == 0
    asset = assets()["odd.main.content"]
    assert [c.name for c in asset.columns] == ["order", "wind.speed", "2nd_choice", "unit price"]
    engine = Engine(home.sources())
    relation = engine.relation(asset)
    assert engine.query(f'SELECT "wind.speed", "unit price" > 9 FROM {relation.sql}') == [(2.5, True)]


def test_schemas_comments_and_keys(run, assets, duck):
    path = duck(
        "s.db",
        "CREATE SCHEMA hr",
        "CREATE TABLE hr.people(id INTEGER PRIMARY KEY, boss INTEGER REFERENCES hr.people(id), age INTEGER, "
        "next INTEGER GENERATED ALWAYS AS (age + 1))",
        "COMMENT ON TABLE hr.people IS 'who works here'",
        "COMMENT ON COLUMN hr.people.boss IS 'to whom'",
    )
    run(path)
    people = assets()["s.hr.people"]
    assert (people.description, people.primary_key) == ("who works here", ("id",))
    assert people.column("boss").description == "to whom"
    assert people.column("next").generated == "virtual"
    assert not people.column("id").nullable
    (key,) = people.foreign_keys
    assert (key.columns, key.ref_columns, key.ref_urn) == (("boss",), ("id",), people.urn)


def test_one_entity_whatever_the_case(run, assets, duck):
    """Case 21: the view says `sales.orders`, the catalog `Sales.Orders`."""
    path = duck(
        "c.db",
        'CREATE SCHEMA "Sales"',
        'CREATE TABLE "Sales"."Orders"("OrderId" INTEGER)',
        "CREATE VIEW v AS SELECT orderid AS x FROM sales.orders",
    )
    run(path)
    held = assets()
    assert sorted(held) == ["c.Sales.Orders", "c.main.v"]
    assert held["c.main.v"].upstreams == (held["c.Sales.Orders"].urn,)


def test_quoted_mixed_case_columns_keep_their_lineage(run, home, assets, duck):
    """Case 18, the source side."""
    path = duck("l.db", 'CREATE TABLE t("OrderId" INTEGER)', 'CREATE VIEW v(o) AS SELECT "OrderId" + 1 FROM t')
    run(path)
    held = assets()
    lineage = home.catalog.aspects(held["l.main.v"].urn)["upstreamLineage"]
    (line,) = lineage["fineGrainedLineages"]
    assert line["upstreams"] == [f"urn:li:schemaField:({held['l.main.t'].urn},OrderId)"]
    assert line["downstreams"] == [f"urn:li:schemaField:({held['l.main.v'].urn},o)"]


def test_a_view_over_a_dropped_table(run, assets, duck):
    path = duck(
        "b.db",
        "CREATE TABLE g(x INTEGER)",
        "CREATE VIEW v AS SELECT x FROM g",
        "DROP TABLE g",
        "CREATE TABLE t(a INTEGER)",
    )
    assert run(path).exit_code == 0
    assert "g does not exist" in assets()["b.main.v"].properties["broken"]


def test_nested_and_huge_types(run, assets, duck):
    """Case 12, the source side."""
    path = duck("n.db", "CREATE TABLE t(j JSON, l INTEGER[], s STRUCT(a INTEGER), m MAP(VARCHAR, INTEGER), h HUGEINT)")
    run(path)
    assert [c.kind for c in assets()["n.main.t"].columns] == ["nested", "nested", "nested", "nested", "integer"]


def test_dated_names_stay_tables_of_their_own(run, assets, duck):
    """Case 22, the source side: nothing is merged by its name."""
    names = ["customers", "customers_20251120", "events_20240101", "events_20240102", "events_20240103"]
    path = duck("d.db", *[f"CREATE TABLE {name}(id INTEGER)" for name in names])
    run(path)
    assert sorted(a.name for a in assets().values()) == names


def test_a_file_that_is_open_for_writing_elsewhere(run, tmp_path):
    import subprocess
    import sys

    path = tmp_path / "busy.db"
    code = (
        f"import duckdb, sys; c = duckdb.connect({str(path)!r}); c.execute('CREATE TABLE t(a INT)'); "
        "c.execute('CHECKPOINT'); print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"ready\n"
        with pytest.raises(SourceError, match="is it open for writing elsewhere"):
            run(path)
        other.stdin.close()
