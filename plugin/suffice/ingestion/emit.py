"""An `Asset` to DataHub aspects. The other way round is `suffice.catalogs.aspects.asset_from_aspects`.

The two round-trip: names may hold commas, brackets, dots, quotes and percent signs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from datahub.emitter.mce_builder import (
    make_container_urn,
    make_data_platform_urn,
    make_dataplatform_instance_urn,
    make_dataset_urn_with_platform_instance,
    make_schema_field_urn,
)
from datahub.emitter.mcp import MetadataChangeProposalWrapper
from datahub.emitter.mcp_builder import DatabaseKey, SchemaKey, gen_containers
from datahub.ingestion.api.workunit import MetadataWorkUnit
from datahub.metadata.schema_classes import (
    ContainerClass,
    DataPlatformInstanceClass,
    DatasetLineageTypeClass,
    DatasetPropertiesClass,
    FineGrainedLineageClass,
    FineGrainedLineageDownstreamTypeClass,
    FineGrainedLineageUpstreamTypeClass,
    ForeignKeyConstraintClass,
    OtherSchemaClass,
    SchemaFieldClass,
    SchemaMetadataClass,
    SubTypesClass,
    UpstreamClass,
    UpstreamLineageClass,
    ViewPropertiesClass,
)

from suffice.catalogs.aspects import BROKEN_KEYS
from suffice.errors import SourceError
from suffice.ingestion.types import data_type
from suffice.model import Asset, Column, ForeignKey

__all__ = [
    "ENV",
    "FieldLineage",
    "container_workunits",
    "dataset_aspects",
    "dataset_urn",
    "dataset_workunits",
    "urn_prefix",
]

ENV = "PROD"
_MAX_URN_BYTES = 512


@dataclass(frozen=True, slots=True)
class FieldLineage:
    """Column `column` of a view is made from `upstreams`, pairs of (dataset urn, column)."""

    column: str
    upstreams: tuple[tuple[str, str], ...]


def dataset_urn(platform: str, source: str, schema: str, name: str, env: str = ENV) -> str:
    """The urn of `source.schema.name`. Raises SourceError when it is longer than DataHub takes.

    >>> dataset_urn("sqlite", "shop", "main", "rates, (2024)")
    'urn:li:dataset:(urn:li:dataPlatform:sqlite,shop.main.rates%2C %282024%29,PROD)'
    """
    urn = make_dataset_urn_with_platform_instance(platform, _escaped(f"{schema}.{name}"), _escaped(source), env)
    if len(urn.encode("utf-8", "surrogatepass")) > _MAX_URN_BYTES:
        raise SourceError(f"the name of {source}.{schema}.{name[:60]}... is too long for a urn", mend="shorten it")
    return urn


def urn_prefix(platform: str, source: str = "") -> str:
    """How the dataset urns of a platform, or of one source of ours on it, begin.

    >>> urn_prefix("sqlite", "shop"), urn_prefix("postgres")
    ('urn:li:dataset:(urn:li:dataPlatform:sqlite,shop.', 'urn:li:dataset:(urn:li:dataPlatform:postgres,')
    """
    urn = make_dataset_urn_with_platform_instance(platform, "x", _escaped(source) or None)
    return urn[: urn.rindex("x,")]


def dataset_aspects(asset: Asset, fields: Sequence[FieldLineage] = (), env: str = ENV) -> list[Any]:
    """The aspects of a table or view: schema with keys, properties, sub type, container, instance, view, lineage."""
    aspects: list[Any] = [
        _schema(asset, env),
        DatasetPropertiesClass(
            name=asset.name,
            qualifiedName=asset.path,
            description=asset.description or None,
            customProperties=_properties(asset),
        ),
        SubTypesClass(typeNames=["View" if asset.kind == "view" else "Table"]),
        DataPlatformInstanceClass(
            platform=make_data_platform_urn(asset.platform), instance=_instance(asset.platform, asset.source)
        ),
        ContainerClass(container=make_container_urn(_schema_key(asset.platform, asset.source, asset.schema, env))),
    ]
    if asset.kind == "view":
        aspects.append(ViewPropertiesClass(materialized=False, viewLogic=asset.definition, viewLanguage="SQL"))
    if asset.upstreams:
        aspects.append(_lineage(asset, fields))
    return aspects


def dataset_workunits(asset: Asset, fields: Sequence[FieldLineage] = (), env: str = ENV) -> Iterator[MetadataWorkUnit]:
    for aspect in dataset_aspects(asset, fields, env):
        yield MetadataChangeProposalWrapper(entityUrn=asset.urn, aspect=aspect).as_workunit()


def container_workunits(
    platform: str, source: str, schemas: Sequence[str], env: str = ENV
) -> Iterator[MetadataWorkUnit]:
    """A container for the source and one in it for each schema."""
    database = _database_key(platform, source, env)
    yield from gen_containers(database, source, ["Database"], qualified_name=source)
    for schema in schemas:
        key = _schema_key(platform, source, schema, env)
        yield from gen_containers(
            key, schema, ["Schema"], parent_container_key=database, qualified_name=f"{source}.{schema}"
        )


def _escaped(name: str) -> str:
    """DataHub encodes commas and brackets in a urn but not the percent sign, so that `a%2Cb` would read as `a,b`."""
    return name.replace("%", "%25")


def _instance(platform: str, source: str) -> str:
    encoded = _escaped(source).replace(",", "%2C").replace("(", "%28").replace(")", "%29")
    return make_dataplatform_instance_urn(platform, encoded)


def _database_key(platform: str, source: str, env: str) -> DatabaseKey:
    return DatabaseKey(platform=platform, instance=source, env=env, database=source)


def _schema_key(platform: str, source: str, schema: str, env: str) -> SchemaKey:
    return SchemaKey(platform=platform, instance=source, env=env, database=source, schema=schema)


def _properties(asset: Asset) -> dict[str, str]:
    """The asset's own, and the names of keys whose table is gone: a urn alone cannot say that it leads nowhere."""
    broken = [key.name for key in asset.foreign_keys if not key.ref_urn]
    held = {name: value for name, value in asset.properties.items() if name != BROKEN_KEYS}
    return {**held, BROKEN_KEYS: json.dumps(broken, ensure_ascii=False)} if broken else held


