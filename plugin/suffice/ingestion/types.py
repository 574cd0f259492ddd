"""Native column types: the kind that Suffice reasons with, and DataHub's class for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from datahub.metadata.schema_classes import (
    ArrayTypeClass,
    BooleanTypeClass,
    BytesTypeClass,
    DateTypeClass,
    MapTypeClass,
    NullTypeClass,
    NumberTypeClass,
    RecordTypeClass,
    SchemaFieldDataTypeClass,
    StringTypeClass,
    TimeTypeClass,
)

from suffice.catalogs.aspects import is_integer_type
from suffice.model import ColumnKind

__all__ = ["data_type", "kind_of"]

_NESTED = re.compile(r"\[\d*\]$|^(struct|map|list|array|union|json|variant)\b", re.I)
_RULES: tuple[tuple[re.Pattern[str], ColumnKind], ...] = (
    (re.compile(r"^bool|^logical", re.I), "boolean"),
    (re.compile(r"^interval", re.I), "other"),
    (re.compile(r"date|time", re.I), "time"),
    (re.compile(r"char|clob|text|string|enum|uuid", re.I), "text"),
    (re.compile(r"blob|binary|bytea|^bit", re.I), "binary"),
    (re.compile(r"real|floa|doub|num|dec|money|^int|^(big|small|tiny|medium)int|^year", re.I), "number"),
)

_CLASSES: dict[ColumnKind, Callable[[], Any]] = {
    "text": StringTypeClass,
    "integer": NumberTypeClass,
    "number": NumberTypeClass,
    "boolean": BooleanTypeClass,
    "binary": BytesTypeClass,
}


def kind_of(native: str) -> ColumnKind:
    """The kind of a native type as SQLite and DuckDB spell it; "other" for one that says nothing.

    >>> [kind_of(t) for t in ("VARCHAR(20)", "BIGINT", "DECIMAL(10,2)", "TIMESTAMP WITH TIME ZONE", "INTEGER[]", "")]
    ['text', 'integer', 'number', 'time', 'nested', 'other']
    """
    text = native.strip()
    if _NESTED.search(text):
        return "nested"
    if is_integer_type(text):
        return "integer"
    return next((kind for pattern, kind in _RULES if pattern.search(text)), "other")


def data_type(kind: ColumnKind, native: str) -> SchemaFieldDataTypeClass:
    """DataHub's wrapped type for a kind; the native type tells dates from times and lists from structs."""
    return SchemaFieldDataTypeClass(_class_for(kind, native.strip().lower())())


def _class_for(kind: ColumnKind, native: str) -> Callable[[], Any]:
    if kind == "time":
        return DateTypeClass if native == "date" else TimeTypeClass
    if kind == "nested":
        if native.startswith("map"):
            return MapTypeClass
        return ArrayTypeClass if native.endswith("]") or native.startswith(("list", "array")) else RecordTypeClass
    return _CLASSES.get(kind, NullTypeClass)
