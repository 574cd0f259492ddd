"""What our sources share: places to list, assets to DataHub work units, one odd table never costing the others."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from datahub.configuration.common import ConfigModel
from datahub.ingestion.api.common import PipelineContext
from datahub.ingestion.api.source import Source, SourceReport
from datahub.ingestion.api.workunit import MetadataWorkUnit
from pydantic import Field

from suffice.errors import SourceError
from suffice.ingestion.emit import ENV, container_workunits, dataset_workunits
from suffice.ingestion.lineage import ViewLineage
from suffice.model import Asset, SourceRef

__all__ = ["BROKEN", "LINEAGE_UNKNOWN", "AssetSource", "Listing", "PathConfig"]

BROKEN = "broken"
"""Custom property of a view whose definition does not run: the error."""

LINEAGE_UNKNOWN = "lineage_unknown"
"""Custom property of a view whose upstreams could not be told, and why: it has some, though none is listed."""


class PathConfig(ConfigModel):
    """What the sources on files have in common; an unknown key is refused."""

    path: str = Field(description="The file, or a folder that is searched for files of this kind")
    platform_instance: str | None = Field(
        default=None, description="Name of the source; without it the stem of the file or the name of the folder"
    )
    env: str = Field(default=ENV, description="DataHub environment in the urns")


@dataclass(slots=True)
class Listing:
    """All that one source holds now. `urns` names every table found, also one that could not be described."""

    ref: SourceRef
    assets: list[Asset] = field(default_factory=list)
    urns: set[str] = field(default_factory=set)


class AssetSource(Source):
    """A DataHub source that lists assets of one or more places; a place is a file or a folder.

    After a run, `listings` holds what was listed, by source, and `failed` what was not: (subject, reason). A name in
    `barred`, with the reason, is not listed.
    """

    platform: ClassVar[str]
    config: PathConfig

    def __init__(self, config: PathConfig, ctx: PipelineContext) -> None:
        super().__init__(ctx)
        self.config = config
        self.report = SourceReport()
        self.listings: dict[str, Listing] = {}
        self.failed: list[tuple[str, str]] = []
        self.barred: dict[str, str] = {}

    @abstractmethod
    def places(self) -> Iterable[SourceRef]:
        """The sources to list, in a stable order."""

    @abstractmethod
    def list_place(self, listing: Listing) -> None:
        """Fill `listing`; a table that cannot be described goes to `fail_table`. Raises SourceError when the list of
        tables itself cannot be had."""

    def get_workunits_internal(self) -> Iterator[MetadataWorkUnit]:
        if not Path(self.config.path).exists():
            self.fail("a source cannot be listed", self.config.path, "it does not exist")
            return
        for ref in self.places():
            if ref.name in self.barred:
                self.fail("a source's name is taken", ref.location, self.barred[ref.name])
                continue
            listing = Listing(ref)
            try:
                self.list_place(listing)
            except (SourceError, OSError) as error:
                self.fail("a source cannot be listed", ref.location, error)
                continue
            if not listing.urns:
                self.fail("a source cannot be listed", ref.location, "there is no table in it")
                continue
            self.listings[ref.name] = listing
            self.barred[ref.name] = f"'{ref.name}' is '{ref.location}' (ingest this one alone, with --name)"
            yield from self._emit(listing)

    def get_report(self) -> SourceReport:
        return self.report

    def fail(self, message: str, subject: str, reason: object) -> None:
        """`message` is constant, as DataHub's report folds by it; `subject` a path or the name of a table."""
        self.failed.append((subject, f"{message}: {reason}"))
        self.report.failure(message, context=f"'{subject}': {reason}", log=False)

    def fail_table(self, path: str, error: object) -> None:
        self.fail("a table cannot be described", path, error)

    def warn(self, message: str, subject: str, reason: object) -> None:
        self.report.warning(message, context=f"'{subject}': {reason}", log=False)

    def _emit(self, listing: Listing) -> Iterator[MetadataWorkUnit]:
        schemas = sorted({asset.schema for asset in listing.assets})
        yield from container_workunits(self.platform, listing.ref.name, schemas, self.config.env)
        lineage = ViewLineage(self.platform, listing.assets)
        for asset in listing.assets:
            try:
                if asset.kind == "view" and asset.definition and BROKEN not in asset.properties:
                    origin = lineage.of(asset)
                    if origin.unknown:
                        self.warn("the lineage of a view is unknown", asset.path, origin.unknown)
                    told = {LINEAGE_UNKNOWN: origin.unknown} if origin.unknown else {}
                    known = replace(asset, upstreams=origin.upstreams, properties={**asset.properties, **told})
                    units = list(dataset_workunits(known, origin.fields, self.config.env))
                else:
                    units = list(dataset_workunits(asset, env=self.config.env))
            except Exception as error:
                self.fail_table(asset.path, error)
                continue
            yield from units
