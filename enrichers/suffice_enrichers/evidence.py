"""A judged copy as a finding: what it is, the numbers, and the statement that gives them again."""

from __future__ import annotations

import json
from typing import Any

from suffice.extend import Lake
from suffice.libs.duck import quote, text
from suffice.model import Finding
from suffice_enrichers.contents import Contents
from suffice_enrichers.ordered import ordered
from suffice_enrichers.relations import Copy

__all__ = ["finding_of"]


def finding_of(copy: Copy, contents: Contents, lake: Lake) -> Finding:
    """The `copy` finding of the contract, without its enricher's stamp.

    A shard by one column has `column` with `values`, or with `low` and `high`; one by several has `columns` and one
    value for each. Of another relation `columns` are those that it concerns.
    """
    value: dict[str, Any] = {"of": copy.origin.asset.urn, "relation": copy.relation}
    condition = ""
    if copy.low is not None:
        column = contents.name(copy.table.asset, contents.columns[copy.columns[0]])
        value |= {"column": column, "low": _json(copy.low), "high": _json(copy.high)}
        its = quote(contents.name(copy.origin.asset, contents.columns[copy.columns[0]]))
        ranged = ordered(its, contents.types[contents.columns[copy.columns[0]]])
        condition = f"{ranged} BETWEEN {_literal(copy.low)} AND {_literal(copy.high)}"
    elif copy.part is not None:
        names = [contents.name(copy.table.asset, contents.columns[c]) for c in copy.columns]
        lists = [_values(copy, name, lake) for name in names]
        if len(names) == 1:
            value |= {"column": names[0], "values": [_json(v) for v in lists[0]]}
        else:
            value |= {"columns": names, "values": [_json(values[0]) for values in lists]}
        its_names = [contents.name(copy.origin.asset, contents.columns[c]) for c in copy.columns]
        condition = " AND ".join(
            f"{quote(n)} IN ({', '.join(_literal(v) for v in vs)})" for n, vs in zip(its_names, lists, strict=True)
        )
    elif copy.columns:
        value["columns"] = [contents.name(copy.table.asset, contents.columns[c]) for c in copy.columns]
    return Finding(
        urn=copy.table.asset.urn,
        kind="copy",
        value=value,
        subject=copy.origin.asset.urn,
        numbers=copy.numbers,
        query=_query(copy, contents, condition),
    )


def _values(copy: Copy, column: str, lake: Lake) -> list[Any]:
    sql = lake.rows.relation(copy.table.asset).sql
    return [row[0] for row in lake.rows.query(f"SELECT DISTINCT {quote(column)} FROM {sql} ORDER BY 1")]


def _json(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else str(value)


def _literal(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return text(str(value))


def _query(copy: Copy, contents: Contents, condition: str) -> str:
    here, there = copy.table, copy.origin
    own = ", ".join(quote(contents.name(here.asset, c)) for c in contents.columns)
    its = ", ".join(quote(contents.name(there.asset, c)) for c in contents.columns)
    mine, other = f"SELECT {own} FROM {here.sql}", f"SELECT {its} FROM {there.sql}"
    if condition:
        other += f" WHERE {condition}"
    counts = f"(SELECT count(*) FROM {here.sql}) AS rows, (SELECT count(*) FROM {there.sql}) AS of_rows"
    extra = f"(SELECT count(*) FROM ({mine} EXCEPT ALL {other})) AS extra_rows"
    if copy.relation in ("identical", "partition"):
        return f"SELECT {counts}, {extra}, (SELECT count(*) FROM ({other} EXCEPT ALL {mine})) AS missing_rows"
    if copy.relation == "missing_values":
        return f"SELECT {_null_share(own, here.sql)} AS null_share, {_null_share(its, there.sql)} AS of_null_share"
    if copy.relation == "broken_reference":
        broken = " OR ".join(
            f"{quote(contents.name(here.asset, contents.columns[c]))} IS NULL OR"
            f" {quote(contents.name(here.asset, contents.columns[c]))} NOT IN"
            f" (SELECT {quote(contents.name(there.asset, contents.columns[c]))} FROM {there.sql}"
            f" WHERE {quote(contents.name(there.asset, contents.columns[c]))} IS NOT NULL)"
            for c in copy.columns
        )
        return f"SELECT count(*) FILTER ({broken}) / count(*) AS broken_share FROM {here.sql}"
    return f"SELECT {counts}, {extra}"


def _null_share(columns: str, sql: str) -> str:
    names = columns.split(", ")
    filled = " + ".join(f"count({name})" for name in names)
    return f"(SELECT 1 - ({filled}) / ({len(names)} * count(*)) FROM {sql})"
