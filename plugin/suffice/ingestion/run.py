"""`suffice ingest`: a target through DataHub's Pipeline into the catalog of a home, in this process.

What the catalog held and a clean listing no longer shows is marked as removed; a listing that failed removes nothing.
"""

from __future__ import annotations

import difflib
import logging
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from datahub.configuration.config_loader import load_config_file
from datahub.ingestion.run.pipeline import Pipeline, PipelineInitError
from datahub.ingestion.source.source_registry import source_registry

from suffice.catalogs.home import Home
from suffice.errors import SourceError, SufficeError, UsageError
from suffice.ingestion.emit import urn_prefix
from suffice.ingestion.official import (
    connect_check,
    filters_in_force,
    postgres_recipe,
    source_location,
    without_password,
)
from suffice.ingestion.sink import CatalogSink
from suffice.ingestion.sources.base import AssetSource
from suffice.model import SourceRef
from suffice.recipe import Target, parse_target
from suffice.report import Report

__all__ = ["ingest"]

_SOURCES = {"sqlite": "suffice-sqlite", "duckdb": "suffice-duckdb", "files": "suffice-files"}
_MANY = 10_000


def ingest(home: Home, target: str, name: str | None, report: Report) -> list[SourceRef]:
    """Ingest one target (recipe, URL, database file, folder) and return the sources it gave, by name.

    `report` counts `sources`, `tables`, `views`, `written`, `unchanged` (aspects) and `removed` (tables), and holds
    what failed. Raises SourceError when the target cannot be read or gives no table at all, UsageError for a target
    or recipe that cannot be right. The caller holds `home.writing()`.
    """
    found: list[SourceRef] = []
    for part in parse_target(target, name):
        started = time.monotonic()
        found += _ingest_one(home, part, name, report)
        shown = without_password(part.location) if part.kind == "url" else part.location
        report.seconds[shown] = time.monotonic() - started
    return found


class _QuietPipeline(Pipeline):
    """DataHub's pipeline without its look for newer versions on the network."""

    def _warn_old_cli_version(self) -> None:
        pass


def _ingest_one(home: Home, target: Target, name: str | None, report: Report) -> list[SourceRef]:
    recipe = _recipe(target, name, home)
    _check_source_type(recipe, target.location)
    ours = recipe["sink"]["type"] == "suffice"
    with _silenced():
        pipeline = _created(recipe, target.location)
        if isinstance(pipeline.source, AssetSource) and not name:
            pipeline.source.barred.update(_taken(home, pipeline.source))
        pipeline.run()
    _tell(pipeline, report)
    if not ours:
        report.count(f"records to {recipe['sink']['type']}", pipeline.sink.get_report().total_records_written)
        return []
    sink = pipeline.sink
    assert isinstance(sink, CatalogSink)
    report.count("written", sink.report.aspects_written)
    report.count("unchanged", sink.report.aspects_unchanged)
    if isinstance(pipeline.source, AssetSource):
        refs = _settle_listings(home, pipeline.source, sink, report)
    else:
        location = without_password(target.location) if target.kind == "url" else ""
        refs = _settle_official(home, pipeline, sink, location, report)
    if not sink.seen:
        raise _nothing_found(without_password(target.location) if target.kind == "url" else target.location, pipeline)
    for ref in refs:
        home.store.put_source(ref)
    report.count("sources", len(refs))
    return refs


def _taken(home: Home, source: AssetSource) -> dict[str, str]:
    """Names that a run gives by itself and that another place has, which is still there."""
    held = home.store.sources()
    return {
        ref.name: f"'{ref.name}' is '{held[ref.name].location}' already (ingest this one with --name)"
        for ref in source.places()
        if ref.name in held and held[ref.name].location != ref.location and _there(held[ref.name])
    }


def _there(ref: SourceRef) -> bool:
    return ref.kind == "sqlalchemy" or Path(ref.location).exists()


def _recipe(target: Target, name: str | None, home: Home) -> dict[str, Any]:
    """The DataHub recipe of a target, its sink ours unless it names one, quiet, and keeping all that it reports."""
    if target.kind == "recipe":
        recipe = _loaded(target.location)
        config = recipe["source"].setdefault("config", {}) or {}
        if name:
            config.setdefault("platform_instance", name)
        recipe["source"]["config"] = config
    elif target.kind == "url":
        recipe = postgres_recipe(target.location, target.name)
        connect_check(target.location, recipe["source"]["config"]["platform_instance"])
    else:
        config = {"path": target.location}
        if target.name:
            config["platform_instance"] = target.name
        recipe = {"source": {"type": _SOURCES[target.kind], "config": config}}
    sink = recipe.get("sink") or {"type": "suffice"}
    if sink.get("type") == "suffice":
        sink.setdefault("config", {"home": str(home.path), "catalog": home.settings.catalog})
    recipe["sink"] = sink
    recipe["flags"] = {
        "report_failure_sample_size": _MANY,
        "report_warning_sample_size": _MANY,
        **(recipe.get("flags") or {}),
    }
    recipe.setdefault("run_id", f"suffice-{uuid.uuid4().hex[:12]}")
    return recipe


def _loaded(location: str) -> dict[str, Any]:
    try:
        recipe = load_config_file(Path(location), allow_remote=False)
    except Exception as error:
        raise UsageError(f"recipe '{location}': {error}", mend="correct it, or set the variable it names") from error
    if not isinstance(recipe, dict) or not isinstance(recipe.get("source"), dict) or "type" not in recipe["source"]:
        raise UsageError(f"'{location}' is no DataHub recipe", mend="it needs `source:` with a `type:`")
    return recipe


