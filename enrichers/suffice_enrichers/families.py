"""Families: tables that are parts, versions or years of one thing. The name of a family does not hang on its members.

Three kinds, the surest first. `partition`: what copies found, a base with its parts and versions; or parts without a
base, told apart by a column that is constant in each. `stem`: equal or compatible columns, and names that differ in
their distinguishing words only (years, states, carriers). `schema`: the same columns, and nothing more is known.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suffice.extend import Lake, Unit, UnitResult
from suffice.model import Asset, Finding, TableProfile, digest
from suffice_enrichers.names import GENERIC, words

__all__ = ["FamiliesEnricher"]

_COMPATIBLE = 0.6
"""Least Jaccard similarity of the column names of any two members of one stem."""
_LEAST_COLUMNS = 3


class FamiliesEnricher:
    """One unit a source; each member of a family has a `family` finding."""

    name = "families"
    version = "3"
    after = ("profile", "keys", "copies", "quality")

    def units(self, lake: Lake) -> Iterable[Unit]:
        sources: dict[str, list[Asset]] = defaultdict(list)
        for asset in lake.assets.values():
            sources[asset.source].append(asset)
        for source, assets in sorted(sources.items()):
            urns = tuple(a.urn for a in assets)
            columns = sorted([a.urn, *sorted(c.name for c in a.columns)] for a in assets)
            found = [[f.id, f.inputs] for kind in ("copy", "profile") for urn in urns for f in lake.findings(kind, urn)]
            yield Unit(source, urns, digest(self.version, columns, found))

    def enrich(self, unit: Unit, lake: Lake) -> UnitResult:
        assets = [lake.assets[urn] for urn in unit.urns if lake.assets[urn].columns]
        families = [*_of_copies(assets, lake)]
        taken = {a.urn for f in families for a in f.members}
        rest = [a for a in assets if a.urn not in taken and a.kind == "table"]
        families += _of_stems(rest, lake)
        taken |= {a.urn for f in families for a in f.members}
        families += _of_schemas([a for a in rest if a.urn not in taken], lake)
        return UnitResult(tuple(finding for f in families for finding in f.findings(self, unit)))


@dataclass(frozen=True, slots=True)
class _Family:
    """`shards` gives what tells a member apart, by urn."""

    id: str
    kind: str
    members: Sequence[Asset]
    shards: dict[str, dict[str, Any]]
    base: str | None = None
    stem: str = ""

    def findings(self, enricher: FamiliesEnricher, unit: Unit) -> Iterator[Finding]:
        for asset in self.members:
            value = {
                "id": self.id,
                "kind": self.kind,
                "members": len(self.members),
                "base": self.base,
                "shard": self.shards.get(asset.urn),
                "stem": self.stem,
            }
            yield Finding(asset.urn, "family", value, numbers={"members": len(self.members)}, enricher=enricher.name,
                          version=enricher.version, inputs=unit.inputs)  # fmt: skip


def _of_copies(assets: Sequence[Asset], lake: Lake) -> Iterator[_Family]:
    """A table and all its copies and parts, by the table to use instead of them."""
    groups: dict[str, list[Asset]] = defaultdict(list)
    for asset in assets:
        for finding in lake.findings("authoritative", asset.urn):
            groups[finding.value["urn"]].append(asset)
    for base, members in sorted(groups.items()):
        shards = {a.urn: shard for a in members for f in lake.findings("copy", a.urn) if (shard := _shard(f.value))}
        yield _Family(digest("partition", base), "partition", members, shards, base, _stem(members))


def _shard(copy: dict[str, Any]) -> dict[str, Any] | None:
    if copy["relation"] != "partition":
        return None
    return {k: copy[k] for k in ("column", "columns", "values", "low", "high") if k in copy}


def _of_stems(assets: Sequence[Asset], lake: Lake) -> Iterator[_Family]:
    """Tables whose names share their first words, or their last, and whose columns are alike, each pair of them.

    Where two words of the names are shared, columns are alike by their last words as well: `North_Tag` of one beach is
    `Middle_Tag` of another.
    """
    left = {a.urn: a for a in assets}
    seen: Counter[str] = Counter()
    for end, compatible in _PASSES:
        groups: dict[tuple[str, tuple[str, ...]], list[Asset]] = defaultdict(list)
        for asset in left.values():
            shared = end(words(asset.name))
            if shared and not any(w.isdigit() for w in shared) and len(words(asset.name)) > len(shared):
                groups[asset.schema, shared].append(asset)
        for _, members in sorted(groups.items()):
            for alike in _alike(members, compatible):
                family = _stem_family(alike, lake)
                if family is not None:
                    again = seen[family.id]
                    seen[family.id] += 1
                    yield replace(family, id=digest(family.id, again)) if again else family
                    for asset in alike:
                        left.pop(asset.urn, None)


def _first(name: tuple[str, ...]) -> tuple[str, ...]:
    return name[:1]


def _last(name: tuple[str, ...]) -> tuple[str, ...]:
    return name[-1:]


def _first_two(name: tuple[str, ...]) -> tuple[str, ...]:
    return name[:2]


def _last_two(name: tuple[str, ...]) -> tuple[str, ...]:
    return name[-2:]


def _same_columns(one: frozenset[str], other: frozenset[str]) -> bool:
    return _jaccard(one, other) >= _COMPATIBLE


def _same_heads(one: frozenset[str], other: frozenset[str]) -> bool:
    heads = [frozenset(w[-1] for name in shape if (w := words(name))) for shape in (one, other)]
    return len(one & other) >= _LEAST_COLUMNS and _jaccard(*heads) >= _COMPATIBLE


_PASSES = ((_first_two, _same_heads), (_last_two, _same_heads), (_first, _same_columns), (_last, _same_columns))


def _alike(members: Sequence[Asset], compatible: Callable[[frozenset[str], frozenset[str]], bool]) -> list[list[Asset]]:
    """Groups of two and more in which every pair of tables has compatible columns."""
    shapes: dict[frozenset[str], list[Asset]] = defaultdict(list)
    for asset in members:
        shapes[frozenset(c.name.casefold() for c in asset.columns)].append(asset)
    groups: list[list[frozenset[str]]] = []
    for shape in sorted(shapes, key=lambda s: (-len(shapes[s]), sorted(s))):
        home = next((g for g in groups if all(compatible(shape, other) for other in g)), None)
        if home is None:
            groups.append([shape])
        else:
            home.append(shape)
    found = [[a for shape in group for a in shapes[shape]] for group in groups]
    return sorted((sorted(g, key=lambda a: a.urn) for g in found if len(g) > 1), key=lambda g: (-len(g), g[0].urn))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _stem_family(members: Sequence[Asset], lake: Lake) -> _Family | None:
    stem = _stem(members)
    own = {a.urn: _without(words(a.name), stem.split()) for a in members}
    numbered = all(any(w.isdigit() for w in own[a.urn]) or not own[a.urn] for a in members)
    same = len({tuple(sorted(c.name.casefold() for c in a.columns)) for a in members}) == 1
    telling = set(stem.split()) - GENERIC
    # Names that differ by numbers name parts; names that differ by words do so where the columns are the same, or where
    # most of each name is.
    apart = (same and len(members[0].columns) >= _LEAST_COLUMNS) or len(stem.split()) > 1
    if not telling or not (numbered or apart):
        return None
    shards = _constant(members, lake) or {
        urn: {"column": "", "values": [" ".join(rest)]} for urn, rest in own.items() if rest
    }
    return _Family(digest("stem", members[0].source, members[0].schema, stem), "stem", members, shards, None, stem)


def _stem(members: Sequence[Asset]) -> str:
    """The words that all names begin with and those that all end with; numbers are no part of a stem."""
    names = [words(a.name) for a in members]
    first = _common(names)
    last = _common([tuple(reversed(n[len(first) :])) for n in names])
    return " ".join(w for w in (*first, *reversed(last)) if not w.isdigit())


def _common(names: Sequence[Sequence[str]]) -> list[str]:
    found = []
    for column in zip(*names, strict=False):
        if len(set(column)) > 1:
            break
        found.append(column[0])
    return found


def _without(name: Sequence[str], stem: Sequence[str]) -> list[str]:
    left = list(name)
    for word in stem:
        if word in left:
            left.remove(word)
    return left


def _constant(members: Sequence[Asset], lake: Lake) -> dict[str, dict[str, Any]]:
    """Members by the value of one column that is constant in each of them and different between any two."""
    values: dict[str, dict[str, Any]] = defaultdict(dict)
    for asset in members:
        for finding in lake.findings("profile", asset.urn):
            for name, column in TableProfile.from_json(finding.value).columns.items():
                if column.distinct == 1 and column.top and not column.nulls:
                    values[name.casefold()][asset.urn] = (name, column.top[0][0])
    for held in values.values():
        if len(held) == len(members) and len({str(v) for _, v in held.values()}) == len(members):
            return {urn: {"column": name, "values": [value]} for urn, (name, value) in held.items()}
    return {}


def _of_schemas(assets: Sequence[Asset], lake: Lake) -> Iterator[_Family]:
    """Tables of the same columns: parts where a constant column tells them apart, else alike and no more."""
    groups: dict[tuple[str, ...], list[Asset]] = defaultdict(list)
    for asset in assets:
        names = tuple(sorted(c.name.casefold() for c in asset.columns))
        if len(names) >= _LEAST_COLUMNS:
            groups[asset.schema, *names].append(asset)
    for names, members in sorted(groups.items()):
        if len(members) > 1:
            shards = _constant(members, lake)
            kind = "partition" if shards else "schema"
            yield _Family(digest("schema", members[0].source, names), kind, members, shards)
