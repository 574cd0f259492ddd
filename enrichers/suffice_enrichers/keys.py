"""Keys: what is unique in a table, and which columns refer to which table, declared or measured.

A reference is measured by containment: sketches propose it, one exact query confirms it. Names and types only support
what the values say; whole numbers prove nothing without a name, since 1..n is contained in every other 1..n.
"""

from __future__ import annotations

import math
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

from suffice.errors import DataUnreachable
from suffice.extend import Lake, Unit, UnitResult
from suffice.libs import duck
from suffice.model import Asset, Finding, ForeignKey, TableProfile, digest
from suffice_enrichers import sketch
from suffice_enrichers.names import GENERIC, KEY_WORDS, plain, words

__all__ = ["KeysEnricher"]

_PER_SHAPE = 3
"""Tables of one column signature whose references are looked for: the largest. The others are copies or parts."""
_PER_COLUMN = 3
_LIKELY, _NAMED = 0.9, 0.5
"""Least containment of a reference: by values alone, and where a name says it as well."""
_LEAST_DISTINCT = 3
_MOST_COMPOSITE = 4
_DISJOINT = 0.01


class KeysEnricher:
    """One unit a source: `unique_key`, `join`, `not_joinable`, `broken_key`."""

    name = "keys"
    version = "3"
    after = ("profile",)

    def units(self, lake: Lake) -> Iterable[Unit]:
        sources: dict[str, list[Asset]] = defaultdict(list)
        for asset in lake.assets.values():
            sources[asset.source].append(asset)
        for source, assets in sorted(sources.items()):
            seen = sorted([a.urn, a.schema_digest, lake.mark(a) or uuid.uuid4().hex] for a in assets)
            yield Unit(source, tuple(a.urn for a in assets), digest(self.version, seen))

    def enrich(self, unit: Unit, lake: Lake) -> UnitResult:
        tables = [_Table.of(lake.assets[urn], lake) for urn in unit.urns]
        notes: list[str] = []
        found = [f for table in tables for f in _unique(table)]
        found += _declared(tables, lake, notes)
        known = {(f.urn, tuple(f.value["left"]["columns"])) for f in found if f.kind == "join"}
        found += _measured(tables, known, lake, notes)
        return UnitResult(tuple(_stamped(f, unit) for f in found), notes=tuple(dict.fromkeys(notes)))


@dataclass(frozen=True, slots=True)
class _Table:
    asset: Asset
    profile: TableProfile | None
    sketches: Mapping[str, Sequence[int]]

    @staticmethod
    def of(asset: Asset, lake: Lake) -> _Table:
        profile = next((TableProfile.from_json(f.value) for f in lake.findings("profile", asset.urn)), None)
        return _Table(asset, profile, lake.evidence(asset.urn, "sketch") or {})

    @property
    def rows(self) -> int:
        return self.profile.rows if self.profile else 0

    def unique(self, column: str) -> bool:
        held = self.profile.columns.get(column) if self.profile else None
        return held is not None and held.unique and not held.nulls

    def distinct(self, column: str) -> int:
        held = self.profile.columns.get(column) if self.profile else None
        return (held.distinct or 0) if held else 0


def _stamped(f: Finding, unit: Unit) -> Finding:
    return replace(f, enricher=KeysEnricher.name, version=KeysEnricher.version, inputs=unit.inputs)


T = TypeVar("T")


def _read(notes: list[str], work: Callable[[], T]) -> T | None:
    """What `work` reads, or None with a note where rows cannot be read."""
    try:
        return work()
    except DataUnreachable as error:
        notes.append(f"references not measured: {error.problem}")
    except duck.error_types() as error:
        notes.append(f"references not measured: {str(error).splitlines()[0]}")
    return None


def _unique(table: _Table) -> Iterator[Finding]:
    asset = table.asset
    keys = [asset.primary_key] if asset.primary_key else []
    keys += [(c.name,) for c in asset.columns if table.rows > 1 and table.unique(c.name) and (c.name,) not in keys]
    for columns in keys:
        value = {"columns": list(columns), "declared": columns == asset.primary_key}
        yield Finding(asset.urn, "unique_key", value, subject=",".join(columns), numbers={"rows": table.rows or None})


def _declared(tables: Sequence[_Table], lake: Lake, notes: list[str]) -> Iterator[Finding]:
    by_urn = {t.asset.urn: t for t in tables}
    for table in tables:
        for key in table.asset.foreign_keys:
            right = by_urn.get(key.ref_urn)
            if right is None:
                value = {"ref_table": key.ref_table, "columns": list(key.columns)}
                yield Finding(table.asset.urn, "broken_key", value, subject=_said(key))
                continue
            measured = None
            if table.rows and right.profile is not None:
                measured = _measure(table.asset, key.columns, right.asset, key.ref_columns, lake, notes)
            yield _join(table.asset, key.columns, right.asset, key.ref_columns, "declared", measured)


