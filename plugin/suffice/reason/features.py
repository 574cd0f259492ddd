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
    return _pad(matrix)[:, members].max(axis=2)


def features(g: Grounding, c: Candidates, demands: Demands) -> dict[str, NDArray[np.float64]]:
    """Each figure as an array over the sets."""
    m, size = c.members, c.size.astype(float)
    w = g.weight
    told = w * ~g.generic
    f: dict[str, NDArray[np.float64]] = {}
    knowledge = g.nodes.knowledge
    column, name, meaning = _best(g.by_column, m), _best(g.by_name, m), _best(g.by_meaning, m)
    value_terms, covered, lexical = _best(g.by_value, m), _best(g.covered, m), _best(g.lexical, m)
    f["covered"] = told @ covered
    f["by_column"] = told @ column
    f["by_name"] = told @ name
    f["by_value"] = told @ value_terms
    f["by_meaning"] = told @ meaning
    f["by_name_meaning"] = told @ _best(g.by_name_meaning, m)
    f["uncovered"] = told @ (covered < 0.2)
    f["unsaid"] = told @ (lexical < 0.2)
    said_by_source = _best(g.by_source, m)
    f["by_source"] = told @ said_by_source
    f["only_source"] = told @ (said_by_source * (lexical < 0.2))
    f["generic"] = (w * g.generic) @ _best(np.maximum(g.by_column, g.by_name), m)
    f["values"] = _best(g.value, m).sum(axis=0)
    f["values_lost"] = g.value_strength @ (_best(g.value, m) <= 0) if len(g.value) else np.zeros(len(m))
    f["together"] = g.together_weight @ _best(g.together, m) if len(g.together) else np.zeros(len(m))
    present = m >= 0
    each = lambda v: np.append(v, 0.0)[m]  # noqa: E731
    like, near, named = each(g.likeness), each(g.best_column), each(g.named)
    f["likeness_mean"] = (like * present).sum(1) / size
    f["likeness_least"] = np.where(present, like, 9).min(1)
    f["likeness_best"] = np.where(present, like, -9).max(1)
    f["near_mean"] = (near * present).sum(1) / size
    f["near_least"] = np.where(present, near, 9).min(1)
    f["named_mean"] = (named * present).sum(1) / size
    f["named_least"] = np.where(present, named, 9).min(1)
    f["named_sum"] = (named * present).sum(1)
    vectors = np.concatenate([knowledge.table_vectors[g.nodes.first], np.zeros((1, knowledge.table_vectors.shape[1]))])
    mean = vectors[m].sum(1) / size[:, None]
    f["mean_likeness"] = (mean @ g.task_vector) / np.maximum(1e-9, np.linalg.norm(mean, axis=1))
    f["size"] = size
    f["size2"] = size**2
    f["apart"] = c.pieces - 1.0
    f.update(_needed(g, c, demands, told))
    f.update(_apart(g, c))
    f["left_named"] = _left(g, c)
    f["keys"] = _links(g, c)
    f["hollow"] = (each(np.array([float(knowledge.tables[t].hollow) for t in g.nodes.first])) * present).sum(1)
    f["columns"] = (each(np.array([np.log1p(len(knowledge.tables[t].columns)) for t in g.nodes.first])) * present).sum(1)
    return f


def _needed(g: Grounding, c: Candidates, demands: Demands, told: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """What each member adds that no other does: the least and the mean, and how many add nothing and connect nothing."""
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
        "own_least": np.where(many, np.where(present, own, np.inf).min(1), 0.0),
        "own_sum": np.where(many, np.minimum(np.where(present, own, 0.0), 5.0).sum(1), 0.0),
    }


def _own(held: NDArray[np.float64]) -> NDArray[np.float64]:
    """(sets, members): what the best member of each row has over the second best, summed over rows."""
    if not held.size:
        return np.zeros(held.shape[1:])
    if held.shape[2] == 1:
        return held.sum(axis=0)
    ordered = np.sort(held, axis=2)
    lead = ordered[:, :, -1] - ordered[:, :, -2]
    best = held.argmax(axis=2)
    own = np.zeros(held.shape[1:])
    for k in range(held.shape[2]):
        own[:, k] = np.where(best == k, lead, 0.0).sum(axis=0)
    return own


def _apart(g: Grounding, c: Candidates) -> dict[str, NDArray[np.float64]]:
    """Of sets in two pieces: whether one more table would connect them, and whether both sides say the same things."""
    gap, parallel = np.zeros(len(c)), np.zeros(len(c))
    said = np.maximum(g.by_column, g.by_value) * g.weight[:, None] if len(g.weight) else np.zeros((0, len(g.nodes)))
    for i in np.flatnonzero(c.pieces > 1):
        a, b = c.members[i, :2]
        gap[i] = bool(g.nodes.neighbours[a] & g.nodes.neighbours[b])
        one, two = said[:, c.members[i, 0]], said[:, c.members[i, 1]]
        parallel[i] = np.minimum(one, two).sum()
    return {"apart_gap": gap, "apart_parallel": parallel}


def _left(g: Grounding, c: Candidates) -> NDArray[np.float64]:
    """How many tables of the same source, named in full by the task, the set leaves out."""
    sources = g.nodes.source
    full = (g.named > 0.99).astype(float)
    total = np.zeros(int(sources.max()) + 1 if len(sources) else 1)
    np.add.at(total, sources, full)
    inside = np.append(full, 0.0)[c.members].sum(1)
    return total[c.source] - inside


def _links(g: Grounding, c: Candidates) -> NDArray[np.float64]:
    """Joins within the set beyond those that connect it."""
    found = np.zeros(len(c))
    for i in np.flatnonzero(c.size > 2):
        inside = frozenset(int(j) for j in c.members[i] if j >= 0)
        pairs = sum(len(g.nodes.neighbours[j] & inside) for j in inside) // 2
        found[i] = max(0, pairs - len(inside) + 1)
    return found


FEATURES = (
    "covered", "by_column", "by_name", "by_value", "by_meaning", "uncovered", "unsaid", "generic", "values", "values_lost", "together",
    "likeness_mean", "likeness_least", "likeness_best", "near_mean", "near_least", "named_mean", "named_least", "named_sum", "mean_likeness",
    "size", "size2", "apart", "apart_gap", "apart_parallel", "by_name_meaning", "by_source", "only_source", "idle", "idle_bridge", "idle_said", "own_least", "own_sum", "left_named", "keys", "hollow", "columns",
)  # fmt: skip
