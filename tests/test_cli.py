"""Wrong use and half-made homes: one clear line with the mend, the right exit code, nothing lost."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

import pytest
from newcomer import Cli


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["ingest", "gone.sqlite"], 3, "gone.sqlite"),
        (["ingest", "nosuchdb://x/y"], 2, "nosuchdb"),
        (["show", "orders"], 3, "suffice ingest"),
        (["select", "orders by city"], 3, "suffice ingest"),
        (["search", "orders"], 3, "suffice ingest"),
        (["index"], 3, "suffice ingest"),
        (["enrich"], 3, "suffice ingest"),
    ],
)
def test_nothing_there_yet(cli: Cli, arguments: list[str], code: int, says: str) -> None:
    done = cli(*arguments)
    assert done.returncode == code
    assert says in one_line(done)


def test_a_folder_without_tables_and_an_empty_database_say_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    sqlite3.connect(tmp_path / "empty.sqlite").executescript("CREATE TABLE t(a); DROP TABLE t;")
    for target in ("bare", "empty.sqlite"):
        done = cli("ingest", target)
        assert done.returncode == 3
        assert target.split(".")[0] in one_line(done)


def test_the_main_job_in_five_commands(cli: Cli, shop: Path) -> None:
    for command in (["ingest", str(shop)], ["enrich"], ["index"]):
        done = cli(*command)
        assert done.returncode == 0, done.stderr
    again = json.loads(cli("ingest", str(shop), "--json").stdout)
    assert again["done"].get("written", 0) == 0
    answer = json.loads(cli("select", "total of the orders of customers from Paris", "--json").stdout)
    assert answer["format"] == 1
    assert {t["table"] for t in answer["tables"]} == {"customers", "orders"}
    assert answer["status"] == "sufficient"
    shown = json.loads(cli("show", "orders", "--json").stdout)
    assert shown["rows"] == 3
    assert shown["quality"] == []
    assert [r["table"] for r in json.loads(cli("related", "orders", "--json").stdout)["related"]] == [
        "shop.main.customers"
    ]
    assert "orders" in cli("search", "orders").stdout
    checked = json.loads(cli("check", "--json").stdout)
    assert {line["state"] for line in checked["checks"]} <= {"ok", "info", "missing"}


def test_wrong_use_after_ingest(cli: Cli, shop: Path) -> None:
    assert cli("ingest", str(shop)).returncode == 0
    done = cli("show", "ordrs")
    assert (done.returncode, "orders" in one_line(done)) == (2, True)
    done = cli("select", "total of orders")
    assert (done.returncode, "suffice index" in one_line(done)) == (3, True)
    done = cli("select", "")
    assert done.returncode == 2
    done = cli("select", "--tasks", "gone.jsonl", "--out", "out.jsonl")
    assert done.returncode in (2, 3)
    assert "gone.jsonl" in done.stderr


def test_an_unknown_setting_names_the_nearest(cli: Cli, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "suffice.toml").write_text("max_row = 5000\n")
    done = cli("index")
    assert done.returncode == 2
    assert "did you mean 'max_rows'" in one_line(done)


def test_a_password_is_shown_nowhere(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_CATALOG", "postgresql://user:hunter2@localhost:1/db")
    done = cli("check")
    assert "hunter2" not in done.stdout + done.stderr
    assert "***" in done.stdout
