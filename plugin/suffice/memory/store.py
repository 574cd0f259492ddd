"""Where memories are kept: one row each in the site's store, and as an aspect on every dataset they name.

A memory and its aspects are written in one transaction: there is no half memory.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa

from suffice.catalogs import tables as t
from suffice.errors import UsageError
from suffice.memory.model import OUTCOMES, PROVENANCES, Memory, Object

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.catalogs.local import LocalCatalog

__all__ = ["ASPECT", "IN_ASPECT", "MemoryStore"]

ASPECT = "discoveryMemory"
IN_ASPECT = 20
"""Memories that a dataset's aspect holds, the latest; `total` says how many there are."""


class MemoryStore:
    """Memories on the engine of a local catalog. Two processes may write at once."""

    def __init__(self, catalog: LocalCatalog) -> None:
        self._catalog = catalog
        self._engine = catalog.engine

    def remember(self, memory: Memory, embedder: str, vector: NDArray[np.float32]) -> Memory:
        """Keep a memory; one of the same intent and objects takes the new outcome and provenance. Raises UsageError."""
        if not memory.intent or not memory.objects:
            raise UsageError("a memory needs an intent and a table", mend='suffice remember "TASK" --tables TABLE')
        if memory.outcome not in OUTCOMES or memory.provenance not in PROVENANCES:
            raise UsageError(f"no outcome '{memory.outcome}' or provenance '{memory.provenance}'")
        m, o = t.memories, t.memory_objects
        row = {
            "intent": memory.intent,
            "outcome": memory.outcome,
            "provenance": memory.provenance,
            "note": memory.note,
            "learned_at": memory.learned_at or time.time(),
            "embedder": embedder,
            "vector": np.ascontiguousarray(vector, dtype="<f4").tobytes(),
        }
        with t.batch(self._engine) as connection:
            changed = connection.execute(sa.update(m).where(m.c.id == memory.id).values(**row)).rowcount
            if not changed:
                connection.execute(sa.insert(m).values(id=memory.id, uses=0, **row))
            connection.execute(sa.delete(o).where(o.c.memory == memory.id))
            objects = [
                {"memory": memory.id, "urn": each.urn, "column": each.column, "fingerprint": each.fingerprint}
                for each in memory.objects
            ]
            connection.execute(sa.insert(o), objects)
            self._write_aspects(connection, sorted(memory.urns))
        return memory

    def forget(self, memory_id: str) -> None:
        """Raises UsageError when there is none."""
        m, o = t.memories, t.memory_objects
        with t.batch(self._engine) as connection:
            connection.execute(sa.delete(m).where(m.c.id == memory_id))
            urns = connection.execute(sa.select(o.c.urn).where(o.c.memory == memory_id).distinct()).scalars().all()
            if not urns:
                raise UsageError(f"no memory '{memory_id}'", mend="suffice memory ls lists them")
            connection.execute(sa.delete(o).where(o.c.memory == memory_id))
            self._write_aspects(connection, sorted(urns))

    def confirm(self, memory_id: str) -> Memory:
        """A person says that it is right: provenance `confirmed`. Raises UsageError when there is none."""
        m = t.memories
        with t.batch(self._engine) as connection:
            connection.execute(sa.update(m).where(m.c.id == memory_id).values(provenance="confirmed"))
            held = self._read(connection, [memory_id])
            if not held:
                raise UsageError(f"no memory '{memory_id}'", mend="suffice memory ls lists them")
            self._write_aspects(connection, sorted(held[0].urns))
        return held[0]

    def used(self, memory_ids: Sequence[str]) -> None:
        """Note that these were recalled now and had a part in an answer."""
        m = t.memories
        if memory_ids:
            with t.batch(self._engine) as connection:
                noted = {"uses": m.c.uses + 1, "last_use": time.time()}
                connection.execute(sa.update(m).where(m.c.id.in_(memory_ids)).values(**noted))

    def all(self) -> list[Memory]:
        """Every memory, the latest first."""
        with self._engine.connect() as connection:
            return self._read(connection, None)

    def vectors(self, embedder: str) -> tuple[list[str], NDArray[np.float32]]:
        """Ids and vectors (n, width) of the memories that `embedder` embedded."""
        m = t.memories
        with self._engine.connect() as connection:
            rows = connection.execute(
                sa.select(m.c.id, m.c.vector).where(m.c.embedder == embedder).order_by(m.c.id)
            ).all()
        vectors = [np.frombuffer(row.vector, dtype="<f4") for row in rows]
        return [row.id for row in rows], np.stack(vectors) if vectors else np.zeros((0, 0), dtype=np.float32)

    def _read(self, connection: sa.Connection, ids: Sequence[str] | None) -> list[Memory]:
        m, o = t.memories, t.memory_objects
        wanted = sa.true() if ids is None else m.c.id.in_(ids)
        rows = connection.execute(sa.select(m).where(wanted).order_by(m.c.learned_at.desc(), m.c.id)).all()
        objects: dict[str, list[Object]] = {}
        named = sa.select(o).order_by(o.c.urn, o.c.column)
        for each in connection.execute(named if ids is None else named.where(o.c.memory.in_(ids))):
            objects.setdefault(each.memory, []).append(Object(each.urn, each.column, each.fingerprint))
        return [
            Memory(
                row.intent,
                tuple(objects.get(row.id, ())),
                row.outcome,
                row.provenance,
                row.note,
                row.learned_at,
                row.uses,
                row.last_use,
            )
            for row in rows
        ]

    def _write_aspects(self, connection: sa.Connection, urns: Sequence[str]) -> None:
        o = t.memory_objects
        items = []
        for urn in urns:
            ids = connection.execute(sa.select(o.c.memory).where(o.c.urn == urn).distinct()).scalars().all()
            held = self._read(connection, ids)
            value: dict[str, Any] = {"memories": [dict(m.to_json()) for m in held[:IN_ASPECT]], "total": len(held)}
            items.append((urn, ASPECT, value))
        self._catalog.put_within(connection, items, run_id="memory")
