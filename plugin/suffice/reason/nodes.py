"""What is chosen among: tables in scope without their copies, a family of shards counting as one.

A copy gives way to the table to use instead; shards without a base are one node until the end, when the task says which
of them it needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.reason.knowledge import Knowledge

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Nodes", "nodes_of"]


@dataclass(frozen=True)
class Nodes:
    """`members[i]` are the table numbers of node i, its first the one that stands for it; `replaced` maps tables that
    gave way to the table in their place."""

    members: tuple[tuple[int, ...], ...]
    replaced: Mapping[int, int]
    knowledge: Knowledge

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def first(self) -> NDArray[np.intp]:
        return np.array([m[0] for m in self.members], dtype=np.intp)

    @cached_property
    def of(self) -> Mapping[int, int]:
        """Node of each table number."""
        return {table: i for i, tables in enumerate(self.members) for table in tables}

    @cached_property
    def source(self) -> NDArray[np.intp]:
        return np.asarray(self.knowledge.source_of[self.first], dtype=np.intp)

    @cached_property
    def neighbours(self) -> tuple[frozenset[int], ...]:
        """Nodes that a join connects with each node."""
        near = self.knowledge.neighbours
        return tuple(
            frozenset(self.of[t] for m in tables for t in near.get(m, frozenset()) if t in self.of) - {i}
            for i, tables in enumerate(self.members)
        )

    def gather(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """A matrix over tables (last axis) as one over nodes: the best of a family's members."""
        found = matrix[..., self.first]
        for i, tables in enumerate(self.members):
            if len(tables) > 1:
                found[..., i] = matrix[..., list(tables)].max(axis=-1)
        return found


def nodes_of(knowledge: Knowledge, inside: NDArray[np.bool_]) -> Nodes:
    """The nodes among the tables that `inside` marks."""
    kept: list[int] = []
    replaced: dict[int, int] = {}
    for table in knowledge.tables:
        if not inside[table.number]:
            continue
        if table.use != table.number and inside[table.use]:
            replaced[table.number] = table.use
        else:
            kept.append(table.number)
    families: dict[str, list[int]] = defaultdict(list)
    for number in kept:
        family = knowledge.tables[number].family
        if family is not None and _shards(knowledge, number) and (family.base is None or not inside[family.base]):
            families[family.id].append(number)
    grouped = {n for tables in families.values() if len(tables) > 1 for n in tables}
    members: list[tuple[int, ...]] = [(n,) for n in kept if n not in grouped]
    members += [tuple(tables) for tables in families.values() if len(tables) > 1]
    return Nodes(tuple(sorted(members)), replaced, knowledge)


def _shards(knowledge: Knowledge, number: int) -> bool:
    """Whether a family is one dataset in parts: a shard value, or a name in common, tells them apart."""
    table = knowledge.tables[number]
    family = table.family
    if family is None or table.hollow:
        return False
    return family.kind == "partition" or table.shard is not None or bool(family.stem)
