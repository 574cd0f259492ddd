"""Fits the reasoner's weights on solved tasks: one linear score of sets, and two logistic models of the chosen set.

Folds never share a source, and the logistic models see only answers of weights that were fitted without their source,
so that the probabilities hold on sources that nobody has seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.model import Scope
from suffice.reason.candidates import Candidates, enumerate_sets
from suffice.reason.demands import demands_of
from suffice.reason.features import FEATURES, features
from suffice.reason.figures import FIGURES, set_figures, totals
from suffice.reason.grounding import ground
from suffice.reason.knowledge import Knowledge
from suffice.reason.nodes import Nodes, nodes_of
from suffice.reason.requirements import parse
from suffice.reason.score import Weights, choose, logistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Case", "Solved", "cases_of", "cross_validate", "fit", "fit_score", "solved_tasks"]

_SHARPNESS = 10.0
"""How much less a set with a worse F1 is aimed at: weight exp(10 (F1 - best F1))."""
_L2 = 10.0
_L2_LOGISTIC = 3.0


@dataclass(frozen=True, slots=True)
class Solved:
    """A task with its source and the tables (lower case) that answer it."""

    id: str
    source: str
    question: str
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A task in one scope: its candidate sets with features and F1 each. `answerable` is False where the scope cannot
    hold the answer."""

    task: Solved
    known: bool
    answerable: bool
    candidates: Candidates
    features: Mapping[str, NDArray[np.float64]]
    f1: NDArray[np.float64]
    nodes: int
    whole: Mapping[str, float]

    @property
    def matrix(self) -> NDArray[np.float64]:
        return np.stack([self.features[name] for name in FEATURES], axis=1)


def solved_tasks(path: Path, source_key: str = "db") -> list[Solved]:
    """Lines of {id, question, gold_tables, db or domain}."""
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return [
        Solved(str(t["id"]), t[source_key], t["question"], tuple(g.casefold() for g in t["gold_tables"])) for t in lines
    ]


def cases_of(
    knowledge: Knowledge, tasks: Iterable[Solved], scope_of: Callable[[Solved], str], *, answerable: bool = True
) -> list[Case]:
    """Each task in the scope that `scope_of` names ("": everything). A task without candidates is left out."""
    held: dict[str, Nodes] = {}
    found = []
    for task in tasks:
        name = scope_of(task)
        if name not in held:
            held[name] = nodes_of(knowledge, knowledge.in_scope(Scope((name,) if name else ())))
        nodes = held[name]
        parsed = parse(task.question, knowledge)
        g = ground(parsed, knowledge, nodes)
        candidates = enumerate_sets(g)
        if len(candidates):
            told = features(g, candidates, demands_of(parsed, g))
            f1 = _f1(task, candidates, nodes, knowledge)
            found.append(Case(task, bool(name), answerable, candidates, told, f1, len(nodes), totals(g, parsed)))
    return found


def _f1(task: Solved, candidates: Candidates, nodes: Nodes, knowledge: Knowledge) -> NDArray[np.float64]:
    gold = {
        node
        for node, first in enumerate(nodes.first)
        if knowledge.tables[first].asset.source == task.source
        and knowledge.tables[first].asset.name.casefold() in task.gold
    }
    hits = np.isin(candidates.members, list(gold)).sum(axis=1)
    return np.asarray(2 * hits / (candidates.size + len(task.gold)))


