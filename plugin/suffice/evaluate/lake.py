"""A messy lake from a clean database: partitions, exact copies and degraded copies, with the truth beside them.

What is planted follows the noise that real lakes show: a production copy that is exact, a staging copy with rows again
or cells blanked, a test copy with a tenth of the rows, references that lead nowhere. The truth goes into a side file
that the product never reads. The same seed gives the same lake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from suffice.errors import SourceError
from suffice.evaluate.drift import drift
from suffice.libs import duck

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "DEGRADED",
    "Base",
    "Messy",
    "Opaque",
    "blank",
    "break_references",
    "build_clean",
    "build_lake",
    "read_bases",
    "repeat_rows",
    "sample",
]

DEGRADED = ("subset_of", "duplicate_rows", "missing_values", "broken_reference")
OUT_OF_RANGE = 99_999_999
_LEAST_ROWS = 10


@dataclass(frozen=True, slots=True)
class Base:
    """A table of the clean database. `references` maps a column to the (table, column) that it points at."""

    name: str
    table: pa.Table
    references: Mapping[str, tuple[str, str]] = field(default_factory=dict)


# what can happen to a table


def repeat_rows(table: pa.Table, rng: np.random.Generator, share: float = 0.10) -> pa.Table:
    """The table with `share` of its rows once more, at random places."""
    again = rng.choice(table.num_rows, max(1, round(share * table.num_rows)), replace=False)
    return table.take(np.sort(np.concatenate([np.arange(table.num_rows), again])))


def blank(table: pa.Table, rng: np.random.Generator, share: float = 0.05) -> pa.Table:
    """The table with `share` of its cells null, in every column alike; at least one filled cell is blanked."""
    import pyarrow as pa
    import pyarrow.compute as pc

    masks = [rng.random(table.num_rows) < share for _ in table.column_names]
    filled = [column.is_valid().to_numpy() for column in table.columns]
    if not any((m & f).any() for m, f in zip(masks, filled, strict=True)):
        places = [(c, r) for c, f in enumerate(filled) for r in np.flatnonzero(f)]
        column, row = places[int(rng.integers(len(places)))]
        masks[column][row] = True
    columns = [
        pc.if_else(pa.array(mask), pa.scalar(None, column.type), column)
        for mask, column in zip(masks, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def sample(table: pa.Table, rng: np.random.Generator, share: float) -> pa.Table:
    """`share` of the rows, drawn without replacement, in their old order."""
    return table.take(np.sort(rng.choice(table.num_rows, max(1, round(share * table.num_rows)), replace=False)))


def break_references(table: pa.Table, rng: np.random.Generator, columns: Sequence[str]) -> pa.Table:
    """In each of `columns` a tenth of the cells null and a twentieth out of range (at least one cell of each)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in columns:
        index = table.schema.get_field_index(name)
        column = table.column(index)
        order = rng.permutation(table.num_rows)
        lost, wild = max(1, round(0.10 * len(order))), max(1, round(0.05 * len(order)))
        nulls, wrong = np.zeros(len(order), bool), np.zeros(len(order), bool)
        nulls[order[:lost]] = True
        wrong[order[lost : lost + wild]] = True
        value = str(OUT_OF_RANGE) if pa.types.is_string(column.type) else OUT_OF_RANGE
        column = pc.if_else(pa.array(wrong), pa.scalar(value).cast(column.type), column)
        column = pc.if_else(pa.array(nulls), pa.scalar(None, column.type), column)
        table = table.set_column(index, name, column)
    return table


# the lake as it is filled


