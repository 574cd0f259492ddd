"""A DataHub source that lists what a file says, and fails where it says so: named in a recipe by its import path."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from datahub.ingestion.api.common import PipelineContext
from datahub.ingestion.api.decorators import SupportStatus, config_class, platform_name, support_status
from datahub.ingestion.api.source import Source, SourceReport
from datahub.ingestion.api.workunit import MetadataWorkUnit

from suffice.ingestion.emit import dataset_urn, dataset_workunits
from suffice.ingestion.sources.base import PathConfig
from suffice.model import Asset, Column


@platform_name("Flaky", id="flaky")
@config_class(PathConfig)
@support_status(SupportStatus.ALPHA)
class FlakySource(Source):
    """One table a line of `path`; the line `!` ends the listing with an error."""

    platform: ClassVar[str] = "flaky"

    def __init__(self, config: PathConfig, ctx: PipelineContext) -> None:
        super().__init__(ctx)
        self.config = config
        self.report = SourceReport()

    @classmethod
    def create(cls, config_dict: dict[str, object], ctx: PipelineContext) -> FlakySource:
        return cls(PathConfig.model_validate(config_dict), ctx)

    def get_workunits_internal(self) -> Iterable[MetadataWorkUnit]:
        for name in Path(self.config.path).read_text().split():
            if name == "!":
                raise ConnectionError("the server went away")
            urn = dataset_urn(self.platform, "s", "main", name)
            yield from dataset_workunits(Asset(urn, "s", "main", name, self.platform, columns=(Column("id"),)))

    def get_report(self) -> SourceReport:
        return self.report
