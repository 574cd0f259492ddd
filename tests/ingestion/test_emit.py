"""An asset survives the way through DataHub's aspects and back, whatever its names hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from datahub.emitter.serialization_helper import pre_json_transform
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.catalogs.aspects import asset_from_aspects
from suffice.errors import SourceError
from suffice.ingestion.emit import FieldLineage, dataset_aspects, dataset_urn, urn_prefix
from suffice.ingestion.types import kind_of
from suffice.model import Asset, Column, ForeignKey

TYPES = [
    "",
    "INTEGER",
    "BIGINT",
    "INT UNSIGNED",
    "VARCHAR(20)",
    "DECIMAL(10,2)",
    "DATE",
    "TIMESTAMP",
    "TIME",
    "BOOLEAN",
    "BLOB",
    "INTEGER[]",
    "STRUCT(a INTEGER)",
    "MAP(VARCHAR, INTEGER)",
    "JSON",
    "POINT",
    "INTERVAL",
    "FLOAT",
]
NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12
) | st.sampled_from(
    [
        "rates, (2024)",
        "(final)",
        "a%2Cb",
        "100%",
        'say "hi"',
        "wind.speed",
        "naïve ␟",
        "x),y",
        "urn:li:x",
        "[version=2.0]",
    ]
)
PLAIN = NAMES.filter(lambda name: not name.startswith("[version="))


@st.composite
def tables(draw: st.DrawFn) -> Asset:
    platform = draw(st.sampled_from(["sqlite", "duckdb", "file"]))
    source, schema, name = draw(NAMES), draw(NAMES), draw(NAMES)
    names = draw(st.lists(PLAIN, min_size=1, max_size=5, unique=True))
    columns = []
    for column in names:
        native = draw(st.sampled_from(TYPES))
        columns.append(
            Column(
                column,
                native,
                kind_of(native),
                draw(st.booleans()),
                draw(st.text(max_size=5)),
                draw(st.sampled_from([None, "virtual", "stored"])),
                draw(st.none() | st.text(max_size=5)),
            )
        )
    keys = []
    for number in range(draw(st.integers(0, 2))):
        other = draw(NAMES)
        there = draw(st.booleans())
        keys.append(
            ForeignKey(
                f"key {number}",
                tuple(names[:2]),
                f"{source}.{schema}.{other}",
                tuple(draw(st.lists(PLAIN, min_size=1, max_size=2))),
                dataset_urn(platform, source, schema, other) if there else "",
            )
        )
    view = draw(st.booleans())
    return Asset(
        urn=dataset_urn(platform, source, schema, name),
        source=source,
        schema=schema,
        name=name,
        platform=platform,
        kind="view" if view else "table",
        columns=tuple(columns),
        primary_key=() if view else tuple(names[:1]),
        foreign_keys=tuple(keys),
        description=draw(st.text(max_size=8)),
        definition="SELECT 1" if view else "",
        upstreams=(dataset_urn(platform, source, schema, "up"),) if view else (),
        properties=draw(st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2)),
    )


def back(asset: Asset) -> Asset:
    held = {aspect.get_aspect_name(): pre_json_transform(aspect.to_obj()) for aspect in dataset_aspects(asset)}
    return asset_from_aspects(asset.urn, held)


@settings(max_examples=200, deadline=None)
@given(tables())
def test_round_trip(asset: Asset) -> None:
    assert back(asset) == asset


@settings(max_examples=200, deadline=None)
@given(NAMES, NAMES, NAMES)
def test_names_that_differ_have_urns_that_differ(source: str, one: str, other: str) -> None:
    urns = {dataset_urn("sqlite", source, "main", name) for name in (one, other)}
    assert len(urns) == len({one, other})
    assert all(urn.startswith(urn_prefix("sqlite", source)) for urn in urns)


def test_an_unnamed_key_gets_a_name() -> None:
    urn = dataset_urn("sqlite", "s", "main", "t")
    key = ForeignKey("", ("a",), "s.main.t", ("b",), urn)
    asset = Asset(urn, "s", "main", "t", "sqlite", columns=(Column("a"),), foreign_keys=(key,))
    assert back(asset).foreign_keys == (replace(key, name="t_a_fkey"),)


def test_a_name_too_long_for_a_urn_is_refused() -> None:
    with pytest.raises(SourceError, match="too long"):
        dataset_urn("sqlite", "s", "main", "x" * 600)


def test_column_lineage_names_fields_on_both_sides() -> None:
    up, urn = dataset_urn("duckdb", "s", "main", "a, b"), dataset_urn("duckdb", "s", "main", "v")
    view = Asset(urn, "s", "main", "v", "duckdb", "view", (Column("x"),), definition="SELECT 1", upstreams=(up,))
    lineage = dataset_aspects(view, [FieldLineage("x", ((up, "p,q"),))])[-1]
    (line,) = lineage.fineGrainedLineages
    assert line.upstreams == [f"urn:li:schemaField:({up},p%2Cq)"]
    assert line.downstreams == [f"urn:li:schemaField:({urn},x)"]
