"""What stands beside a table, each with its relation in words: family, copies, joins, lineage, similar schemas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.catalogs.aspects import dataset_urn_parts
from suffice.model import Asset, Finding

if TYPE_CHECKING:
    from suffice.catalogs.home import Home

__all__ = ["Related", "related"]

SIMILAR = 0.7
"""Least Jaccard similarity of column names at which two schemas are called similar."""
_LEAST_COLUMNS = 3
_KINDS = ("family", "copy", "authoritative", "join", "not_joinable")

_COPY = {
    "identical": ("holds the same rows", "holds the same rows"),
    "repeated_rows": ("is it with repeated rows", "holds its rows without the repeated ones"),
    "missing_values": ("is it with values missing", "holds its rows with the values that are missing here"),
    "broken_reference": ("is it with broken references", "holds its rows with references that hold"),
    "sample": ("is a part of its rows", "holds its rows and more"),
    "partition": ("is the part of its rows that one condition selects", "holds its rows and those of other parts"),
    "snapshot": ("is an earlier state of it", "holds a later state of it"),
    "contained": ("holds all its rows", "its few rows are all here"),
}
"""What a copy is to its base, and what the base is to the copy."""


@dataclass(frozen=True, slots=True)
class Related:
    """`table` (a path) stands in `relation` to the asked table; `detail` gives columns and figures."""

    urn: str
    table: str
    relation: str
    detail: str = ""

    def to_json(self) -> dict[str, str]:
        return {"urn": self.urn, "table": self.table, "relation": self.relation, "detail": self.detail}


def related(home: Home, urn: str) -> list[dict[str, str]]:
    """The tables related to `urn`, one entry a relation: the table to use instead first, then copies, members of its
    family, joins either way, upstream and downstream, and tables of similar columns. Ordered by relation, then name.
    """
    assets = {asset.urn: asset for asset in home.catalog.assets()}
    asset = assets.get(urn)
    if asset is None:
        return []
    findings: dict[str, list[Finding]] = {}
    for finding in home.store.findings(_KINDS):
        findings.setdefault(finding.kind, []).append(finding)
    groups: tuple[Iterable[tuple[str, str, str]], ...] = (
        _authoritative(urn, findings.get("authoritative", ())),
        _copies(urn, findings.get("copy", ())),
        _family(urn, findings.get("family", ())),
        _joins(asset, assets, findings.get("join", ()), findings.get("not_joinable", ())),
        _lineage(asset, assets),
    )
    found: list[Related] = []
    for group in groups:
        named = {Related(other, _path(other, assets), relation, detail) for other, relation, detail in group}
        found += sorted(named, key=lambda r: (r.relation, r.table, r.detail))
    near = {r.urn for r in found}
    found += [r for r in _similar(asset, assets) if r.urn not in near]
    return [r.to_json() for r in found if r.urn != urn]


def _authoritative(urn: str, findings: Iterable[Finding]) -> Iterator[tuple[str, str, str]]:
    for finding in findings:
        if finding.urn == urn and finding.value["urn"] != urn:
            yield finding.value["urn"], "to be used instead", str(finding.value.get("why", ""))


def _copies(urn: str, findings: Iterable[Finding]) -> Iterator[tuple[str, str, str]]:
    for finding in findings:
        base = str(finding.value["of"])
        if urn not in (finding.urn, base):
            continue
        to_base, to_copy = _COPY.get(str(finding.value["relation"]), ("is derived from it", "is its base"))
        detail = _condition(finding.value)
        if finding.urn == urn:
            yield base, to_copy, detail
        else:
            yield finding.urn, to_base, detail


def _condition(value: Mapping[str, Any]) -> str:
    """What selects a copy's rows, where the finding says it."""
    column = value.get("column")
    if not column:
        return ""
    if value.get("values"):
        return f"{column} = {', '.join(str(v) for v in value['values'])}"
    if value.get("low") is not None or value.get("high") is not None:
        return f"{column} from {value.get('low')} to {value.get('high')}"
    return str(column)


def _family(urn: str, findings: Iterable[Finding]) -> Iterator[tuple[str, str, str]]:
    held = list(findings)
    mine = {str(f.value["id"]): f for f in held if f.urn == urn}
    for finding in held:
        family = mine.get(str(finding.value["id"]))
        if family is None or finding.urn == urn:
            continue
        base = family.value.get("base") == finding.urn
        relation = "base of the family" if base else f"same family (by {finding.value.get('kind', 'schema')})"
        yield finding.urn, relation, _condition(finding.value.get("shard") or {})


def _joins(
    asset: Asset, assets: Mapping[str, Asset], joins: Iterable[Finding], not_joinable: Iterable[Finding]
) -> Iterator[tuple[str, str, str]]:
    """Declared keys of the catalog, and what enrichers found; a key that both tell of is given once."""
    told = set()
    for finding in joins:
        left, right = finding.value["left"], finding.value["right"]
        if asset.urn not in (left["urn"], right["urn"]):
            continue
        told.add((left["urn"], tuple(left["columns"]), right["urn"]))
        match = finding.numbers.get("match")
        figures = f", {match:.0%} match" if match is not None else ""
        detail = f"{_columns(left['columns'])} = {_columns(right['columns'])}, {finding.value['kind']}{figures}"
        outward = left["urn"] == asset.urn
        yield (right["urn"], "referred to by this", detail) if outward else (left["urn"], "refers to this", detail)
    for other in assets.values():
        for key in other.foreign_keys:
            if not key.ref_urn or asset.urn not in (other.urn, key.ref_urn) or key.ref_urn not in assets:
                continue
            if (other.urn, key.columns, key.ref_urn) in told:
                continue
            detail = f"{_columns(key.columns)} = {_columns(key.ref_columns)}, declared"
            outward = other.urn == asset.urn
            yield (key.ref_urn, "referred to by this", detail) if outward else (other.urn, "refers to this", detail)
    for finding in not_joinable:
        left, right = finding.value["left"], finding.value["right"]
        if asset.urn in (left["urn"], right["urn"]):
            other_urn = right["urn"] if left["urn"] == asset.urn else left["urn"]
            detail = f"{_columns(left['columns'])} and {_columns(right['columns'])} share no value"
            yield other_urn, "not joinable, though names suggest it", detail


def _lineage(asset: Asset, assets: Mapping[str, Asset]) -> Iterator[tuple[str, str, str]]:
    for urn in asset.upstreams:
        yield urn, "upstream", "" if urn in assets else "not in the catalog"
    for other in assets.values():
        if asset.urn in other.upstreams:
            yield other.urn, "downstream", ""


def _similar(asset: Asset, assets: Mapping[str, Asset]) -> list[Related]:
    mine = {c.name.casefold() for c in asset.columns}
    if len(mine) < _LEAST_COLUMNS:
        return []
    found = []
    for other in assets.values():
        theirs = {c.name.casefold() for c in other.columns}
        shared = len(mine & theirs)
        if other.urn == asset.urn or shared < SIMILAR * len(mine | theirs):
            continue
        relation = "same columns" if mine == theirs else "similar columns"
        found.append(
            (-shared / len(mine | theirs), other.path, other.urn, relation, f"{shared} of {len(mine | theirs)}")
        )
    return [Related(urn, path, relation, detail) for _, path, urn, relation, detail in sorted(found)]


def _columns(names: Iterable[str]) -> str:
    return ", ".join(names)


def _path(urn: str, assets: Mapping[str, Asset]) -> str:
    return assets[urn].path if urn in assets else dataset_urn_parts(urn)[1]
