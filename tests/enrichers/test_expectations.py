"""Suites by the real Great Expectations: the base holds its own, a degraded copy breaks what it lost."""

from __future__ import annotations

from pathlib import Path

from duck_lake import DuckLake

from suffice_enrichers.copies import CopiesEnricher
from suffice_enrichers.expectations import ExpectationsEnricher
from suffice_enrichers.profile import ProfileEnricher

TABLES = {
    "sales": """
        SELECT i AS id, ['Oslo', 'Rome', 'Lima'][1 + i % 3] AS city, (i * 37) % 101 AS amount FROM range(240) t(i)""",
    "sales_prod": "FROM sales",
    "k9": """
        SELECT CASE WHEN i % 20 = 7 THEN NULL ELSE id END AS id, CASE WHEN i % 18 = 3 THEN NULL ELSE city END AS city,
        CASE WHEN i % 21 = 5 THEN NULL ELSE amount END AS amount
        FROM (SELECT *, row_number() OVER (ORDER BY id) AS i FROM sales)""",
}


def test_a_suite_is_drawn_from_the_table_to_use_and_run_on_its_copies(tmp_path: Path) -> None:
    lake = DuckLake(tmp_path / "lake.duckdb", TABLES)
    lake.run(ProfileEnricher(), CopiesEnricher(), ExpectationsEnricher())
    assert lake.findings("expectations") == []
    lake.settings["expectations"] = True
    lake.run(ExpectationsEnricher())
    lake.rows.close()
    held = {f.urn: f.numbers for f in lake.findings("expectations")}
    assert set(held) == {"urn:sales", "urn:sales_prod", "urn:k9"}
    assert held["urn:sales"]["held"] == held["urn:sales"]["of"] == held["urn:sales_prod"]["held"]
    broken = {(f.column, f.value["expectation"]) for f in lake.findings("assertion")}
    assert {f.urn for f in lake.findings("assertion")} == {"urn:k9"}
    assert broken == {(c, "expect_column_values_to_not_be_null") for c in ("id", "city", "amount")}
    share = next(f.numbers["unexpected"] for f in lake.findings("assertion") if f.column == "id")
    assert share == 12 / 240