def _said(key: ForeignKey) -> str:
    return f"{','.join(key.columns)} -> {key.ref_table}#{','.join(key.ref_columns)}"


@dataclass(frozen=True, slots=True)
class _Measure:
    match: float
    orphans: int
    back_match: float
    right_unique: bool
    left_unique: bool
    query: str


def _measure(
    left: Asset, columns: Sequence[str], right: Asset, ref_columns: Sequence[str], lake: Lake, notes: list[str]
) -> _Measure | None:
    """The exact figures of one reference, or None where its rows cannot be read whole."""
    return _read(notes, lambda: _measured_now(left, columns, right, ref_columns, lake))


def _measured_now(
    left: Asset, columns: Sequence[str], right: Asset, ref_columns: Sequence[str], lake: Lake
) -> _Measure | None:
    mine, other = lake.rows.relation(left), lake.rows.relation(right)
    if mine.sampled or other.sampled:
        return None
    if not set(columns) <= set(mine.columns) or not set(ref_columns) <= set(other.columns):
        return None
    as_text = _as_text(left, columns, right, ref_columns)
    query = _reference_sql(mine.sql, columns, other.sql, ref_columns, as_text)
    rows, distinct, held, there, there_distinct, used = lake.rows.query(query)[0]
    if not rows or not there:
        return None
    return _Measure(held / rows, rows - held, used / there_distinct, there == there_distinct, rows == distinct, query)


_NUMERIC = {"integer", "number"}


def _as_text(left: Asset, columns: Sequence[str], right: Asset, ref_columns: Sequence[str]) -> list[bool]:
    """Which pairs of columns are of different kinds and are compared by their text."""
    pairs = [(left.column(a), right.column(b)) for a, b in zip(columns, ref_columns, strict=True)]
    return [a is None or b is None or (a.kind != b.kind and {a.kind, b.kind} != _NUMERIC) for a, b in pairs]


def _reference_sql(
    left: str, columns: Sequence[str], right: str, ref_columns: Sequence[str], as_text: Sequence[bool]
) -> str:
    def keyed(names: Sequence[str]) -> str:
        cells = [
            f"CAST({c} AS VARCHAR)" if text else c for c, text in zip(map(duck.quote, names), as_text, strict=True)
        ]
        return ", ".join(f"{cell} AS k{i}" for i, cell in enumerate(cells))

    def filled(names: Sequence[str]) -> str:
        return " AND ".join(f"{duck.quote(name)} IS NOT NULL" for name in names)

    keys = ", ".join(f"k{i}" for i in range(len(columns)))
    return (
        f"WITH l AS (SELECT {keyed(columns)}, count(*) AS n FROM {left} WHERE {filled(columns)} GROUP BY ALL), "
        f"r AS (SELECT {keyed(ref_columns)}, count(*) AS n FROM {right} WHERE {filled(ref_columns)} GROUP BY ALL), "
        f"b AS (SELECT l.n FROM l JOIN r USING ({keys})) "
        "SELECT coalesce((SELECT sum(n) FROM l), 0)::BIGINT AS rows, (SELECT count(*) FROM l) AS different, "
        "coalesce((SELECT sum(n) FROM b), 0)::BIGINT AS found, "
        "coalesce((SELECT sum(n) FROM r), 0)::BIGINT AS ref_rows, "
        "(SELECT count(*) FROM r) AS ref_different, (SELECT count(*) FROM b) AS ref_used"
    )


def _join(
    left: Asset,
    columns: Sequence[str],
    right: Asset,
    ref_columns: Sequence[str],
    kind: str,
    m: _Measure | None,
    named: bool = True,
) -> Finding:
    value = {
        "left": {"urn": left.urn, "columns": list(columns)},
        "right": {"urn": right.urn, "columns": list(ref_columns)},
        "kind": kind,
    }
    told = ("match", "orphans", "back_match", "right_unique", "left_unique")
    numbers: dict[str, float | int | None] = dict.fromkeys(told)
    if m is not None:
        figures = (m.match, m.orphans, m.back_match, int(m.right_unique), int(m.left_unique))
        numbers = dict(zip(told, figures, strict=True))
    declared = kind == "declared"
    return Finding(
        left.urn,
        "join",
        value,
        subject=f"{','.join(columns)} -> {right.urn}#{','.join(ref_columns)}",
        numbers=numbers,
        query=m.query if m else "",
        confidence=1.0 if declared else round((m.match if m else 0.5) * (0.95 if named else 0.8), 3),
        fact=declared,
        status="accepted" if declared else "proposed",
    )


