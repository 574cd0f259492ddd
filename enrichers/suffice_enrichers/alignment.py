"""Which row of one table a changed row of another was: found by the cells that are still the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice_enrichers.contents import Cells, positions

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Changes", "compare"]

_SAMPLE = 1_000
_CANDIDATES = 32
_ANCHORS = 4
_UNKNOWN = 1


@dataclass(frozen=True, slots=True)
class Changes:
    """How `rows` changed rows differ from the rows they were, by column (arrays as long as there are columns).

    `lost` counts cells that became null, `gained` null cells that got a value, `wild` cells with a value that the
    column of the other table holds nowhere, `other` any other change. `explained` is the share of the rows in which
    cells were lost or became wild and nothing else changed; `only_lost` the share in which they were only lost.
    `wild_values` counts distinct wild values, `former_values` distinct values that they replaced, `replaced` the wild
    cells whose former value is gone from the column. A row that kept no cell at all was some row: its nulls were lost.
    """

    rows: int
    lost: NDArray[np.int64]
    gained: NDArray[np.int64]
    wild: NDArray[np.int64]
    other: NDArray[np.int64]
    wild_values: NDArray[np.int64]
    former_values: NDArray[np.int64]
    replaced: NDArray[np.int64]
    explained: float
    only_lost: float


def compare(table: Cells, changed: NDArray[np.int64], origin: Cells) -> Changes:
    """The differences of (at most 1,000 of) the rows of `table` at `changed` from their nearest rows in `origin`."""
    step = max(1, len(changed) // _SAMPLE)
    rows = changed[::step][:_SAMPLE]
    width = len(table.columns)
    cells = np.stack([column[rows] for column in table.columns])
    wild = np.zeros((width, len(rows)), bool)
    for c in range(width):
        wild[c] = (cells[c] != 0) & ~positions(cells[c], origin.domain(c))[1]
    nearest = _nearest(table, rows, cells, origin)
    before = np.stack([column[nearest] for column in origin.columns])
    empty = (nearest < 0) & ~((cells != 0) & ~wild).any(axis=0)
    before[:, empty] = _UNKNOWN
    placed = (nearest >= 0) | empty
    cells, wild, before = cells[:, placed], wild[:, placed], before[:, placed]
    differs = cells != before
    lost = differs & (cells == 0)
    gained = differs & (before == 0)
    wild &= ~gained
    other = differs & ~lost & ~gained & ~wild
    replaced = [before[c][wild[c] & (before[c] != _UNKNOWN)] for c in range(width)]
    total = len(placed)
    explained = ~(gained | other).any(axis=0)
    only_lost = explained & ~wild.any(axis=0)
    return Changes(
        total,
        lost.sum(axis=1),
        gained.sum(axis=1),
        wild.sum(axis=1),
        other.sum(axis=1),
        np.array([len(set(cells[c][wild[c]].tolist())) for c in range(width)], np.int64),
        np.array([len(set(former.tolist())) for former in replaced], np.int64),
        np.array([_gone(former, table, c) for c, former in enumerate(replaced)], np.int64),
        float(explained.sum() / total) if total else 0.0,
        float(only_lost.sum() / total) if total else 0.0,
    )


def _gone(values: NDArray[np.uint64], table: Cells, column: int) -> int:
    return int((~positions(values, table.domain(column))[1]).sum()) if len(values) else 0


def _nearest(table: Cells, rows: NDArray[np.int64], cells: NDArray[np.uint64], origin: Cells) -> NDArray[np.int64]:
    """The row of `origin` with most equal cells among those that share a selective cell, or pair of cells; -1: none."""
    best = np.full(len(rows), -1, np.int64)
    score = np.zeros(len(rows), np.int64)
    for anchor in _anchors(origin):
        numbers, keys = origin.order(anchor)
        wanted = table.key(anchor, rows)
        low, high = np.searchsorted(keys, wanted, "left"), np.searchsorted(keys, wanted, "right")
        low, high = np.where(wanted == 0, 0, low), np.where(wanted == 0, 0, high)
        for turn in range(min(_CANDIDATES, int((high - low).max(initial=0)))):
            # Where more rows share the anchor than are looked at, those looked at are spread over them.
            at = low + turn * np.maximum(1, (high - low) // _CANDIDATES)
            here = np.flatnonzero(at < high)
            candidates = numbers[at[here]]
            equal = np.zeros(len(here), np.int64)
            for c, column in enumerate(origin.columns):
                equal += column[candidates] == cells[c][here]
            better = equal > score[here]
            score[here[better]] = equal[better]
            best[here[better]] = candidates[better]
    return best


def _anchors(origin: Cells) -> list[tuple[int, ...]]:
    """The most selective columns and their pairs."""
    sizes = [len(origin.domain(c)) for c in range(len(origin.columns))]
    selective = sorted(range(len(sizes)), key=lambda c: (-sizes[c], c))[:_ANCHORS]
    pairs = [(a, b) for i, a in enumerate(selective) for b in selective[i + 1 :]]
    return [*((c,) for c in selective), *pairs]
