"""Great Expectations suites: drawn from the profile of the table to use, run on it and on its copies.

Opt in with the setting `expectations`, since the package takes many times longer a table than our own checks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from suffice.extend import Lake, Unit, UnitResult
from suffice.libs.duck import quote
from suffice.libs.great_expectations import Expectation, Outcome, validate
from suffice.model import Asset, Finding, TableProfile, digest

__all__ = ["ExpectationsEnricher", "suite_of"]

_FEW = 12
_ROWS = 50_000
_LEAST_ROWS = 20


class ExpectationsEnricher:
    """An `expectations` finding a table (how many hold), and an `assertion` for each that does not. One unit a group
    of copies."""

    name = "expectations"
    version = "1"
    after = ("profile", "copies")

    def units(self, lake: Lake) -> Iterable[Unit]:
        if not lake.settings.get("expectations"):
            return
        groups: dict[str, list[str]] = defaultdict(list)
        for finding in lake.findings("authoritative"):
            groups[finding.value["urn"]].append(finding.urn)
        for base, urns in sorted(groups.items()):
            members = tuple(urn for urn in sorted({base, *urns}) if urn in lake.assets)
            seen = [[f.id, f.inputs] for urn in members for f in lake.findings("profile", urn)]
            if base in lake.assets:
                yield Unit(base, members, digest(self.version, seen))

    def enrich(self, unit: Unit, lake: Lake) -> UnitResult:
        base = lake.assets[unit.key]
        profile = next((TableProfile.from_json(f.value) for f in lake.findings("profile", base.urn)), None)
        suite = suite_of(profile) if profile is not None else []
        if not suite:
            return UnitResult()
        found = [f for urn in unit.urns for f in self._judged(lake.assets[urn], base, suite, unit, lake)]
        return UnitResult(tuple(found))

    def _judged(self, asset: Asset, base: Asset, suite: list[Expectation], unit: Unit, lake: Lake) -> Iterable[Finding]:
        relation = lake.rows.relation(asset)
        here = [e for e in suite if e.arguments["column"] in relation.columns]
        names = dict.fromkeys(str(e.arguments["column"]) for e in here)
        if not names:
            return
        chosen = ", ".join(quote(name) for name in names)
        columns = lake.rows.numpy(f"SELECT {chosen} FROM {relation.sql} LIMIT {_ROWS}")
        outcomes = validate(columns, here)
        held = sum(outcome.success for outcome in outcomes)
        stamp: dict[str, Any] = {"enricher": self.name, "version": self.version, "inputs": unit.inputs}
        numbers = {"held": held, "of": len(outcomes)}
        yield Finding(asset.urn, "expectations", {"suite_of": base.urn}, numbers=numbers, **stamp)
        for outcome in outcomes:
            if not outcome.success:
                yield _assertion(asset, base, outcome, stamp)


def _assertion(asset: Asset, base: Asset, outcome: Outcome, stamp: dict[str, Any]) -> Finding:
    expectation = outcome.expectation
    arguments = {k: v for k, v in expectation.arguments.items() if k != "column"}
    column = str(expectation.arguments["column"])
    return Finding(
        asset.urn,
        "assertion",
        {"expectation": expectation.kind, "arguments": arguments, "suite_of": base.urn},
        column=column,
        subject=expectation.kind,
        numbers={"unexpected": outcome.unexpected},
        **stamp,
    )


def suite_of(profile: TableProfile) -> list[Expectation]:
    """What holds in a table and is worth holding in its copies: columns without nulls, keys, ranges, few values."""
    if profile.rows < _LEAST_ROWS:
        return []
    suite = []
    for name, column in profile.columns.items():
        if column.skipped or column.sensitive or column.types:
            continue
        if column.nulls == 0:
            suite.append(Expectation("expect_column_values_to_not_be_null", {"column": name}))
        if column.unique:
            suite.append(Expectation("expect_column_values_to_be_unique", {"column": name}))
        if 1 < (column.distinct or 0) <= _FEW and len(column.top) == column.distinct:
            values = [value for value, _ in column.top]
            suite.append(Expectation("expect_column_values_to_be_in_set", {"column": name, "value_set": values}))
        elif isinstance(column.min, int | float) and isinstance(column.max, int | float):
            bounds = {"column": name, "min_value": column.min, "max_value": column.max}
            suite.append(Expectation("expect_column_values_to_be_between", bounds))
    return suite
