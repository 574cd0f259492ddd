"""Older states of a table: the same keys, some rows changed since, newer ones missing."""

from __future__ import annotations

import re
from datetime import date

import numpy as np

from suffice_enrichers.contents import Cells, Content, positions

__all__ = ["date_in_name", "is_dated_copy", "older_state"]

_DATE = re.compile(r"^(?P<stem>.*?)[_\-. ]?(?P<y>(?:19|20)\d\d)[_\-.]?(?P<m>\d\d)(?:[_\-.]?(?P<d>\d\d))?$")
_LEAST_UNCHANGED = 0.3
_LEAST_KEYS = 0.95


def date_in_name(name: str) -> tuple[str, date | None]:
    """The stem of a name and the date at its end, if there is one.

    >>> date_in_name("customers_20251120")
    ('customers', datetime.date(2025, 11, 20))
    >>> date_in_name("flights_2013_02"), date_in_name("t_0147")
    (('flights', datetime.date(2013, 2, 1)), ('t_0147', None))
    """
    match = _DATE.match(name)
    if match is None:
        return name, None
    try:
        return match["stem"], date(int(match["y"]), int(match["m"]), int(match["d"] or 1))
    except ValueError:
        return name, None


def is_dated_copy(name: str, of: str) -> bool:
    """Whether `name` is `of` with a date, or with an earlier one. A hint beside the rows, never evidence by itself."""
    stem, day = date_in_name(name)
    other, newer = date_in_name(of)
    return day is not None and stem.lower() == other.lower() and (newer is None or day < newer)


def older_state(table: Content, own: Cells, origin: Content, cells: Cells) -> tuple[int, dict[str, float]] | None:
    """(key column, numbers) when `table` is a state that `origin` has left behind; None otherwise.

    Needs a column that is unique in both, nearly all of whose values in `table` are in `origin`, a fair share of rows
    that are the same, and changed rows that kept most of their cells. It is older when `origin` knows keys that it
    lacks; with the same keys a date in the name tells.
    """
    unchanged = positions(table.hashes, origin.hashes)[1].mean()
    if unchanged < _LEAST_UNCHANGED:
        return None
    for c in range(len(cells.columns)):
        if len(cells.domain(c)) < origin.distinct or len(own.domain(c)) < table.distinct:
            continue
        numbers, keys = cells.order((c,))
        at, known = positions(own.columns[c], keys)
        held = float(known.mean())
        grown = len(keys) - int(known.sum())
        if held < _LEAST_KEYS or not (grown > 0 or is_dated_copy(table.asset.name, origin.asset.name)):
            continue
        if grown < (~known).sum():
            continue
        here, there = np.flatnonzero(known), numbers[at[known]]
        same = np.stack([own.columns[k][here] == cells.columns[k][there] for k in range(len(cells.columns))])
        changed = ~same.all(axis=0)
        if changed.any() and same[:, changed].mean() < 0.5:
            continue
        return c, {"keys_held": held, "changed_share": float(1 - unchanged), "newer_rows": grown}
    return None