def fit_score(cases: Sequence[Case]) -> dict[str, float]:
    """Weights of FEATURES: cross-entropy of the softmax over a task's sets against its best sets, ridge-penalised."""
    from scipy.optimize import minimize

    usable = [case for case in cases if case.answerable and case.f1.max() > 0]
    matrix = np.concatenate([case.matrix for case in usable])
    scale = matrix.std(axis=0) + 1e-6
    matrix /= scale
    length = np.array([len(case.f1) for case in usable])
    start = np.concatenate([[0], np.cumsum(length)[:-1]])
    of = np.repeat(np.arange(len(usable)), length)
    aimed = np.concatenate([np.exp(_SHARPNESS * (c.f1 - c.f1.max())) * (c.f1 > 0) for c in usable])
    aimed /= np.add.reduceat(aimed, start)[of]

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        score = matrix @ w
        score -= np.maximum.reduceat(score, start)[of]
        raised = np.exp(score)
        total = np.add.reduceat(raised, start)[of]
        value = -(aimed * (score - np.log(total))).sum() + _L2 * (w @ w) / 2
        slope = matrix.T @ (raised / total - aimed) + _L2 * w
        return float(value) / len(usable), slope / len(usable)

    result = minimize(loss, np.zeros(len(FEATURES)), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return dict(zip(FEATURES, (result.x / scale).tolist(), strict=True))


def fit_logistic(figures: Sequence[Mapping[str, float]], right: Sequence[bool]) -> dict[str, float]:
    """Weights of FIGURES (and of 1, as ""), ridge-penalised."""
    from scipy.optimize import minimize

    matrix = np.array([[f[name] for name in FIGURES] for f in figures])
    mean, scale = matrix.mean(axis=0), matrix.std(axis=0) + 1e-6
    matrix = np.column_stack([np.ones(len(matrix)), (matrix - mean) / scale])
    sign = np.where(np.array(right), 1.0, -1.0)

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = sign * (matrix @ w)
        ridge = w * np.array([0.0] + [1.0] * len(FIGURES))
        slope = matrix.T @ (-sign / (1 + np.exp(margin))) + _L2_LOGISTIC * ridge
        return float(np.logaddexp(0, -margin).sum() + _L2_LOGISTIC * (ridge @ ridge) / 2), slope

    w = minimize(loss, np.zeros(len(FIGURES) + 1), jac=True, method="L-BFGS-B").x
    slopes = w[1:] / scale
    return {"": float(w[0] - slopes @ mean), **dict(zip(FIGURES, slopes.tolist(), strict=True))}


def cross_validate(cases: Sequence[Case], folds: int = 5, seed: int = 0) -> list[tuple[Case, dict[str, float], float]]:
    """(case, figures of the chosen set, its F1), each chosen by weights that saw no task of the same source."""
    sources = sorted({case.task.source for case in cases})
    np.random.default_rng(seed).shuffle(sources)
    fold = {source: i % folds for i, source in enumerate(sources)}
    found = []
    for i in range(folds):
        w = Weights(fit_score([c for c in cases if fold[c.task.source] != i]), {}, {}, {})
        for case in (c for c in cases if fold[c.task.source] == i):
            choice = choose(case.candidates, w.score(case.features), np.ones(case.nodes))
            found.append((case, set_figures(case.features, choice, case.whole), float(case.f1[choice.best])))
    return found


def fit(
    knowledge: Knowledge, tasks: Sequence[Solved], command: str, *, seed: int = 0
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The weights as JSON, and what cross-validation says of them.

    Each task is asked of the whole lake, of its own source, and (as one that cannot be answered) of another source
    and of the lake without every source that holds a table of one of its tables' names.
    """
    sources = sorted(knowledge.sources)
    rng = np.random.default_rng(seed)
    names: dict[str, set[str]] = {s: set() for s in sources}
    for table in knowledge.tables:
        names[table.asset.source].add(table.asset.name.casefold())
    strange = {t.id: [s for s in sources if s != t.source and not names[s] & set(t.gold)] for t in tasks}
    other = {t.id: strange[t.id][int(rng.integers(len(strange[t.id])))] for t in tasks}
    own = [*cases_of(knowledge, tasks, lambda t: ""), *cases_of(knowledge, tasks, lambda t: t.source)]
    wrong = cases_of(knowledge, tasks, lambda t: other[t.id], answerable=False)
    judged = cross_validate([*own, *wrong], seed=seed)
    good = [j for j in judged if j[0].answerable]
    exact = fit_logistic([f for _, f, _ in good], [f1 > 0.999 for _, _, f1 in good])
    narrow = [j for j in judged if j[0].known]
    answerable = fit_logistic([f for _, f, _ in narrow], [case.answerable for case, _, _ in narrow])
    body = {
        "fitted": {"command": command, "tasks": len(tasks), "sources": len(sources)},
        "sets": _rounded(fit_score(own)),
        "exact": _rounded(exact),
        "answerable": _rounded(answerable),
    }
    return body, _told(judged, exact, answerable)


def _rounded(model: Mapping[str, float]) -> dict[str, float]:
    return {name: float(f"{weight:.4g}") for name, weight in model.items()}


def _told(
    judged: Sequence[tuple[Case, dict[str, float], float]], exact: Mapping[str, float], answerable: Mapping[str, float]
) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for label, known in (("federated", False), ("source known", True)):
        part = [(f, f1) for case, f, f1 in judged if case.answerable and case.known is known]
        f1 = np.array([f1 for _, f1 in part])
        sure = np.array([logistic(exact, f) for f, _ in part])
        right = f1 > 0.999
        order = np.argsort(-sure, kind="stable")
        told[label] = {
            "F1": float(f1.mean()),
            "exact": float(right.mean()),
            "exact of the surer half": float(right[order[: len(order) // 2]].mean()),
            "share above .9": float((sure > 0.9).mean()),
            "exact above .9": float(right[sure > 0.9].mean()),
            "called insufficient": float(np.mean([logistic(answerable, f) < 0.5 for f, _ in part])),
        }
    strange = [logistic(answerable, f) < 0.5 for case, f, _ in judged if not case.answerable]
    told["another source"] = {"called insufficient": float(np.mean(strange))}
    return told
