from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from duck_lake import DuckLake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice.libs import duck
from suffice_enrichers.copies import CopiesEnricher
from suffice_enrichers.relations import evidence_bits, log2_choose

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "enrichers" / "copies.yml").read_text())


def built(folder: Path, tables: dict[str, str], **options: Any) -> DuckLake:
    """The case's tables; a base that they name is made first and dropped from the lake."""
    lake = DuckLake(folder / "lake.duckdb", {**CASES["bases"], **tables}, **options)
    for base in CASES["bases"]:
        del lake.assets[f"urn:{base}"]
    return lake


@pytest.fixture(params=CASES["cases"], ids=lambda case: case["name"])
def judged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[dict[str, Any], DuckLake]]:
    lake = built(tmp_path, request.param["tables"])
    lake.run(CopiesEnricher())
    yield request.param, lake
    lake.rows.close()


def test_each_relation(judged: tuple[dict[str, Any], DuckLake]) -> None:
    case, lake = judged
    found = {f.urn.removeprefix("urn:"): f for f in lake.findings("copy")}
    assert set(found) == set(case["expect"])
    for name, wanted in case["expect"].items():
        copy = found[name]
        assert (copy.value["relation"], copy.value["of"]) == (wanted["relation"], f"urn:{wanted['of']}")
        for key in ("column", "values", "columns", "low", "high"):
            if key in wanted:
                assert copy.value[key] == wanted[key]
        for key, number in wanted.get("numbers", {}).items():
            assert copy.numbers[key] == pytest.approx(number)


def test_the_table_to_use(judged: tuple[dict[str, Any], DuckLake]) -> None:
    case, lake = judged
    use = {f.urn.removeprefix("urn:"): f.value for f in lake.findings("authoritative")}
    for name, wanted in case.get("use", {}).items():
        assert use[name]["urn"] == f"urn:{wanted}"
    assert all(value["why"] for value in use.values())
    if not case["expect"]:
        assert not use


def test_the_query_gives_the_numbers_again(judged: tuple[dict[str, Any], DuckLake]) -> None:
    _, lake = judged
    for copy in lake.findings("copy"):
        answer = lake.rows.numpy(copy.query)
        numbers = {name: values[0] for name, values in answer.items()}
        checked = set(numbers) & set(copy.numbers)
        assert checked
        for name in checked:
            assert numbers[name] == pytest.approx(copy.numbers[name]), (copy.value, copy.query)
        if copy.value["relation"] in ("identical", "partition"):
            assert numbers["extra_rows"] == numbers["missing_rows"] == 0


BASE = (
    "SELECT i AS id, 'n' || ((i * {a}) % {n}) AS name, (i * {b}) % {m} AS ref, hash(i, {a}) % 1000 AS size"
    " FROM range({n}) t(i)"
)
CHANGES = {
    "repeated_rows": "FROM a UNION ALL (FROM a WHERE hash(id, {a}) % 10 = {b} % 10 OR id = 3)",
    "missing_values": (
        "SELECT CASE WHEN hash(id, 1, {a}) % 20 = 0 THEN NULL ELSE id END AS id,"
        " CASE WHEN hash(id, 2, {a}) % 20 = 0 THEN NULL ELSE name END AS name,"
        " CASE WHEN hash(id, 3, {a}) % 20 = 0 OR id = 5 THEN NULL ELSE ref END AS ref,"
        " CASE WHEN hash(id, 4, {a}) % 20 = 0 OR id = 7 THEN NULL ELSE size END AS size FROM a"
    ),
    "broken_reference": (
        "SELECT id, name, CASE WHEN hash(id, {a}) % 10 = 0 OR id = 4 THEN NULL"
        " WHEN hash(id, {a}) % 20 = 1 OR id IN (3, 5, 6) THEN 99999999 ELSE ref END AS ref, size FROM a"
    ),
    "sample": "FROM a WHERE hash(id, 9, {a}) % 5 = 0 OR id % 31 = 7",
    "partition": "FROM a WHERE ref = {b} % {m}",
}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    change=st.sampled_from(sorted(CHANGES)),
    n=st.integers(60, 400),
    m=st.integers(3, 9),
    a=st.integers(1, 10**6),
    b=st.integers(1, 10**6),
)
def test_planted_changes_of_random_tables(
    tmp_path_factory: pytest.TempPathFactory, change: str, n: int, m: int, a: int, b: int
) -> None:
    while b % m == 0 or (m == 9 and b % 3 == 0) or (m % 2 == 0 and b % 2 == 0):
        b += 1
    numbers = {"a": a, "b": b, "n": n, "m": m}
    tables = {"a": BASE.format(**numbers), "other": CHANGES[change].format(**numbers)}
    lake = DuckLake(tmp_path_factory.mktemp("lake") / "lake.duckdb", tables)
    lake.run(CopiesEnricher())
    lake.rows.close()
    (copy,) = lake.findings("copy")
    assert (copy.urn, copy.value["of"], copy.value["relation"]) == ("urn:other", "urn:a", change)


