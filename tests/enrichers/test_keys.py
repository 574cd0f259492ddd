"""References found by what the columns hold, and none where only numbers or names agree."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from duck_lake import DuckLake
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.libs import duck
from suffice_enrichers.keys import KeysEnricher
from suffice_enrichers.profile import ProfileEnricher

CASES = yaml.safe_load((Path(__file__).parent.parent / "cases" / "enrichers" / "keys.yml").read_text())


def judged(folder: Path, tables: dict[str, str]) -> DuckLake:
    lake = DuckLake(folder / "lake.duckdb", tables)
    lake.run(ProfileEnricher(), KeysEnricher())
    return lake


def joins(lake: DuckLake, kind: str = "join") -> dict[str, Any]:
    return {
        f"{f.urn[4:]}.{','.join(f.value['left']['columns'])} -> {f.value['right']['urn'][4:]}"
        f".{','.join(f.value['right']['columns'])}": f
        for f in lake.findings(kind)
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_references(case: dict[str, Any], tmp_path: Path) -> None:
    lake = judged(tmp_path, case["tables"])
    found = joins(lake)
    assert set(found) == set(case["joins"])
    for name, numbers in case["joins"].items():
        for key, number in (numbers or {}).items():
            assert found[name].numbers[key] == pytest.approx(number, abs=1e-3), key
    assert set(joins(lake, "not_joinable")) == set(case.get("apart", ()))
    for finding in found.values():
        assert finding.status == "proposed"
        assert lake.rows.query(finding.query)
    lake.rows.close()


names = st.sampled_from(["red", "green", "blue", "pink", "grey", "gold", "teal", "plum"])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.none() | names, min_size=8, max_size=60), st.sets(names, min_size=3))
def test_the_figures_of_a_reference_are_those_of_a_plain_count(used: list[str | None], known: set[str]) -> None:
    cells = ", ".join(f"({i}, {duck.text(c) if c else 'NULL'})" for i, c in enumerate(used))
    rows = ", ".join(f"({duck.text(c)}, {len(c)})" for c in sorted(known))
    tables = {
        "colours": f"SELECT * FROM (VALUES {rows}) t(colour, size)",
        "paints": f"SELECT * FROM (VALUES {cells}) t(paint_no, colour)",
    }
    with tempfile.TemporaryDirectory() as folder:
        lake = judged(Path(folder), tables)
        found = joins(lake).get("paints.colour -> colours.colour")
        lake.rows.close()
    filled = [c for c in used if c]
    hits = [c for c in filled if c in known]
    if found is None:
        few = len(set(filled)) < 3 or len(set(hits)) / len(set(filled)) < 0.4
        assert few or len(hits) / len(filled) < 0.5
    else:
        assert found.numbers["match"] == pytest.approx(len(hits) / len(filled))
        assert found.numbers["orphans"] == len(filled) - len(hits)
        assert found.numbers["back_match"] == pytest.approx(len(set(hits)) / len(known))


def test_a_declared_key_is_measured_and_a_broken_one_said(tmp_path: Path) -> None:
    import dataclasses

    from suffice.model import ForeignKey

    lake = DuckLake(
        tmp_path / "lake.duckdb",
        {
            "shops": "SELECT i AS shop_id FROM range(5) t(i)",
            "sales": "SELECT i AS n, i % 7 AS shop FROM range(70) t(i)",
        },
    )
    keys = (
        ForeignKey("a", ("shop",), "shops", ("shop_id",), "urn:shops"),
        ForeignKey("b", ("n",), "gone", ("id",)),
    )
    lake.assets["urn:sales"] = dataclasses.replace(lake.assets["urn:sales"], foreign_keys=keys)
    lake.run(ProfileEnricher(), KeysEnricher())
    [join] = [f for f in lake.findings("join") if f.value["kind"] == "declared"]
    assert join.fact
    assert join.numbers["match"] == pytest.approx(50 / 70)
    assert join.numbers["orphans"] == 20
    [broken] = lake.findings("broken_key")
    assert broken.value == {"ref_table": "gone", "columns": ["n"]}
    lake.rows.close()
