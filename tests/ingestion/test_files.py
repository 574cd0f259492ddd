"""Data files as tables: what is profiled equals the file's text, and one bad file costs nothing else."""

from __future__ import annotations

import datetime
import gzip
import json
from pathlib import Path

import duckdb
import openpyxl
import pytest
import yaml

from suffice.errors import DataUnreachable, SourceError
from suffice.rows import files
from suffice.rows.engine import Engine

CASES = yaml.safe_load((Path(__file__).parent.parent / "cases" / "ingestion" / "csv.yml").read_text(encoding="utf-8"))


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    (tmp_path / "lake").mkdir()
    return tmp_path / "lake"


def rows_of(home, asset, column: str) -> list:
    engine = Engine(home.sources())
    relation = engine.relation(asset)
    return [row[0] for row in engine.query(f'SELECT "{column}" FROM {relation.sql}')]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_csv(case, lake, run, home, assets) -> None:
    path = lake / case.get("file", "data.csv")
    raw = case["text"].encode(case.get("encoding", "utf-8"))
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    report = run(lake)
    assert report.failures == []
    asset = assets()["lake.main.data"]
    assert {c.name: c.type for c in asset.columns} == case["columns"]
    assert {c.name: c.original for c in asset.columns if c.original is not None} == case.get("originals", {})
    relation = Engine(home.sources()).relation(asset)
    assert (relation.rows, relation.columns) == (case["rows"], tuple(case["columns"]))
    for column, values in case.get("values", {}).items():
        assert rows_of(home, asset, column) == values
    notes = " ".join(subject for subjects in report.warnings.values() for subject in subjects)
    if "note" in case:
        assert case["note"] in notes
    elif "originals" not in case:
        assert notes == ""


@pytest.mark.parametrize(
    "tail, kind, last",
    [("25000,7.9\n", "DOUBLE", 7.9), ("25000,008\n", "VARCHAR", "008"), ("25000,7.9\n25001,008\n", "VARCHAR", "008")],
)
def test_values_past_any_sniffing_window(tail, kind, last, lake, run, home, assets) -> None:
    """Case 2: all of the file decides the type."""
    (lake / "big.csv").write_text("id,v\n" + "".join(f"{n},{n}\n" for n in range(25_000)) + tail)
    run(lake)
    asset = assets()["lake.main.big"]
    assert asset.column("v").type == kind
    assert rows_of(home, asset, "v")[-1] == last


def test_a_folder_with_bad_files(lake, run, assets) -> None:
    (lake / "empty.csv").write_text("")
    (lake / "bad.parquet").write_text("no such thing")
    (lake / "bad.xlsx").write_text("no such thing")
    (lake / "bad.json").write_text("{")
    (lake / "good.csv").write_text("a\n1\n")
    report = run(lake)
    assert sorted(assets()) == ["lake.main.good"]
    assert sorted(Path(subject).name for subject, _ in report.failures) == [
        "bad.json", "bad.parquet", "bad.xlsx", "empty.csv",
    ]  # fmt: skip
    assert report.exit_code == 1


def test_a_folder_without_tables(lake, run) -> None:
    (lake / "readme.txt").write_text("nothing")
    with pytest.raises(SourceError, match=r"no table in .*name a folder that holds"):
        run(lake)


def test_names_of_tables_and_schemas(lake, run, assets) -> None:
    """The folder is `main`, a subfolder a schema; equal stems are told apart by their suffix, all of them."""
    for name in ("p.csv", "P.tsv", "v1.0/deep/q.csv", "~$lock.csv", ".hidden/x.csv"):
        (lake / name).parent.mkdir(parents=True, exist_ok=True)
        (lake / name).write_text("a\n1\n")
    duckdb.sql("SELECT 1 AS a").write_parquet(str(lake / "p.parquet"))
    run(lake)
    assert sorted(assets()) == ["lake.main.P_tsv", "lake.main.p_csv", "lake.main.p_parquet", "lake.v1_0_deep.q"]


def test_parquet_keeps_its_types(lake, run, home, assets) -> None:
    duckdb.sql("SELECT 7::HUGEINT AS h, [1, 2] AS l, DATE '2020-01-01' AS d, 'x' AS \"a b\"").write_parquet(
        str(lake / "t.parquet")
    )
    run(lake)
    asset = assets()["lake.main.t"]
    assert [(c.name, c.kind) for c in asset.columns] == [
        ("h", "number"), ("l", "nested"), ("d", "time"), ("a b", "text"),
    ]  # fmt: skip
    assert rows_of(home, asset, "d") == [datetime.date(2020, 1, 1)]