class Messy:
    """A lake being filled: writes each table into the DuckDB file and keeps the truth about it.

    `name_for(base, wanted)` decides what a table is called; it must give a new name each time. With `drifts` each
    copy gets one change of its schema, noted as `drift`; with `described` each table tells its lineage in a comment.
    """

    def __init__(
        self,
        path: Path,
        *,
        seed: int,
        name_for: Callable[[str, str], str],
        drifts: bool = False,
        described: bool = False,
    ) -> None:
        path.unlink(missing_ok=True)
        self.rng = np.random.default_rng(seed)
        self.truth: dict[str, Any] = {"format": 1, "seed": seed, "tables": {}, "inherited": {}, "not_carried": []}
        self._name_for = name_for
        self._drifts = drifts
        self._described = described
        self._connection = duck.connect(str(path))

    def close(self) -> None:
        self._connection.close()

    def add(
        self,
        wanted: str,
        table: pa.Table,
        *,
        base: str,
        kind: str,
        rule: str,
        parent: str = "",
        columns: Sequence[str] = (),
    ) -> str:
        """Write `table`; `base` is the truth's name of the clean table, `parent` the lake's table it was made from."""
        name = self._name_for(base, wanted)
        drifted: dict[str, str] = {}
        if self._drifts and kind not in ("base", "partition"):
            table, drifted["drift"] = drift(table, self.rng, columns)
        self._connection.register("__planted", table)
        try:
            self._connection.execute(f"CREATE TABLE {duck.quote(name)} AS SELECT * FROM __planted")
        finally:
            self._connection.unregister("__planted")
        self.truth["tables"][name] = {
            "base": base,
            "kind": kind,
            "rule": rule,
            "parent": parent,
            "rows": table.num_rows,
            "columns": list(columns),
            **drifted,
        }
        if self._described:
            told = duck.text(_DESCRIPTIONS[kind].format(parent=parent, rule=rule.replace('"', "")))
            self._connection.execute(f"COMMENT ON TABLE {duck.quote(name)} IS {told}")
        return name

    def plant(
        self, what: str, parent: str, table: pa.Table, *, wanted: str, references: Sequence[str] = ()
    ) -> str | None:
        """Make one copy of `parent` (already in the lake, holding `table`); None when the table cannot carry it.

        `what` is a key of `PLANTS`, or `prod` for an exact copy.
        """
        origin = self.truth["tables"][parent]
        base = origin["base"]
        why = _unable(what, table, references)
        if why:
            self.truth["not_carried"].append({"base": base, "parent": parent, "kind": what, "why": why})
            return None
        if what == "prod":
            kind = "identical" if origin["kind"] in ("base", "identical") else origin["kind"]
            return self.add(wanted, table, base=base, kind=kind, rule="exact copy", parent=parent)
        kind, rule, make = PLANTS[what]
        changed = make(table, self.rng, references)
        touched = references if kind == "broken_reference" else ()
        return self.add(wanted, changed, base=base, kind=kind, rule=rule, parent=parent, columns=touched)

    def note_inherited(self, base: Base, bases: Mapping[str, Base]) -> None:
        """Measure the defects that a base has before anything is planted: they are nobody's fault here."""
        found: dict[str, Any] = {}
        orphans = {c: s for c, s in _orphan_shares(base, bases).items() if s > 0}
        if orphans:
            found["broken_reference"] = orphans
        distinct = base.table.group_by(base.table.column_names).aggregate([]).num_rows
        if distinct < base.table.num_rows:
            found["duplicate_rows"] = 1 - distinct / base.table.num_rows
        if found:
            self.truth["inherited"][base.name] = found


_Make = Callable[["pa.Table", np.random.Generator, Sequence[str]], "pa.Table"]
PLANTS: dict[str, tuple[str, str, _Make]] = {
    "stg_repeated": ("duplicate_rows", "10 % of the rows again", lambda t, r, _: repeat_rows(t, r)),
    "stg_blanked": ("missing_values", "5 % of the cells null", lambda t, r, _: blank(t, r)),
    "test": ("subset_of", "a random 10 % of the rows", lambda t, r, _: sample(t, r, 0.10)),
    "broken_fk": ("broken_reference", "references 10 % null, 5 % out of range", break_references),
    "nulls": ("missing_values", "5 % of the cells null", lambda t, r, _: blank(t, r)),
    "dups": ("duplicate_rows", "10 % of the rows again", lambda t, r, _: repeat_rows(t, r)),
    "subset": ("subset_of", "a random 20 % of the rows", lambda t, r, _: sample(t, r, 0.20)),
}