# references that nobody declared


@dataclass(frozen=True, slots=True)
class _Proposal:
    left: _Table
    columns: tuple[str, ...]
    right: _Table
    ref_columns: tuple[str, ...]
    named: bool
    of_table: bool


def _measured(
    tables: Sequence[_Table], known: set[tuple[str, tuple[str, ...]]], lake: Lake, notes: list[str]
) -> Iterator[Finding]:
    shown = _representatives(tables)
    single: dict[tuple[str, str], list[tuple[_Proposal, _Measure]]] = defaultdict(list)
    for p in _proposals(shown, known):
        m = _measure(p.left.asset, p.columns, p.right.asset, p.ref_columns, lake, notes)
        if m is None or not m.right_unique:
            continue
        if m.match >= (_NAMED if p.named else _LIKELY):
            single[p.left.asset.urn, p.columns[0]].append((p, m))
        elif p.named and m.match <= _DISJOINT:
            yield _apart(p, m)
    for found in single.values():
        for p, m in _likeliest(found):
            yield _join(p.left.asset, p.columns, p.right.asset, p.ref_columns, "measured", m, p.named)
    yield from _composite(shown, set(single) | {(urn, c) for urn, cs in known for c in cs}, lake, notes)


def _likeliest(found: Sequence[tuple[_Proposal, _Measure]]) -> list[tuple[_Proposal, _Measure]]:
    """Of the tables that one column may refer to: those that its name says, if any, and of these the best matches."""

    def rank(held: tuple[_Proposal, _Measure]) -> tuple[bool, bool, float, float, str]:
        p, m = held
        return (not p.of_table, not p.named, -round(m.match, 2), -round(m.back_match, 2), p.right.asset.urn)

    ranked = sorted(found, key=rank)
    first, best = ranked[0]
    alike = [(p, m) for p, m in ranked if (p.of_table, p.named) == (first.of_table, first.named)]
    return [(p, m) for p, m in alike if m.match >= best.match - 0.05][:_PER_COLUMN]


def _apart(p: _Proposal, m: _Measure) -> Finding:
    join = _join(p.left.asset, p.columns, p.right.asset, p.ref_columns, "measured", m)
    return Finding(
        join.urn, "not_joinable", join.value, subject=join.subject, numbers={"match": m.match}, query=m.query
    )


def _signature(asset: Asset) -> tuple[str, ...]:
    return tuple(sorted(c.name.casefold() for c in asset.columns))


def _representatives(tables: Sequence[_Table]) -> list[_Table]:
    """The largest tables of each column signature; views are read by their own tables."""
    shapes: dict[tuple[str, ...], list[_Table]] = defaultdict(list)
    for table in tables:
        if table.asset.kind == "table" and table.rows:
            shapes[_signature(table.asset)].append(table)
    return [
        t
        for members in shapes.values()
        for t in sorted(members, key=lambda t: (-t.rows, len(t.asset.name), t.asset.urn))[:_PER_SHAPE]
    ]


def _proposals(tables: Sequence[_Table], known: set[tuple[str, tuple[str, ...]]]) -> Iterator[_Proposal]:
    """Pairs of a column and a unique column of another shape that sketches say it may refer to."""
    targets: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for i, table in enumerate(tables):
        for name, hashes in table.sketches.items():
            if table.unique(name) and len(hashes) >= _LEAST_DISTINCT:
                for h in hashes:
                    targets[h].append((i, name))
    for table in tables:
        for name, hashes in table.sketches.items():
            if (table.asset.urn, (name,)) in known or len(hashes) < _LEAST_DISTINCT:
                continue
            hits = Counter(target for h in hashes for target in targets.get(h, ()))
            for (j, ref), _ in hits.items():
                proposal = _proposal(table, name, tables[j], ref)
                if proposal is not None:
                    yield proposal
            yield from _named_apart(table, name, tables, hits)


