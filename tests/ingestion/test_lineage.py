"""What a view is made from; what cannot be told is said to be unknown, never to be nothing."""

from __future__ import annotations

import pytest

from suffice.ingestion.emit import dataset_urn
from suffice.ingestion.lineage import MAX_DEPTH, ViewLineage, nesting_depth
from suffice.model import Asset, Column


def asset(name: str, *columns: str, schema: str = "main", sql: str = "") -> Asset:
    urn = dataset_urn("duckdb", "s", schema, name)
    kind = "view" if sql else "table"
    return Asset(urn, "s", schema, name, "duckdb", kind, tuple(Column(c) for c in columns), definition=sql)


def origin(sql: str, *tables: Asset, columns: tuple[str, ...] = ("x",)):
    view = asset("v", *columns, sql=sql)
    return ViewLineage("duckdb", [*tables, view]).of(view)


@pytest.mark.parametrize("opening, closing", [("(", ")"), ("(SELECT x FROM ", ")"), ("[", "]")])
def test_deep_nesting_is_not_parsed(opening: str, closing: str) -> None:
    """Case 20: the parser of nested queries would end the process."""
    sql = f"CREATE VIEW v AS SELECT x FROM {opening * 5_000}t{closing * 5_000}"
    found = origin(sql, asset("t", "x"))
    assert (found.upstreams, found.fields) == ((), ())
    assert "5000 deep" in found.unknown


def test_brackets_in_strings_names_and_comments_do_not_nest() -> None:
    many = "(" * (MAX_DEPTH + 1)
    assert nesting_depth(f"SELECT '{many}', \"{many}\" /* {many} */ FROM t -- {many}") == 0


def test_joins_subqueries_and_unions() -> None:
    a, b, c, d = (asset(name, "x", "y") for name in "abcd")
    sql = (
        "CREATE VIEW v AS SELECT a.x FROM a JOIN (SELECT x FROM b) q USING (x) "
        "UNION ALL SELECT x FROM c WHERE x IN (SELECT x FROM d)"
    )
    assert set(origin(sql, a, b, c, d).upstreams) == {t.urn for t in (a, b, c, d)}


def test_a_cte_shadows_a_table_only_where_it_is_in_force() -> None:
    """Case 17, and its turn: inside the CTE the name is the table's."""
    orders, raw = asset("orders", "x"), asset("raw_orders", "x")
    shadowed = origin("CREATE VIEW v AS WITH orders AS (SELECT x FROM raw_orders) SELECT x FROM orders", orders, raw)
    assert shadowed.upstreams == (raw.urn,)
    assert [field.upstreams for field in shadowed.fields] == [((raw.urn, "x"),)]


def test_names_are_found_in_schemas_and_behind_the_catalog_name() -> None:
    one, two = asset("t", "x", schema="Hr"), asset("t", "x")
    sql = "CREATE VIEW v AS SELECT x FROM hr.T UNION SELECT x FROM lake.main.t"
    assert set(origin(sql, one, two).upstreams) == {one.urn, two.urn}


def test_what_does_not_parse_is_unknown() -> None:
    """Case 19, the view side."""
    assert origin("CREATE VIEW v AS SELEKT what (", asset("t", "x")).unknown


def test_a_table_that_is_not_there_is_no_upstream() -> None:
    found = origin("CREATE VIEW v AS SELECT x FROM elsewhere JOIN t USING (x)", asset("t", "x"))
    assert found.upstreams == (asset("t").urn,)
