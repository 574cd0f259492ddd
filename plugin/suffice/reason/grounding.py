"""How far each table grounds each part of a task: by its name, by a column, by a value of the data, by meaning.

Everything is a matrix of parts by tables, so that sets are scored by maxima over members.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.reason.knowledge import Knowledge
from suffice.reason.nodes import Nodes
from suffice.reason.requirements import Task, Term
from suffice.reason.words import HINTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Grounding", "ground"]

_SIMILAR = 0.38
"""Cosine of MiniLM above which a word and a name may mean the same; unrelated words lie below."""
_STEM, _KIN, _ABBREVIATED, _HINTED = 0.85, 0.7, 0.6, 0.5


@dataclass(frozen=True, slots=True)
class Grounding:
    """Matrices of terms (rows) by nodes (columns), 0..1; value matrices are spans by nodes.

    `by_name` counts the table's name, `by_column` the best column's name,
    `by_meaning` the best similarity, `column` the number of that best column (-1: the table's name).
    """

    nodes: Nodes
    weight: NDArray[np.float64]
    generic: NDArray[np.bool_]
    by_name: NDArray[np.float64]
    by_column: NDArray[np.float64]
    by_meaning: NDArray[np.float64]
    by_name_meaning: NDArray[np.float64]
    by_value: NDArray[np.float64]
    by_source: NDArray[np.float64]
    column: NDArray[np.intp]
    value: NDArray[np.float64]
    value_strength: NDArray[np.float64]
    likeness: NDArray[np.float64]
    best_column: NDArray[np.float64]
    named: NDArray[np.float64]
    pairs: tuple[tuple[int, int], ...]
    together: NDArray[np.float64]
    together_weight: NDArray[np.float64]
    task_vector: NDArray[np.float32]

    @property
    def covered(self) -> NDArray[np.float64]:
        rows = [self.by_name, self.by_column, self.by_meaning, self.by_name_meaning, self.by_value]
        return np.asarray(np.maximum.reduce(rows))

    @property
    def lexical(self) -> NDArray[np.float64]:
        return np.asarray(np.maximum.reduce([self.by_name, self.by_column, self.by_value]))


def ground(task: Task, knowledge: Knowledge, nodes: Nodes) -> Grounding:
    terms, n = task.terms, len(knowledge.tables)
    mentioned = _mentioned(task, knowledge)
    by_name, by_column, column, cells = _lexical(terms, mentioned, knowledge)
    by_value = np.zeros((len(terms), n))
    value, strength = _values(task, knowledge, mentioned, by_value)
    vectors = knowledge.embed([task.text[:2000], *[t.word for t in terms]])
    similar = vectors[1:] @ knowledge.column_vectors.T
    starts = knowledge.column_start
    filled = np.flatnonzero(np.diff(starts))
    meaning = np.full((len(terms), n), -1.0)
    best_column = np.full(n, -1.0)
    if len(filled):
        if len(terms):
            meaning[:, filled] = np.maximum.reduceat(similar, starts[:-1][filled], axis=1)
        best_column[filled] = np.maximum.reduceat(vectors[0] @ knowledge.column_vectors.T, starts[:-1][filled])
    by_meaning = _scaled(meaning)
    by_name_meaning = _scaled(vectors[1:] @ knowledge.name_vectors.T)
    pairs, together, together_weight = _together(task, by_name, cells, knowledge)
    return Grounding(
        nodes=nodes,
        weight=np.array([t.weight for t in terms]),
        generic=np.array([t.generic for t in terms], dtype=bool),
        by_name=nodes.gather(by_name),
        by_column=nodes.gather(by_column),
        by_meaning=nodes.gather(by_meaning),
        by_name_meaning=nodes.gather(by_name_meaning),
        by_value=nodes.gather(by_value),
        column=column[:, nodes.first],
        by_source=nodes.gather(_by_source(terms, knowledge)),
        value=nodes.gather(value),
        value_strength=strength,
        likeness=nodes.gather((knowledge.table_vectors @ vectors[0]).astype(np.float64)),
        best_column=nodes.gather(best_column.astype(np.float64)),
        named=nodes.gather(_named(mentioned, knowledge)),
        pairs=pairs,
        together=nodes.gather(together),
        together_weight=together_weight,
        task_vector=vectors[0],
    )


def _scaled(cosine: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.clip((cosine.astype(np.float64) - _SIMILAR) / (1 - _SIMILAR), 0, 1) * 0.9


def _mentioned(task: Task, knowledge: Knowledge) -> dict[str, float]:
    """Stems of the task's words, with how literally each is meant."""
    return {t.stem: 1.0 for t in task.terms}


def _share(stems: tuple[str, ...], mentioned: dict[str, float], weights: dict[str, float]) -> float:
    total = sum(weights[s] for s in stems)
    return sum(weights[s] for s in stems if s in mentioned) / total if total else 0.0


def _lexical(
    terms: tuple[Term, ...], mentioned: dict[str, float], knowledge: Knowledge
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp], list[dict[int, dict[int, float]]]]:
    n = len(knowledge.tables)
    by_name, by_column = np.zeros((len(terms), n)), np.zeros((len(terms), n))
    column = np.full((len(terms), n), -2, dtype=np.intp)
    weights = _StemWeights(knowledge)
    cells: list[dict[int, dict[int, float]]] = [{} for _ in terms]
    for i, term in enumerate(terms):
        for key, level in _keys(term, knowledge):
            for place in knowledge.postings.get(key, ()):
                table = knowledge.tables[place.table]
                stems = table.stems if place.column < 0 else table.columns[place.column].stems
                share = 1.0 if place.share == 1.0 else _share(stems, mentioned, weights)
                got = level * (0.35 + 0.65 * share)
                if place.column < 0:
                    by_name[i, place.table] = max(by_name[i, place.table], got)
                else:
                    held = cells[i].setdefault(place.table, {})
                    held[place.column] = max(held.get(place.column, 0.0), got)
                    if got > by_column[i, place.table]:
                        by_column[i, place.table] = got
                        column[i, place.table] = place.column
    return by_name, by_column, column, cells