def _proposal(left: _Table, name: str, right: _Table, ref: str) -> _Proposal | None:
    if left is right or _signature(left.asset) == _signature(right.asset):
        return None
    a, b = left.asset.column(name), right.asset.column(ref)
    if a is None or b is None:
        return None
    named = _names_it(left.asset, name, right.asset, ref)
    if named:
        # Keys on both sides: the table that the column is named after is the one referred to.
        if left.unique(name) and _is_of(name, left.asset) and not _is_of(name, right.asset):
            return None
    elif a.kind != "text" or b.kind != "text" or left.unique(name) or left.distinct(name) < 2 * _LEAST_DISTINCT:
        return None
    share, base = sketch.containment(left.sketches[name], right.sketches[ref])
    if base == 0 or share < (_NAMED if named else _LIKELY) - 0.1:
        return None
    return _Proposal(left, (name,), right, (ref,), named, _is_of(name, right.asset))


def _told(name: str) -> tuple[str, ...]:
    """The words of a column's name that say what it identifies.

    >>> _told("billing_address_id"), _told("order_id"), _told("id")
    (('billing', 'address'), ('order',), ())
    """
    found = tuple(w for w in words(name) if w not in KEY_WORDS)
    return () if len(found) == 1 and found[0] in GENERIC - {"order", "group"} else found


def _is_of(name: str, asset: Asset) -> bool:
    """Whether a column is named after a table, maybe with a role before it (`billing_address_id` of `addresses`)."""
    told, table = _told(name), words(asset.name)
    return bool(told) and bool(table) and (told[-len(table) :] == table or "".join(told) == "".join(table))


def _named_apart(
    table: _Table, name: str, tables: Sequence[_Table], hits: Counter[tuple[int, str]]
) -> Iterator[_Proposal]:
    """Columns whose names suggest a reference though they share no value."""
    for j, other in enumerate(tables):
        if other is table or _signature(other.asset) == _signature(table.asset):
            continue
        for ref, hashes in other.sketches.items():
            if (
                (j, ref) not in hits
                and len(hashes) >= _LEAST_DISTINCT
                and other.unique(ref)
                and _names_it(table.asset, name, other.asset, ref)
            ):
                yield _Proposal(table, (name,), other, (ref,), True, _is_of(name, other.asset))


def _names_it(left: Asset, name: str, right: Asset, ref: str) -> bool:
    """Whether the name of a column says that it refers to `ref` of `right`: the same telling name, or the table's name
    with a word for a key (`customer_id` or `customer` to `customers.id`)."""
    told = _told(name)
    if not told:
        return False
    if plain(name) == plain(ref) or told == _told(ref):
        return True
    return _is_of(name, right) and (KEY_WORDS.issuperset(words(ref)) or _is_of(ref, right))


def _composite(
    tables: Sequence[_Table], settled: set[tuple[str, str]], lake: Lake, notes: list[str]
) -> Iterator[Finding]:
    """References over several columns of the same names: a combination that is a key of the right table."""
    for left, right in ((a, b) for one, two in combinations(tables, 2) for a, b in ((one, two), (two, one))):
        if _signature(left.asset) == _signature(right.asset):
            continue
        shared = [
            c.name
            for c in right.asset.columns
            if left.asset.column(c.name) is not None and left.distinct(c.name) > 1 and right.distinct(c.name) > 1
        ]
        if len(shared) < 2 or any(right.unique(c) for c in shared) or _is_settled(left, right, settled, shared):
            continue
        key = _least_key(right, shared, lake, notes)
        if key is None:
            continue
        m = _measure(left.asset, key, right.asset, key, lake, notes)
        if m is not None and m.right_unique and m.match >= _LIKELY:
            yield _join(left.asset, key, right.asset, key, "measured", m)


def _is_settled(left: _Table, right: _Table, settled: set[tuple[str, str]], shared: Sequence[str]) -> bool:
    return all((left.asset.urn, c) in settled for c in shared)


def _least_key(table: _Table, shared: Sequence[str], lake: Lake, notes: list[str]) -> tuple[str, ...] | None:
    """The smallest combination (2 to 4) of columns that is unique in a table, the most distinct columns first."""
    ranked = sorted(shared, key=lambda c: -table.distinct(c))[:6]
    possible = [
        combo
        for n in range(2, min(_MOST_COMPOSITE, len(ranked)) + 1)
        for combo in combinations(ranked, n)
        if math.prod(table.distinct(c) for c in combo) >= table.rows
    ]
    return _read(notes, lambda: _first_unique(table, possible[:12], lake))


def _first_unique(table: _Table, possible: Sequence[tuple[str, ...]], lake: Lake) -> tuple[str, ...] | None:
    relation = lake.rows.relation(table.asset)
    for combo in () if relation.sampled else possible:
        cells = ", ".join(duck.quote(c) for c in combo)
        distinct = lake.rows.query(f"SELECT count(*) FROM (SELECT DISTINCT {cells} FROM {relation.sql})")[0][0]
        if distinct == relation.rows:
            return combo
    return None
