"""The site's own store: findings and their decisions, work done, evidence kept aside, where rows are, past runs.

It is local whichever the catalog; a catalog receives only what is published.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from suffice.catalogs import tables as t
from suffice.extend import Unit, UnitResult
from suffice.model import Finding, SourceRef, digest

__all__ = ["LocalStore", "unit_id"]

_DECIDED = ("accepted", "edited", "rejected")
_COLUMNS = ("id", "urn", "kind", "column", "subject", "value", "numbers", "query", "enricher", "version", "inputs",
            "confidence", "fact", "status", "unit")  # fmt: skip


def unit_id(enricher: str, key: str) -> str:
    return digest(enricher, key)


class LocalStore:
    """Findings, evidence, units, sources and runs on the engine that `tables.connect` gave."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    # findings

    def findings(
        self, kinds: Sequence[str] | None = None, urns: Sequence[str] | None = None, *, in_force: bool = True
    ) -> list[Finding]:
        """Findings by kind and asset, ordered by asset, kind, column and subject."""
        f = t.findings
        query = sa.select(*[f.c[name] for name in _COLUMNS[1:-1]])
        if kinds is not None:
            query = query.where(f.c.kind.in_(kinds))
        if urns is not None:
            query = query.where(f.c.urn.in_(urns))
        if in_force:
            query = query.where(f.c.status.not_in(("rejected", "expired")))
        with self.engine.connect() as connection:
            rows = connection.execute(query.order_by(f.c.urn, f.c.kind, f.c.column, f.c.subject)).mappings()
            return [Finding(**row) for row in rows]

    def replace(self, enricher: str, version: str, unit: Unit, result: UnitResult) -> int:
        """Store what a unit found, in one transaction: what it no longer finds expires, a person's decision stands.

        A rejected finding stays rejected until its inputs change; an edited one is never overwritten. Returns how
        many findings are in force after it.
        """
        return self.replace_many(enricher, version, [(unit, result)])

    def replace_many(self, enricher: str, version: str, done: Sequence[tuple[Unit, UnitResult]]) -> int:
        """`replace` for several units of one enricher in one transaction: all of them are stored, or none."""
        with t.batch(self.engine) as connection:
            for unit, result in done:
                self._replace(connection, enricher, version, unit, result)
        return sum(len({finding.id for finding in result.findings}) for _, result in done)

    def _replace(self, connection: sa.Connection, enricher: str, version: str, unit: Unit, result: UnitResult) -> None:
        f, e, u = t.findings, t.evidence, t.units
        uid = unit_id(enricher, unit.key)
        held = {
            row.id: row
            for row in connection.execute(sa.select(f.c.id, f.c.status, f.c.inputs, f.c.fact).where(f.c.unit == uid))
        }
        fresh = {finding.id: finding for finding in result.findings}
        rows = []
        for key, finding in fresh.items():
            status, before = finding.status, held.get(key)
            if before is not None and before.status in _DECIDED and not before.fact:
                if before.status != "rejected" or before.inputs == unit.inputs:
                    continue
            elif before is not None and before.status == "rejected" and before.inputs == unit.inputs:
                continue
            rows.append(_row(finding, enricher, version, unit.inputs, status, uid))
        gone = [key for key, row in held.items() if key not in fresh and (row.fact or row.status not in _DECIDED)]
        stale = gone + [str(row["id"]) for row in rows]
        for start in range(0, len(stale), 400):
            connection.execute(sa.delete(f).where(f.c.id.in_(stale[start : start + 400])))
        if rows:
            connection.execute(sa.insert(f), rows)
        connection.execute(sa.delete(e).where(e.c.unit == uid))
        if result.evidence:
            kept = [{"urn": a, "name": n, "value": v, "unit": uid} for (a, n), v in result.evidence.items()]
            for item in kept:
                connection.execute(sa.delete(e).where(e.c.urn == item["urn"], e.c.name == item["name"]))
            connection.execute(sa.insert(e), kept)
        connection.execute(sa.delete(u).where(u.c.id == uid))
        known = {"id": uid, "enricher": enricher, "key": unit.key, "inputs": unit.inputs, "done_at": time.time()}
        connection.execute(sa.insert(u).values(known))

    def forget_units(self, enricher: str, keep: Iterable[str]) -> int:
        """Drop the units of an enricher that exist no more, with their findings and evidence; returns how many."""
        f, e, u = t.findings, t.evidence, t.units
        alive = {unit_id(enricher, key) for key in keep}
        with t.batch(self.engine) as connection:
            known = connection.execute(sa.select(u.c.id).where(u.c.enricher == enricher)).scalars()
            dead = [uid for uid in known if uid not in alive]
            for start in range(0, len(dead), 400):
                part = dead[start : start + 400]
                connection.execute(sa.delete(f).where(f.c.unit.in_(part)))
                connection.execute(sa.delete(e).where(e.c.unit.in_(part)))
                connection.execute(sa.delete(u).where(u.c.id.in_(part)))
        return len(dead)

    def unit_inputs(self, enricher: str) -> dict[str, str]:
        """The inputs that each unit of an enricher was last done with, by unit key."""
        u = t.units
        with self.engine.connect() as connection:
            rows = connection.execute(sa.select(u.c.key, u.c.inputs).where(u.c.enricher == enricher))
            return {row.key: row.inputs for row in rows}

    # evidence

    def evidence(self, urn: str, name: str) -> Any:
        e = t.evidence
        with self.engine.connect() as connection:
            return connection.execute(sa.select(e.c.value).where(e.c.urn == urn, e.c.name == name)).scalar_one_or_none()

    def all_evidence(self, name: str) -> dict[str, Any]:
        """Every asset's value kept under `name`, by urn."""
        e = t.evidence
        with self.engine.connect() as connection:
            return {r.urn: r.value for r in connection.execute(sa.select(e.c.urn, e.c.value).where(e.c.name == name))}

    def mark(self) -> str:
        """Changes whenever an aspect, a finding, a decision or evidence may have changed; one cheap query."""
        a, f, u = t.aspects, t.findings, t.units
        with self.engine.connect() as connection:
            held = [
                *connection.execute(sa.select(sa.func.count(), sa.func.max(a.c.created_at), sa.func.sum(a.c.version))),
                *connection.execute(sa.select(sa.func.count(), sa.func.max(u.c.done_at))),
                *connection.execute(sa.select(f.c.status, sa.func.count()).group_by(f.c.status).order_by(f.c.status)),
            ]
        return digest([list(row) for row in held])

    # sources and runs

    def sources(self) -> dict[str, SourceRef]:
        s = t.sources
        with self.engine.connect() as connection:
            rows = connection.execute(sa.select(s.c.name, s.c.kind, s.c.location, s.c.platform).order_by(s.c.name))
            return {row.name: SourceRef(row.name, row.kind, row.location, row.platform) for row in rows}

    def put_source(self, ref: SourceRef) -> None:
        s = t.sources
        with t.batch(self.engine) as connection:
            connection.execute(sa.delete(s).where(s.c.name == ref.name))
            connection.execute(
                sa.insert(s).values(
                    name=ref.name,
                    kind=ref.kind,
                    location=ref.location,
                    platform=ref.platform,
                    ingested_at=time.time(),
                )
            )

    def put_run(self, run_id: str, command: str, started_at: float, report: Mapping[str, Any]) -> None:
        with t.batch(self.engine) as connection:
            connection.execute(
                sa.insert(t.runs).values(id=run_id, command=command, started_at=started_at, report=dict(report))
            )


def _row(finding: Finding, enricher: str, version: str, inputs: str, status: str, uid: str) -> dict[str, Any]:
    row = {name: getattr(finding, name) for name in _COLUMNS[:-1]}
    row.update(
        numbers=dict(finding.numbers), enricher=enricher, version=version, inputs=inputs, status=status, unit=uid
    )
    return row
