"""DataHub aspects, as JSON, to an `Asset`. The other way round is `suffice.ingestion.emit`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from suffice.model import Asset, Column, ColumnKind, ForeignKey

__all__ = ["ASSET_ASPECTS", "BROKEN_KEYS", "VOLATILE", "asset_from_aspects", "dataset_urn_parts", "is_integer_type"]

BROKEN_KEYS = "broken_keys"
"""The custom property in which our sources name (a JSON list) the foreign keys whose table does not exist."""

_WHOLE_SCHEMA = frozenset({"sqlite", "duckdb", "file"})
"""Platforms of our sources, where all between source and table is the schema; elsewhere a database comes before."""

ASSET_ASPECTS = (
    "schemaMetadata",
    "datasetProperties",
    "dataPlatformInstance",
    "subTypes",
    "viewProperties",
    "upstreamLineage",
    "editableDatasetProperties",
    "editableSchemaMetadata",
    "globalTags",
    "status",
)

VOLATILE = frozenset({"created", "lastModified", "systemMetadata", "auditStamp"})

_KINDS: dict[str, ColumnKind] = {
    "StringType": "text",
    "EnumType": "text",
    "NumberType": "number",
    "DateType": "time",
    "TimeType": "time",
    "BooleanType": "boolean",
    "BytesType": "binary",
    "ArrayType": "nested",
    "MapType": "nested",
    "RecordType": "nested",
    "UnionType": "nested",
}
_INTEGER = re.compile(r"^(tiny|small|medium|big|huge|u|unsigned )*(int|integer|serial)\d*\b", re.I)
_INSTANCE = re.compile(r"urn:li:dataPlatformInstance:\(urn:li:dataPlatform:[^,]+,(.*)\)$", re.S)
_URN = re.compile(r"urn:li:dataset:\(urn:li:dataPlatform:([^,]+),(.*),([^,]+)\)$", re.S)


def dataset_urn_parts(urn: str) -> tuple[str, str]:
    """Platform and (decoded) name of a dataset urn.

    >>> dataset_urn_parts("urn:li:dataset:(urn:li:dataPlatform:sqlite,shop.main.rates%2C %282024%29,PROD)")
    ('sqlite', 'shop.main.rates, (2024)')
    """
    match = _URN.match(urn)
    return (match[1], unquote(match[2])) if match else ("", urn)


def asset_from_aspects(urn: str, held: Mapping[str, Any]) -> Asset:
    """An asset from the JSON aspects of its dataset. Official sources and ours are read alike."""
    platform, path = dataset_urn_parts(urn)
    properties = held.get("datasetProperties", {})
    schema = held.get("schemaMetadata", {})
    instance = str(held.get("dataPlatformInstance", {}).get("instance") or "")
    source = _instance_name(instance) or platform
    name = str(properties.get("name") or path.rsplit(".", 1)[-1])
    middle = path.removeprefix(f"{source}.")
    middle = middle[: -len(name) - 1] if middle.endswith(f".{name}") else ""
    own = {str(k): str(v) for k, v in (properties.get("customProperties") or {}).items()}
    broken = _names(own.pop(BROKEN_KEYS, ""))
    view = held.get("viewProperties", {})
    kinds = held.get("subTypes", {}).get("typeNames") or []
    fields = schema.get("fields") or []
    edited = held.get("editableDatasetProperties", {}).get("description")
    by_person = {
        str(f["fieldPath"]): str(f["description"])
        for f in held.get("editableSchemaMetadata", {}).get("editableSchemaFieldInfo") or ()
        if f.get("description")
    }
    keys = [f["fieldPath"] for f in fields if f.get("isPartOfKey")]
    return Asset(
        urn=urn,
        source=source,
        schema=(middle if platform in _WHOLE_SCHEMA else middle.rsplit(".", 1)[-1]) or "main",
        name=name,
        platform=platform,
        kind="view" if view or "View" in kinds else "table",
        columns=tuple(_column(f, by_person.get(str(f["fieldPath"]))) for f in fields),
        primary_key=tuple(_plain(k) for k in schema.get("primaryKeys") or keys),
        foreign_keys=tuple(_foreign_key(k, broken) for k in schema.get("foreignKeys") or ()),
        description=str(edited or properties.get("description") or ""),
        definition=str(view.get("viewLogic") or ""),
        upstreams=tuple(u["dataset"] for u in held.get("upstreamLineage", {}).get("upstreams", ())),
        tags=tuple(str(x["tag"]).removeprefix("urn:li:tag:") for x in held.get("globalTags", {}).get("tags", ())),
        properties=own,
    )


def is_integer_type(native: str) -> bool:
    """Whether a native type is one of whole numbers.

    >>> [is_integer_type(t) for t in ("BIGINT", "int unsigned", "UTINYINT", "serial", "interval", "POINT", "NUMERIC")]
    [True, True, True, True, False, False, False]
    """
    return _INTEGER.match(native) is not None


def _instance_name(urn: str) -> str:
    match = _INSTANCE.match(urn)
    return unquote(match[1]) if match else ""


def _names(text: str) -> frozenset[str]:
    import json

    try:
        value = json.loads(text) if text else []
    except ValueError:
        return frozenset()
    return frozenset(str(name) for name in value) if isinstance(value, list) else frozenset()


def _column(field: Mapping[str, Any], by_person: str | None) -> Column:
    """`by_person` is what a person wrote of the column in the catalog: it stands before the source's comment."""
    native = str(field.get("nativeDataType") or "")
    extra = _json_props(field)
    return Column(
        name=_plain(str(field["fieldPath"])),
        type=native,
        kind=_kind(field, native),
        nullable=bool(field.get("nullable", True)),
        description=str(by_person or field.get("description") or ""),
        generated=extra.get("generated"),
        original=extra.get("original"),
    )


def _kind(field: Mapping[str, Any], native: str) -> ColumnKind:
    wrapped = field.get("type", {}).get("type", {})
    name = next(iter(wrapped), "") if isinstance(wrapped, Mapping) else ""
    kind = _KINDS.get(str(name).rsplit(".", 1)[-1], "other")
    return "integer" if kind == "number" and is_integer_type(native) else kind


def _json_props(field: Mapping[str, Any]) -> dict[str, Any]:
    import json

    text = field.get("jsonProps")
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _plain(path: str) -> str:
    """The column name in a v1 or v2 field path (`[version=2.0].[type=x].name`)."""
    return re.sub(r"^(?:\[[^\]]*\]\.)+", "", path) if path.startswith("[version=") else path


def _foreign_key(key: Mapping[str, Any], broken: frozenset[str]) -> ForeignKey:
    name, ref = str(key.get("name") or ""), str(key.get("foreignDataset") or "")
    targets = [str(f) for f in key.get("foreignFields") or ()]
    return ForeignKey(
        name=name,
        columns=tuple(_field_of(str(f)) for f in key.get("sourceFields") or ()),
        ref_table=dataset_urn_parts(ref)[1],
        ref_columns=tuple(_field_of(f) for f in targets),
        ref_urn="" if name in broken else ref,
    )


def _field_of(urn: str) -> str:
    """The field of `urn:li:schemaField:(DATASET,FIELD)`.

    >>> _field_of("urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:sqlite,s.main.t,PROD),a%2Cb)")
    'a,b'
    """
    inner = urn.removeprefix("urn:li:schemaField:(").removesuffix(")")
    return _plain(unquote(inner.rsplit("),", 1)[-1]))
