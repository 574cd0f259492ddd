"""What is wrong with a table, as tags with numbers: drawn from copies that were found, declared and repeated keys.

A shard, and an exact copy of a clean table, are no defects. A measured key is no ground for a tag: that some rows fall
outside it may be why nobody declared it. Rows that a table shares with its origin are the origin's defects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from suffice.errors import DataUnreachable
from suffice.extend import Lake, Unit, UnitResult
from suffice.libs.duck import quote
from suffice.model import Asset, Finding, TableProfile, digest

__all__ = ["TAGS", "QualityEnricher"]

TAGS = {
    "repeated_rows": "duplicate_rows",
    "missing_values": "missing_values",
    "broken_reference": "broken_reference",
    "sample": "subset_of",
    "snapshot": "superseded",
}
"""The degraded tag of a copy, by its relation; `identical` and `partition` have none."""

_LEAST_ORPHANS = 0.01
_LEAST_KEY = 0.5
_LEAST_COLUMNS = 3
_ROWS_OF_ORIGIN = ("identical", "partition", "sample", "repeated_rows")


class QualityEnricher:
    """One unit a table; its tags go with the findings that they were drawn from."""

    name = "quality"
    version = "1"
    after = ("profile", "keys", "copies")

    def units(self, lake: Lake) -> Iterable[Unit]:
        for urn, asset in lake.assets.items():
            if asset.kind == "table":
                seen = [
                    [f.id, f.inputs, f.value, sorted(f.numbers.items())]
                    for f in (*_copies(lake, urn), *lake.findings("join", urn), *lake.findings("profile", urn))
                ]
                yield Unit(urn, (urn,), digest(self.version, asset.schema_digest, lake.mark(asset), seen))

    def enrich(self, unit: Unit, lake: Lake) -> UnitResult:
        asset = lake.assets[unit.urns[0]]
        copies = _copies(lake, asset.urn)
        found = [*_of_copies(asset, copies)]
        if not any(c.value["relation"] in _ROWS_OF_ORIGIN for c in copies):
            found += _orphans(asset, lake)
        notes: tuple[str, ...] = ()
        if not copies:
            try:
                found += _repeated_keys(asset, lake)
            except DataUnreachable as error:
                notes = (str(error),)
        return UnitResult(tuple(self._stamped(f, unit) for f in found), notes=notes)

    def _stamped(self, tag: Finding, unit: Unit) -> Finding:
        return Finding(
            urn=tag.urn,
            kind=tag.kind,
            value=tag.value,
            subject=tag.subject,
            numbers=tag.numbers,
            query=tag.query,
            enricher=self.name,
            version=self.version,
            inputs=unit.inputs,
        )


def _copies(lake: Lake, urn: str) -> list[Finding]:
    """The copy findings of a table, and of the table that it equals (then those of that one, and so on)."""
    found: list[Finding] = []
    waiting, seen = [urn], {urn}
    while waiting:
        for copy in lake.findings("copy", waiting.pop()):
            found.append(copy)
            other = str(copy.value["of"])
            if copy.value["relation"] == "identical" and other not in seen:
                seen.add(other)
                waiting.append(other)
    return found


def _of_copies(asset: Asset, copies: Sequence[Finding]) -> Iterator[Finding]:
    for copy in copies:
        tag = TAGS.get(copy.value["relation"])
        if tag:
            value: dict[str, Any] = {"of": copy.value["of"], "columns": list(copy.value.get("columns", ()))}
            numbers = copy.numbers
            yield Finding(asset.urn, tag, value, subject=copy.value["of"], numbers=numbers, query=copy.query)


def _orphans(asset: Asset, lake: Lake) -> Iterator[Finding]:
    """Declared keys of which at least one in a hundred non-null values is not in the table they point at."""
    for join in lake.findings("join", asset.urn):
        match = join.numbers.get("match")
        if join.value["kind"] != "declared" or match is None or 1 - match < _LEAST_ORPHANS:
            continue
        value = {"of": None, "ref": join.value["right"]["urn"], "columns": list(join.value["left"]["columns"])}
        numbers = {"broken_share": 1 - match, "orphans": join.numbers.get("orphans")}
        yield Finding(asset.urn, "broken_reference", value, subject=join.subject, numbers=numbers, query=join.query)


def _repeated_keys(asset: Asset, lake: Lake) -> Iterator[Finding]:
    """Whole rows repeated in a table with a key: a column that no two different rows share."""
    profiles = lake.findings("profile", asset.urn)
    if not profiles:
        return
    profile = TableProfile.from_json(profiles[0].value)
    near = [
        (column.distinct, name)
        for name, column in profile.columns.items()
        if column.distinct and not column.unique and not column.nulls and column.distinct >= _LEAST_KEY * profile.base
    ]
    if not near or profile.sampled or len(profile.columns) < _LEAST_COLUMNS:
        return
    relation = lake.rows.relation(asset)
    if relation.sampled or relation.skipped:
        return
    keys = [name for _, name in sorted(near, reverse=True)]
    counted = ", ".join(f"count(DISTINCT {quote(name)})" for name in keys)
    different = f"(SELECT count(*) FROM (SELECT DISTINCT * FROM {relation.sql}))"
    query = f"SELECT count(*) AS rows, {different} AS different_rows, {counted} FROM {relation.sql}"
    rows, distinct_rows, *values = lake.rows.query(query)[0]
    held = [name for name, distinct in zip(keys, values, strict=True) if distinct == distinct_rows < rows]
    if held:
        numbers = {"rows": rows, "extra_rows": rows - distinct_rows, "extra_share": 1 - distinct_rows / rows}
        yield Finding(asset.urn, "duplicate_rows", {"of": None, "columns": held[:1]}, numbers=numbers, query=query)
