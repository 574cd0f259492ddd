"""Rankings to compare with: the same index, the same texts, the first k hits as the answer.

The best k is chosen in hindsight, in the ranking's favour: no fixed cut does better on the same tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from suffice.evaluate.metrics import score
from suffice.model import Scope

if TYPE_CHECKING:
    from suffice.index.search import Index, Mode

__all__ = ["LONGEST", "RANKINGS", "best_cut", "ranked"]

LONGEST = 10
RANKINGS: Mapping[str, Mode] = {"bm25": "words", "vectors": "vectors", "fused": "fused"}


def ranked(index: Index, mode: Mode, question: str, scope: Scope, names: Mapping[str, str]) -> list[str]:
    """The first `LONGEST` hits by the name that `names` gives to their urns."""
    return [names[hit.urn] for hit in index.search(question, k=LONGEST, scope=scope, mode=mode)]


def best_cut(gold: Sequence[Sequence[str]], hits: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The k (1 to LONGEST) with the highest mean F1, and the chosen sets at it.

    >>> best_cut([["a"], ["b"]], [["a", "x"], ["b", "x"]])["k"]
    1
    """
    means = {
        k: sum(score(g, h[:k]).f1 for g, h in zip(gold, hits, strict=True)) / len(gold) for k in range(1, LONGEST + 1)
    }
    k = max(means, key=lambda n: means[n])
    return {"k": k, "f1": means[k], "chosen": [list(h[:k]) for h in hits]}
