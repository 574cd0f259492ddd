"""The embedded catalog: real DataHub aspects, one row a (urn, aspect, version), in SQLite or PostgreSQL.

Reading needs no DataHub package: aspects are kept as the JSON that DataHub writes, and an `Asset` is read from it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from suffice.catalogs import tables as t
from suffice.catalogs.aspects import ASSET_ASPECTS, VOLATILE, asset_from_aspects
from suffice.model import Asset, Scope, digest

__all__ = ["LocalCatalog"]

_CHUNK = 400


class LocalCatalog:
    """A `Catalog` on a SQLAlchemy engine that `tables.connect` gave."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    def assets(self, scope: Scope | None = None) -> Iterator[Asset]:
        """Every dataset that is not soft-deleted and lies in `scope`, by urn; memory stays flat."""
        a = t.aspects
        query = (
            sa.select(a.c.urn, a.c.aspect, a.c.value)
            .where(a.c.version == 0, a.c.aspect.in_(ASSET_ASPECTS), a.c.urn.like("urn:li:dataset:%"))
            .order_by(a.c.urn)
        )
        with self.engine.connect().execution_options(stream_results=True, yield_per=1000) as connection:
            urn, held = "", dict[str, Any]()
            for row in connection.execute(query):
                if row.urn != urn:
                    yield from _admitted(urn, held, scope)
                    urn, held = row.urn, {}
                held[row.aspect] = row.value
            yield from _admitted(urn, held, scope)

    def asset(self, urn: str) -> Asset | None:
        return next(iter(_admitted(urn, self.aspects(urn), None)), None)

    def aspects(self, urn: str) -> Mapping[str, Any]:
        """The latest value of every aspect of `urn`, by name; empty when the catalog does not know it."""
        a = t.aspects
        with self.engine.connect() as connection:
            rows = connection.execute(sa.select(a.c.aspect, a.c.value).where(a.c.urn == urn, a.c.version == 0))
            return {row.aspect: row.value for row in rows}

    def live_urns(self, prefix: str) -> list[str]:
        """Urns that start with `prefix`, have a schema and are not soft-deleted."""
        a = t.aspects
        here = sa.and_(a.c.version == 0, a.c.urn.startswith(prefix, autoescape=True))
        with self.engine.connect() as connection:
            marks = connection.execute(sa.select(a.c.urn, a.c.value).where(here, a.c.aspect == "status"))
            removed = {row.urn for row in marks if row.value.get("removed")}
            known = connection.execute(sa.select(a.c.urn).where(here, a.c.aspect == "schemaMetadata").order_by(a.c.urn))
            return [urn for urn in known.scalars() if urn not in removed]

    def put(self, urn: str, aspect: str, value: Mapping[str, Any]) -> bool:
        return self.put_many([(urn, aspect, value)]) == 1

    def put_many(self, items: Iterable[tuple[str, str, Mapping[str, Any]]], *, run_id: str = "") -> int:
        """Upsert aspects in one transaction; returns how many differed from what was held.

        The latest is version 0; the value it replaces is kept as the next higher version. An unchanged one writes
        nothing: run ids, time stamps and the like (`VOLATILE`) are no change.
        """
        with t.batch(self.engine) as connection:
            return self.put_within(connection, items, run_id=run_id)

    def put_within(
        self, connection: sa.Connection, items: Iterable[tuple[str, str, Mapping[str, Any]]], *, run_id: str = ""
    ) -> int:
        """`put_many` as a part of the caller's transaction."""
        latest = {(urn, aspect): value for urn, aspect, value in items}
        a, now, fresh = t.aspects, time.time(), list[dict[str, Any]]()
        held = self._digests(connection, latest)
        for (urn, aspect), value in latest.items():
            mark = digest(_stable({k: v for k, v in value.items() if k not in VOLATILE}))
            before = held.get((urn, aspect))
            if before == mark:
                continue
            if before is not None:
                top = sa.select(sa.func.max(a.c.version)).where(a.c.urn == urn, a.c.aspect == aspect)
                here = sa.and_(a.c.urn == urn, a.c.aspect == aspect, a.c.version == 0)
                version = (connection.execute(top).scalar_one() or 0) + 1
                connection.execute(sa.update(a).where(here).values(version=version))
            row = {"urn": urn, "aspect": aspect, "version": 0, "value": dict(value), "digest": mark}
            fresh.append({**row, "created_at": now, "run_id": run_id})
        if fresh:
            connection.execute(sa.insert(a), fresh)
        return len(fresh)

    def _digests(self, connection: sa.Connection, wanted: Mapping[tuple[str, str], Any]) -> dict[tuple[str, str], str]:
        a, urns = t.aspects, sorted({urn for urn, _ in wanted})
        found: dict[tuple[str, str], str] = {}
        for start in range(0, len(urns), _CHUNK):
            part = urns[start : start + _CHUNK]
            rows = connection.execute(
                sa.select(a.c.urn, a.c.aspect, a.c.digest).where(a.c.urn.in_(part), a.c.version == 0)
            )
            found.update({(row.urn, row.aspect): row.digest for row in rows})
        return found


def _stable(value: Any) -> Any:
    """A value without the audit stamps in it; a plain text under such a name (a custom property, say) stays."""
    if isinstance(value, Mapping):
        return {k: _stable(v) for k, v in value.items() if k not in VOLATILE or not isinstance(v, Mapping)}
    return [_stable(v) for v in value] if isinstance(value, list) else value


def _admitted(urn: str, held: Mapping[str, Any], scope: Scope | None) -> Iterator[Asset]:
    if "schemaMetadata" not in held or held.get("status", {}).get("removed"):
        return
    asset = asset_from_aspects(urn, held)
    if scope is None or scope.admits_asset(asset):
        yield asset