_DESCRIPTIONS = {
    "base": "The table as its source delivers it",
    "identical": "Production copy of {parent}, clean",
    "partition": "Rows of {parent} where {rule}",
    "subset_of": "Part of {parent}: {rule}",
    "duplicate_rows": "Copy of {parent} with repeated rows: {rule}",
    "missing_values": "Copy of {parent} with values missing: {rule}",
    "broken_reference": "Copy of {parent} with broken references: {rule}",
}
"""What `described` says of each kind: the lineage that a careful owner would write down."""


def _unable(what: str, table: pa.Table, references: Sequence[str]) -> str:
    if table.num_rows < _LEAST_ROWS and what != "prod":
        return f"fewer than {_LEAST_ROWS} rows"
    if what == "broken_fk" and not references:
        return "no reference to break"
    return ""


def _orphan_shares(base: Base, bases: Mapping[str, Base]) -> dict[str, float]:
    """Share of the non-null cells of each reference that the referenced column does not hold."""
    import pyarrow.compute as pc

    shares = {}
    for column, (table, key) in base.references.items():
        cells = base.table[column].drop_null()
        if table in bases and len(cells):
            known = pc.is_in(cells, value_set=bases[table].table[key].cast(cells.type).combine_chunks())
            shares[column] = 1 - (pc.sum(known).as_py() or 0) / len(cells)
    return shares


# a lake from any database


Opaque = Literal["", "subject", "full"]


def build_lake(
    source: Path,
    out: Path,
    *,
    seed: int,
    opaque: Opaque = "",
    described: bool = False,
    drifts: bool = False,
    references: Mapping[str, Mapping[str, tuple[str, str]]] | None = None,
    partitions: int = 6,
    factor: int = 17,
) -> dict[str, Any]:
    """Write a messy lake of the SQLite or DuckDB file `source` into the DuckDB file `out`; returns the truth.

    The truth is also written to `out` with the suffix `.truth.json`. `references` adds reference columns that the
    database does not declare. Every kind is planted on every base that can carry it and on a third of its partitions
    (at most `partitions` a base), then on random tables until there are `factor` times as many tables as bases.

    `opaque` names every table, the bases too, by a random suffix: after its subject, or alone ("full"). `drifts`
    changes the schema of each copy. `described` is the lake of the published experiment instead: partitions are named
    after column and value, references are the columns that end in `_id`, each table's comment tells where it is from.
    """
    bases = read_bases(source, references or {})
    lake = Messy(out, seed=seed, name_for=_Names(seed, opaque), drifts=drifts, described=described)
    lake.truth |= {"source": source.name, "opaque": opaque, "described": described, "drifts": drifts}
    plan = _Plan(lake, by_suffix=described)
    try:
        for base in bases.values():
            lake.note_inherited(base, bases)
            plan.base(base, partitions)
        plan.fill_up(factor * len(bases))
    finally:
        lake.close()
    out.with_suffix(".truth.json").write_text(json.dumps(lake.truth, indent=1) + "\n", encoding="utf-8")
    return lake.truth


def build_clean(source: Path, out: Path) -> None:
    """Write the tables of `source` that have rows into the DuckDB file `out`: the clean twin of a messy lake."""
    lake = Messy(out, seed=0, name_for=_Names(0, ""))
    try:
        for base in read_bases(source, {}).values():
            lake.add(base.name, base.table, base=base.name, kind="base", rule="")
    finally:
        lake.close()


