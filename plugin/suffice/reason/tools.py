"""What a person or an agent may ask of a catalog, one typed function each; every answer is plain JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from suffice.catalogs.names import resolve
from suffice.model import Asset, Finding, Scope

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.index.search import Mode

__all__ = ["describe_table", "related_tables", "search_tables"]

_NOT_QUALITY = frozenset(
    {"profile", "sensitive", "unique_key", "join", "not_joinable", "copy", "authoritative", "family", "description"}
)


def search_tables(
    home: Home, query: str, *, k: int = 10, scope: Scope | None = None, mode: Mode = "fused"
) -> dict[str, Any]:
    """The `k` best tables for a query: path, score, what it is, and the defects in force."""
    from suffice.index.search import Index

    home.require_catalog()
    index = Index.open(home)
    hits = index.search(query, k=k, scope=scope, mode=mode)
    urns = [hit.urn for hit in hits]
    assets = {asset.urn: asset for asset in home.catalog.assets(scope) if asset.urn in set(urns)}
    told = _by_urn(home.store.findings(["description"], urns))
    quality = _by_urn([f for f in home.store.findings(None, urns) if f.kind not in _NOT_QUALITY])
    rows = [
        {
            "urn": hit.urn,
            "table": assets[hit.urn].path,
            "score": round(float(hit.score), 4),
            "description": assets[hit.urn].description or _text(told.get(hit.urn, ())),
            "quality": sorted({f.kind for f in quality.get(hit.urn, ())}),
        }
        for hit in hits
        if hit.urn in assets
    ]
    return {"query": query, "hits": rows, "stale": index.stale(home), "notes": list(index.notes)}


def describe_table(home: Home, name: str, *, scope: Scope | None = None) -> dict[str, Any]:
    """All that is known of one table, by any unique name of it; nothing of tables that `scope` does not admit."""
    allowed = scope or Scope()
    asset = resolve(home.catalog.assets(allowed), name)
    found = home.store.findings(None, [asset.urn])
    by_kind: dict[str, list[Finding]] = {}
    for finding in found:
        by_kind.setdefault(finding.kind, []).append(finding)
    profile = next((f.value for f in by_kind.get("profile", ())), None)
    texts = {f.column: f.value["text"] for f in by_kind.get("description", ())}
    authoritative = next(
        (f.value for f in by_kind.get("authoritative", ())), {"urn": asset.urn, "why": "no copy known"}
    )
    return {
        "urn": asset.urn,
        "table": asset.path,
        "kind": asset.kind,
        "platform": asset.platform,
        "description": asset.description,
        "proposed_description": texts.get("", ""),
        "rows": profile["rows"] if profile else None,
        "primary_key": list(asset.primary_key),
        "columns": [_column(asset, i, profile, texts) for i in range(len(asset.columns))],
        "profile": profile,
        "family": next((f.value for f in by_kind.get("family", ())), None),
        "lineage": {
            "upstream": [_path(home, urn) for urn in asset.upstreams],
            "copy_of": [{**f.value, "of": _path(home, f.value["of"]), "numbers": dict(f.numbers), "query": f.query}
                        for f in by_kind.get("copy", ())],
        },
        "joins": [{**f.value, "numbers": dict(f.numbers)} for f in by_kind.get("join", ())],
        "authoritative": {**authoritative, "table": _path(home, authoritative["urn"])},
        "quality": [_quality(f) for f in found if f.kind not in _NOT_QUALITY],
    }  # fmt: skip


def related_tables(home: Home, name: str, *, scope: Scope | None = None) -> dict[str, Any]:
    """Family, copies, joins both ways, lineage and compatible schemas of one table, each with its relation."""
    from suffice.index.siblings import related

    seen = {a.urn: a for a in home.catalog.assets(scope)}
    asset = resolve(seen.values(), name)
    found = [dict(r) for r in related(home, asset.urn) if r["urn"] in seen]
    return {"urn": asset.urn, "table": asset.path, "related": found}


def _column(asset: Asset, i: int, profile: Mapping[str, Any] | None, texts: Mapping[str, str]) -> dict[str, Any]:
    column = asset.columns[i]
    refers = [
        {"table": key.ref_table, "columns": list(key.ref_columns)}
        for key in asset.foreign_keys
        if column.name in key.columns
    ]
    entry: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "nullable": column.nullable,
        "key": column.name in asset.primary_key,
        "description": column.description or texts.get(column.name, ""),
    }
    if column.original:
        entry["original"] = column.original
    if column.generated:
        entry["generated"] = column.generated
    if refers:
        entry["references"] = refers
    if profile and column.name in profile["columns"]:
        entry["profile"] = profile["columns"][column.name]
    return entry


def _quality(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "column": finding.column,
        "value": finding.value,
        "numbers": dict(finding.numbers),
        "query": finding.query,
        "rule": f"{finding.enricher} {finding.version}",
        "status": finding.status,
    }


def _path(home: Home, urn: str) -> str:
    asset = home.catalog.asset(urn)
    return asset.path if asset else urn


def _by_urn(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    grouped: dict[str, list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(finding.urn, []).append(finding)
    return grouped


def _text(findings: Sequence[Finding]) -> str:
    return next((str(f.value["text"]) for f in findings if not f.column), "")
