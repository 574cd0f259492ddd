"""DataHub sink `suffice`: whatever a source emits, into the local catalog of a home."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datahub.configuration.common import ConfigModel
from datahub.emitter.aspect import JSON_CONTENT_TYPE
from datahub.emitter.mcp import MetadataChangeProposalWrapper
from datahub.emitter.mcp_builder import mcps_from_mce
from datahub.emitter.serialization_helper import pre_json_transform
from datahub.ingestion.api.common import RecordEnvelope
from datahub.ingestion.api.sink import Sink, SinkReport, WriteCallback
from datahub.metadata.schema_classes import (
    ChangeTypeClass,
    MetadataChangeEventClass,
    MetadataChangeProposalClass,
)
from pydantic import Field

__all__ = ["CatalogSink", "CatalogSinkConfig", "CatalogSinkReport"]

_BATCH = 2_000
_WHOLE = (ChangeTypeClass.UPSERT, ChangeTypeClass.CREATE, ChangeTypeClass.CREATE_ENTITY, ChangeTypeClass.UPDATE)

Item = tuple[str, str, Mapping[str, Any]]


class CatalogSinkConfig(ConfigModel):
    """Where the catalog is; an unknown key is refused."""

    home: str = Field(default=".suffice", description="Folder of the Suffice home, made when it is not there")
    catalog: str = Field(default="", description="SQLAlchemy URL of the catalog; empty: the one that the home uses")


@dataclass
class CatalogSinkReport(SinkReport):
    """`aspects_written` differed from what the catalog held; `aspects_unchanged` did not and wrote nothing."""

    aspects_written: int = 0
    aspects_unchanged: int = 0


class CatalogSink(Sink[CatalogSinkConfig, CatalogSinkReport]):
    """Writes in batches, one transaction each. `seen` holds every dataset whose schema came by."""

    def __post_init__(self) -> None:
        from suffice.catalogs.home import Home
        from suffice.settings import load_settings

        path = Path(self.config.home)
        flags = {"catalog": self.config.catalog} if self.config.catalog else {}
        self._home = Home(path, load_settings(path, **flags), create=True)
        self._items: list[Item] = []
        self._waiting: list[tuple[RecordEnvelope[Any], WriteCallback]] = []
        self.seen: set[str] = set()

    def write_record_async(self, record_envelope: RecordEnvelope[Any], write_callback: WriteCallback) -> None:
        try:
            items = list(self._items_of(record_envelope.record))
        except Exception as error:
            self.report.report_failure(f"a record could not be read: {error}")
            write_callback.on_failure(record_envelope, error, {})
            return
        self._items += items
        self.seen.update(urn for urn, aspect, _ in items if aspect == "schemaMetadata")
        self._waiting.append((record_envelope, write_callback))
        if len(self._items) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Store what waits, and tell each record's callback how it went."""
        items, waiting = self._items, self._waiting
        self._items, self._waiting = [], []
        if not waiting:
            return
        try:
            written = self._home.catalog.put_many(items, run_id=self.ctx.run_id)
        except Exception as error:
            self.report.report_failure(f"{len(items)} aspects could not be stored: {error}")
            for envelope, callback in waiting:
                callback.on_failure(envelope, error, {})
            return
        self.report.aspects_written += written
        self.report.aspects_unchanged += len({item[:2] for item in items}) - written
        for envelope, callback in waiting:
            self.report.report_record_written(envelope)
            callback.on_success(envelope, {})

    def close(self) -> None:
        self.flush()
        super().close()

    def _items_of(self, record: object) -> Iterator[Item]:
        """Aspects as (urn, aspect, JSON). Raises ValueError for a change that cannot be stored whole."""
        if isinstance(record, MetadataChangeEventClass):
            for proposal in mcps_from_mce(record):
                yield from self._items_of(proposal)
        elif isinstance(record, MetadataChangeProposalWrapper):
            if record.aspect is None or record.entityUrn is None or record.aspectName is None:
                raise ValueError(f"a proposal without aspect or urn ({record.aspectName}, {record.entityUrn})")
            _check(str(record.changeType), record.entityUrn, record.aspectName)
            yield record.entityUrn, record.aspectName, pre_json_transform(record.aspect.to_obj())
        elif isinstance(record, MetadataChangeProposalClass):
            if record.aspect is None or record.entityUrn is None or record.aspectName is None:
                raise ValueError(f"a proposal without aspect or urn ({record.aspectName}, {record.entityUrn})")
            _check(str(record.changeType), record.entityUrn, record.aspectName)
            if record.aspect.contentType != JSON_CONTENT_TYPE:
                raise ValueError(f"{record.aspectName} of {record.entityUrn} is {record.aspect.contentType}, not JSON")
            yield record.entityUrn, record.aspectName, json.loads(record.aspect.value)
        else:
            raise ValueError(f"a record of unknown kind {type(record).__name__}")


def _check(change: str, urn: str, aspect: str) -> None:
    if change not in _WHOLE:
        raise ValueError(
            f"{change} of {aspect} on {urn} is not applied: the local catalog takes whole aspects "
            "(switch incremental and patching options of the source off)"
        )
