"""Memories as a part of the choice: their sets join the candidates first, then a gate says how far each may lift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from suffice.memory.gate import Evidence, judge
from suffice.memory.recall import Recalled
from suffice.reason.candidates import LARGEST, Candidates
from suffice.reason.nodes import Nodes
from suffice.reason.score import Choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MODES", "Mode", "Remembered", "remembered_sets"]

Mode = Literal["off", "push", "pull", "after-look"]
MODES: tuple[Mode, ...] = ("off", "push", "pull", "after-look")
_PUSHED = 4.0
"""Lift of a memory that is pushed without a gate, at a cosine of 1; nothing at a cosine of .5."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memories near a task that this scope can use, each with the nodes of its tables.

    `mode` is `push` (no gate), or any other but `off`: gated. `told` collects what became of each.
    """

    mode: Mode
    recalled: Sequence[Recalled]
    sets: Sequence[tuple[int, ...]]
    told: list[dict[str, Any]] = field(default_factory=list)

    def lift(
        self,
        candidates: Candidates,
        choice: Choice,
        score: NDArray[np.float64],
        figures: Mapping[str, NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """(sets,): what memory adds to each score."""
        total = np.zeros(len(candidates))
        places = {tuple(sorted(int(i) for i in row if i >= 0)): k for k, row in enumerate(candidates.members)}
        for n, (recalled, nodes) in enumerate(zip(self.recalled, self.sets, strict=True)):
            lift, why = self._judged(n, places.get(nodes), choice, score, figures)
            if lift:
                total = np.maximum(total, lift * _agreement(candidates, nodes))
            self.told.append(
                {
                    "id": recalled.memory.id,
                    "intent": recalled.memory.intent,
                    "similarity": round(recalled.similarity, 3),
                    "provenance": recalled.memory.provenance,
                    "used": bool(lift),
                    "why": why,
                }
            )
        return total

    def _judged(
        self,
        n: int,
        place: int | None,
        choice: Choice,
        score: NDArray[np.float64],
        figures: Mapping[str, NDArray[np.float64]],
    ) -> tuple[float, str]:
        recalled, nodes = self.recalled[n], self.sets[n]
        if recalled.held_back:
            return 0.0, recalled.held_back
        if recalled.memory.outcome == "failed":
            return 0.0, "its tables did not answer it"
        if not nodes or place is None:
            return 0.0, "its tables are not in scope"
        if self.mode == "push":
            return _PUSHED * max(0.0, recalled.similarity - 0.5) / 0.5, "pushed"
        if n:
            return 0.0, "a more similar memory comes first"
        rivals = (r.similarity for r, s in zip(self.recalled, self.sets, strict=True) if s and not set(s) & set(nodes))
        best = choice.best
        verdict = judge(
            Evidence(
                similarity=recalled.similarity,
                rival=max(rivals, default=0.0),
                sure=float(choice.probability[best]),
                said=float(figures["said"][place]) / self._told(figures),
                best_said=float(figures["said"][best]) / self._told(figures),
                values_lost=float(figures["values_lost"][place]),
                best_values_lost=float(figures["values_lost"][best]),
                behind=float(score[best] - score[place]),
            )
        )
        return verdict.lift, verdict.why

    @staticmethod
    def _told(figures: Mapping[str, NDArray[np.float64]]) -> float:
        """The weight of all telling words of the task: what is said and what is not."""
        return max(1.0, float((figures["said"] + figures["unsaid"]).max()))


def _agreement(candidates: Candidates, nodes: Sequence[int]) -> NDArray[np.float64]:
    """F1 (0..1) of each candidate set against the remembered one."""
    shared = np.isin(candidates.members, list(nodes)).sum(axis=1)
    return np.asarray(2 * shared / (candidates.size + len(nodes)))


def remembered_sets(recalled: Sequence[Recalled], nodes: Nodes, mode: Mode) -> Remembered:
    """Memories with their tables as nodes in scope; a copy stands for the table to use instead of it."""
    number = nodes.knowledge.number
    sets = []
    for each in recalled:
        tables = [number.get(urn, -1) for urn in each.memory.urns]
        places = {nodes.of.get(nodes.replaced.get(table, table), -1) for table in tables}
        sets.append(() if -1 in places or len(places) > LARGEST else tuple(sorted(places)))
    return Remembered(mode, recalled, sets)
