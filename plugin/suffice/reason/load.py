"""Knowledge from a home: the catalog's assets, the findings in force, the vectors and values of the index."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.index.names import NameSplitter
from suffice.model import Asset, Finding, TableProfile
from suffice.reason.knowledge import ColumnFacts, Copy, Family, JoinEdge, Knowledge, TableFacts, ValueHit, facts_of_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.catalogs.home import Home
    from suffice.index.search import Index

__all__ = ["DEGRADED", "load_knowledge"]

DEGRADED = {
    "subset_of": 0.5,
    "duplicate_rows": 0.7,
    "missing_values": 0.6,
    "broken_reference": 0.6,
    "superseded": 0.4,
    "mixed_types": 0.95,
    "empty": 0.3,
    "broken_view": 0.1,
}
"""How far a table with a defect is trusted: the factors of its defects multiply."""

_KINDS = ("profile", "join", "copy", "authoritative", "family", "description", *DEGRADED)


def load_knowledge(home: Home, index: Index) -> Knowledge:
    """All that the reasoner knows, read once. Tables that the index does not hold yet have a zero vector."""
    assets = list(home.catalog.assets())
    found = _grouped(home.store.findings(_KINDS))
    split = NameSplitter([n for a in assets for n in (a.source, a.schema, a.name, *(c.name for c in a.columns))]).words
    number = {asset.urn: i for i, asset in enumerate(assets)}
    joins = _through_copies([*_joins(assets, found["join"], number)], found["authoritative"], number)
    families = _families(found["family"], number)
    profiles = {f.urn: TableProfile.from_json(f.value) for fs in found["profile"].values() for f in fs}
    filled = {a.source for a in assets if a.urn in profiles and profiles[a.urn].rows}
    refers = {(e.left, c) for e in joins for c in e.left_columns}
    tables = tuple(
        _facts(i, asset, split, profiles.get(asset.urn), asset.source in filled, refers, families.get(i), found, number)
        for i, asset in enumerate(assets)
    )
    table_vectors, name_vectors, column_vectors = _vectors(assets, index)
    return Knowledge(
        tables,
        joins,
        table_vectors,
        name_vectors,
        column_vectors,
        embed=_embed(index, table_vectors.shape[1]),
        lookup=_lookup(index, number),
        split=split,
    )


def _grouped(findings: Iterable[Finding]) -> dict[str, dict[str, list[Finding]]]:
    """By kind, then by urn."""
    grouped: dict[str, dict[str, list[Finding]]] = defaultdict(lambda: defaultdict(list))
    for finding in findings:
        grouped[finding.kind][finding.urn].append(finding)
    return grouped


def _facts(
    i: int,
    asset: Asset,
    split: Callable[[str], Sequence[str]],
    profile: TableProfile | None,
    others_filled: bool,
    refers: set[tuple[int, str]],
    family: tuple[Family, Mapping[str, Any] | None] | None,
    found: Mapping[str, Mapping[str, Sequence[Finding]]],
    number: Mapping[str, int],
) -> TableFacts:
    words, stems = facts_of_name(asset.name, split)
    columns = tuple(
        ColumnFacts(
            column, *facts_of_name(column.name, split), column.name in asset.primary_key, (i, column.name) in refers
        )
        for column in asset.columns
    )
    tags = tuple(kind for kind in DEGRADED if found[kind].get(asset.urn))
    use = next((f.value for f in found["authoritative"].get(asset.urn, ())), {"urn": asset.urn, "why": ""})
    copy = next((f for f in found["copy"].get(asset.urn, ()) if f.value["of"] in number), None)
    texts = [f.value["text"] for f in found["description"].get(asset.urn, ()) if not f.column]
    rows = profile.rows if profile is not None else None
    trust = 1.0
    for tag in tags:
        trust *= DEGRADED[tag]
    return TableFacts(
        number=i,
        asset=asset,
        words=words,
        stems=stems,
        columns=columns,
        rows=rows,
        profile=profile,
        hollow=rows == 0 and others_filled,
        broken="broken_view" in tags,
        trust=round(trust, 3),
        use=number.get(use["urn"], i),
        use_why=use["why"],
        degraded=tags,
        copy=None if copy is None else Copy(number[copy.value["of"]], copy.value["relation"], copy.value, copy.numbers),
        family=family[0] if family else None,
        shard=family[1] if family else None,
        description=asset.description or next(iter(texts), ""),
    )


def _joins(
    assets: Sequence[Asset], found: Mapping[str, Sequence[Finding]], number: Mapping[str, int]
) -> Iterable[JoinEdge]:
    """What was measured, and the declared keys that no one has measured."""
    seen: set[tuple[int, tuple[str, ...], int]] = set()
    for finding in (f for fs in found.values() for f in fs):
        left, right = finding.value["left"], finding.value["right"]
        if left["urn"] not in number or right["urn"] not in number:
            continue
        edge = JoinEdge(
            number[left["urn"]],
            tuple(left["columns"]),
            number[right["urn"]],
            tuple(right["columns"]),
            match=_share(finding.numbers.get("match")),
            unique=None if finding.numbers.get("right_unique") is None else bool(finding.numbers["right_unique"]),
            kind=finding.value["kind"],
            orphans=_count(finding.numbers.get("orphans")),
        )
        seen.add((edge.left, edge.left_columns, edge.right))
        yield edge
    for asset in assets:
        for key in asset.foreign_keys:
            left_number, right_number = number[asset.urn], number.get(key.ref_urn)
            if right_number is not None and (left_number, key.columns, right_number) not in seen:
                yield JoinEdge(left_number, key.columns, right_number, key.ref_columns)


def _through_copies(
    joins: Sequence[JoinEdge], found: Mapping[str, Sequence[Finding]], number: Mapping[str, int]
) -> tuple[JoinEdge, ...]:
    """The joins, and each join of a copy as one of the table to use instead: what one holds the other does."""
    use = {number[urn]: number.get(fs[0].value["urn"], number[urn]) for urn, fs in found.items() if urn in number}
    known = {(e.left, e.left_columns, e.right) for e in joins}
    kept = list(joins)
    for edge in joins:
        left, right = use.get(edge.left, edge.left), use.get(edge.right, edge.right)
        if left != right and (left, edge.left_columns, right) not in known:
            known.add((left, edge.left_columns, right))
            kept.append(replace(edge, left=left, right=right))
    return tuple(kept)


def _share(value: float | int | None) -> float | None:
    return None if value is None else float(value)


def _count(value: float | int | None) -> int | None:
    return None if value is None else int(value)


def _families(
    found: Mapping[str, Sequence[Finding]], number: Mapping[str, int]
) -> dict[int, tuple[Family, Mapping[str, Any] | None]]:
    """Family and shard of each table that has one; the members are those of the catalog, in its order."""
    held = {number[urn]: fs[0].value for urn, fs in found.items() if urn in number}
    members: dict[str, list[int]] = defaultdict(list)
    for i, value in sorted(held.items()):
        members[value["id"]].append(i)
    return {
        i: (
            Family(
                value["id"],
                value["kind"],
                tuple(members[value["id"]]),
                number.get(value.get("base") or ""),
                value.get("stem") or "",
            ),
            value.get("shard"),
        )
        for i, value in held.items()
    }


def _vectors(
    assets: Sequence[Asset], index: Index
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Vectors of the tables' texts, of their names, and of all columns' names one after the other."""
    texts = index.column_vectors()
    width = texts.matrix.shape[1]
    known = [i for i, asset in enumerate(assets) if asset.urn in texts.columns]
    tables = np.zeros((len(assets), width), dtype=np.float32)
    names = np.zeros((len(assets), width), dtype=np.float32)
    if known:
        urns = [assets[i].urn for i in known]
        tables[known] = index.vectors_of(urns)
        names[known] = texts.matrix[[texts.names[urn] for urn in urns]]
    columns = [np.zeros((0, width), dtype=np.float32)]
    for asset in assets:
        rows = texts.columns.get(asset.urn)
        same = rows is not None and len(rows) == len(asset.columns)
        columns.append(texts.matrix[rows] if same else np.zeros((len(asset.columns), width), dtype=np.float32))
    return tables, names, np.concatenate(columns)


def _embed(index: Index, width: int) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        if index.notes:
            return np.zeros((len(texts), width), dtype=np.float32)
        return index.embed(texts)

    return embed


def _lookup(index: Index, number: Mapping[str, int]) -> Callable[[Sequence[str]], list[ValueHit]]:
    def lookup(texts: Sequence[str]) -> list[ValueHit]:
        found: Counter[tuple[str, int, str]] = Counter()
        shown: dict[tuple[str, int, str], str] = {}
        for match in index.values.lookup(texts):
            if match.urn in number:
                key = (match.phrase, number[match.urn], match.column)
                found[key] += match.count
                shown.setdefault(key, match.value)
        return [ValueHit(*key, value=shown[key], count=count) for key, count in found.items()]

    return lookup