def _check_source_type(recipe: Mapping[str, Any], location: str) -> None:
    kind = str(recipe["source"]["type"])
    if "." in kind or ":" in kind:
        return
    known = source_registry.mapping
    if kind not in known:
        near = difflib.get_close_matches(kind, list(known), n=1, cutoff=0.0)
        raise UsageError(
            f"'{location}' names no source type that is installed: '{kind}'", mend=f"did you mean '{near[0]}'?"
        )


def _created(recipe: dict[str, Any], location: str) -> Pipeline:
    try:
        return _QuietPipeline.create(recipe, report_to=None, no_progress=True)
    except PipelineInitError as error:
        cause = error.__cause__ or error
        if isinstance(cause, SufficeError):
            raise cause from error
        raise SourceError(
            f"'{location}': {_short(error)}", mend="correct the recipe, or install what it names"
        ) from error
    except Exception as error:
        raise UsageError(f"'{location}': {_short(error)}", mend="correct the recipe") from error


def _short(error: BaseException) -> str:
    """One line of an error, the first finding of a pydantic one."""
    details = getattr(error.__cause__ or error, "errors", None)
    if callable(details):
        found = details()
        first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
        problem = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
        return f"{'.'.join(str(part) for part in first['loc'])}: {problem}"
    return str(error).split("\n")[0]


@contextmanager
def _silenced() -> Iterator[None]:
    """DataHub logs to whoever listens, and what matters comes back in its report: only a debugging run hears it."""
    logger = logging.getLogger("datahub")
    level, propagate = logger.level, logger.propagate
    if logging.getLogger("suffice").getEffectiveLevel() > logging.DEBUG:
        logger.setLevel(logging.CRITICAL + 1)
        logger.propagate = False
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.propagate = propagate


def _tell(pipeline: Pipeline, report: Report) -> None:
    told = pipeline.source.get_report()
    if isinstance(pipeline.source, AssetSource):
        report.failures += pipeline.source.failed
    else:
        for entry in told.failures:
            for context in list(entry.context) or [""]:
                report.fail(pipeline.source_type, f"{entry.title or ''} {entry.message} {context}".strip())
    for entry in told.warnings:
        for context in list(entry.context) or [pipeline.source_type]:
            report.warn(entry.message, context)
    sunk = pipeline.sink.get_report()
    for failure in sunk.failures:
        report.fail(pipeline.sink_type, failure)
    for warning in sunk.warnings:
        report.warn("The sink warns", str(warning))


def _nothing_found(location: str, pipeline: Pipeline) -> SourceError:
    if isinstance(pipeline.source, AssetSource) and pipeline.source.failed:
        subject, reason = pipeline.source.failed[0]
        return SourceError(f"no table came from '{location}': {reason} ('{subject}')")
    if failures := list(pipeline.source.get_report().failures):
        context = next(iter(failures[0].context), "")
        return SourceError(f"no table came from '{location}': {failures[0].message} {context}")
    return SourceError(f"no table in '{location}'", mend="is it the right database, and may this user see its tables?")


def _settle_listings(home: Home, source: AssetSource, sink: CatalogSink, report: Report) -> list[SourceRef]:
    refs = []
    for listing in source.listings.values():
        kinds = [asset.kind for asset in listing.assets]
        report.count("tables", kinds.count("table"))
        report.count("views", kinds.count("view"))
        gone = _gone(home, listing.ref, listing.urns)
        _remove(home, gone, sink, report)
        refs.append(listing.ref)
    return refs


def _settle_official(
    home: Home, pipeline: Pipeline, sink: CatalogSink, location: str, report: Report
) -> list[SourceRef]:
    """Sources by the names that the datasets bear; where the rows are, when the recipe's URL says so."""
    names: dict[tuple[str, str], int] = {}
    for urn in sorted(sink.seen):
        asset = home.catalog.asset(urn)
        if asset is not None:
            names[asset.source, asset.platform] = names.get((asset.source, asset.platform), 0) + 1
            report.count("views" if asset.kind == "view" else "tables")
    config = getattr(pipeline.source, "config", None)
    told = pipeline.source.get_report()
    clean = not told.failures and not told.warnings and not sink.report.failures and not filters_in_force(config)
    refs = []
    location = location or source_location(config)
    for name, platform in names:
        ref = SourceRef(name, "sqlalchemy", location, platform)
        gone = _gone(home, ref, sink.seen)
        if clean:
            _remove(home, gone, sink, report)
        elif gone:
            report.warn("Tables were not listed and are kept, since the listing was filtered or not clean", name)
        if location:
            refs.append(ref)
    return refs


def _gone(home: Home, ref: SourceRef, present: set[str]) -> list[str]:
    """Datasets of a source that the catalog holds as there and this run did not see."""
    prefix = urn_prefix(ref.platform, "" if ref.kind == "sqlalchemy" else ref.name)
    unseen = [urn for urn in home.catalog.live_urns(prefix) if urn not in present]
    held = ((urn, home.catalog.asset(urn)) for urn in unseen)
    return [urn for urn, asset in held if asset is not None and asset.source == ref.name]


def _remove(home: Home, urns: Iterable[str], sink: CatalogSink, report: Report) -> None:
    items = [(urn, "status", {"removed": True}) for urn in urns]
    if items:
        report.count("removed", home.catalog.put_many(items, run_id=sink.ctx.run_id))
