"""Candidate sets: in the best sources, the connected sets of the best tables, pairs that no key connects, and covers.

A cover starts from one table and takes, again and again, the table that grounds most of what is not grounded yet, with
the tables on the shortest way to it (Takahashi and Matsuyama, "An approximate solution for the Steiner problem in
graphs", 1980). So sets of more than four tables are found without enumerating them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from suffice.reason.grounding import Grounding
from suffice.reason.nodes import Nodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LARGEST", "Candidates", "enumerate_sets"]

LARGEST = 8
"""Most tables of a candidate set."""
_ENUMERATED = 4
_SOURCES, _TABLES, _PAIRS = 6, 10, 12
_STARTS, _REACHED, _HOPS = 4, 24, 3
_LEAST_GAIN = 0.03


@dataclass(frozen=True, slots=True)
class Candidates:
    """Sets as rows of node numbers, padded with -1. `pieces` counts connected parts; `bridge[i, k]` says that the
    set falls apart without its k-th member; `source` is the source number of a set's first table."""

    members: NDArray[np.intp]
    size: NDArray[np.intp]
    pieces: NDArray[np.intp]
    bridge: NDArray[np.bool_]
    source: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.members)


def table_scores(grounding: Grounding) -> NDArray[np.float64]:
    """How much of the task each node grounds alone, with its likeness to the whole as a tie-breaker."""
    said = grounding.weight @ grounding.covered if len(grounding.weight) else np.zeros(len(grounding.nodes))
    held = grounding.value.sum(axis=0) if len(grounding.value) else np.zeros(len(grounding.nodes))
    whole = max(1.0, float(grounding.weight.sum()))
    return said / whole + 0.5 * held + 0.5 * grounding.likeness + 0.4 * grounding.named


def enumerate_sets(
    grounding: Grounding, barred: AbstractSet[int] = frozenset(), also: Iterable[tuple[int, ...]] = ()
) -> Candidates:
    """The candidate sets without the nodes that `barred` holds, and the sets of `also` in any case."""
    score = table_scores(grounding)
    nodes = grounding.nodes
    sources = nodes.source
    sets: list[tuple[int, ...]] = []
    pieces: list[int] = []
    connected: set[tuple[int, ...]] = set()
    free = np.array([i not in barred for i in range(len(nodes))], dtype=bool)
    for source in _best_sources(grounding, score, sources):
        inside = np.flatnonzero((sources == source) & free)
        chosen = _best_tables(inside, score, nodes)
        links = {i: nodes.neighbours[i] & set(chosen) for i in chosen}
        found = _connected_subsets(links, _ENUMERATED)
        found |= _covers(grounding, inside, score)
        apart = [p for p in combinations(sorted(chosen), 2) if p not in found]
        apart.sort(key=lambda p: -(score[p[0]] + score[p[1]]))
        bridged = {pair: _bridged(pair, nodes, inside, score) for pair in apart[:_PAIRS]}
        found |= {one for one in bridged.values() if one}
        connected.update(found)
        sets += sorted(found)
        pieces += [1] * len(found)
        loose = [pair for pair, one in bridged.items() if not one]
        sets += loose
        pieces += [2] * len(loose)
    known = set(sets)
    for one in dict.fromkeys(also):
        if one and one not in known:
            sets.append(one)
            pieces.append(1 if is_connected(one, nodes) else 2)
    members = np.full((len(sets), LARGEST), -1, dtype=np.intp)
    bridge = np.zeros((len(sets), LARGEST), dtype=bool)
    for i, one in enumerate(sets):
        members[i, : len(one)] = one
        if len(one) > 2:
            for k in range(len(one)):
                rest = one[:k] + one[k + 1 :]
                bridge[i, k] = rest not in connected and not (len(rest) > _ENUMERATED and is_connected(rest, nodes))
    size = (members >= 0).sum(axis=1)
    first = sources[members[:, 0]] if len(sets) else np.zeros(0, dtype=np.intp)
    return Candidates(members, size, np.array(pieces, dtype=np.intp), bridge, first)


def _best_sources(grounding: Grounding, score: NDArray[np.float64], sources: NDArray[np.intp]) -> list[int]:
    """Sources by what all their tables ground together, and by their best table."""
    ranked = []
    for source in np.unique(sources):
        inside = sources == source
        said = grounding.covered[:, inside].max(axis=1) @ grounding.weight if len(grounding.weight) else 0.0
        held = grounding.value[:, inside].max(axis=1).sum() if len(grounding.value) else 0.0
        whole = max(1.0, float(grounding.weight.sum()))
        ranked.append((said / whole + 0.5 * held + score[inside].max() + grounding.likeness[inside].max(), int(source)))
    return [source for _, source in sorted(ranked, reverse=True)[:_SOURCES]]


