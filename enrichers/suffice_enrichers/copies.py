"""Which tables of a source are copies or parts of another, told by their rows; and which of them to use.

Tables that share their column names are compared by row hashes: each with the few tables that hold most of its rows.
A table whose schema has drifted by one column is compared by those that are left. Names are no evidence; they break a
tie between tables of equal content at most.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import DataUnreachable
from suffice.extend import Lake, Unit, UnitResult
from suffice.model import Asset, Finding, digest
from suffice_enrichers.authority import authoritative
from suffice_enrichers.contents import Content, Contents, positions
from suffice_enrichers.drift import clusters, names_of, renamed, within
from suffice_enrichers.evidence import finding_of
from suffice_enrichers.ordered import refine
from suffice_enrichers.relations import Copy, explain

if TYPE_CHECKING:
    from suffice.rows.engine import Engine

__all__ = ["CopiesEnricher"]

_SAMPLE = 256
_CANDIDATES = 6
_SIBLINGS = 2
_LEAST_SAME = 2
_LEAST_COLUMNS = 3
_LEAST_APART = 0.9
_CHANGED = ("repeated_rows", "missing_values", "broken_reference")


class CopiesEnricher:
    """One unit a group of tables of a source that have the same column names, but for one at most."""

    name = "copies"
    version = "4"
    after = ("profile", "keys")

    def units(self, lake: Lake) -> Iterable[Unit]:
        sources: dict[str, list[Asset]] = defaultdict(list)
        for asset in lake.assets.values():
            # A view holds what its definition says now: it is no copy that could differ from its source.
            if asset.kind == "table" and asset.columns:
                sources[asset.source].append(asset)
        for source, tables in sorted(sources.items()):
            for groups in clusters(tables):
                members = [asset for group in groups for asset in group]
                if len(members) > 1:
                    # A source that gives no mark is looked at each time.
                    marks = [lake.mark(a) or uuid.uuid4().hex for a in members]
                    inputs = digest(
                        self.version, [(a.urn, a.schema_digest) for a in members], marks, _references(lake, members)
                    )
                    name = f"{source}:{digest(names_of(members[0]))[:12]}"
                    yield Unit(name, tuple(a.urn for a in members), inputs)

    def enrich(self, unit: Unit, lake: Lake) -> UnitResult:
        assets = [lake.assets[urn] for urn in unit.urns]
        readable, notes = _readable(lake, assets)
        if len(readable) < 2:
            return UnitResult(notes=tuple(notes))
        known = set(_references(lake, assets))
        found = list(_of_unit(readable, known, lake.rows))
        findings = [finding_of(copy, contents, lake) for copy, contents in found]
        findings += authoritative([copy for copy, _ in found], lake)
        made = [_stamped(f, self, unit) for f in findings]
        return UnitResult(tuple(made), notes=tuple(notes))


def _of_unit(assets: Sequence[Asset], known: Collection[str], engine: Engine) -> Iterator[tuple[Copy, Contents]]:
    """The copies among tables of one cluster, each with the contents that it was told by."""
    [(core, *others), *_] = clusters(assets)
    aliases = {asset.urn: alias for group in others for asset in group if (alias := renamed(asset, core, engine))}
    groups = [core + [a for group in others for a in group if a.urn in aliases]]
    groups += [[a for a in group if a.urn not in aliases] for group in others]
    copies: dict[str, Copy] = {}
    for group in groups:
        if len(group) > 1:
            contents = Contents(engine, group, aliases)
            for copy in _within(contents, group, known, engine):
                copies[copy.table.asset.urn] = copy
                yield copy, contents
    for group in groups[1:]:
        sides = [
            [a for a in side if a.urn not in copies or copies[a.urn].relation == "partition"]
            for side in (groups[0], group)
        ]
        if all(sides) and within(group[0], core[0]):
            contents = Contents(engine, [*sides[0], *sides[1]], aliases)
            for copy in _across(contents, sides, known, engine):
                if copy.table.asset.urn not in copies:
                    copies[copy.table.asset.urn] = copy
                    yield copy, contents


def _within(contents: Contents, assets: Sequence[Asset], known: Collection[str], engine: Engine) -> list[Copy]:
    classes = _classes([content for content in map(contents.read, assets) if content.distinct])
    tables = [members[0] for members in classes]
    return [*_identical(classes), *_judge(_candidates(tables), contents, known, engine)]


def _across(
    contents: Contents, sides: Sequence[Sequence[Asset]], known: Collection[str], engine: Engine
) -> Iterator[Copy]:
    """What tables of one side are to those of the other, which have a column more or less, by the columns of both.

    A table that says something of its own is no mere part of another, and rows that are no longer told apart are no
    ground to call it one.
    """
    side = {asset.urn: i for i, assets in enumerate(sides) for asset in assets}
    tables = [content for assets in sides for content in map(contents.read, assets) if content.distinct]
    judged = (
        (table, [other for other in others if side[other.asset.urn] != side[table.asset.urn]])
        for table, others in _candidates(tables)
    )
    for copy in _judge(judged, contents, known, engine):
        more = len(copy.table.asset.columns) > len(contents.columns)
        apart = copy.origin.distinct >= _LEAST_APART * copy.origin.rows and len(contents.columns) >= _LEAST_COLUMNS
        if copy.relation in _CHANGED or (apart and not more):
            yield copy


def _stamped(finding: Finding, enricher: CopiesEnricher, unit: Unit) -> Finding:
    import dataclasses

    return dataclasses.replace(finding, enricher=enricher.name, version=enricher.version, inputs=unit.inputs)


def _readable(lake: Lake, assets: Sequence[Asset]) -> tuple[list[Asset], list[str]]:
    """The tables whose rows are all at hand; nothing about a whole table is drawn from a sample of it."""
    readable, notes = [], []
    for asset in assets:
        try:
            relation = lake.rows.relation(asset)
        except DataUnreachable as error:
            notes.append(str(error))
            continue
        if relation.sampled:
            notes.append("a table of which only a sample was read is not compared with others")
        elif relation.columns:
            readable.append(asset)
    return readable, notes


def _references(lake: Lake, members: Iterable[Asset]) -> list[str]:
    """Lower-case names of the columns that point at another table in one member of the group at least."""
    urns = {asset.urn for asset in members}
    found = {c.lower() for urn in urns for key in lake.assets[urn].foreign_keys for c in key.columns}
    for urn in urns:
        for join in lake.findings("join", urn):
            if join.value["right"]["urn"] not in urns:
                found |= {str(c).lower() for c in join.value["left"]["columns"]}
    return sorted(found)


def _classes(tables: Sequence[Content]) -> list[list[Content]]:
    """Tables of equal content together, the one to prefer first."""
    classes: dict[tuple[int, str], list[Content]] = defaultdict(list)
    for content in tables:
        # That two tables hold the same single row may be chance.
        alone = content.asset.urn if content.distinct < _LEAST_SAME else ""
        classes[content.rows, content.fingerprint + alone].append(content)
    return [sorted(members, key=lambda c: _preference(c.asset, members)) for members in classes.values()]


def _preference(asset: Asset, members: Sequence[Content]) -> tuple[Any, ...]:
    """Sorts the source of copies first: by lineage, by declared keys, by a text; a name only breaks the tie."""
    fed = sum(asset.urn in other.asset.upstreams for other in members)
    from_here = sum(urn in {m.asset.urn for m in members} for urn in asset.upstreams)
    declared = bool(asset.primary_key) + bool(asset.foreign_keys)
    numbered = any(c.isdigit() for c in asset.name)
    return (-fed, from_here, -declared, not asset.description, numbered, len(asset.name), asset.name, asset.urn)


def _identical(classes: Iterable[Sequence[Content]]) -> Iterator[Copy]:
    for first, *others in classes:
        for other in others:
            numbers = {"rows": other.rows, "of_rows": first.rows, "contained": 1.0}
            yield Copy("identical", other, first, numbers=numbers)


def _judge(
    judged: Iterable[tuple[Content, Sequence[Content]]], contents: Contents, known: Collection[str], engine: Engine
) -> list[Copy]:
    """The relation of each table (no two of equal content) to the one of its likely origins that explains it best.

    `known` are names of columns that point at another table.
    """
    references = {i for i, name in enumerate(contents.columns) if name in known}
    found: list[Copy] = []
    for table, origins in judged:
        copy: Copy | None = None
        for origin in origins:
            # That rows are contained in a nearer table says less than what a farther one explains.
            other = explain(table, origin, contents.cells, references)
            copy = copy if other is None or (copy is not None and other.relation == "contained") else other
            if copy is not None and copy.relation != "contained":
                break
        if copy is not None:
            found.append(refine(copy, contents, engine))
    return _confirmed(found)


def _candidates(tables: Sequence[Content]) -> Iterator[tuple[Content, list[Content]]]:
    """Each table with the few others that hold most of its rows, the closest first.

    A fixed number of row hashes of each table is looked up in one sorted list of all, so that the work grows with
    the number of tables and not with its square. Neighbours come one after another, so that cells stay cached.
    """
    if len(tables) < 2:
        return
    hashes = np.concatenate([t.hashes for t in tables])
    owners = np.concatenate([np.full(t.distinct, i, np.int32) for i, t in enumerate(tables)])
    order = np.argsort(hashes, kind="stable")
    hashes, owners = hashes[order], owners[order]
    near: list[tuple[int, list[int]]] = []
    for i, table in enumerate(tables):
        probes = table.hashes[:: max(1, table.distinct // _SAMPLE)][:_SAMPLE]
        low, high = np.searchsorted(hashes, probes, "left"), np.searchsorted(hashes, probes, "right")
        lengths = high - low
        offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        hits = np.bincount(owners[np.repeat(low, lengths) + offsets], minlength=len(tables)) / len(probes)
        hits[i] = 0
        ranked = sorted(np.flatnonzero(hits), key=lambda j: _closeness(table, tables[j], float(hits[j])))
        near.append((i, [int(j) for j in ranked[:_CANDIDATES]]))
    near.sort(key=lambda item: (item[1][:1], item[0]))
    for i, others in near:
        table = tables[i]
        exact = [(j, float(positions(table.hashes, tables[j].hashes)[1].mean())) for j in others]
        yield table, [tables[j] for j, share in sorted(exact, key=lambda e: _closeness(table, tables[e[0]], e[1]))]


def _closeness(table: Content, other: Content, contained: float) -> tuple[bool, float, float, int, str]:
    """Sorts the likelier origin first: all or most rows of the table held, then least else, then least repeated."""
    both = contained * table.distinct
    jaccard = both / (table.distinct + other.distinct - both)
    return (contained < 1, -round(contained, 1), -round(jaccard, 2), other.rows, other.asset.urn)


def _confirmed(found: Sequence[Copy]) -> list[Copy]:
    """With the shards whose rule may be chance as what they are otherwise, unless siblings follow the same rule."""
    rules: dict[tuple[str, tuple[int, ...]], list[Copy]] = defaultdict(list)
    for copy in found:
        if copy.relation == "partition":
            rules[copy.origin.asset.urn, copy.columns].append(copy)
    kept = []
    for copy in found:
        siblings = [c for c in rules[copy.origin.asset.urn, copy.columns] if c is not copy]
        if not copy.sure:
            apart = [c for c in siblings if _apart(c, copy)] if copy.otherwise else [c for c in siblings if c.sure]
            if len(apart) < (1 if copy.otherwise else _SIBLINGS):
                kept.append(copy.otherwise or replace(copy, relation="contained", columns=(), part=None))
                continue
        kept.append(copy)
    return kept


def _apart(one: Copy, other: Copy) -> bool:
    """Whether two shards by range hold spans that do not overlap."""
    return one.low is not None and other.low is not None and (one.high < other.low or other.high < one.low)
