"""One target after another through one home: what is removed, what is kept, what is said of a wrong one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import yaml

from suffice.errors import SourceError, UsageError

HERE = Path(__file__).parent
RECIPES = HERE.parent.parent / "recipes"


@pytest.fixture
def flaky(tmp_path, monkeypatch):
    """A recipe for `FlakySource`, and the file that says what it lists."""
    monkeypatch.syspath_prepend(str(HERE))
    listed, recipe = tmp_path / "listed.txt", tmp_path / "flaky.yml"
    recipe.write_text(yaml.safe_dump({"source": {"type": "flaky:FlakySource", "config": {"path": str(listed)}}}))

    def run_with(*names: str) -> Path:
        listed.write_text(" ".join(names))
        return recipe

    return run_with


def test_a_broken_listing_removes_nothing(run, assets, flaky) -> None:
    """Case 23: ten tables; a source that fails after four; one that is really gone, and back again."""
    ten = [f"t{n}" for n in range(10)]
    assert run(flaky(*ten)).exit_code == 0
    report = run(flaky(*ten[:4], "!"))
    assert (report.exit_code, report.done["removed"], len(assets())) == (1, 0, 10)
    report = run(flaky(*ten[:9]))
    assert (report.exit_code, report.done["removed"], sorted(assets())) == (
        0,
        1,
        [f"s.main.{name}" for name in ten[:9]],
    )
    assert run(flaky(*ten[:9])).done["written"] == 0
    run(flaky(*ten))
    assert len(assets()) == 10


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "files"])
def test_a_dropped_table_goes_and_comes_back(kind, run, assets, sqlite, tmp_path) -> None:
    """Case 23 for our sources; another source of the same home is not touched."""
    other = sqlite("other.db", "CREATE TABLE a(x); CREATE TABLE b(x);")
    run(other)
    place = tmp_path / "lake" if kind == "files" else tmp_path / "lake.db"

    def hold(*names: str) -> None:
        for name in ("a", "b"):
            if kind == "files":
                place.mkdir(exist_ok=True)
                (place / f"{name}.csv").unlink(missing_ok=True)
                if name in names:
                    (place / f"{name}.csv").write_text("x\n1\n")
            elif kind == "sqlite":
                sqlite(
                    "lake.db", f"DROP TABLE IF EXISTS {name};" + (f"CREATE TABLE {name}(x);" if name in names else "")
                )
            else:
                with duckdb.connect(str(place)) as connection:
                    connection.execute(f"DROP TABLE IF EXISTS {name}")
                    if name in names:
                        connection.execute(f"CREATE TABLE {name}(x INTEGER)")

    def held() -> list[str]:
        return sorted(a.name for a in assets().values() if a.source == "lake")

    hold("a", "b")
    run(place)
    hold("a")
    assert run(place).done["removed"] == 1
    assert held() == ["a"]
    hold("a", "b")
    run(place)
    assert held() == ["a", "b"]
    assert sum(a.source == "other" for a in assets().values()) == 2


def test_a_table_that_cannot_be_described_any_more_is_kept(run, assets, tmp_path) -> None:
    (tmp_path / "lake").mkdir()
    for name in ("a", "b"):
        (tmp_path / "lake" / f"{name}.csv").write_text("x\n1\n")
    run(tmp_path / "lake")
    (tmp_path / "lake" / "b.csv").write_text("")
    report = run(tmp_path / "lake")
    assert (report.exit_code, report.done["removed"], len(assets())) == (1, 0, 2)


def test_an_emptied_database_keeps_what_the_catalog_holds(run, assets, sqlite) -> None:
    run(sqlite("s.db", "CREATE TABLE a(x);"))
    with pytest.raises(SourceError, match="there is no table in it"):
        run(sqlite("s.db", "DROP TABLE a;"))
    assert len(assets()) == 1


def test_a_name_that_another_place_has(run, assets, sqlite, tmp_path) -> None:
    first = sqlite("one/shop.db", "CREATE TABLE a(x);")
    second = sqlite("two/shop.db", "CREATE TABLE b(x);")
    sqlite("two/bank.db", "CREATE TABLE c(x);")
    run(first)
    with pytest.raises(SourceError, match=r"'shop' is .*one/shop.db' already .*--name"):
        run(second)
    report = run(tmp_path / "two")
    assert (report.exit_code, sorted(assets())) == (1, ["bank.main.c", "shop.main.a"])
    run(second, "shop2")
    assert "shop2.main.b" in assets()
    first.unlink()
    run(second)
    assert sorted(a.path for a in assets().values() if a.source == "shop") == ["shop.main.b"]


def test_two_databases_of_one_stem_in_a_folder(run, assets, sqlite, tmp_path) -> None:
    sqlite("lake/a/shop.db", "CREATE TABLE a(x);")
    sqlite("lake/b/shop.db", "CREATE TABLE b(x);")
    report = run(tmp_path / "lake")
    assert (report.exit_code, sorted(assets())) == (1, ["shop.main.a"])
    assert "--name" in report.failures[0][1]


def test_a_folder_of_databases_and_data_files(run, assets, sqlite, tmp_path) -> None:
    sqlite("lake/shop.db", "CREATE TABLE a(x);")
    with duckdb.connect(str(tmp_path / "lake" / "bank.db")) as connection:
        connection.execute("CREATE TABLE b(x INTEGER)")
    (tmp_path / "lake" / "c.csv").write_text("x\n1\n")
    report = run(tmp_path / "lake")
    assert sorted(assets()) == ["bank.main.b", "lake.main.c", "shop.main.a"]
    assert (report.done["sources"], report.done["tables"]) == (3, 3)


@pytest.mark.parametrize(
    "target, error, says",
    [
        ("nowhere.db", SourceError, r"'nowhere.db' does not exist \(give a recipe"),
        ("mysql://u@h/d", UsageError, r"no way to read 'mysql://' URLs \(give sqlite"),
        ("sqlite:///nowhere.db", SourceError, r"'nowhere.db' does not exist \(a file's URL is sqlite:///"),
        ("postgresql://u@h", UsageError, "names no database"),
        ("postgresql://u:p:x@h:port/d", UsageError, "is no URL"),
    ],
)
def test_wrong_targets(target, error, says, run) -> None:
    with pytest.raises(error, match=says) as raised:
        run(target)
    assert "\n" not in str(raised.value)


def test_files_that_are_neither(run, tmp_path) -> None:
    (tmp_path / "x.txt").write_text("words")
    (tmp_path / "y.db").write_text("")
    with pytest.raises(SourceError, match="neither a SQLite or DuckDB file"):
        run(tmp_path / "x.txt")
    with pytest.raises(SourceError, match="is empty"):
        run(tmp_path / "y.db")
    (tmp_path / "none").mkdir()
    with pytest.raises(SourceError, match="no table in"):
        run(tmp_path / "none")


def test_urls_of_files(run, assets, sqlite) -> None:
    path = sqlite("shop.db", "CREATE TABLE a(x);")
    run(f"sqlite:///{path}")
    assert sorted(assets()) == ["shop.main.a"]


@pytest.mark.parametrize(
    "recipe, error, says",
    [
        ({"source": {"type": "suffice-sqlit", "config": {}}}, UsageError, "did you mean 'suffice-sqlite'"),
        (
            {"source": {"type": "suffice-sqlite", "config": {"paht": "x", "path": "y"}}},
            SourceError,
            "paht: unknown key",
        ),
        ({"source": {"type": "suffice-sqlite", "config": {}}}, SourceError, "path: Field required"),
        ({"source": {"type": "suffice-sqlite", "config": {"path": "/nowhere"}}}, SourceError, "it does not exist"),
        (
            {"source": {"type": "suffice-sqlite", "config": {"path": "${SUFFICE_NOT_SET}"}}},
            UsageError,
            "SUFFICE_NOT_SET",
        ),
        ({"table": "x"}, UsageError, "is no DataHub recipe"),
    ],
)
def test_wrong_recipes(recipe, error, says, run, tmp_path) -> None:
    path = tmp_path / "r.yml"
    path.write_text(yaml.safe_dump(recipe))
    with pytest.raises(error, match=says) as raised:
        run(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "files"])
def test_shipped_recipes(kind, run, assets, sqlite, tmp_path, monkeypatch) -> None:
    place = tmp_path / "lake"
    sqlite("lake/shop.db", "CREATE TABLE a(x);")
    with duckdb.connect(str(place / "bank.db")) as connection:
        connection.execute("CREATE TABLE b(x INTEGER)")
    (place / "c.csv").write_text("x\n1\n")
    monkeypatch.setenv(f"SUFFICE_{kind.upper()}_PATH", str(place))
    assert run(RECIPES / f"{kind}.yml").exit_code == 0
    assert sorted(assets()) == {
        "sqlite": ["shop.main.a"], "duckdb": ["bank.main.b"], "files": ["lake.main.c"],
    }[kind]  # fmt: skip


def test_a_recipe_with_a_sink_of_its_own(run, assets, sqlite, tmp_path, capsys) -> None:
    path = sqlite("shop.db", "CREATE TABLE a(x);")
    recipe = tmp_path / "r.yml"
    out = tmp_path / "out.json"
    recipe.write_text(
        yaml.safe_dump(
            {
                "source": {"type": "suffice-sqlite", "config": {"path": str(path)}},
                "sink": {"type": "file", "config": {"filename": str(out)}},
            }
        )
    )
    report = run(recipe)
    names = {record["aspectName"] for record in json.loads(out.read_text())}
    assert {"schemaMetadata", "datasetProperties", "subTypes", "container", "status"} <= names
    assert (report.done["records to file"] > 0, assets()) == (True, {})
    assert capsys.readouterr().out == ""


def test_datahub_alone_finds_our_doors(tmp_path, sqlite) -> None:
    """`datahub ingest` runs our source into our sink, without this package's command."""
    path = sqlite("shop.db", "CREATE TABLE a(x);")
    recipe = tmp_path / "r.yml"
    recipe.write_text(
        yaml.safe_dump(
            {
                "source": {"type": "suffice-sqlite", "config": {"path": str(path)}},
                "sink": {"type": "suffice", "config": {"home": str(tmp_path / "there")}},
            }
        )
    )
    code = (
        "import sys; from datahub.ingestion.run.pipeline import Pipeline; "
        "from datahub.configuration.config_loader import load_config_file; "
        "p = Pipeline.create(load_config_file(sys.argv[1]), report_to=None); p.run(); p.raise_from_status(); "
        "print('suffice.cli' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, recipe], capture_output=True, text=True, env=_quiet_env())
    assert (done.returncode, done.stdout.strip()) == (0, "False"), done.stderr
    assert (tmp_path / "there" / "catalog.db").exists()


def _quiet_env() -> dict[str, str]:
    import os

    return {**os.environ, "DATAHUB_TELEMETRY_ENABLED": "false"}
