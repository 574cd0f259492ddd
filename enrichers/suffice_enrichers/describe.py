"""A description without a model: what sets a table apart from its siblings first, then subject, grain and links.

Only facts are said: every difference rests on findings whose numbers and query stand beside it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suffice.extend import Lake, Unit, UnitResult
from suffice.libs import duck
from suffice.model import Asset, Finding, TableProfile, digest
from suffice_enrichers.names import words

__all__ = ["DescribeEnricher"]

_READ = ("profile", "copy", "authoritative", "family", "join", "unique_key", "empty")
_COLUMNS_SHOWN = 8
_VALUES_SHOWN = 4

_COPIES = {
    "identical": "Holds exactly the rows of {of}",
    "repeated_rows": "A copy of {of} with {extra_rows:,} repeated rows",
    "missing_values": "A copy of {of} in which {null_share:.1%} of the cells are empty",
    "broken_reference": "A copy of {of} in which {broken_share:.1%} of the rows refer to nothing",
    "sample": "{rows:,} of the {of_rows:,} rows of {of}, no condition that selects them",
    "snapshot": "An earlier state of {of}",
    "contained": "Its {rows:,} rows are all in {of}, too few to say why",
    "partition": "The part of {of}{where}, {rows:,} of {of_rows:,} rows",
}


class DescribeEnricher:
    """A `description` of each table, proposed; one unit a table, redone when a fact it tells has changed."""

    name = "describe"
    version = "1"
    after = ("profile", "keys", "copies", "quality", "families")

    def __init__(self) -> None:
        self._families: dict[str, tuple[Asset, ...]] = {}

    def units(self, lake: Lake) -> Iterable[Unit]:
        families = self._families = _families(lake)
        for urn, asset in lake.assets.items():
            facts = [
                [f.kind, f.subject, f.value, sorted(f.numbers.items())] for k in _READ for f in lake.findings(k, urn)
            ]
            siblings = [[s.urn, s.schema_digest] for s in families.get(urn, ())]
            yield Unit(urn, (urn,), digest(self.version, asset.schema_digest, facts, siblings))

    def enrich(self, unit: Unit, lake: Lake) -> UnitResult:
        asset = lake.assets[unit.urns[0]]
        table = _Table(asset, lake, self._families.get(asset.urn, ()))
        differences = table.differences()
        text = " ".join(_sentence(part) for part in (*(d.text for d in differences), *table.facts()) if part)
        value = {"text": text, "method": "facts", "differs": [d.to_json() for d in differences]}
        found = [Finding(asset.urn, "description", value, fact=False, status="proposed", enricher=self.name,
                         version=self.version, inputs=unit.inputs)]  # fmt: skip
        return UnitResult(tuple(found))


@dataclass(frozen=True, slots=True)
class _Difference:
    text: str
    numbers: Mapping[str, Any]
    query: str

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "numbers": dict(self.numbers), "query": self.query}


def _families(lake: Lake) -> dict[str, tuple[Asset, ...]]:
    """The other members of each table's family."""
    groups: dict[str, list[str]] = defaultdict(list)
    for finding in lake.findings("family"):
        groups[finding.value["id"]].append(finding.urn)
    return {
        urn: tuple(lake.assets[other] for other in urns if other != urn and other in lake.assets)
        for urns in groups.values()
        for urn in urns
    }


