"""The policy without a model: parse, ground, enumerate, choose, drop what adds nothing, say why."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.memory.recall import Recall, Recalled
from suffice.memory.store import MemoryStore
from suffice.model import Alternative, Cost, Missing, Scope, Selection, Union
from suffice.reason.candidates import Candidates, enumerate_sets, table_scores
from suffice.reason.demands import Demand, Demands, demands_of, own
from suffice.reason.explain import (
    COVERED,
    Answer,
    Grounded,
    alternative,
    edges_of,
    grounded,
    joins_of,
    left_out_of,
    missing_of,
    requirements_of,
    selected_of,
)
from suffice.reason.features import features
from suffice.reason.figures import set_figures, totals
from suffice.reason.grounding import Grounding, ground
from suffice.reason.knowledge import Knowledge
from suffice.reason.nodes import Nodes, nodes_of
from suffice.reason.remembered import Mode, Remembered, remembered_sets
from suffice.reason.requirements import Task, parse
from suffice.reason.score import Choice, Weights, choose, logistic, weights
from suffice.reason.shards import members_needed, out_of_time

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.index.search import Index

__all__ = ["RulesPolicy"]

ANSWERABLE = 0.5
"""Probability of being answerable below which a task is called insufficient."""
_ADDS = 0.05
_ALTERNATIVES = 3


class RulesPolicy:
    """Answers from the catalog, the findings and the index alone; what it knows is read once, at the first task."""

    name = "rules"

    def __init__(self, home: Home, memory: Mode = "after-look") -> None:
        self._home = home
        self._mode: Mode = memory
        self._nodes: dict[Scope, Nodes] = {}

    @cached_property
    def knowledge(self) -> Knowledge:
        from suffice.reason.load import load_knowledge

        return load_knowledge(self._home, self.index)

    @cached_property
    def index(self) -> Index:
        from suffice.index.search import Index

        self._home.require_catalog()
        return Index.open(self._home)

    @cached_property
    def _recall(self) -> Recall:
        return Recall(self._home, self.index.embedder_name)

    def select(self, task: str, scope: Scope) -> Selection:
        """Raises UsageError for a task without words, NotReady without an index."""
        started = time.perf_counter()
        knowledge = self.knowledge
        parsed = parse(task, knowledge)
        nodes = self._nodes_in(scope)
        memory = remembered_sets(self._near(parsed.text), nodes, self._mode)
        selection = answer(parsed, knowledge, nodes, weights(), memory)
        self._note_use(memory)
        seconds = round(time.perf_counter() - started, 4)
        return replace(selection, cost=Cost(steps=1, seconds=seconds))

    def _near(self, task: str) -> list[Recalled]:
        """The memories nearest to a task; none when memory is off, or without an embedder."""
        if self._mode == "off" or not len(self._recall) or self.index.notes:
            return []
        return self._recall.nearest(self.knowledge.embed([task[:2000]])[0])

    def _note_use(self, memory: Remembered) -> None:
        used = [told["id"] for told in memory.told if told["used"]]
        if used:
            MemoryStore(self._home.catalog).used(used)

    def _nodes_in(self, scope: Scope) -> Nodes:
        if scope not in self._nodes:
            self._nodes[scope] = nodes_of(self.knowledge, self.knowledge.in_scope(scope))
        return self._nodes[scope]


def answer(task: Task, knowledge: Knowledge, nodes: Nodes, w: Weights, memory: Remembered) -> Selection:
    """The Selection for a parsed task among `nodes`."""
    if not len(nodes):
        return Selection(
            task.text, missing=(Missing("r1", "any table in scope"),), justification="No table is in scope."
        )
    g = ground(task, knowledge, nodes)
    demands = demands_of(task, g)
    candidates = enumerate_sets(g, out_of_time(task, knowledge, nodes), memory.sets)
    if not len(candidates):
        candidates = enumerate_sets(g)
    counts = np.array([float(len(_tables(task, knowledge, members))) for members in nodes.members])
    figures = features(g, candidates, demands)
    score = w.score(figures)
    choice = choose(candidates, score, counts)
    if memory.recalled:
        choice = choose(candidates, score + memory.lift(candidates, choice, score, figures), counts)
    picked = necessary([int(i) for i in candidates.members[choice.best] if i >= 0], g, demands)
    tables = tuple(_tables(task, knowledge, g.nodes.members[node]) for node in picked)
    chosen = Answer(tuple(picked), tables)
    sure = set_figures(figures, choice, totals(g, task))
    answerable = logistic(w.answerable, sure)
    missing = missing_of(task, g, demands, picked) if answerable < ANSWERABLE else ()
    found = grounded(task, g, demands, chosen)
    generic = _generic(task, g, chosen, len(demands.items))
    edges = edges_of(task, g, picked)
    return Selection(
        task=task.text,
        tables=selected_of(chosen, found, edges, knowledge, generic),
        unions=_unions(task, knowledge, chosen, g),
        joins=joins_of(edges, knowledge),
        requirements=requirements_of((*found, *generic), missing, demands, knowledge),
        confidence=round(logistic(w.exact, sure) * (answerable if missing else 1.0), 3),
        alternatives=_alternatives(task, knowledge, candidates, choice, chosen, g),
        missing=missing,
        left_out=left_out_of(chosen, g, table_scores(g).tolist()),
        justification=_justification(task, knowledge, chosen, len(edges), missing, demands, found),
        memory={"mode": memory.mode, "recalled": memory.told},
    )


def necessary(picked: list[int], g: Grounding, demands: Demands) -> list[int]:
    """The set without the members whose loss costs no demand and no connection, least useful first.

    A usual word ("name") is a demand here: a table that alone says it is needed.
    """
    usual = np.maximum(g.by_column, g.by_name) * (g.weight * g.generic)[:, None]
    met = np.concatenate([demands.met, usual])
    while len(picked) > 1:
        adds = own(met[:, picked])
        loose = [
            (float(adds[k]), k)
            for k in range(len(picked))
            if adds[k] < _ADDS * max(1.0, float(g.weight.sum())) and not _bridges(picked, k, g.nodes)
        ]
        if not loose:
            break
        picked = [node for k, node in enumerate(picked) if k != min(loose)[1]]
    return picked


def _bridges(picked: Sequence[int], k: int, nodes: Nodes) -> bool:
    """Whether the others fall into more pieces without the k-th."""
    rest = [node for i, node in enumerate(picked) if i != k]
    return pieces(rest, nodes) > pieces(picked, nodes)


def pieces(picked: Sequence[int], nodes: Nodes) -> int:
    """How many connected parts a set has."""
    left, parts = set(picked), 0
    while left:
        parts += 1
        waiting = [left.pop()]
        while waiting:
            near = nodes.neighbours[waiting.pop()] & left
            left -= near
            waiting += near
    return parts


def _tables(task: Task, knowledge: Knowledge, members: Sequence[int]) -> tuple[int, ...]:
    return tuple(members) if len(members) == 1 else members_needed(task, knowledge, members).tables


def _generic(task: Task, g: Grounding, chosen: Answer, known: int) -> list[Grounded]:
    """Words such as "name" or "id" with the column of the set that says them best; they decide nothing."""
    found = []
    said = np.maximum(g.by_column, g.by_name)
    for i, term in enumerate(task.terms):
        if not term.generic or not chosen.nodes:
            continue
        strength = said[i, list(chosen.nodes)]
        at = int(np.argmax(strength))
        column = int(g.column[i, chosen.nodes[at]])
        table = g.nodes.knowledge.tables[chosen.tables[at][0]]
        if strength[at] >= COVERED and 0 <= column < len(table.columns):
            demand = Demand(term.word, "attribute", term.weight, term=i)
            name = table.columns[column].name
            found.append(Grounded(f"r{known + 100 + i}", demand, table.number, float(strength[at]), name, ""))
    return found


def _unions(task: Task, knowledge: Knowledge, chosen: Answer, g: Grounding) -> tuple[Union, ...]:
    found = []
    for node, tables in zip(chosen.nodes, chosen.tables, strict=True):
        if len(tables) > 1:
            shared = set.intersection(*({c.name for c in knowledge.tables[t].columns} for t in tables))
            on = tuple(c.name for c in knowledge.tables[tables[0]].columns if c.name in shared)
            why = members_needed(task, knowledge, g.nodes.members[node]).why
            found.append(Union(tuple(knowledge.tables[t].urn for t in tables), on, why))
    return tuple(found)


def _alternatives(
    task: Task, knowledge: Knowledge, c: Candidates, choice: Choice, chosen: Answer, g: Grounding
) -> tuple[Alternative, ...]:
    mine = [t for tables in chosen.tables for t in tables]
    best = float(choice.probability[choice.order[0]])
    found = []
    for i in choice.order[: _ALTERNATIVES + 2]:
        nodes = [int(n) for n in c.members[i] if n >= 0]
        other = [t for node in nodes for t in _tables(task, knowledge, g.nodes.members[node])]
        if set(other) != set(mine) and choice.probability[i] >= 0.2 * best:
            found.append(alternative(mine, other, float(choice.probability[i]), knowledge))
    return tuple(found[:_ALTERNATIVES])


def _justification(
    task: Task,
    knowledge: Knowledge,
    chosen: Answer,
    joined: int,
    missing: Sequence[Missing],
    demands: Demands,
    found: Sequence[Grounded],
) -> str:
    names = [
        knowledge.tables[t[0]].asset.name if len(t) == 1 else f"{len(t)} parts of one dataset" for t in chosen.tables
    ]
    unread = [
        d.text for i, d in enumerate(demands.items) if d.pair is None and f"r{i + 1}" not in {f.id for f in found}
    ]
    lines = []
    if missing:
        unsaid = ", ".join(f"'{m.text}'" for m in missing)
        lines.append(f"Nearest to the task: {', '.join(names)}; nothing in it says {unsaid}.")
    elif len(names) == 1:
        lines.append(f"{names[0]} alone covers what the task asks for.")
    else:
        lines.append(
            f"{', '.join(names)} together cover what the task asks for; each is lost with what it alone covers."
        )
    if len(chosen.nodes) - joined > 1:
        lines.append("No known key connects all of them.")
    if unread and not missing:
        lines.append(f"Not grounded: {', '.join(unread)}.")
    if task.cut:
        lines.append("Only the beginning of the task was read.")
    return " ".join(lines)
