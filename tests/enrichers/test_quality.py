from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from duck_lake import DuckLake

from suffice.catalogs.home import Home
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.libs import duck
from suffice.model import Finding
from suffice.report import Report
from suffice_enrichers.copies import CopiesEnricher
from suffice_enrichers.quality import QualityEnricher

SALES = (
    "SELECT i AS id, ['Oslo', 'Rome', 'Lima'][1 + i % 3] AS city, (i * 37) % 101 AS amount, 100 + i % 7 AS shop"
    " FROM range(200) t(i)"
)
TAGS = ["subset_of", "duplicate_rows", "missing_values", "broken_reference", "superseded"]
DEGRADED = {
    "subset_of": "FROM a WHERE hash(id) % 5 = 0",
    "duplicate_rows": "FROM a UNION ALL FROM a WHERE id % 10 = 3",
    "missing_values": "SELECT id, CASE WHEN id % 9 = 0 THEN NULL ELSE city END AS city,"
    " CASE WHEN id % 11 = 0 THEN NULL ELSE amount END AS amount, shop FROM a",
    "broken_reference": "SELECT id, city, amount, CASE WHEN id % 9 = 0 THEN 99999999 ELSE shop END AS shop FROM a",
}


def tags_of(lake: DuckLake, name: str) -> list[Finding]:
    return [f for kind in TAGS for f in lake.findings(kind, f"urn:{name}")]


@pytest.mark.parametrize("tag", DEGRADED)
def test_a_degraded_copy_has_its_tag_with_numbers_query_and_version(tmp_path: Path, tag: str) -> None:
    lake = DuckLake(tmp_path / "lake.duckdb", {"a": SALES, "b": DEGRADED[tag]})
    lake.run(CopiesEnricher(), QualityEnricher())
    (found,) = tags_of(lake, "b")
    assert (found.kind, found.value["of"], found.fact) == (tag, "urn:a", True)
    assert found.numbers["rows"] == lake.rows.relation(lake.assets["urn:b"]).rows
    assert lake.rows.query(found.query)
    assert (found.enricher, found.version) == ("quality", QualityEnricher.version)
    assert not tags_of(lake, "a")
    lake.rows.close()


def test_a_shard_and_an_exact_copy_are_clean(tmp_path: Path) -> None:
    tables = {"a": SALES, "a_prod": "FROM a", "a_rome": "FROM a WHERE city = 'Rome'"}
    lake = DuckLake(tmp_path / "lake.duckdb", tables)
    lake.run(CopiesEnricher(), QualityEnricher())
    assert len(lake.findings("copy")) == 2
    assert not [f for kind in TAGS for f in lake.findings(kind)]
    lake.rows.close()


def test_an_exact_copy_of_a_sample_is_one_too(tmp_path: Path) -> None:
    tables = {"a": SALES, "b": DEGRADED["subset_of"], "b_prod": "FROM b"}
    lake = DuckLake(tmp_path / "lake.duckdb", tables)
    lake.run(CopiesEnricher(), QualityEnricher())
    assert [(f.kind, f.value["of"]) for f in tags_of(lake, "b_prod")] == [("subset_of", "urn:a")]
    lake.rows.close()


def join(table: str, *, match: float | None, kind: str) -> Finding:
    value = {
        "left": {"urn": f"urn:{table}", "columns": ["shop"]},
        "right": {"urn": "urn:shops", "columns": ["id"]},
        "kind": kind,
    }
    numbers: dict[str, Any] = {"match": match, "orphans": None if match is None else round(200 * (1 - match))}
    return Finding(f"urn:{table}", "join", value, subject="shop -> urn:shops # id", numbers=numbers, query="SELECT 1")


