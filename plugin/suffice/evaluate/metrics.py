"""How right a set of tables is, and how sure a figure is. Pure functions; table names are compared without case."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FAULTS", "FEW", "Interval", "Score", "bootstrap", "fault", "mcnemar", "paired", "score", "wilson"]

FEW = 5
"""Under so many groups an interval over groups would be a guess."""


@dataclass(frozen=True, slots=True)
class Score:
    """Of one task: shares 0..1. `exact` says that the sets are equal."""

    recall: float
    precision: float
    exact: bool

    @property
    def f1(self) -> float:
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


def score(gold: Collection[str], chosen: Collection[str]) -> Score:
    """Recall, precision and exactness of a chosen set against the gold set.

    >>> score({"a", "b"}, {"A"})
    Score(recall=0.5, precision=1.0, exact=False)
    >>> score({"a"}, set()).f1, score({"a"}, {"A"}).f1
    (0.0, 1.0)
    """
    want, got = {g.casefold() for g in gold}, {c.casefold() for c in chosen}
    hits = len(want & got)
    return Score(hits / len(want) if want else 0.0, hits / len(got) if got else 0.0, want == got)


FAULTS = ("exact", "nothing chosen", "another source", "missed", "over-included", "missed and over-included")


def fault(gold: Collection[str], chosen: Collection[str]) -> str:
    """Which of FAULTS an answer is; tables are `source.table`.

    >>> fault({"s.a", "s.b"}, {"s.a"}), fault({"s.a"}, {"t.a", "t.b"}), fault({"s.a"}, {"s.a", "s.b"})
    ('missed', 'another source', 'over-included')
    """
    want, got = {g.casefold() for g in gold}, {c.casefold() for c in chosen}
    if want == got:
        return "exact"
    if not got:
        return "nothing chosen"
    if not {g.split(".", 1)[0] for g in want} & {c.split(".", 1)[0] for c in got}:
        return "another source"
    if got < want:
        return "missed"
    return "over-included" if want < got else "missed and over-included"


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f}-{self.high:.3f})"

    def to_json(self) -> dict[str, float]:
        return {"mean": round(self.mean, 4), "low": round(self.low, 4), "high": round(self.high, 4)}


def bootstrap(
    values: Mapping[str, Sequence[float]], *, of_groups: bool = False, draws: int = 2000, seed: int = 0
) -> Interval:
    """The mean of all values with a percentile interval over resampled groups (databases, lakes), since the tasks of
    one group stand or fall together; under FEW groups over tasks resampled in each group, which says nothing of other
    groups. With `of_groups` the mean is that of the groups' means.

    >>> str(bootstrap({"a": [1.0, 1.0], "b": [1.0]}))
    '1.000 (1.000-1.000)'
    """
    groups = [np.asarray(v, dtype=float) for v in values.values() if len(v)]
    if not groups:
        return Interval(0.0, 0.0, 0.0)
    rng = np.random.default_rng(seed)
    total, count = np.array([g.sum() for g in groups]), np.array([len(g) for g in groups], dtype=float)
    share = np.full(len(groups), 1 / len(groups)) if of_groups else count / count.sum()
    mean = total / count
    means: NDArray[np.float64]
    if len(groups) < FEW:
        means = np.sum([s * rng.choice(g, (draws, len(g))).mean(1) for s, g in zip(share, groups, strict=True)], axis=0)
    else:
        drawn = rng.integers(len(groups), size=(draws, len(groups)))
        means = (share * mean)[drawn].sum(axis=1) / share[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(share @ mean), float(low), float(high))


def wilson(hits: int, n: int, z: float = 1.96) -> Interval:
    """The share `hits` of `n` with its 95 % interval after Wilson (1927); of nothing, the whole range.

    >>> str(wilson(49, 50)), str(wilson(0, 0))
    ('0.980 (0.895-0.996)', '0.000 (0.000-1.000)')
    """
    if not n:
        return Interval(0.0, 0.0, 1.0)
    share = hits / n
    middle = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)
    return Interval(share, max(0.0, low), min(1.0, high))


def paired(one: Sequence[float], other: Sequence[float], *, draws: int = 2000, seed: int = 0) -> float:
    """Two-sided p of the mean difference of paired values, by random flips of sign.

    >>> paired([1.0] * 20, [0.0] * 20) < 0.01, paired([0.5, 0.4], [0.5, 0.4])
    (True, 1.0)
    """
    difference = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    seen = abs(difference.mean()) if len(difference) else 0.0
    if seen == 0:
        return 1.0
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(draws, len(difference)))
    return float((1 + (np.abs((signs * difference).mean(axis=1)) >= seen - 1e-12).sum()) / (draws + 1))


def mcnemar(one: Sequence[bool], other: Sequence[bool]) -> float:
    """Exact two-sided p that two selectors are right equally often, from the tasks where just one of them is.

    >>> mcnemar([True] * 10, [False] * 10) < 0.01, mcnemar([True, False], [False, True])
    (True, 1.0)
    """
    from scipy.stats import binomtest

    gained = sum(a and not b for a, b in zip(one, other, strict=True))
    lost = sum(b and not a for a, b in zip(one, other, strict=True))
    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0
