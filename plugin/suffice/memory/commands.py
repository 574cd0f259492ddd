"""`suffice remember` and `suffice memory`: names to urns, intents to vectors, memories to JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from suffice.catalogs.names import resolve
from suffice.errors import UsageError
from suffice.memory.model import Memory, Object, Outcome, Provenance
from suffice.memory.recall import held_back
from suffice.memory.store import MemoryStore

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.model import Asset

__all__ = ["listed", "remember"]

_DEGRADED = ("subset_of", "duplicate_rows", "missing_values", "broken_reference", "superseded")


def remember(
    home: Home,
    task: str,
    tables: Sequence[str],
    *,
    outcome: str = "worked",
    provenance: str = "confirmed",
    note: str = "",
) -> dict[str, Any]:
    """Keep a memory of `task` with `tables` (`TABLE` or `TABLE#COLUMN`); returns it as `listed` does.

    Raises UsageError without words in the task, UnknownAsset for a table that the catalog does not hold.
    """
    from suffice.index.embed import load_embedder

    intent = Memory.clean(task)
    if not intent:
        raise UsageError("the task is empty", mend="say in words what was to be found out")
    known = list(home.catalog.assets())
    objects = tuple(_object(known, name) for name in dict.fromkeys(tables))
    memory = Memory(intent, objects, cast("Outcome", outcome), cast("Provenance", provenance), Memory.clean(note))
    embedder = load_embedder(home.settings)
    MemoryStore(home.catalog).remember(memory, embedder.name, embedder.embed([intent])[0])
    return next(entry for entry in listed(home) if entry["id"] == memory.id)


def _object(known: Sequence[Asset], name: str) -> Object:
    table, _, column = name.partition("#")
    asset = resolve(known, table)
    if column and asset.column(column) is None:
        some = ", ".join(c.name for c in asset.columns[:8])
        raise UsageError(f"no column '{column}' in {asset.path}", mend=f"it has {some}")
    return Object(asset.urn, column, asset.schema_digest)


def listed(home: Home) -> list[dict[str, Any]]:
    """Every memory as JSON, the latest first: its objects by path, uses, and what holds it back."""
    memories = MemoryStore(home.catalog).all()
    urns = sorted({urn for memory in memories for urn in memory.urns})
    assets = {urn: home.catalog.asset(urn) for urn in urns}
    tags = {f.urn: f.kind for f in home.store.findings(list(_DEGRADED), urns)}
    return [
        {
            "id": memory.id,
            "intent": memory.intent,
            "objects": [_path(each, assets.get(each.urn)) for each in memory.objects],
            "outcome": memory.outcome,
            "provenance": memory.provenance,
            "note": memory.note,
            "learned_at": memory.learned_at,
            "uses": memory.uses,
            "last_use": memory.last_use,
            "held_back": held_back(memory, assets, tags),
        }
        for memory in memories
    ]


def _path(each: Object, asset: Asset | None) -> str:
    name = asset.path if asset is not None else each.urn
    return f"{name}#{each.column}" if each.column else name
