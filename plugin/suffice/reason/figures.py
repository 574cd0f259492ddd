"""Figures of the chosen set that tell two probabilities: that it is exactly right, and that the task is answerable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.reason.grounding import Grounding
from suffice.reason.requirements import Task
from suffice.reason.score import Choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["FIGURES", "set_figures", "totals"]

FIGURES = (
    "p", "logit", "lead", "expected", "size", "apart", "covered", "said", "worst", "unsaid", "values", "values_lost",
    "likeness", "named", "together", "unfound", "terms", "source_said",
)  # fmt: skip


def totals(g: Grounding, task: Task) -> dict[str, float]:
    """What the task asks for altogether, by which shares are told."""
    return {
        "told": max(1.0, float((g.weight * ~g.generic).sum())),
        "asked": max(1.0, float(g.value_strength.sum())),
        "together": max(1.0, float(g.together_weight.sum())),
        "unfound": float(sum(v.strength for v in task.unfound)),
        "terms": float(len(task.terms)),
    }


def set_figures(
    features: Mapping[str, NDArray[np.float64]], choice: Choice, whole: Mapping[str, float]
) -> dict[str, float]:
    """Shares (0..1) of the task's weight that the chosen set covers, and how far ahead of the others it is."""
    f = {name: float(values[choice.best]) for name, values in features.items()}
    return {
        **choice.figures(),
        "size": f["size"],
        "apart": f["apart"],
        "covered": f["covered"] / whole["told"],
        "said": f["said"] / whole["told"],
        "worst": f["worst"],
        "unsaid": f["unsaid"] / whole["told"],
        "values": f["values"],
        "values_lost": f["values_lost"] / whole["asked"],
        "likeness": f["mean_likeness"],
        "named": f["named_mean"],
        "together": f["together"] / whole["together"],
        "unfound": whole["unfound"],
        "terms": whole["terms"],
        "source_said": f["by_source"] / whole["told"],
    }