class _Plan:
    """What is planted on a lake, and on which tables more of it can be. `by_suffix` takes the columns that end in
    `_id` for references, and names partitions after column and value."""

    def __init__(self, lake: Messy, *, by_suffix: bool) -> None:
        self._lake = lake
        self._by_suffix = by_suffix
        self._carriers: list[tuple[str, Base, pa.Table]] = []

    def base(self, base: Base, partitions: int) -> None:
        """The base, its partitions, and every kind of copy on it and on a third of them."""
        lake = self._lake
        root = lake.add(base.name, base.table, base=base.name, kind="base", rule="")
        parts = []
        for label, rule, column, table in _partitions(base, partitions):
            wanted = f"{base.name}_{column}_{label}" if self._by_suffix else f"{base.name}_{label}"
            name = lake.add(wanted, table, base=base.name, kind="partition", rule=rule, parent=root, columns=[column])
            parts.append((name, base, table))
        for what in ("prod", *PLANTS):
            chosen = lake.rng.permutation(len(parts))[: -(-len(parts) // 3)]
            for name, _, table in [(root, base, base.table), *(parts[i] for i in sorted(chosen))]:
                self._plant(what, name, base, table)
        self._carriers += [(root, base, base.table), *parts]

    def fill_up(self, wanted: int) -> None:
        """Random kinds on random tables until there are `wanted` tables."""
        lake = self._lake
        able = [c for c in self._carriers if c[2].num_rows >= _LEAST_ROWS]
        kinds = ["prod", *PLANTS]
        while able and len(lake.truth["tables"]) < wanted:
            name, base, table = able[int(lake.rng.integers(len(able)))]
            what = kinds[int(lake.rng.integers(len(kinds)))]
            if not _unable(what, table, self._references(base)):
                self._plant(what, name, base, table)

    def _plant(self, what: str, name: str, base: Base, table: pa.Table) -> None:
        suffix = "stg" if what.startswith("stg") else what
        self._lake.plant(what, name, table, wanted=f"{name}_{suffix}", references=self._references(base))

    def _references(self, base: Base) -> list[str]:
        if self._by_suffix:
            return [name for name in base.table.column_names if name.lower().endswith("_id")]
        return list(base.references)


class _Names:
    """Names for the tables of a lake: telling ones, or a random suffix after the subject or alone."""

    def __init__(self, seed: int, opaque: Opaque) -> None:
        self._rng = np.random.default_rng([seed, 1])
        self._opaque = opaque
        self._taken: set[str] = set()

    def __call__(self, base: str, wanted: str) -> str:
        subject = re.sub(r"\W+", "_", base).strip("_").lower()
        name = self._random(subject) if self._opaque else re.sub(r"\W+", "_", wanted).strip("_")
        count = 2
        while name.lower() in self._taken:
            name = self._random(subject) if self._opaque else f"{re.sub(r'_[0-9]+$', '', name)}_{count}"
            count += 1
        self._taken.add(name.lower())
        return name

    def _random(self, subject: str) -> str:
        letters = "abcdefghjkmnpqrstuvwxyz"
        a, b = (letters[i] for i in self._rng.integers(len(letters), size=2))
        c, d = self._rng.integers(10, size=2)
        return f"{'t' if self._opaque == 'full' else subject}_{a}{c}{b}{d}"


def _partitions(base: Base, most: int) -> Iterator[tuple[str, str, str, pa.Table]]:
    """(label, rule, column, rows) of shards: of the best categorical and the best time column, half of `most` each."""
    connection = duck.connect()
    with closing(connection):
        connection.register("base", base.table)
        schemes = list(_schemes(connection, base.table))
        room = most // len(schemes) if schemes else 0
        for column, expression in schemes:
            groups = connection.execute(
                f"SELECT {expression} AS label, count(*) AS n FROM base"
                " GROUP BY 1 HAVING label IS NOT NULL ORDER BY n DESC, label"
            ).fetchall()
            for label, _ in groups[:room]:
                rows = connection.sql(f"SELECT * FROM base WHERE {expression} = ?", params=[label]).to_arrow_table()
                yield re.sub(r"\W+", "_", str(label)), f"{expression} = {label}", column, rows


def _schemes(connection: Any, table: pa.Table) -> Iterator[tuple[str, str]]:
    """(column, SQL expression) to partition by: at most one categorical column and one time column."""
    rows = table.num_rows
    categorical, timed = [], []
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        quoted = duck.quote(name)
        for expression in _time_expressions(connection, quoted, str(kind)):
            distinct = connection.execute(f"SELECT count(DISTINCT {expression}) FROM base").fetchone()[0]
            if 2 <= distinct <= 40 and rows / distinct >= _LEAST_ROWS:
                timed.append((name, expression))
                break
        else:
            distinct = connection.execute(f"SELECT count(DISTINCT {quoted}) FROM base").fetchone()[0]
            if str(kind) in ("string", "int64", "bool") and 2 <= distinct <= 30 and rows / distinct >= _LEAST_ROWS:
                categorical.append((str(kind) != "string", abs(distinct - 8), name))
    if categorical:
        name = min(categorical)[2]
        yield name, duck.quote(name)
    yield from timed[:1]


def _time_expressions(connection: Any, quoted: str, kind: str) -> Iterable[str]:
    if kind == "int64":
        low, high = connection.execute(f"SELECT min({quoted}), max({quoted}) FROM base").fetchone()
        return [quoted] if low is not None and low >= 1800 and high <= 2100 else []
    if kind == "string":
        filled, parsed = connection.execute(
            f"SELECT count({quoted}), count(TRY_CAST({quoted} AS TIMESTAMP)) FROM base"
        ).fetchone()
        if not filled or parsed < filled:
            return []
        quoted = f"CAST({quoted} AS TIMESTAMP)"
    elif not kind.startswith(("date", "timestamp")):
        return []
    return [f"strftime({quoted}, '%Y')", f"strftime({quoted}, '%Y_%m')"]


# reading the clean database


def read_bases(source: Path, references: Mapping[str, Mapping[str, tuple[str, str]]]) -> dict[str, Base]:
    """The tables with rows of a SQLite or DuckDB file, with declared references and those of `references`.

    Raises SourceError when the file is missing, is neither, or holds no rows.
    """
    if not source.exists():
        raise SourceError(f"no database at '{source}'", mend="name a SQLite or DuckDB file")
    with source.open("rb") as handle:
        sqlite = handle.read(16).startswith(b"SQLite format 3")
    found = _read_sqlite(source) if sqlite else _read_duckdb(source)
    bases = {
        name: Base(name, table, {**keys, **references.get(name, {})})
        for name, (table, keys) in found.items()
        if table.num_rows and table.num_columns
    }
    if not bases:
        raise SourceError(f"no table of '{source}' has rows", mend="name a database that holds data")
    return bases


_Read = dict[str, tuple["pa.Table", dict[str, tuple[str, str]]]]


def _read_sqlite(source: Path) -> _Read:
    import sqlite3

    from suffice.rows.fetch import columns_to_arrow

    found: _Read = {}
    with closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        listed = (
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name"
        )
        for (name,) in connection.execute(listed).fetchall():
            quoted = duck.quote(name)
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted})")]
            cells = connection.execute(f"SELECT * FROM {quoted}").fetchall()
            table = columns_to_arrow(columns, cells, len(cells)).table
            keys = {}
            for _, _, other, column, target, *_ in connection.execute(f"PRAGMA foreign_key_list({quoted})").fetchall():
                if target is None:
                    primary = [r[1] for r in connection.execute(f"PRAGMA table_info({duck.quote(other)})") if r[5]]
                    target = primary[0] if len(primary) == 1 else None
                match = next((c for c in table.column_names if c.lower() == column.lower()), None)
                if target and match:
                    keys[match] = (other, target)
            found[name] = (table, keys)
    return _real_names(found)