def test_a_declared_key_with_orphans_is_tagged_with_their_rate(tmp_path: Path) -> None:
    """Case 10, second half."""
    lake = DuckLake(tmp_path / "lake.duckdb", {"a": SALES})
    lake.found.append(join("a", match=0.7, kind="declared"))
    lake.run(QualityEnricher())
    (tag,) = tags_of(lake, "a")
    assert (tag.kind, tag.value["columns"], tag.value["of"]) == ("broken_reference", ["shop"], None)
    assert tag.numbers == {"broken_share": pytest.approx(0.3), "orphans": 60}
    lake.rows.close()


@pytest.mark.parametrize(
    ("match", "kind"), [(0.7, "measured"), (1.0, "declared"), (0.995, "declared"), (None, "declared")]
)
def test_no_tag_for_a_guessed_key_a_few_orphans_or_rows_that_were_not_read(
    tmp_path: Path, match: float | None, kind: str
) -> None:
    lake = DuckLake(tmp_path / "lake.duckdb", {"a": SALES})
    lake.found.append(join("a", match=match, kind=kind))
    lake.run(QualityEnricher())
    assert not tags_of(lake, "a")
    lake.rows.close()


def test_orphans_that_a_shard_has_from_its_base_are_not_the_shards(tmp_path: Path) -> None:
    lake = DuckLake(tmp_path / "lake.duckdb", {"a": SALES, "b": "FROM a WHERE city = 'Rome'"})
    lake.found += [join("a", match=0.7, kind="declared"), join("b", match=0.5, kind="declared")]
    lake.run(CopiesEnricher(), QualityEnricher())
    assert [f.urn for f in lake.findings("broken_reference")] == ["urn:a"]
    lake.rows.close()


def run_all(home: Home, database: Path) -> dict[str, set[str]]:
    report = Report("test")
    with home.writing():
        ingest(home, str(database), "lake", report)
        enrich(home, only=["profile", "copies", "quality"], report=report)
    assert not report.failures
    names = {asset.urn: asset.name for asset in home.catalog.assets()}
    found: dict[str, set[str]] = {name: set() for name in names.values()}
    for finding in home.store.findings(TAGS):
        found[names[finding.urn]].add(finding.kind)
    return found


def write(database: Path, *statements: str) -> None:
    connection = duck.connect(str(database))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_a_tag_goes_with_its_cause(tmp_path: Path) -> None:
    home, database = Home(tmp_path / "home", create=True), tmp_path / "lake.duckdb"
    write(database, f"CREATE TABLE a AS {SALES}", f"CREATE TABLE b AS {DEGRADED['duplicate_rows']}")
    assert run_all(home, database) == {"a": set(), "b": {"duplicate_rows"}}
    write(database, "CREATE OR REPLACE TABLE b AS FROM a")
    assert run_all(home, database) == {"a": set(), "b": set()}
    write(database, f"CREATE OR REPLACE TABLE b AS {DEGRADED['subset_of']}")
    assert run_all(home, database) == {"a": set(), "b": {"subset_of"}}
    write(database, "DROP TABLE a")
    assert run_all(home, database) == {"b": set()}


@pytest.mark.parametrize(
    ("sql", "tagged"),
    [
        (f"FROM ({SALES}) UNION ALL FROM ({SALES}) WHERE id % 10 = 3", True),
        ("SELECT i // 2 AS id, i % 5 AS city, i % 7 AS amount FROM range(200) t(i)", False),
        ("SELECT i % 150 AS id, (i % 150) % 7 AS city FROM range(200) t(i)", False),
        ("SELECT i % 40 AS at, i % 3 AS kind, i % 2 AS ok FROM range(200) t(i)", False),
    ],
    ids=["whole rows again", "a repeated id with other rows", "too narrow to tell", "events without a key"],
)
def test_rows_again_without_a_base(tmp_path: Path, sql: str, tagged: bool) -> None:
    home, database = Home(tmp_path / "home", create=True), tmp_path / "lake.duckdb"
    write(database, f"CREATE TABLE a AS {sql}")
    assert run_all(home, database) == {"a": {"duplicate_rows"} if tagged else set()}