def test_lineage_and_declared_keys_choose_among_exact_copies(tmp_path: Path) -> None:
    import dataclasses

    lake = built(tmp_path, {"x": "FROM sales", "longer_name": "FROM sales"})
    source = lake.assets["urn:longer_name"]
    lake.assets["urn:longer_name"] = dataclasses.replace(source, primary_key=("id",))
    lake.run(CopiesEnricher())
    assert {f.value["urn"] for f in lake.findings("authoritative")} == {"urn:longer_name"}
    lake.rows.close()


def test_a_known_reference_is_broken_by_nulls_alone(tmp_path: Path) -> None:
    import dataclasses

    from suffice.model import ForeignKey

    nulls = "SELECT id, city, amount, day, CASE WHEN id % 10 = 0 THEN NULL ELSE shop END AS shop FROM sales"
    lake = built(tmp_path, {"a": "FROM sales", "b": nulls})
    key = ForeignKey("k", ("shop",), "shops", ("id",), "urn:shops")
    lake.assets["urn:a"] = dataclasses.replace(lake.assets["urn:a"], foreign_keys=(key,))
    lake.run(CopiesEnricher())
    assert lake.findings("copy", "urn:b")[0].value["relation"] == "broken_reference"
    lake.rows.close()


def test_nothing_is_said_of_a_table_that_was_read_in_part(tmp_path: Path) -> None:
    import sqlite3

    from suffice.model import Asset, Column, SourceRef
    from suffice.rows.engine import Engine

    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as connection:
        for name in ("a", "b"):
            connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, x TEXT)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", [(i, f"x{i}") for i in range(3000)])
    connection.close()
    lake = built(tmp_path, {"c": "FROM sales"})
    columns = (Column("id", "INTEGER"), Column("x", "TEXT"))
    lake.assets = {f"urn:{n}": Asset(f"urn:{n}", "s", "main", n, "sqlite", columns=columns) for n in ("a", "b")}
    lake.rows.close()
    lake.rows = Engine({"s": SourceRef("s", "sqlite", str(path), "sqlite")}, max_rows=1000)
    lake.run(CopiesEnricher())
    assert not lake.found
    assert lake.notes == ["a table of which only a sample was read is not compared with others"] * 2
    lake.rows.close()


def test_the_work_grows_with_the_number_of_shards_and_not_with_its_square(tmp_path: Path) -> None:
    base = "SELECT i AS id, i % 150 AS part, hash(i) % 1000 AS size FROM range(4500) t(i)"
    tables = {"a": base, **{f"a{k}": f"FROM a WHERE part = {k}" for k in range(150)}}
    lake = DuckLake(tmp_path / "lake.duckdb", tables)
    lake.run(CopiesEnricher())
    found = lake.findings("copy")
    assert len(found) == 150
    assert {f.value["relation"] for f in found} == {"partition"}
    assert lake.rows.statements < 10 * len(tables)
    lake.rows.close()


def test_a_copy_is_looked_at_again_only_when_something_changed(tmp_path: Path) -> None:
    lake = built(tmp_path, {"a": "FROM sales", "b": "FROM sales"})
    (before,) = CopiesEnricher().units(lake)
    (same,) = CopiesEnricher().units(lake)
    assert before == same
    lake.rows.close()
    connection = duck.connect(str(tmp_path / "lake.duckdb"))
    connection.execute("DELETE FROM b WHERE id % 7 = 0")
    connection.close()
    lake.rows = type(lake.rows)(lake.rows._sources)
    (after,) = CopiesEnricher().units(lake)
    assert (after.key, after.inputs == before.inputs) == (before.key, False)
    lake.rows.close()


def test_bits() -> None:
    assert log2_choose(10, 10) == pytest.approx(0)
    assert evidence_bits(5, 5, 1e-3) == pytest.approx(49.8, abs=0.1)
    assert evidence_bits(0, 0, 0.5) == 0