def _read_duckdb(source: Path) -> _Read:
    found: _Read = {}
    try:
        opened = duck.connect(str(source), read_only=True)
    except duck.error_types() as error:
        raise SourceError(f"'{source}' is neither a SQLite nor a DuckDB file", mend="name a database file") from error
    with closing(opened) as connection:
        listed = "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal ORDER BY ALL"
        for schema, name in connection.execute(listed).fetchall():
            table = connection.sql(f"SELECT * FROM {duck.quote(schema, name)}").to_arrow_table()
            declared = connection.execute(
                "SELECT constraint_column_names, referenced_table, referenced_column_names FROM duckdb_constraints()"
                " WHERE schema_name = ? AND table_name = ? AND constraint_type = 'FOREIGN KEY'",
                [schema, name],
            ).fetchall()
            found[name] = (table, {c[0]: (t, r[0]) for c, t, r in declared if len(c) == 1})
    return _real_names(found)


def _real_names(found: _Read) -> _Read:
    """References with the tables' and columns' own spelling; those that lead nowhere are left out."""
    tables = {name.lower(): name for name in found}
    for name, (table, keys) in found.items():
        real = {}
        for column, (other, target) in keys.items():
            other = tables.get(other.lower(), "")
            match = (
                next((c for c in found[other][0].column_names if c.lower() == target.lower()), None) if other else None
            )
            if match is not None:
                real[column] = (other, match)
        found[name] = (table, real)
    return found