def _schema(asset: Asset, env: str) -> SchemaMetadataClass:
    return SchemaMetadataClass(
        schemaName=asset.path,
        platform=make_data_platform_urn(asset.platform),
        version=0,
        hash="",
        platformSchema=OtherSchemaClass(rawSchema=""),
        fields=[_field(column, asset.primary_key) for column in asset.columns],
        primaryKeys=list(asset.primary_key) or None,
        foreignKeys=[_foreign_key(asset, key, env) for key in asset.foreign_keys] or None,
    )


def _field(column: Column, primary_key: Sequence[str]) -> SchemaFieldClass:
    extra = {"generated": column.generated, "original": column.original}
    told = {name: value for name, value in extra.items() if value is not None}
    return SchemaFieldClass(
        fieldPath=column.name,
        type=data_type(column.kind, column.type),
        nativeDataType=column.type,
        nullable=column.nullable,
        description=column.description or None,
        isPartOfKey=column.name in primary_key,
        jsonProps=json.dumps(told, ensure_ascii=False) if told else None,
    )


def _foreign_key(asset: Asset, key: ForeignKey, env: str) -> ForeignKeyConstraintClass:
    """Unnamed keys get a name, since DataHub's schema demands one; a gone table gets the urn it would have."""
    target = key.ref_urn or make_dataset_urn_with_platform_instance(asset.platform, _escaped(key.ref_table), None, env)
    return ForeignKeyConstraintClass(
        name=key.name or "_".join((asset.name, *key.columns, "fkey")),
        sourceFields=[make_schema_field_urn(asset.urn, _escaped(c)) for c in key.columns],
        foreignDataset=target,
        foreignFields=[make_schema_field_urn(target, _escaped(c)) for c in key.ref_columns],
    )


def _lineage(asset: Asset, fields: Sequence[FieldLineage]) -> UpstreamLineageClass:
    return UpstreamLineageClass(
        upstreams=[UpstreamClass(dataset=urn, type=DatasetLineageTypeClass.VIEW) for urn in asset.upstreams],
        fineGrainedLineages=[
            FineGrainedLineageClass(
                upstreamType=FineGrainedLineageUpstreamTypeClass.FIELD_SET,
                upstreams=[make_schema_field_urn(urn, _escaped(column)) for urn, column in field.upstreams],
                downstreamType=FineGrainedLineageDownstreamTypeClass.FIELD,
                downstreams=[make_schema_field_urn(asset.urn, _escaped(field.column))],
            )
            for field in fields
        ]
        or None,
    )