def _keys(term: Term, knowledge: Knowledge) -> list[tuple[str, float]]:
    found = [("=" + term.word, 1.0), ("~" + term.stem, _STEM)]
    found += [("~" + root, _HINTED) for root in HINTS.get(term.word, ())]
    found += [("~" + root, _KIN) for root in knowledge.kin(term.stem)]
    found += [("=" + short, _ABBREVIATED) for short in knowledge.abbreviations(term.word)]
    return found


class _StemWeights(dict[str, float]):
    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__()
        self._knowledge = knowledge

    def __missing__(self, root: str) -> float:
        self[root] = weight = self._knowledge.stem_weight(root)
        return weight


def _by_source(terms: tuple[Term, ...], knowledge: Knowledge) -> NDArray[np.float64]:
    """1 where the name of a table's source or schema says the term."""
    found = np.zeros((len(terms), len(knowledge.tables)))
    for i, term in enumerate(terms):
        for source in knowledge.source_stems.get(term.stem, ()):
            found[i, knowledge.source_of == source] = 1.0
    return found


def _named(mentioned: dict[str, float], knowledge: Knowledge) -> NDArray[np.float64]:
    """Share of each table's name, by weight, that the task says."""
    weights = _StemWeights(knowledge)
    return np.array([_share(t.stems, mentioned, weights) for t in knowledge.tables])


def _values(
    task: Task, knowledge: Knowledge, mentioned: dict[str, float], by_value: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Spans by tables: strength of the best column that holds the value; fills the terms within the spans as well."""
    n = len(knowledge.tables)
    value = np.zeros((len(task.values), n))
    weights = _StemWeights(knowledge)
    for i, span in enumerate(task.values):
        sources = {int(knowledge.source_of[h.table]) for h in span.hits}
        rarity = 1.0 / (1.0 + 0.15 * (len(sources) - 1))
        for hit in span.hits:
            table = knowledge.tables[hit.table]
            stems = next((c.stems for c in table.columns if c.name == hit.column), ())
            said = max(_share(stems, mentioned, weights), 0.0)
            got = span.strength * rarity * (0.7 + 0.3 * said)
            value[i, hit.table] = max(value[i, hit.table], got)
        for j, term in enumerate(task.terms):
            if any(span.first <= at < span.last for at in term.at):
                by_value[j] = np.maximum(by_value[j], (value[i] > 0) * min(1.0, 0.3 + span.strength * 0.6))
    return value, np.array([s.strength for s in task.values])


def _together(
    task: Task, by_name: NDArray[np.float64], cells: list[dict[int, dict[int, float]]], knowledge: Knowledge
) -> tuple[tuple[tuple[int, int], ...], NDArray[np.float64], NDArray[np.float64]]:
    """Pairs of terms that belong together ("name of the customer") by tables: how well one table says both.

    A term belongs to its neighbour, and to the nearest words on either side that name a table.
    """
    order = sorted((at, i) for i, t in enumerate(task.terms) for at in t.at)
    entity = by_name.max(axis=1) >= 0.6 if by_name.size else np.zeros(len(task.terms), dtype=bool)
    pairs: dict[tuple[int, int], float] = {}
    for k, (a, i) in enumerate(order):
        near: list[tuple[int, int]] = [(b - a, j) for b, j in order[k + 1 : k + 2] if b - a <= 4]
        after = next(((b - a, j) for b, j in order[k + 1 :] if entity[j] and j != i and b - a <= 10), None)
        before = next(((a - b, j) for b, j in reversed(order[:k]) if entity[j] and j != i and a - b <= 5), None)
        near += [n for n in (after, before) if n is not None and not (entity[i] and n[0] > 4)]
        for distance, j in near:
            if i != j:
                pair = min(i, j), max(i, j)
                worth = min(task.terms[i].weight, task.terms[j].weight) / (1 + 0.15 * max(0, distance - 2))
                pairs[pair] = max(pairs.get(pair, 0.0), worth)
    matrix = np.zeros((len(pairs), len(knowledge.tables)))
    for row, (i, j) in enumerate(pairs):
        for table in cells[i].keys() | cells[j].keys():
            one, two = cells[i].get(table, {}), cells[j].get(table, {})
            both = max((min(one[c], two[c]) for c in one.keys() & two.keys()), default=0.0)
            across = max(
                min(by_name[i, table], max(two.values(), default=0.0)),
                min(by_name[j, table], max(one.values(), default=0.0)),
            )
            matrix[row, table] = max(both, across)
    return tuple(pairs), matrix, np.array(list(pairs.values()))
