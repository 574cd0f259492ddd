"""Which table of a group of copies to use, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from suffice.extend import Lake
from suffice.model import Asset, Finding
from suffice_enrichers.relations import Copy

__all__ = ["authoritative"]

_SAYS = {
    "identical": "holds the same {rows:,} rows",
    "repeated_rows": "holds the same rows without {extra_rows:,} repeated ones",
    "missing_values": "holds the same rows with {of_null_share:.1%} of the cells null, not {null_share:.1%}",
    "broken_reference": "holds the same rows without the {broken_share:.1%} whose references lead nowhere",
    "sample": "holds all {rows:,} rows of it and {more:,} more",
    "partition": "holds all {rows:,} rows of it and {more:,} more",
    "contained": "holds all its different rows",
    "snapshot": "is the newer state of it",
}
_NOUNS = {
    "identical": ("exact copy", "exact copies"),
    "repeated_rows": ("copy with repeated rows", "copies with repeated rows"),
    "missing_values": ("copy with lost values", "copies with lost values"),
    "broken_reference": ("copy with broken references", "copies with broken references"),
    "sample": ("subset", "subsets"),
    "partition": ("partition", "partitions"),
    "snapshot": ("older state", "older states"),
    "contained": ("table of few rows that it holds", "tables of few rows that it holds"),
}


def authoritative(copies: Sequence[Copy], lake: Lake) -> list[Finding]:
    """One finding for each table that is a copy, or that others are copies of.

    The table to use is the one that no other explains: it holds every row of the others once, with the fewest gaps.
    Among exact copies nothing in the rows decides: lineage and declared keys do, then the shorter name.
    """
    origin = {copy.table.asset.urn: copy for copy in copies}
    assets = {a.urn: a for copy in copies for a in (copy.table.asset, copy.origin.asset)}
    roots = {urn: _root(urn, origin) for urn in assets}
    followers: dict[str, list[Copy]] = defaultdict(list)
    for urn, copy in origin.items():
        followers[roots[urn]].append(copy)
    findings = []
    for urn in sorted(assets):
        root = assets[roots[urn]]
        why = _own_reason(followers[urn]) if urn == root.urn else _reason(origin[urn], root)
        findings.append(Finding(urn=urn, kind="authoritative", value={"urn": root.urn, "why": why}))
    return findings


def _root(urn: str, origin: dict[str, Copy]) -> str:
    seen = {urn}
    while urn in origin:
        urn = origin[urn].origin.asset.urn
        if urn in seen:
            return min(seen)
        seen.add(urn)
    return urn


def _own_reason(copies: Sequence[Copy]) -> str:
    counted = Counter(copy.relation for copy in copies)
    listed = ", ".join(f"{n} {_NOUNS[relation][n > 1]}" for relation, n in sorted(counted.items()))
    return f"no other table holds more of its rows; of it there are: {listed}"


def _reason(copy: Copy, root: Asset) -> str:
    more = copy.origin.rows - copy.table.rows
    said = _SAYS[copy.relation].format(**{**copy.numbers, "more": more})
    via = "" if copy.origin.asset.urn == root.urn else f", itself a copy or part of {root.name}"
    return f"{copy.origin.asset.name} {said}{via}"
