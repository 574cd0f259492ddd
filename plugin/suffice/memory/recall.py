"""The memories nearest to a task, and which of them are held back because what they name has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.memory.model import Memory
from suffice.memory.store import MemoryStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.catalogs.home import Home
    from suffice.model import Asset

__all__ = ["Recall", "Recalled", "held_back"]

NEAREST = 5
_DEGRADED = ("subset_of", "duplicate_rows", "missing_values", "broken_reference", "superseded")


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory with the cosine of its intent and the task; `held_back` says why it must not act, "" when it may."""

    memory: Memory
    similarity: float
    held_back: str


class Recall:
    """The memories of a home as one matrix; read once."""

    def __init__(self, home: Home, embedder: str) -> None:
        store = MemoryStore(home.catalog)
        ids, vectors = store.vectors(embedder)
        known = {memory.id: memory for memory in store.all()}
        kept = [i for i, each in enumerate(ids) if each in known]
        self._memories = [known[ids[i]] for i in kept]
        self._vectors = vectors[kept] if kept else vectors
        if self._memories:
            urns = sorted({urn for memory in self._memories for urn in memory.urns})
            assets = {urn: home.catalog.asset(urn) for urn in urns}
            tags = {f.urn: f.kind for f in home.store.findings(list(_DEGRADED), urns)}
            self._why = {memory.id: held_back(memory, assets, tags) for memory in self._memories}

    def __len__(self) -> int:
        return len(self._memories)

    def nearest(self, vector: NDArray[np.float32], k: int = NEAREST) -> list[Recalled]:
        """At most `k` memories, the most similar first; those held back are among them."""
        if not self._memories:
            return []
        similar = self._vectors @ vector
        best = np.argsort(-similar, kind="stable")[:k]
        return [
            Recalled(memory, float(similar[i]), self._why[memory.id])
            for i, memory in ((int(i), self._memories[i]) for i in best)
        ]


def held_back(memory: Memory, assets: Mapping[str, Asset | None], tags: Mapping[str, str]) -> str:
    """Why a memory must not act: a table is gone, has another schema than when it was learned, or got a defect."""
    for each in memory.objects:
        asset = assets.get(each.urn)
        if asset is None:
            return f"a table is gone: {each.urn}"
        if each.fingerprint and each.fingerprint != asset.schema_digest:
            return f"the schema of {asset.path} has changed"
        if each.urn in tags:
            return f"{asset.path} is tagged {tags[each.urn]}"
    return ""
