"""When a memory may move an answer: only where the catalog itself is unsure and its evidence agrees.

A memory is another task's answer. It may be wrong, outdated, or of a task with like words and other needs. So it lifts
a set that the catalog's evidence supports nearly as well as the best one, and abstains otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Evidence", "Verdict", "judge"]

SIMILAR = 0.75
"""Least cosine of the two intents: below it, likeness of words is as common between tasks of other needs."""
SURE = 0.55
"""Probability of the best set from which nothing is asked of a memory."""
_MARGIN = 0.08
_SAYS_LESS = 0.05
_BEHIND = 2.0
_STRENGTH = 8.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the catalog says of the remembered set beside the best one.

    `similarity` is the cosine of the intents, `rival` that of the most similar memory whose tables are all others (0
    when there is none). `sure` is the probability of the best set without memory. `said` and `best_said` are the shares
    of the task that the two sets say in names and values, `values_lost` and `best_values_lost` what they do not hold of
    the values; `behind` is by how much the remembered set's score is lower.
    """

    similarity: float
    rival: float
    sure: float
    said: float
    best_said: float
    values_lost: float
    best_values_lost: float
    behind: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """`lift` is added to the score of a set in the measure that it agrees with the memory; 0 when it abstains."""

    lift: float
    why: str


def judge(e: Evidence) -> Verdict:
    """Whether a memory acts, how strongly, and why.

    >>> judge(Evidence(0.95, 0.0, 0.4, 0.8, 0.8, 0.0, 0.0, 0.5))
    Verdict(lift=6.4, why='a like task was answered by these tables, and the catalog supports them')
    >>> judge(Evidence(0.95, 0.0, 0.4, 0.2, 0.8, 0.0, 0.0, 0.5)).why
    'its tables say less of this task than others'
    """
    if e.similarity < SIMILAR:
        return Verdict(0.0, "the tasks are not alike enough")
    if e.sure > SURE:
        return Verdict(0.0, "the catalog's own evidence is clear")
    if e.similarity - e.rival < _MARGIN:
        return Verdict(0.0, "as similar a task was answered by other tables")
    if e.said < e.best_said - _SAYS_LESS or e.values_lost > e.best_values_lost:
        return Verdict(0.0, "its tables say less of this task than others")
    if e.behind > _BEHIND:
        return Verdict(0.0, "the catalog's evidence disagrees")
    lift = _STRENGTH * (e.similarity - SIMILAR) / (1 - SIMILAR)
    return Verdict(round(lift, 6), "a like task was answered by these tables, and the catalog supports them")
