"""How good each candidate set is, which one to answer with, and how sure that is.

The weights lie beside this file with the command that fitted them. A set's score is linear in its features; a softmax
over the scores of all candidates gives probabilities; the answer is the set of highest expected F1 under them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from suffice.reason.candidates import Candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Choice", "Weights", "choose", "weights"]

_CONSIDERED = 40
"""Sets whose probability counts when expected F1 is computed; the rest share next to nothing."""


@dataclass(frozen=True, slots=True)
class Weights:
    """`sets` weighs the features of a set; `exact` and `answerable` are logistic models, with the weight of 1 as ""."""

    sets: Mapping[str, float]
    exact: Mapping[str, float]
    answerable: Mapping[str, float]
    fitted: Mapping[str, object]

    @staticmethod
    def from_json(text: str) -> Weights:
        held = json.loads(text)
        return Weights(held["sets"], held["exact"], held["answerable"], held["fitted"])

    def score(self, features: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """(sets,): higher is better; only differences mean something."""
        return np.asarray(sum(weight * features[name] for name, weight in self.sets.items()))


@cache
def weights() -> Weights:
    """The weights that ship."""
    return Weights.from_json((files("suffice.reason") / "weights.json").read_text())


def logistic(model: Mapping[str, float], figures: Mapping[str, float]) -> float:
    """Probability (0..1) that a logistic model gives to named figures.

    >>> logistic({"": 0.0, "x": 1.0}, {"x": 0.0})
    0.5
    """
    told = model.get("", 0.0) + sum(weight * figures[name] for name, weight in model.items() if name)
    return float(1 / (1 + np.exp(-np.clip(told, -30, 30))))


@dataclass(frozen=True, slots=True)
class Choice:
    """`best` is the number of the chosen set, `expected` its expected F1; `order` is all sets by probability."""

    best: int
    order: NDArray[np.intp]
    probability: NDArray[np.float64]
    expected: float

    def figures(self) -> dict[str, float]:
        """What tells how sure the choice is."""
        first = float(self.probability[self.best])
        second = max((float(self.probability[i]) for i in self.order[:2] if i != self.best), default=0.0)
        return {"p": first, "logit": float(np.log((first + 1e-6) / (1 - first + 1e-6))), "lead": first - second,
                "expected": self.expected}  # fmt: skip


def choose(candidates: Candidates, score: NDArray[np.float64], tables: NDArray[np.float64]) -> Choice:
    """The set whose F1 against the others, weighed by their probabilities, is highest. There is at least one set.

    `tables` counts the tables that each node stands for.
    """
    raised = np.exp(score - score.max())
    probability = raised / raised.sum()
    order = np.argsort(-probability, kind="stable")
    top = order[:_CONSIDERED]
    members = candidates.members[top]
    counted = np.append(tables, 0.0)[members]
    alike = (members[:, None, :, None] == members[None, :, None, :]).any(axis=3)
    shared = (alike * counted[:, None, :]).sum(axis=2)
    size = counted.sum(axis=1)
    expected = (2 * shared / (size[:, None] + size[None, :])) @ probability[top]
    at = int(np.argmax(np.round(expected, 9)))
    return Choice(int(top[at]), order, probability, float(expected[at]))
