"""`suffice enrich`: every enricher over the catalog of a home, in the order they ask for, redoing what changed only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from suffice import registry
from suffice.catalogs.home import Home
from suffice.catalogs.store import LocalStore
from suffice.errors import SufficeError
from suffice.extend import Enricher, Unit, UnitResult
from suffice.model import Asset, Finding, Scope
from suffice.report import Report
from suffice.rows.engine import Engine

__all__ = ["HomeLake", "enrich", "in_order"]

Progress = Callable[[str, int, int], None]

_BATCH_UNITS = 200
_BATCH_S = 2.0


def enrich(
    home: Home,
    *,
    only: Sequence[str] | None = None,
    scope: Scope | None = None,
    plan: bool = False,
    report: Report,
    progress: Progress | None = None,
) -> None:
    """Run the enrichers (all, or `only` those named) on the units whose inputs changed, and store what they find.

    A unit is done when one of its assets is in `scope`; what an enricher knows of units that exist no more is
    forgotten when nothing narrows the run. `report` counts `NAME units`, `NAME unchanged`, `NAME findings` and
    `NAME forgotten`; with `plan` it counts `NAME units to do` and nothing is written. A unit that fails is
    reported, keeps what was found before, and the run goes on. `progress(enricher, done, total)` is called after
    each unit. Raises UsageError for an unknown name in `only`. The caller holds `home.writing()`.
    """
    scope = scope or Scope()
    enrichers = in_order(_loaded(only, report), installed=registry.names("enrichers"))
    with HomeLake(home) as lake:
        for enricher in enrichers:
            started = time.monotonic()
            _run(enricher, lake, home.store, scope, plan, report, progress)
            report.seconds[enricher.name] = time.monotonic() - started


class HomeLake:
    """The `Lake` of a home: its whole catalog, the findings and evidence of its store, the rows of its sources.

    What was read of the store is kept until `refresh()`, which the run calls after each enricher.
    """

    def __init__(self, home: Home) -> None:
        settings = home.settings
        self._store = home.store
        self._assets = {asset.urn: asset for asset in home.catalog.assets()}
        self._settings = {k: v for k, v in settings.model_dump().items() if k not in ("sources", "catalog")}
        self._settings["cache_dir"] = str(home.cache_dir)
        self._rows = Engine(home.sources(), max_rows=settings.max_rows, timeout_s=settings.query_timeout_s)
        self._findings: dict[str, dict[str, list[Finding]]] = {}
        self._evidence: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> HomeLake:
        return self

    def __exit__(self, *_: object) -> None:
        self._rows.close()

    @property
    def assets(self) -> Mapping[str, Asset]:
        return self._assets

    @property
    def rows(self) -> Engine:
        return self._rows

    @property
    def settings(self) -> Mapping[str, Any]:
        return self._settings

    def findings(self, kind: str, urn: str | None = None) -> Sequence[Finding]:
        held = self._findings.get(kind)
        if held is None:
            held = self._findings[kind] = {}
            for finding in self._store.findings([kind]):
                held.setdefault(finding.urn, []).append(finding)
        if urn is not None:
            return held.get(urn, ())
        return [finding for found in held.values() for finding in found]

    def evidence(self, urn: str, name: str) -> Any:
        if name not in self._evidence:
            self._evidence[name] = self._store.all_evidence(name)
        return self._evidence[name].get(urn)

    def mark(self, asset: Asset) -> str:
        return self._rows.mark(asset)

    def refresh(self) -> None:
        self._findings.clear()
        self._evidence.clear()


def in_order(enrichers: Iterable[Enricher], *, installed: Iterable[str] = ()) -> list[Enricher]:
    """Each enricher after those it names in `after`; else in the order given.

    Raises SufficeError when one names an enricher that is neither here nor `installed`, or when they wait for each
    other.
    """
    waiting = list(enrichers)
    known = {enricher.name for enricher in waiting} | set(installed)
    for enricher in waiting:
        unknown = [name for name in enricher.after if name not in known]
        if unknown:
            raise SufficeError(
                f"enricher '{enricher.name}' comes after '{unknown[0]}', which is not installed",
                mend=f"install it, or correct `after` of '{enricher.name}'",
            )
    ordered: list[Enricher] = []
    while waiting:
        pending = {enricher.name for enricher in waiting}
        ready = next((enricher for enricher in waiting if not pending & set(enricher.after)), None)
        if ready is None:
            names = ", ".join(f"'{name}'" for name in sorted(pending))
            raise SufficeError(f"the enrichers {names} wait for each other", mend="correct their `after`")
        ordered.append(ready)
        waiting.remove(ready)
    return ordered


def _loaded(only: Sequence[str] | None, report: Report) -> list[Enricher]:
    """The enrichers asked for. One that cannot be loaded ends the run if it was named, else it is reported."""
    loaded = []
    for name in only or registry.names("enrichers"):
        try:
            loaded.append(registry.load("enrichers", name)())
        except Exception as error:
            if only and isinstance(error, SufficeError):
                raise
            report.fail(f"enricher '{name}'", _said(error))
    return loaded


def _run(
    enricher: Enricher,
    lake: HomeLake,
    store: LocalStore,
    scope: Scope,
    plan: bool,
    report: Report,
    progress: Progress | None,
) -> None:
    name = enricher.name
    try:
        units = list(enricher.units(lake))
    except Exception as error:
        report.fail(f"enricher '{name}'", _said(error))
        return
    done_with = store.unit_inputs(name)
    wanted = [u for u in units if any(scope.admits_asset(lake.assets[urn]) for urn in u.urns if urn in lake.assets)]
    due = [unit for unit in wanted if done_with.get(unit.key) != unit.inputs]
    if plan:
        report.count(f"{name} units to do", len(due))
        return
    report.count(f"{name} unchanged", len(wanted) - len(due))
    _work(enricher, due, lake, store, report, progress)
    if not scope.globs:
        forgotten = store.forget_units(name, [unit.key for unit in units])
        if forgotten:
            report.count(f"{name} forgotten", forgotten)
    lake.refresh()


def _work(
    enricher: Enricher,
    due: Sequence[Unit],
    lake: HomeLake,
    store: LocalStore,
    report: Report,
    progress: Progress | None,
) -> None:
    """Do the units and store them in batches: a crash loses at most two seconds of work, and no unit is half stored."""
    name, pending, stored_at = enricher.name, list[tuple[Unit, UnitResult]](), time.monotonic()

    def flush() -> None:
        if pending:
            report.count(f"{name} units", len(pending))
            report.count(f"{name} findings", store.replace_many(name, enricher.version, pending))
            pending.clear()

    try:
        for i, unit in enumerate(due, start=1):
            try:
                result = enricher.enrich(unit, lake)
            except Exception as error:
                report.fail(f"{name}: {_subject(unit, lake)}", _said(error))
            else:
                pending.append((unit, result))
                for note in result.notes:
                    report.warn(note, _subject(unit, lake))
            if len(pending) >= _BATCH_UNITS or time.monotonic() - stored_at > _BATCH_S:
                flush()
                stored_at = time.monotonic()
            if progress is not None:
                progress(name, i, len(due))
    finally:
        flush()


def _subject(unit: Unit, lake: HomeLake) -> str:
    asset = lake.assets.get(unit.urns[0]) if len(unit.urns) == 1 else None
    return asset.path if asset else unit.key


def _said(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0]
    return text if isinstance(error, SufficeError) else f"{type(error).__name__}: {text}"
