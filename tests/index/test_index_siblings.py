"""`related`: each kind of neighbour with its relation, either way round."""

from __future__ import annotations

from pathlib import Path

import pytest
from shop_lake import find, new_home, put, urn_of

from suffice.catalogs.home import Home
from suffice.index.siblings import related
from suffice.model import Finding

ORDERS, CUSTOMERS = urn_of("s.main.orders"), urn_of("s.main.customers")
JANUARY, STAGING, SUMMARY = urn_of("s.main.orders_01"), urn_of("stage.main.orders"), urn_of("s.main.summary")


def names(home: Home, urn: str) -> dict[tuple[str, str], str]:
    return {(r["table"], r["relation"]): r["detail"] for r in related(home, urn)}


@pytest.fixture
def lake(tmp_path: Path) -> Home:
    home = new_home(tmp_path / "h")
    columns = ["order_id", "customer_id", "month", "total"]
    put(home, "s.main.orders", columns, keys={"customer_id": ("s.main.customers", "id")})
    put(home, "s.main.orders_01", columns)
    put(home, "stage.main.orders", [*columns, "loaded_at"])
    put(home, "s.main.customers", ["id", "name"])
    put(home, "s.main.summary", ["month", "total"])
    home.catalog.put(
        SUMMARY, "upstreamLineage", {"upstreams": [{"dataset": ORDERS}, {"dataset": urn_of("x.main.gone")}]}
    )
    family = {"id": "f1", "kind": "schema", "members": 2, "base": ORDERS, "stem": "orders", "shard": None}
    find(
        home,
        Finding(ORDERS, "family", family),
        Finding(JANUARY, "family", {**family, "shard": {"column": "month", "values": ["2019-01"]}}),
        Finding(STAGING, "copy", {"of": ORDERS, "relation": "missing_values"}, subject=ORDERS),
        Finding(STAGING, "authoritative", {"urn": ORDERS, "why": "no value is missing"}),
        Finding(
            ORDERS, "join", subject="month",
            value={"left": {"urn": ORDERS, "columns": ["month"]}, "right": {"urn": SUMMARY, "columns": ["month"]},
                   "kind": "measured"}, numbers={"match": 0.98},
        ),
        Finding(
            CUSTOMERS, "not_joinable", subject="id",
            value={"left": {"urn": CUSTOMERS, "columns": ["id"]}, "right": {"urn": SUMMARY, "columns": ["total"]}},
        ),
    )  # fmt: skip
    return home


def test_family_and_its_shard(lake: Home) -> None:
    assert names(lake, ORDERS)["s.main.orders_01", "same family (by schema)"] == "month = 2019-01"
    assert ("s.main.orders", "base of the family") in names(lake, JANUARY)


def test_copies_either_way_and_the_one_to_use(lake: Home) -> None:
    assert ("stage.main.orders", "is it with values missing") in names(lake, ORDERS)
    assert ("s.main.orders", "holds its rows with the values that are missing here") in names(lake, STAGING)
    first = related(lake, STAGING)[0]
    assert (first["relation"], first["detail"]) == ("to be used instead", "no value is missing")


def test_joins_declared_and_measured_either_way(lake: Home) -> None:
    assert names(lake, ORDERS)["s.main.customers", "referred to by this"] == "customer_id = id, declared"
    assert names(lake, CUSTOMERS)["s.main.orders", "refers to this"] == "customer_id = id, declared"
    assert names(lake, SUMMARY)["s.main.orders", "refers to this"] == "month = month, measured, 98% match"
    assert ("s.main.summary", "not joinable, though names suggest it") in names(lake, CUSTOMERS)


def test_a_key_that_an_enricher_tells_of_too_is_given_once(lake: Home) -> None:
    value = {"left": {"urn": ORDERS, "columns": ["customer_id"]}, "right": {"urn": CUSTOMERS, "columns": ["id"]}}
    find(lake, Finding(ORDERS, "join", {**value, "kind": "declared"}, subject="c", numbers={"match": 1.0}))
    assert [r["detail"] for r in related(lake, CUSTOMERS) if r["relation"] == "refers to this"] == [
        "customer_id = id, declared, 100% match"
    ]


def test_lineage_either_way(lake: Home) -> None:
    assert ("s.main.summary", "downstream") in names(lake, ORDERS)
    assert names(lake, SUMMARY)["x.main.gone", "upstream"] == "not in the catalog"


def test_similar_columns_only_where_nothing_nearer_is_known(lake: Home) -> None:
    assert names(lake, JANUARY)["stage.main.orders", "similar columns"] == "4 of 5"
    assert ("stage.main.orders", "similar columns") not in names(lake, ORDERS)
    assert "similar columns" not in {relation for _, relation in names(lake, CUSTOMERS)}


def test_an_unknown_table_has_none(lake: Home) -> None:
    assert related(lake, "urn:nothing") == []
