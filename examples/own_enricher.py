"""An enricher of your own: flags tables whose name says that they are temporary but which other tables refer to.

Install it with an entry point, and `suffice enrich` runs it with ours:

    [options.entry_points]
    suffice.enrichers =
        temporary = own_enricher:TemporaryEnricher
"""

from __future__ import annotations

from collections.abc import Iterable

from suffice.extend import Lake, Unit, UnitResult
from suffice.model import Finding, digest


class TemporaryEnricher:
    """One unit a table: redone when its name or what refers to it changes; its finding goes with its cause."""

    name = "temporary"
    version = "1"
    after = ("keys",)

    def units(self, lake: Lake) -> Iterable[Unit]:
        for urn, asset in lake.assets.items():
            yield Unit(urn, (urn,), digest(self.version, asset.name, self._referring(urn, lake)))

    def enrich(self, unit: Unit, lake: Lake) -> UnitResult:
        asset = lake.assets[unit.urns[0]]
        referring = self._referring(asset.urn, lake)
        if not referring or not asset.name.casefold().startswith(("tmp", "temp")):
            return UnitResult()
        found = Finding(
            asset.urn,
            "temporary_in_use",
            {"by": referring},
            numbers={"tables": len(referring)},
            enricher=self.name,
            version=self.version,
            inputs=unit.inputs,
        )
        return UnitResult((found,))

    def _referring(self, urn: str, lake: Lake) -> list[str]:
        return sorted({f.urn for f in lake.findings("join") if f.value["right"]["urn"] == urn})
