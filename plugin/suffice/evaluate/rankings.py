"""Rankings to compare with: the same index, the same texts, the first k hits as the answer.

The best k is chosen in hindsight, in the ranking's favour: no fixed cut does better on the same tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.evaluate.metrics import score

if TYPE_CHECKING:
    from suffice.index.search import Mode

__all__ = ["LONGEST", "RANKINGS", "Ranking", "best_cut", "f1_at_cuts"]

LONGEST = 10


@dataclass(frozen=True, slots=True)
class Ranking:
    """A side of the index and how many of its hits are the answer; None: the best number in hindsight."""

    mode: Mode
    cut: int | None = None


RANKINGS: Mapping[str, Ranking] = {
    "bm25": Ranking("words"),
    "vectors": Ranking("vectors"),
    "fused": Ranking("fused"),
    "vectors-top10": Ranking("vectors", LONGEST),
}


def f1_at_cuts(gold: Sequence[Sequence[str]], hits: Sequence[Sequence[str]]) -> list[float]:
    """Mean F1 of the first 1, 2, ... LONGEST hits.

    >>> [round(f1, 2) for f1 in f1_at_cuts([["a", "b"]], [["a", "b", "c"]])[:3]]
    [0.67, 1.0, 0.8]
    """
    return [sum(score(g, h[:k]).f1 for g, h in zip(gold, hits, strict=True)) / len(gold) for k in range(1, LONGEST + 1)]


def best_cut(f1: Sequence[float]) -> int:
    """The cut (1 to LONGEST) with the highest mean F1; the shortest of equals.

    >>> best_cut([0.5, 0.7, 0.7])
    2
    """
    return 1 + max(range(len(f1)), key=lambda i: f1[i])