def _best_tables(inside: NDArray[np.intp], score: NDArray[np.float64], nodes: Nodes) -> list[int]:
    """The best tables of a source, and those that stand between two of the best five."""
    ranked = inside[np.argsort(-score[inside], kind="stable")]
    chosen = [int(i) for i in ranked[:_TABLES]]
    top = set(chosen[:5])
    chosen += [int(i) for i in ranked[_TABLES:] if len(nodes.neighbours[i] & top) >= 2]
    return chosen[: _TABLES + 4]


def _bridged(
    pair: tuple[int, int], nodes: Nodes, inside: NDArray[np.intp], score: NDArray[np.float64]
) -> tuple[int, ...]:
    """Two tables with the best one that joins both; () where no table does. Apart they would not suffice."""
    between = nodes.neighbours[pair[0]] & nodes.neighbours[pair[1]] & {int(i) for i in inside}
    return tuple(sorted((*pair, max(between, key=lambda i: (score[i], -i))))) if between else ()


def is_connected(picked: Sequence[int], nodes: Nodes) -> bool:
    """Whether joins connect all of a set."""
    left = set(picked[1:])
    waiting = list(picked[:1])
    while waiting:
        near = nodes.neighbours[waiting.pop()] & left
        left -= near
        waiting += near
    return not left


def _covers(g: Grounding, inside: NDArray[np.intp], score: NDArray[np.float64]) -> set[tuple[int, ...]]:
    """Trees grown from each of the best tables of a source, at every stage of their growth from two tables on."""
    best = [int(i) for i in inside[np.argsort(-score[inside], kind="stable")][:_REACHED]]
    said = np.concatenate([g.covered * g.weight[:, None], g.value * 3.0])
    whole = max(1.0, float(g.weight.sum()))
    allowed = frozenset(int(i) for i in inside)
    found: set[tuple[int, ...]] = set()
    for start in best[:_STARTS]:
        tree = [start]
        while len(tree) < LARGEST:
            held = said[:, tree].max(axis=1)
            gains = [(float(np.maximum(said[:, i] - held, 0).sum()) / whole, i) for i in best if i not in tree]
            ways = [
                (gain - _LEAST_GAIN * len(way), way)
                for gain, i in gains
                if gain >= _LEAST_GAIN and (way := _way(tree, i, g.nodes, allowed, score))
            ]
            if not ways:
                break
            tree += max(ways, key=lambda way: way[0])[1]
            if 1 < len(tree) <= LARGEST:
                found.add(tuple(sorted(tree)))
    return found


def _way(
    tree: Sequence[int], goal: int, nodes: Nodes, allowed: AbstractSet[int], score: NDArray[np.float64]
) -> list[int]:
    """The tables to add so that `goal` is connected with the tree: the fewest, of these the best; [] when too far."""
    ways: dict[int, list[int]] = {goal: [goal]}
    for _ in range(_HOPS):
        ends = [
            (float(sum(score[i] for i in way)), way) for end, way in ways.items() if nodes.neighbours[end] & set(tree)
        ]
        if ends:
            return max(ends)[1]
        longer: dict[int, list[int]] = {}
        for end, way in ways.items():
            for near in nodes.neighbours[end] & allowed:
                if near not in way and (near not in longer or score[near] > score[longer[near][-2]]):
                    longer[near] = [*way, near]
        ways = longer
    return []


def _connected_subsets(links: Mapping[int, AbstractSet[int]], largest: int) -> set[tuple[int, ...]]:
    """Every connected set of up to `largest` nodes, as sorted tuples.

    >>> sorted(_connected_subsets({1: frozenset({2}), 2: frozenset({1, 3}), 3: frozenset({2})}, 3))
    [(1,), (1, 2), (1, 2, 3), (2,), (2, 3), (3,)]
    """
    layer: set[tuple[int, ...]] = {(i,) for i in links}
    found = set(layer)
    for _ in range(largest - 1):
        grown: set[tuple[int, ...]] = set()
        for one in layer:
            for i in one:
                for j in links[i]:
                    if j not in one:
                        grown.add(tuple(sorted((*one, j))))
        layer = grown
        found |= grown
    return found