def test_json_lines_and_arrays(lake, run, home, assets) -> None:
    (lake / "lines.jsonl").write_text('{"a": 1, "b": {"c": 2}}\n{"a": 2.5}\nbroken\n')
    (lake / "array.json").write_text(json.dumps([{"code": "008", "n": 1}, {"code": "9", "n": None}]))
    report = run(lake)
    held = assets()
    assert [(c.name, c.kind) for c in held["lake.main.lines"].columns] == [("a", "number"), ("b", "nested")]
    assert rows_of(home, held["lake.main.lines"], "a") == [1.0, 2.5]
    assert rows_of(home, held["lake.main.array"], "code") == ["008", "9"]
    (subject,) = report.warnings["a file is not as tables should be"]
    assert "lines that are no JSON are left out" in subject


def test_excel_sheets(lake, run, home, assets) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Year 1"
    for row in (
        ["Sales of the year"],
        [],
        ["id", "amount", "on", "at", "ok", "code"],
        [1, 2.5, datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4), True, "008"],
        [3, 4, None, None, False, 7],
    ):
        sheet.append(row)
    book.create_sheet("blank")
    book.create_sheet("Notes").append(["only a header"])
    book.save(lake / "sales.xlsx")
    report = run(lake)
    held = assets()
    assert (report.failures, sorted(held)) == ([], ["lake.main.sales_Notes", "lake.main.sales_Year 1"])
    year = held["lake.main.sales_Year 1"]
    assert {c.name: c.type for c in year.columns} == {
        "id": "BIGINT", "amount": "DOUBLE", "on": "DATE", "at": "TIMESTAMP", "ok": "BOOLEAN", "code": "VARCHAR",
    }  # fmt: skip
    assert rows_of(home, year, "id") == [1, 3]
    assert rows_of(home, year, "code") == ["008", "7"]


def test_a_workbook_of_one_sheet_is_named_by_its_stem(lake, run, assets) -> None:
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append([1])
    book.save(lake / "one.xlsx")
    run(lake)
    assert sorted(assets()) == ["lake.main.one"]


def test_one_file_is_a_source_too(lake, run, assets) -> None:
    (lake / "x.csv").write_text("a\n1\n")
    run(lake / "x.csv")
    assert sorted(assets()) == ["x.main.x"]


def test_a_second_run_writes_nothing(lake, run) -> None:
    (lake / "a.csv").write_text("a,a\n1,2\n")
    (lake / "b.jsonl").write_text('{"z": 1, "a": 2}\n')
    assert run(lake).done["written"] > 0
    assert run(lake).done["written"] == 0


def test_large_files_are_read_where_they_lie(lake, run, home, assets, monkeypatch) -> None:
    (lake / "a.csv").write_text("id,v\n" + "".join(f"{n},{n / 2}\n" for n in range(100)))
    run(lake)
    asset = assets()["lake.main.a"]
    assert not isinstance(files.read(asset, 1_000), str)
    monkeypatch.setattr(files, "IN_PLACE_BYTES", 10)
    assert isinstance(files.read(asset, 1_000), str)
    engine = Engine(home.sources())
    assert engine.query(f"SELECT sum(v) FROM {engine.relation(asset).sql}") == [(2475.0,)]


def test_a_sample_says_of_how_many_rows(lake, run, assets) -> None:
    (lake / "a.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(100)))
    run(lake)
    fetched = files.read(assets()["lake.main.a"], 30)
    assert (fetched.rows, fetched.table.num_rows) == (100, 25)


def test_a_file_that_changed_or_went(lake, run, assets) -> None:
    (lake / "a.csv").write_text("id\n1\n")
    run(lake)
    asset = assets()["lake.main.a"]
    (lake / "a.csv").write_text("id\nno number\n")
    with pytest.raises(DataUnreachable, match="ingest 'lake' again"):
        files.read(asset, 10)
    (lake / "a.csv").unlink()
    with pytest.raises(DataUnreachable, match="is gone"):
        files.read(asset, 10)
