"""Which tables belong together, what tells them apart, and that a family keeps its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from duck_lake import DuckLake
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.extend import Enricher
from suffice.model import Asset, Column, Finding
from suffice_enrichers.copies import CopiesEnricher
from suffice_enrichers.describe import DescribeEnricher
from suffice_enrichers.families import FamiliesEnricher
from suffice_enrichers.keys import KeysEnricher
from suffice_enrichers.profile import ProfileEnricher

RAIN = "SELECT {year} AS year, i AS station, (i * {year}) % 97 AS mm FROM range(40) t(i)"
SALES = """
SELECT i AS id, ['Oslo', 'Rome', 'Lima'][1 + i % 3] AS city, (i * 37) % 101 AS amount, i * 2 AS till
FROM range(240) t(i)"""
BEACH = (
    "SELECT i + {n} AS day, (i * {n}) % 7 AS rain, (i * {n}) % 11 AS samples, i * {n} AS {name}_tag FROM range(9) t(i)"
)
ALL: tuple[type[Enricher], ...] = (ProfileEnricher, KeysEnricher, CopiesEnricher, FamiliesEnricher, DescribeEnricher)


@pytest.fixture
def lake(tmp_path: Path) -> DuckLake:
    tables = {f"rain_{year}": RAIN.format(year=year) for year in (2019, 2020, 2021)}
    tables |= {f"{name}_beach_datasheet": BEACH.format(name=name, n=n) for name, n in (("malibu", 3), ("carson", 5))}
    tables |= {
        "sales": SALES,
        "sales_oslo": "FROM sales WHERE city = 'Oslo'",
        "x9": "FROM sales WHERE hash(id) % 5 = 0",
    }
    tables |= {"colours": "SELECT i AS id, 'c' || i AS name FROM range(5) t(i)",
               "nations": "SELECT i AS id, 'n' || i AS name FROM range(7) t(i)"}  # fmt: skip
    lake = DuckLake(tmp_path / "lake.duckdb", tables)
    lake.run(*(enricher() for enricher in ALL))
    return lake


def family(lake: DuckLake, name: str) -> dict[str, object]:
    found = lake.findings("family", f"urn:{name}")
    return dict(found[0].value) if found else {}


def test_years_are_a_family_told_apart_by_their_constant_column(lake: DuckLake) -> None:
    held = [family(lake, f"rain_{year}") for year in (2019, 2020, 2021)]
    assert {f["id"] for f in held} == {held[0]["id"]}
    assert (held[1]["kind"], held[1]["members"], held[1]["stem"]) == ("stem", 3, "rain")
    assert held[1]["shard"] == {"column": "year", "values": [2020]}


def test_two_shared_words_and_columns_alike_by_their_last_word(lake: DuckLake) -> None:
    malibu = family(lake, "malibu_beach_datasheet")
    assert malibu["id"] == family(lake, "carson_beach_datasheet")["id"]
    assert malibu["shard"] == {"column": "", "values": ["malibu"]}


def test_a_base_with_its_parts_and_copies(lake: DuckLake) -> None:
    assert family(lake, "sales_oslo")["base"] == "urn:sales"
    assert family(lake, "sales_oslo")["shard"] == {"column": "city", "values": ["Oslo"]}
    assert family(lake, "x9")["id"] == family(lake, "sales")["id"]


def test_tables_that_share_id_and_name_only_are_no_family(lake: DuckLake) -> None:
    assert family(lake, "colours") == family(lake, "nations") == {}


def test_a_description_says_first_what_sets_a_table_apart(lake: DuckLake) -> None:
    texts = {f.urn[4:]: f.value for f in lake.findings("description") if not f.column}
    assert texts["rain_2020"]["text"].startswith("Only year 2020, one of 3 like tables.")
    assert texts["sales_oslo"]["text"].startswith("The part of sales with city Oslo, 80 of 240 rows.")
    assert texts["x9"]["text"].startswith(f"{texts['x9']['differs'][0]['numbers']['rows']} of the 240 rows of sales")
    assert all(f.status == "proposed" and not f.fact for f in lake.findings("description"))
    for value in texts.values():
        for difference in value["differs"]:
            assert not difference["query"] or lake.rows.query(difference["query"])


class Names:
    """A lake of names and columns alone."""

    def __init__(self, tables: dict[str, tuple[str, ...]]) -> None:
        self.assets = {
            f"urn:{name}": Asset(
                f"urn:{name}", "lake", "main", name, "files", columns=tuple(Column(c) for c in columns)
            )
            for name, columns in tables.items()
        }

    def findings(self, kind: str, urn: str | None = None) -> list[Finding]:
        return []

    def ids(self) -> dict[str, str]:
        enricher = FamiliesEnricher()
        [unit] = enricher.units(self)  # type: ignore[arg-type]
        return {f.urn: f.value["id"] for f in enricher.enrich(unit, self).findings}  # type: ignore[arg-type]


columns = st.sampled_from(
    [("day", "place", "value"), ("day", "place", "value", "unit"), ("code", "title", "price", "stock")]
)
tables = st.dictionaries(
    st.builds("{}_{}".format, st.sampled_from(["rain", "wind", "price"]), st.integers(1990, 2020)),
    columns,
    min_size=2,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(tables, st.randoms())
def test_order_changes_nothing(found: dict[str, tuple[str, ...]], rng: object) -> None:
    shuffled = list(found.items())
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Names(found).ids() == Names(dict(shuffled)).ids()


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 9), st.integers(1, 4))
def test_a_new_member_does_not_rename_a_family(before: int, more: int) -> None:
    shape = ("day", "place", "value")
    held = Names({f"rain_{1990 + i}": shape for i in range(before)}).ids()
    grown = Names({f"rain_{1990 + i}": shape for i in range(before + more)}).ids()
    assert set(held.values()) == set(grown.values())
