"""What one table is to another that has the same columns, judged by their rows alone.

Each rule explains a table by an *origin*: all its rows again, a part that a value or a range explains, a part that
nothing explains, rows that lost cells, rows whose references lead nowhere, an older state. Whatever no rule explains
gets no relation. A rule speaks only where chance does not: shared rows must be worth 20 bits, and a shard's rule
must be much cheaper to say than the list of its rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from suffice_enrichers.alignment import Changes, compare
from suffice_enrichers.contents import Cells, Content, distinct_values, positions
from suffice_enrichers.names import words
from suffice_enrichers.snapshots import older_state

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Copy", "Part", "density", "evidence_bits", "explain", "log2_choose"]

Kind = Literal[
    "identical", "repeated_rows", "missing_values", "broken_reference", "sample", "partition", "snapshot", "contained"
]

_BITS = 20.0
_CONTAINED_BITS, _NAMED_BITS = 10.0, 3.0
"""Enough to prefer the table that holds the rows, too little to say what the other is; less where the names agree."""
_RULE_BITS = 10.0
_LEAST_SHARED = 3
_EXPLAINED = 0.95
_MOST_VALUES = 50


@dataclass(frozen=True, slots=True)
class Part:
    """A rule that picks the part out of the whole: each column with its values (as cell hashes)."""

    columns: tuple[int, ...]
    values: tuple[NDArray[np.uint64], ...]
    bits: float


@dataclass(frozen=True, slots=True)
class Copy:
    """`table` is explained by `origin`. `columns` are numbers of shared columns; `numbers` are shares and counts.

        `low` and `high` bound a shard by a range.
    `sure` is False for a shard of so few rows that its rule may be chance; siblings with the same rule confirm it.
    """

    relation: Kind
    table: Content
    origin: Content
    columns: tuple[int, ...] = ()
    part: Part | None = None
    low: Any = None
    high: Any = None
    sure: bool = True
    otherwise: Copy | None = None
    numbers: Mapping[str, float | int | None] = field(default_factory=dict)


def log2_choose(n: int, k: int) -> float:
    """log2 of the number of ways to choose k of n.

    >>> round(log2_choose(4, 2), 3)
    2.585
    """
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)


def density(cells: Cells) -> float:
    """How much of the space that its columns span a table fills: the odds that a row made of its values is in it."""
    space = sum(math.log2(max(1, len(cells.domain(c)))) for c in range(len(cells.columns)))
    return min(1.0, math.pow(2.0, math.log2(max(1, len(cells))) - space))


def evidence_bits(shared: int, distinct: int, odds: float) -> float:
    """Bits against `shared` of `distinct` rows being in the other table by chance, each with the given odds.

    `distinct` times the Kullback-Leibler divergence of the observed share from the odds; 0 where the share is not
    above the odds.

    >>> round(evidence_bits(10, 10, 0.5), 6), evidence_bits(1, 10, 0.5)
    (10.0, 0.0)
    """
    share = shared / distinct if distinct else 0.0
    odds = min(max(odds, 1e-12), 1.0)
    if share <= odds:
        return 0.0
    bits = share * math.log2(share / odds)
    if share < 1:
        bits += (1 - share) * math.log2((1 - share) / (1 - odds))
    return distinct * bits


def explain(
    table: Content,
    origin: Content,
    cells: Callable[[Content], Cells | None],
    references: Collection[int],
) -> Copy | None:
    """The relation of `table` to `origin`, or None. `cells(content)` reads cells; `references` are the columns that
    are known to point at another table."""
    at, there = positions(table.hashes, origin.hashes)
    shared = int(there.sum())
    if not shared or (shared < _LEAST_SHARED and shared < table.distinct):
        return None
    origin_cells = cells(origin)
    if origin_cells is None or not origin_cells.columns:
        return None
    bits = evidence_bits(shared, table.distinct, density(origin_cells))
    base: dict[str, float | int | None] = {
        "rows": table.rows,
        "of_rows": origin.rows,
        "contained": float(table.counts[there].sum() / table.rows),
    }
    if shared == table.distinct:
        found = _contained(table, origin, at, origin_cells, bits)
    elif bits >= _BITS:
        gone = origin.rows - int(origin.counts[at[there]].sum())
        found = _altered(table, origin, there, gone, cells(table), origin_cells, references)
    else:
        found = None
    fewer = table.distinct < origin.distinct or table.rows > origin.rows
    needed = _NAMED_BITS if words(table.asset.name)[:1] == words(origin.asset.name)[:1] else _CONTAINED_BITS
    if found is None and shared == table.distinct and fewer and bits >= needed:
        found = Copy("contained", table, origin)
    return None if found is None else replace(found, numbers={**base, **found.numbers})


def _contained(table: Content, origin: Content, at: NDArray[np.int64], cells: Cells, bits: float) -> Copy | None:
    extra = int(np.maximum(table.counts - origin.counts[at], 0).sum())
    repeated: dict[str, float | int | None] = {"extra_rows": extra, "extra_share": extra / table.rows}
    if table.distinct == origin.distinct:
        if extra and (table.counts >= origin.counts).all() and bits >= _BITS:
            return Copy("repeated_rows", table, origin, numbers=repeated)
        return None
    part = _part(table, origin, at, cells)
    evident = table.distinct >= _LEAST_SHARED and bits >= _BITS
    if part is not None:
        sure = evident or log2_choose(origin.distinct, table.distinct) - part.bits >= _RULE_BITS
        relation: Kind = "repeated_rows" if extra else "partition"
        numbers = repeated if extra else {}
        return Copy(relation, table, origin, part=part, columns=part.columns, sure=sure, numbers=numbers)
    if not evident:
        return None
    share: dict[str, float | int | None] = {"share": table.distinct / origin.distinct}
    return Copy("sample", table, origin, numbers={**share, **(repeated if extra else {})})


def _part(table: Content, origin: Content, at: NDArray[np.int64], cells: Cells) -> Part | None:
    """The cheapest rule that picks exactly the rows at `at`, if it is cheaper to say than the list of those rows.

    By Kraft's inequality a random choice of rows has a rule that saves b bits with a chance of at most 2^-b. For one
    value a column the bound is far from reached; a list of values must save 10 bits.
    """
    width = len(cells.columns)
    found: list[Part] = []
    constant: list[tuple[int, NDArray[np.bool_]]] = []
    for c in range(width):
        values = distinct_values(cells.columns[c][at])
        if values[0] == 0 or len(values) > _MOST_VALUES:
            continue
        domain = len(cells.domain(c))
        if len(values) == domain and not (cells.columns[c] == 0).any():
            continue
        picked = cells.columns[c] == values[0] if len(values) == 1 else positions(cells.columns[c], values)[1]
        if len(values) == 1:
            constant.append((c, picked))
        if int(picked.sum()) == table.distinct:
            found.append(Part((c,), (values,), math.log2(width) + log2_choose(domain, len(values))))
    if not any(len(part.values[0]) == 1 for part in found):
        constant.sort(key=lambda item: int(item[1].sum()))
        for i, (one, left) in enumerate(constant):
            for other, right in constant[i + 1 :]:
                a, b = sorted((one, other))
                if int((left & right).sum()) == table.distinct:
                    spoken = [math.log2(width * max(1, len(cells.domain(c)))) for c in (a, b)]
                    pair = tuple(cells.columns[c][at[:1]] for c in (a, b))
                    found.append(Part((a, b), pair, sum(spoken)))
    best = min(found, key=lambda part: (part.bits, part.columns), default=None)
    saved = log2_choose(origin.distinct, table.distinct) - best.bits if best else 0.0
    needed = 1 if best and all(len(values) == 1 for values in best.values) else _RULE_BITS
    return best if saved >= needed else None


def _altered(
    table: Content,
    origin: Content,
    there: NDArray[np.bool_],
    gone: int,
    table_cells: Cells | None,
    cells: Cells,
    references: Collection[int],
) -> Copy | None:
    """What was changed; `gone` rows of the origin are not in the table, and each changed row was one of them."""
    if table_cells is None:
        return None
    changed = np.flatnonzero(~there)
    changes = compare(table_cells, changed, cells)
    if changes.explained >= _EXPLAINED and len(changed) <= gone:
        broken = _broken(changes, references, cells)
        if broken:
            shares = _broken_share(table, table_cells, cells, broken)
            return Copy("broken_reference", table, origin, columns=broken, numbers=shares)
        if changes.only_lost >= _EXPLAINED:
            lost = tuple(int(c) for c in np.flatnonzero(changes.lost))
            shares = _null_shares(table, table_cells, origin, cells)
            return Copy("missing_values", table, origin, columns=lost, numbers=shares)
    state = older_state(table, table_cells, origin, cells)
    return Copy("snapshot", table, origin, columns=(state[0],), numbers=state[1]) if state else None


def _broken(changes: Changes, references: Collection[int], cells: Cells) -> tuple[int, ...]:
    """The columns whose references were broken; empty when it is another change.

    Values that the origin nowhere holds are broken references in a column that is known to point at another table,
    or where a few such values stand in for many (where each stands for one that is gone, the column was updated).
    Cells that are only null are so when chance would not have spared all other columns.
    """
    wild = {int(c) for c in np.flatnonzero(changes.wild)}
    if not wild:
        lost = {int(c) for c in np.flatnonzero(changes.lost)}
        total, width = int(changes.lost.sum()), len(changes.lost)
        spared = lost and lost <= set(references) and (len(set(references)) / width) ** total < 0.01
        return tuple(sorted(lost)) if spared else ()
    for c in wild - set(references):
        few = changes.wild_values[c] <= max(1, 0.1 * changes.wild[c])
        often = changes.wild[c] >= _LEAST_SHARED or changes.lost[c] > 0
        repeated = len(cells.domain(c)) < 0.9 * len(cells)
        recoded = changes.former_values[c] <= changes.wild_values[c]
        updated = repeated and recoded and changes.replaced[c] > 0.5 * changes.wild[c]
        if not (few and often) or updated:
            return ()
    lost = {int(c) for c in np.flatnonzero(changes.lost)}
    return tuple(sorted(wild | (lost & set(references))))


def _broken_share(table: Content, own: Cells, origin: Cells, columns: tuple[int, ...]) -> dict[str, float | int | None]:
    """Shares of the table's rows with a null, and with a value that the origin does not hold, in one of `columns`."""
    null = np.zeros(table.distinct, bool)
    wild = np.zeros(table.distinct, bool)
    for c in columns:
        empty = own.columns[c] == 0
        null |= empty
        wild |= ~empty & ~positions(own.columns[c], origin.domain(c))[1]
    return {
        "broken_share": float(table.counts[null | wild].sum() / table.rows),
        "out_of_range_share": float(table.counts[wild].sum() / table.rows),
        "null_share": float(table.counts[null].sum() / table.rows),
    }


def _null_shares(table: Content, own: Cells, origin: Content, cells: Cells) -> dict[str, float | int | None]:
    """Share of all cells that are null, here and in the origin."""

    def share(content: Content, of: Cells) -> float:
        nulls = sum(int(content.counts[column == 0].sum()) for column in of.columns)
        return nulls / (content.rows * len(of.columns))

    return {"null_share": share(table, own), "of_null_share": share(origin, cells)}
