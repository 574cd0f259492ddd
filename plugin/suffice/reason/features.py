"""The few figures by which a candidate set is judged. Each has a reason that holds on any lake; none knows a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.reason.candidates import Candidates
from suffice.reason.demands import VALUE_WEIGHT, Demands
from suffice.reason.grounding import Grounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FEATURES", "features"]

_LOSS = 0.05
"""Coverage below which a table adds nothing of its own."""


def _pad(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([matrix, np.zeros((len(matrix), 1))], axis=1)


def _best(matrix: NDArray[np.float64], members: NDArray[np.intp]) -> NDArray[np.float64]:
    """(rows, sets): the best member's entry."""
    if not len(matrix):
        return np.zeros((0, len(members)))
    return np.asarray(_pad(matrix)[:, members].max(axis=2))


def features(g: Grounding, c: Candidates, demands: Demands) -> dict[str, NDArray[np.float64]]:
    """Each figure as an array over the sets; `FEATURES` are those that the score weighs."""
    m, size = c.members, c.size.astype(float)
    w = g.weight
    told = w * ~g.generic
    f: dict[str, NDArray[np.float64]] = {}
    knowledge = g.nodes.knowledge
    covered, lexical = _best(g.covered, m), _best(g.lexical, m)
    f["covered"] = told @ covered
    f["by_meaning"] = told @ _best(g.by_meaning, m)
    f["by_name_meaning"] = told @ _best(g.by_name_meaning, m)
    f["unsaid"] = told @ (lexical < 0.2)
    f["said"] = told @ lexical
    f["worst"] = (told[:, None] * (1 - lexical)).max(axis=0, initial=0.0)
    said_by_source = _best(g.by_source, m)
    f["by_source"] = told @ said_by_source
    f["only_source"] = told @ (said_by_source * (lexical < 0.2))
    f["generic"] = (w * g.generic) @ _best(np.maximum(g.by_column, g.by_name), m)
    f["values"] = _best(g.value, m).sum(axis=0)
    f["values_lost"] = g.value_strength @ (_best(g.value, m) <= 0) if len(g.value) else np.zeros(len(m))
    f["together"] = g.together_weight @ _best(g.together, m) if len(g.together) else np.zeros(len(m))
    present = m >= 0
    like, near, named = (np.append(v, 0.0)[m] for v in (g.likeness, g.best_column, g.named))
    f["likeness_mean"] = (like * present).sum(1) / size
    f["likeness_best"] = np.where(present, like, -9).max(1)
    f["near_mean"] = (near * present).sum(1) / size
    f["named_mean"] = (named * present).sum(1) / size
    f["named_sum"] = (named * present).sum(1)
    vectors = np.concatenate([knowledge.table_vectors[g.nodes.first], np.zeros((1, knowledge.table_vectors.shape[1]))])
    mean = vectors[m].sum(1) / size[:, None]
    norm = np.maximum(1e-9, np.linalg.norm(mean, axis=1))
    f["mean_likeness"] = ((mean @ g.task_vector) / norm).astype(np.float64)
    f["size"] = size
    f["size2"] = size**2
    f["apart"] = c.pieces.astype(np.float64) - 1
    f.update(_needed(g, c, demands, told))
    return f


def _needed(g: Grounding, c: Candidates, demands: Demands, told: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """How many members add nothing that no other says, with and without a part in the connection."""
    m = c.members
    present = m >= 0
    pairs = g.together * g.together_weight[:, None]
    lexical = np.concatenate([g.lexical * told[:, None], g.value * VALUE_WEIGHT, pairs])
    own, own_lexical = _own(_pad(demands.met)[:, m]), _own(_pad(lexical)[:, m])
    scale = max(1.0, float(told.sum()))
    idle = present & (own / scale < _LOSS)
    many = c.size > 1
    return {
        "idle": (idle & ~c.bridge).sum(1) * many,
        "idle_bridge": (idle & c.bridge).sum(1) * 1.0,
        "idle_said": (present & (own_lexical / scale < _LOSS) & ~c.bridge).sum(1) * many,
    }


def _own(held: NDArray[np.float64]) -> NDArray[np.float64]:
    """(sets, members): what the best member of each row has over the second best, summed over rows."""
    if not held.size:
        return np.zeros(held.shape[1:])
    if held.shape[2] == 1:
        return np.asarray(held.sum(axis=0))
    ordered = np.sort(held, axis=2)
    lead = ordered[:, :, -1] - ordered[:, :, -2]
    best = held.argmax(axis=2)
    own = np.zeros(held.shape[1:])
    for k in range(held.shape[2]):
        own[:, k] = np.where(best == k, lead, 0.0).sum(axis=0)
    return own


FEATURES = (
    "by_meaning", "by_name_meaning", "unsaid", "generic", "values_lost", "together", "likeness_mean",
    "likeness_best", "mean_likeness", "near_mean", "named_mean", "named_sum", "size", "size2", "apart",
    "idle", "idle_bridge", "idle_said", "only_source",
)  # fmt: skip
"""Those that the score weighs; ablation on held-out sources left no other that helps."""
