"""The task as a list of demands: each a row of how far every node meets it. A table is needed when a demand is lost
without it, or the connection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.model import RequirementKind
from suffice.reason.grounding import Grounding
from suffice.reason.requirements import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Demand", "Demands", "demands_of"]

VALUE_WEIGHT = 3.0


@dataclass(frozen=True, slots=True)
class Demand:
    """`term` is the number of the term it came from, `span` of the value span; -1 when it did not."""

    text: str
    kind: RequirementKind
    weight: float
    term: int = -1
    span: int = -1
    pair: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Demands:
    """`met[i]` is how far each node meets demand i (0..1), weighed by its weight."""

    items: tuple[Demand, ...]
    met: NDArray[np.float64]


def demands_of(task: Task, g: Grounding) -> Demands:
    """Telling words, values, and pairs of words that belong together."""
    items: list[Demand] = []
    rows: list[NDArray[np.float64]] = []
    covered = g.covered
    inside = {at for v in task.values if v.strength >= 0.6 for at in range(v.first, v.last)}
    for i, term in enumerate(task.terms):
        if not term.generic and not inside.issuperset(term.at):
            items.append(Demand(term.word, _kind(g, i), term.weight, term=i))
            rows.append(covered[i] * term.weight)
    for i, span in enumerate(task.values):
        text = " ".join(t.text for t in task.tokens[span.first : span.last])
        items.append(Demand(text, "value", VALUE_WEIGHT * span.strength, span=i))
        rows.append(g.value[i] * VALUE_WEIGHT)
    for i, (one, two) in enumerate(g.pairs):
        weight = float(g.together_weight[i])
        items.append(Demand(f"{task.terms[one].word} {task.terms[two].word}", "attribute", weight, pair=(one, two)))
        rows.append(g.together[i] * weight)
    met = np.array(rows) if rows else np.zeros((0, len(g.nodes)))
    return Demands(tuple(items), met)


def _kind(g: Grounding, term: int) -> RequirementKind:
    """An entity when the name of a table says it best, else an attribute."""
    return "entity" if g.by_name[term].max(initial=0.0) >= max(0.6, g.by_column[term].max(initial=0.0)) else "attribute"


def own(met: NDArray[np.float64]) -> NDArray[np.float64]:
    """(demands, members) to members: what each has over the best of the others, summed over demands."""
    if not met.size:
        return np.zeros(met.shape[1])
    if met.shape[1] == 1:
        return np.asarray(met.sum(axis=0))
    ordered = np.sort(met, axis=1)
    lead = ordered[:, -1] - ordered[:, -2]
    best = met.argmax(axis=1)
    return np.bincount(best, weights=lead, minlength=met.shape[1]).astype(np.float64)
