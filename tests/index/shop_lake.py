"""Small catalogs written by hand, so that these tests need no source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from suffice.catalogs.home import Home
from suffice.extend import Unit, UnitResult
from suffice.model import Finding
from suffice.settings import Settings

Columns = Sequence[str]


def urn_of(path: str) -> str:
    """The urn of `source.schema.table`."""
    return f"urn:li:dataset:(urn:li:dataPlatform:sqlite,{path},PROD)"


def aspects(
    path: str, columns: Columns, description: str = "", keys: Mapping[str, tuple[str, str]] | None = None
) -> dict[str, Any]:
    """DataHub aspects of a table; `keys` maps a column to (path of the other table, its column)."""
    source, _, name = path.split(".")
    field = "urn:li:schemaField:({},{})".format
    return {
        "schemaMetadata": {
            "fields": [
                {"fieldPath": c, "nativeDataType": "TEXT",
                 "type": {"type": {"com.linkedin.pegasus2avro.schema.StringType": {}}}}
                for c in columns
            ],
            "foreignKeys": [
                {"name": f"fk_{c}", "sourceFields": [field(urn_of(path), c)], "foreignDataset": urn_of(other),
                 "foreignFields": [field(urn_of(other), ref)]}
                for c, (other, ref) in (keys or {}).items()
            ],
        },
        "datasetProperties": {"name": name, "description": description},
        "dataPlatformInstance": {"instance": f"urn:li:dataPlatformInstance:(urn:li:dataPlatform:sqlite,{source})"},
        "status": {"removed": False},
    }  # fmt: skip


def put(home: Home, path: str, columns: Columns, description: str = "", **more: Any) -> str:
    """Write or change a table; returns its urn."""
    home.catalog.put_many(
        (urn_of(path), name, value) for name, value in aspects(path, columns, description, **more).items()
    )
    return urn_of(path)


def drop(home: Home, path: str) -> None:
    home.catalog.put(urn_of(path), "status", {"removed": True})


def find(home: Home, *findings: Finding, values: Mapping[str, Any] | None = None) -> None:
    """Store findings, and the evidence `values` by urn, as one enricher would."""
    urns = tuple(dict.fromkeys([f.urn for f in findings] + list(values or ())))
    evidence = {(urn, "values"): held for urn, held in (values or {}).items()}
    home.store.replace("test", "1", Unit("all", urns, "1"), UnitResult(findings, evidence))


def new_home(path: Path, **settings: Any) -> Home:
    return Home(path, Settings(**settings), create=True)


SHOP: Mapping[str, Columns] = {
    "shop.main.orders": ["order_id", "customer_id", "ordered_on", "total_price"],
    "shop.main.customers": ["customer_id", "first_name", "home_town"],
    "shop.main.products": ["product_id", "productname", "unit_price"],
    "air.main.flights": ["flight_id", "carrier", "dep_delay", "tail_number"],
    "air.main.airports": ["iata_code", "airport_name", "latitude"],
}
