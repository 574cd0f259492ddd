"""`suffice publish` and `suffice withdraw`: what was found, written into a DataHub where it shows, and taken back.

Everything bears our attribution: texts go into `documentation` and tags into `globalTags` by PATCH under our key, so
that no person's text or tag is touched. What a server already has from us is not sent again; what has lost its cause
is removed. Only accepted texts are written, unless proposed ones are asked for.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from suffice.catalogs import tables as t
from suffice.errors import SufficeError
from suffice.model import Scope, digest

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.report import Report

__all__ = ["ATTRIBUTION", "TAGS", "Wanted", "publish", "wanted", "withdraw"]

ATTRIBUTION = "urn:li:dataHubAction:suffice"
ACTOR = "urn:li:corpuser:suffice"
TAGS = ("subset_of", "duplicate_rows", "missing_values", "broken_reference", "superseded", "empty", "mixed_types",
        "broken_view")  # fmt: skip
"""Quality findings that become tags, `urn:li:tag:suffice.<kind>`."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a dataset should have from us: a text ("" for none), tags by kind, counts for `datasetProfile`."""

    text: str = ""
    tags: frozenset[str] = frozenset()
    profile: Mapping[str, Any] = field(default_factory=dict)

    def items(self) -> dict[str, str]:
        """A digest by item, by which a server's state is compared."""
        held = {f"tag:{kind}": "1" for kind in self.tags}
        if self.text:
            held["documentation"] = digest(self.text)
        if self.profile:
            held["profile"] = digest(dict(self.profile))
        return held


def wanted(home: Home, scope: Scope, *, proposed: bool = False) -> dict[str, Wanted]:
    """What every table in scope should have, by urn."""
    found: dict[str, Wanted] = {}
    texts: dict[str, str] = {}
    tags: dict[str, set[str]] = {}
    profiles: dict[str, Mapping[str, Any]] = {}
    for f in home.store.findings(["description", "profile", *TAGS]):
        if f.kind == "description" and not f.column and (proposed or f.status in ("accepted", "edited")):
            texts[f.urn] = str(f.value["text"])
        elif f.kind == "profile":
            profiles[f.urn] = {"rowCount": f.value["rows"], "columnCount": len(f.value["columns"])}
        elif f.kind in TAGS:
            tags.setdefault(f.urn, set()).add(f.kind)
    for asset in home.catalog.assets(scope):
        urn = asset.urn
        found[urn] = Wanted(texts.get(urn, ""), frozenset(tags.get(urn, ())), profiles.get(urn, {}))
    return found


def publish(home: Home, scope: Scope, report: Report, *, proposed: bool = False, dry_run: bool = False) -> None:
    """Bring the DataHub of the environment (or `~/.datahubenv`) to what is wanted, a table at a time.

    `report` counts what was sent, removed and unchanged; a table that fails is named, and the others go on.
    """
    server, emitter = _emitter()
    for urn, want in wanted(home, scope, proposed=proposed).items():
        _bring(home, server, emitter, urn, want, report, dry_run)


def withdraw(home: Home, scope: Scope, report: Report, *, dry_run: bool = False) -> None:
    """Remove everything that we ever wrote there, and nothing else. Profiles are a history and stay."""
    server, emitter = _emitter()
    inside = {asset.urn for asset in home.catalog.assets(scope)} if scope.globs else None
    for urn in _known_urns(home, server):
        if inside is None or urn in inside:
            _bring(home, server, emitter, urn, Wanted(), report, dry_run)


def _emitter() -> tuple[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from datahub.cli.config_utils import load_client_config
        from datahub.emitter.rest_emitter import DatahubRestEmitter

        try:
            config = load_client_config()
        except Exception as error:
            raise SufficeError(
                "no DataHub is configured", mend="set DATAHUB_GMS_URL (and DATAHUB_GMS_TOKEN), or run: datahub init"
            ) from error
        emitter = DatahubRestEmitter(config.server, token=config.token, retry_max_times=4, openapi_ingestion=False)
    return config.server, emitter


def _bring(home: Home, server: str, emitter: Any, urn: str, want: Wanted, report: Report, dry_run: bool) -> None:
    held, items = _held(home, server, urn), want.items()
    changed = {name for name, mark in items.items() if held.get(name) != mark}
    gone = {name for name in held.keys() - items.keys() if name != "profile"}
    if not changed and not gone:
        report.count("unchanged")
        return
    report.count("sent", len(changed))
    report.count("removed", len(gone))
    if dry_run:
        return
    try:
        for proposal in _proposals(urn, want, changed, gone):
            emitter.emit(proposal)
    except Exception as error:  # whatever the client raises for a server that does not take it
        report.fail(urn, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
        return
    _note(home, server, urn, items)


def _proposals(urn: str, want: Wanted, changed: Iterable[str], gone: Iterable[str]) -> Iterable[Any]:
    from datahub.emitter.mcp import MetadataChangeProposalWrapper
    from datahub.metadata import schema_classes as s
    from datahub.specific.dataset import DatasetPatchBuilder

    now = int(time.time() * 1000)
    by = s.MetadataAttributionClass(time=now, actor=ACTOR, source=ATTRIBUTION)
    patch = DatasetPatchBuilder(urn)
    for name in sorted(gone):
        if name == "documentation":
            patch.remove_documentation(ATTRIBUTION)
        else:
            patch.remove_tag(_tag(name), attribution_source=ATTRIBUTION)
    for name in sorted(changed):
        if name == "documentation":
            patch.add_documentation(s.DocumentationAssociationClass(want.text, attribution=by))
        elif name.startswith("tag:"):
            patch.add_tag(s.TagAssociationClass(_tag(name), attribution=by))
    yield from patch.build()
    if "profile" in changed:
        profile = s.DatasetProfileClass(timestampMillis=now, **want.profile)
        yield MetadataChangeProposalWrapper(entityUrn=urn, aspect=profile)


def _tag(item: str) -> str:
    return f"urn:li:tag:suffice.{item.removeprefix('tag:')}"


# what a server has from us


def _held(home: Home, server: str, urn: str) -> dict[str, str]:
    p = t.published
    with home.catalog.engine.connect() as connection:
        rows = connection.execute(sa.select(p.c.item, p.c.digest).where(p.c.server == server, p.c.urn == urn))
        return {row.item: row.digest for row in rows}


def _known_urns(home: Home, server: str) -> list[str]:
    p = t.published
    with home.catalog.engine.connect() as connection:
        query = sa.select(p.c.urn).where(p.c.server == server).distinct().order_by(p.c.urn)
        return list(connection.execute(query).scalars())


def _note(home: Home, server: str, urn: str, items: Mapping[str, str]) -> None:
    p = t.published
    with t.batch(home.catalog.engine) as connection:
        connection.execute(sa.delete(p).where(p.c.server == server, p.c.urn == urn))
        rows = [{"server": server, "urn": urn, "item": name, "digest": mark} for name, mark in items.items()]
        if rows:
            connection.execute(sa.insert(p), rows)