class _Table:
    def __init__(self, asset: Asset, lake: Lake, siblings: Sequence[Asset]) -> None:
        self.asset, self.lake, self.siblings = asset, lake, siblings
        self.profile = next((TableProfile.from_json(f.value) for f in self._found("profile")), None)

    def _found(self, kind: str) -> Sequence[Finding]:
        return self.lake.findings(kind, self.asset.urn)

    # what sets it apart

    def differences(self) -> list[_Difference]:
        found = [d for f in self._found("copy") if (d := self._copy(f)) is not None]
        if not found:
            found += self._shard() + self._columns()
        if not found and self.siblings and self.profile is not None:
            found.append(self._base())
        return found

    def _copy(self, f: Finding) -> _Difference | None:
        of = self.lake.assets.get(f.value["of"])
        if of is None:
            return None
        numbers = {"extra_rows": 0, "null_share": 0.0, "broken_share": 0.0, "rows": 0, "of_rows": 0, **f.numbers}
        text = _COPIES[f.value["relation"]].format(of=of.name, where=_where(f.value), **numbers)
        return _Difference(text, f.numbers, f.query)

    def _shard(self) -> list[_Difference]:
        family: Mapping[str, Any] = next((f.value for f in self._found("family")), {})
        shard = family.get("shard")
        if not shard or not shard.get("values"):
            return []
        values = ", ".join(str(v) for v in shard["values"][:_VALUES_SHOWN])
        if not shard.get("column"):
            return [
                _Difference(f"{_phrase(family['stem'])} of {values}, one of {family['members']} like tables", {}, "")
            ]
        query = f"SELECT DISTINCT {duck.quote(shard['column'])} FROM {_path(self.asset)}"
        return [_Difference(f"Only {shard['column']} {values}, one of {family['members']} like tables", {}, query)]

    def _columns(self) -> list[_Difference]:
        """Columns that no sibling has, and those that most have and this one lacks."""
        if not self.siblings:
            return []
        mine = {c.name.casefold(): c.name for c in self.asset.columns}
        counted = Counter(name for s in self.siblings for name in {c.name.casefold() for c in s.columns})
        only = [name for key, name in mine.items() if not counted[key]]
        lacks = [key for key, n in counted.items() if key not in mine and n > len(self.siblings) / 2]
        found = []
        if only:
            found.append(_Difference(f"Alone of its family it has {_listed(only)}", {"columns": len(only)}, ""))
        if lacks:
            found.append(_Difference(f"It lacks {_listed(sorted(lacks))}", {"columns": len(lacks)}, ""))
        return found

    def _base(self) -> _Difference:
        rows = self.profile.rows if self.profile else 0
        use = next((f.value for f in self._found("authoritative")), None)
        query = f"SELECT count(*) FROM {_path(self.asset)}"
        if use and use["urn"] == self.asset.urn:
            return _Difference(
                f"The table to use of {len(self.siblings) + 1} versions and parts", {"rows": rows}, query
            )
        return _Difference(f"One of {len(self.siblings) + 1} tables with like columns", {"rows": rows}, query)

    # what it is

    def facts(self) -> list[str]:
        return [self._subject(), self._grain(), self._span(), self._links(), self._defects()]

    def _subject(self) -> str:
        kind = "View" if self.asset.kind == "view" else "Table"
        shown = [c.name for c in self.asset.columns if c.name not in self.asset.primary_key][:_COLUMNS_SHOWN]
        more = len(self.asset.columns) - len(self.asset.primary_key) - len(shown)
        return f"{kind} of {' '.join(words(self.asset.name)) or self.asset.name}: {', '.join(shown)}" + (
            f" and {more} more columns" if more > 0 else ""
        )

    def _grain(self) -> str:
        rows = f"{self.profile.rows:,} rows" if self.profile is not None else ""
        keys = [f.value for f in self._found("unique_key")]
        key = next(
            (k for k in keys if k["declared"]), keys[0] if keys and self.profile and self.profile.rows > 1 else None
        )
        if key is None:
            return rows
        return f"{rows}, one a {', '.join(key['columns'])}".lstrip(", ")

    def _span(self) -> str:
        for finding in self._found("profile"):
            for name, time in finding.value.get("times", {}).items():
                return f"{name} from {time['min'][:10]} to {time['max'][:10]}"
        return ""

    def _links(self) -> str:
        told = []
        for f in self._found("join"):
            other = self.lake.assets.get(f.value["right"]["urn"])
            if other is not None:
                told.append(f"{', '.join(f.value['left']['columns'])} refers to {other.name}")
        return "; ".join(dict.fromkeys(told[:_VALUES_SHOWN]))

    def _defects(self) -> str:
        return "Empty" if self._found("empty") else ""


def _where(copy: Mapping[str, Any]) -> str:
    if "low" in copy:
        return f" with {copy['column']} from {copy['low']} to {copy['high']}"
    if "column" in copy:
        return f" with {copy['column']} {', '.join(str(v) for v in copy['values'][:_VALUES_SHOWN])}"
    pairs = zip(copy.get("columns", ()), copy.get("values", ()), strict=False)
    return " with " + " and ".join(f"{c} {v}" for c, v in pairs)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _COLUMNS_SHOWN
    return ", ".join(names[:_COLUMNS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _phrase(stem: str) -> str:
    return stem[:1].upper() + stem[1:] if stem else "Part"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _path(asset: Asset) -> str:
    return duck.quote(asset.source, asset.schema, asset.name)
