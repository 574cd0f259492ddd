"""Whatever DataHub's sources emit is stored whole, or said not to be."""

from __future__ import annotations

import pytest
from datahub.emitter.mcp import MetadataChangeProposalWrapper
from datahub.ingestion.api.common import PipelineContext, RecordEnvelope
from datahub.ingestion.api.sink import WriteCallback
from datahub.metadata.schema_classes import (
    ChangeTypeClass,
    DatasetPropertiesClass,
    DatasetSnapshotClass,
    GenericAspectClass,
    MetadataChangeEventClass,
    MetadataChangeProposalClass,
    StatusClass,
)
from datahub.specific.dataset import DatasetPatchBuilder

from suffice.ingestion.emit import dataset_urn
from suffice.ingestion.sink import CatalogSink, CatalogSinkConfig

URN = dataset_urn("sqlite", "s", "main", "t")


class Told(WriteCallback):
    """Keeps how each record went."""

    def __init__(self) -> None:
        self.good = 0
        self.bad: list[str] = []

    def on_success(self, record_envelope, success_metadata) -> None:
        self.good += 1

    def on_failure(self, record_envelope, failure_exception, failure_metadata) -> None:
        self.bad.append(str(failure_exception))


@pytest.fixture
def write(home):
    """Write records through a sink of their own; gives the sink and what it told."""

    def write_all(*records):
        sink = CatalogSink(PipelineContext(run_id="test"), CatalogSinkConfig(home=str(home.path)))
        told = Told()
        for record in records:
            sink.write_record_async(RecordEnvelope(record, {"workunit_id": "x"}), told)
        sink.close()
        return sink, told

    return write_all


def properties(text: str) -> DatasetPropertiesClass:
    return DatasetPropertiesClass(description=text)


def test_snapshots_wrappers_and_raw_proposals(write, home) -> None:
    raw = MetadataChangeProposalClass(
        entityType="dataset",
        entityUrn=URN,
        changeType=ChangeTypeClass.UPSERT,
        aspectName="custom",
        aspect=GenericAspectClass(value=b'{"a": 1}', contentType="application/json"),
    )
    event = MetadataChangeEventClass(DatasetSnapshotClass(urn=URN, aspects=[StatusClass(False), properties("one")]))
    sink, told = write(event, raw)
    held = home.catalog.aspects(URN)
    assert held["custom"] == {"a": 1}
    assert held["datasetProperties"]["description"] == "one"
    assert (told.good, told.bad, sink.report.aspects_written) == (2, [], 3)


def test_unchanged_aspects_are_counted_and_not_written(write, home) -> None:
    proposal = MetadataChangeProposalWrapper(entityUrn=URN, aspect=properties("one"))
    write(proposal)
    sink, _ = write(proposal, MetadataChangeProposalWrapper(entityUrn=URN, aspect=StatusClass(False)))
    assert (sink.report.aspects_written, sink.report.aspects_unchanged) == (1, 1)
    write(MetadataChangeProposalWrapper(entityUrn=URN, aspect=properties("two")))
    assert home.catalog.aspects(URN)["datasetProperties"]["description"] == "two"


def test_a_patch_is_never_dropped_without_a_word(write, home) -> None:
    """What the catalog does not apply it says, and stores the rest."""
    patch = DatasetPatchBuilder(URN).set_description("patched").build()
    sink, told = write(MetadataChangeProposalWrapper(entityUrn=URN, aspect=properties("one")), *patch)
    assert home.catalog.aspects(URN)["datasetProperties"]["description"] == "one"
    assert (told.good, len(told.bad), len(sink.report.failures)) == (1, len(patch), len(patch))
    assert "PATCH of datasetProperties" in told.bad[0]


def test_a_catalog_that_cannot_be_written_fails_each_record(write, home) -> None:
    write(MetadataChangeProposalWrapper(entityUrn=URN, aspect=StatusClass(False)))
    home.catalog.engine.dispose()
    sink = CatalogSink(PipelineContext(run_id="test"), CatalogSinkConfig(home=str(home.path)))
    told = Told()
    sink.write_record_async(
        RecordEnvelope(MetadataChangeProposalWrapper(entityUrn=URN, aspect=properties("x")), {"workunit_id": "x"}), told
    )
    with sink._home.catalog.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE aspects")
    sink.close()
    assert (told.good, len(told.bad), len(sink.report.failures)) == (0, 1, 1)
