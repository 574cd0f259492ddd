"""profile: what each table holds, in one pass over its rows.

A small table is fetched and counted, a large one counted in DuckDB, one above `max_rows` by a sample whose base every
share states. Values of sensitive columns are counted and never kept.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from suffice.errors import DataUnreachable
from suffice.extend import Lake, Unit, UnitResult
from suffice.libs import duck
from suffice.model import Asset, Column, ColumnProfile, Finding, TableProfile, digest
from suffice_enrichers import sensitive, sketch, times
from suffice_enrichers.names import is_key_name
from suffice_enrichers.summary import Summary, as_json, cut, of_cells
from suffice_enrichers.summary_sql import column_types, of_relation

__all__ = ["ProfileEnricher"]

SMALL_ROWS = 2_000
TOP = 10
_SEEN = 1_000
"""Distinct values looked at for patterns and notations."""
_FAR_FUTURE = "2100"
_MAX_VALUE_LENGTH = 200
_CODE_LENGTH = 40
_SAMPLE = '"temp"."profile_sample"'


class ProfileEnricher:
    """A `profile` of each table with rows to read, `empty`, `mixed_types`, `sensitive`, `broken_view` where they are;
    `values` and `sketch` kept aside."""

    name = "profile"
    version = "1"
    after: tuple[str, ...] = ()

    def units(self, lake: Lake) -> Iterable[Unit]:
        settings = [lake.settings.get(name) for name in ("max_rows", "max_values", "sample_values")]
        for asset in lake.assets.values():
            inputs = digest(asset.schema_digest, lake.mark(asset) or uuid.uuid4().hex, self.version, settings)
            yield Unit(asset.urn, (asset.urn,), inputs)

    def enrich(self, unit: Unit, lake: Lake) -> UnitResult:
        asset = lake.assets[unit.urns[0]]
        try:
            examined = _examine(asset, lake)
        except DataUnreachable as error:
            if asset.kind == "view" and lake.rows.reachable(asset):
                said = error.problem.removeprefix(f"the rows of '{asset.path}' cannot be read: ")
                return UnitResult((Finding(asset.urn, "broken_view", {"error": cut(said)}, query=_select(asset)),))
            raise
        return _Table(asset, lake.settings, *examined).result()


def _examine(asset: Asset, lake: Lake) -> tuple[int, int, dict[str, Summary], dict[str, list[int]]]:
    """Rows of the table, rows examined, a summary a column, the sketches of key-like columns."""
    nested = {c.name for c in asset.columns if c.kind in ("nested", "binary")}
    cells = lake.rows.cells(asset, SMALL_ROWS)
    if cells is not None:
        found = {name: of_cells(column, nested=name in nested) for name, column in cells.columns.items()}
        for name, shares in cells.types.items():
            found[name].types = dict(shares)
        for name, why in cells.skipped.items():
            found[name] = Summary("skipped", skipped=[f"{why}: only named"])
        hashes = {
            name: sketch.of_values(v for v, _ in summary.counts)
            for name, summary in found.items()
            if _key_like(asset, name, summary)
        }
        return cells.rows, cells.rows, found, hashes
    relation = lake.rows.relation(asset)
    limit = int(lake.settings.get("max_rows", 1_000_000))
    table, base = relation.sql, relation.base
    if base > limit:
        base = limit
        chosen = f"FROM {table} USING SAMPLE reservoir({limit} ROWS) REPEATABLE (1)"
        lake.rows.query(f"CREATE OR REPLACE TABLE {_SAMPLE} AS {chosen}")
        table = _SAMPLE
    native = {name: kind for name, kind in column_types(lake.rows, table).items() if name not in nested}
    native |= dict.fromkeys(nested & set(relation.columns), "JSON")
    found = of_relation(lake.rows, table, native, base, max(_SEEN, int(lake.settings.get("max_values", _SEEN))))
    for name, shares in relation.types.items():
        found[name].types = dict(shares)
    for name, why in relation.skipped.items():
        found[name] = Summary("skipped", skipped=[f"{why}: only named"])
    hashes = {name: _sketched(lake, table, name, s) for name, s in found.items() if _key_like(asset, name, s)}
    if table == _SAMPLE:
        lake.rows.query(f"DROP TABLE {_SAMPLE}")
    return relation.rows, base, found, hashes


def _sketched(lake: Lake, table: str, name: str, summary: Summary) -> list[int]:
    value = duck.quote(name)
    if summary.value_class == "number":
        value = f"TRY_CAST({value} AS BIGINT)"
    found = lake.rows.query(sketch.sql(f"CAST({value} AS VARCHAR)", table))[0][0]
    return [int(h) for h in found or ()]


def _key_like(asset: Asset, name: str, summary: Summary) -> bool:
    """Whether a column may be a key or refer to one: nearly unique, named or declared as one, or short codes."""
    if summary.value_class not in ("text", "integer") and not _whole(summary):
        return False
    if not summary.distinct or summary.distinct < 2 or summary.types:
        return False
    declared = name in asset.primary_key or any(name in key.columns for key in asset.foreign_keys)
    codes = summary.value_class == "text" and summary.length is not None and summary.length[1] <= _CODE_LENGTH
    return declared or codes or is_key_name(name) or summary.distinct >= 0.9 * summary.present


def _whole(summary: Summary) -> bool:
    """Whether reals are whole numbers: an integer column with gaps that some reader made real."""
    whole = [isinstance(v, float) and v.is_integer() and abs(v) < 2**53 for v, _ in summary.counts]
    return summary.value_class == "number" and bool(whole) and all(whole)


class _Table:
    """The findings of one table from what was counted of its columns."""

    def __init__(
        self,
        asset: Asset,
        settings: Mapping[str, Any],
        rows: int,
        base: int,
        summaries: Mapping[str, Summary],
        sketches: Mapping[str, list[int]],
    ) -> None:
        self.asset, self.rows, self.base = asset, rows, base
        self.summaries, self.sketches = summaries, sketches
        self.max_values = int(settings.get("max_values", _SEEN))
        self.with_values = bool(settings.get("sample_values", True))
        self.notes: list[str] = []
        self.times: dict[str, dict[str, str]] = {}

    def result(self) -> UnitResult:
        sampled = self.base < self.rows
        if sampled:
            self.notes.append(f"sample of {self.base} of {self.rows} rows")
        hidden = {c.name: self._pattern(c) for c in self.asset.columns}
        columns = {c.name: self._profile(c, hidden[c.name][0], sampled) for c in self.asset.columns}
        profile = TableProfile(self.rows, self.base, columns, tuple(self.notes))
        value = profile.to_json() | {"times": self.times, "newest": self._newest()}
        query = f"SUMMARIZE {_select(self.asset)}"
        found = [Finding(self.asset.urn, "profile", value, numbers={"rows": self.rows, "base": self.base}, query=query)]
        if self.rows == 0:
            found.append(Finding(self.asset.urn, "empty", {}, numbers={"rows": 0}, query=_counted(self.asset)))
        found += [self._sensitive(name, *told) for name, told in hidden.items() if told[0]]
        found += [self._mixed(name, s.types) for name, s in self.summaries.items() if _mix(s.types)]
        return UnitResult(tuple(found), self._evidence({name for name, told in hidden.items() if told[0]}))

    def _pattern(self, column: Column) -> tuple[str, float | None]:
        summary = self.summaries.get(column.name)
        if column.kind in ("boolean", "nested", "binary") or summary is None:
            return "", None
        if summary.value_class in ("text", "none", "integer", "skipped"):
            return sensitive.pattern_of(column.name, [v for v, _ in summary.counts[:_SEEN]])
        return "", None

    def _profile(self, column: Column, pattern: str, sampled: bool) -> ColumnProfile:
        s = self.summaries.get(column.name)
        if s is None:
            return ColumnProfile(skipped="not read")
        share = (lambda n: n / self.base) if self.base else (lambda _: None)
        known = s.value_class != "skipped"
        profile = ColumnProfile(
            nulls=None if s.skipped and not s.present and not s.nulls else share(s.nulls),
            blanks=share(s.blanks) if known else None,
            distinct=s.distinct if known and self.base else None,
            distinct_exact=not sampled,
            unique=bool(known and not sampled and s.present and s.most == 1),
            length=s.length,
            types=s.types,
            nonfinite=s.nonfinite / self.base if self.base else 0.0,
            sensitive=pattern,
            skipped="; ".join(s.skipped),
        )
        if pattern:
            return replace(profile, length=None, skipped=_joined(profile.skipped, "values are sensitive"))
        return self._with_values(column, s, profile)

    def _with_values(self, column: Column, s: Summary, profile: ColumnProfile) -> ColumnProfile:
        low, high = as_json(s.low), as_json(s.high)
        form = self._notation(column, s)
        if form and form != times.ISO and s.value_class == "text":
            known = sorted(iso for v, _ in s.counts if (iso := times.to_iso(v, form)))
            low, high = (known[0], known[-1]) if known and s.complete else (None, None)
            if low is None:
                profile = replace(
                    profile, skipped=_joined(profile.skipped, "min, max: too many texts to read as dates")
                )
        if form and low is not None:
            self.times[column.name] = {"notation": form, "min": str(low), "max": str(high)}
        if not self.with_values and s.value_class in ("text", "boolean"):
            return replace(profile, skipped=_joined(profile.skipped, "values are not to be sampled"))
        top = tuple((as_json(v), n) for v, n in s.counts[:TOP]) if self.with_values else ()
        if s.value_class == "integer" and any(isinstance(v, str) for v in (low, high)):
            return replace(profile, skipped=_joined(profile.skipped, "min, max, mean: beyond 64 bits"))
        mean = as_json(s.mean)
        return replace(profile, min=low, max=high, mean=mean, top=top, quantiles=tuple(map(as_json, s.quantiles)))

    def _notation(self, column: Column, s: Summary) -> str:
        """How the column writes times, "" when it holds none."""
        if s.value_class == "time":
            return times.ISO if not column.type.upper().startswith("TIME ") and not _clock(s.low) else ""
        if s.value_class == "text" and s.counts:
            return times.notation(column.name, [v for v, _ in s.counts[:_SEEN]])
        if s.low is not None and (s.value_class == "integer" or _whole(s)):
            return times.integer_notation(column.name, int(s.low), int(s.high))
        return ""

    def _newest(self) -> dict[str, str] | None:
        """The greatest time that the table holds, as ISO text; years far off are taken for "never"."""
        known = [(t["max"], name) for name, t in self.times.items() if t["max"] < _FAR_FUTURE]
        if not known:
            return None
        value, column = max(known)
        return {"column": column, "value": value}

    def _sensitive(self, name: str, pattern: str, share: float | None) -> Finding:
        numbers = {"share": share} if share is not None else {}
        return Finding(self.asset.urn, "sensitive", {"pattern": pattern}, column=name, numbers=numbers)

    def _mixed(self, name: str, types: Mapping[str, float]) -> Finding:
        column = next((c for c in self.asset.columns if c.name == name), Column(name))
        quoted = duck.quote(column.original or name)
        query = f"SELECT typeof({quoted}), count(*) FROM {_path(self.asset)} GROUP BY 1"
        return Finding(self.asset.urn, "mixed_types", {"types": dict(types)}, name, numbers=dict(types), query=query)

    def _evidence(self, hidden: set[str]) -> dict[tuple[str, str], Any]:
        evidence: dict[tuple[str, str], Any] = {}
        values = {
            name: [[v, n] for v, n in s.counts[: self.max_values] if isinstance(v, str) and len(v) <= _MAX_VALUE_LENGTH]
            for name, s in self.summaries.items()
            if s.value_class == "text" and s.counts and name not in hidden and not s.types
        }
        if self.with_values and self.max_values and values:
            evidence[self.asset.urn, "values"] = values
        sketches = {name: hashes for name, hashes in self.sketches.items() if hashes and name not in hidden}
        if sketches:
            evidence[self.asset.urn, "sketch"] = sketches
        return evidence


def _clock(value: Any) -> bool:
    """Whether a value is a time of day, which dates nothing."""
    return hasattr(value, "hour") and not hasattr(value, "year")


def _mix(types: Mapping[str, float]) -> bool:
    return len(set(types) - {"real"} if "integer" in types else set(types)) > 1


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _path(asset: Asset) -> str:
    return duck.quote(asset.source, asset.schema, asset.name)


def _select(asset: Asset) -> str:
    return f"SELECT * FROM {_path(asset)}"


def _counted(asset: Asset) -> str:
    return f"SELECT count(*) FROM {_path(asset)}"
