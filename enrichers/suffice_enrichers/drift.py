"""Tables whose schemas have drifted apart: one column renamed, one more, or one less."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from suffice.libs.duck import quote
from suffice.model import Asset

if TYPE_CHECKING:
    from suffice.rows.engine import Engine

__all__ = ["Names", "clusters", "names_of", "near", "renamed", "within"]

Names = tuple[str, ...]
"""The lower-case column names of a table, sorted."""

_LEAST_SHARED = 2
_LEAST_HELD = 0.95


def names_of(asset: Asset) -> Names:
    return tuple(sorted(column.name.lower() for column in asset.columns))


def near(one: Names, other: Names) -> bool:
    """Whether two tables share all columns but one of each at most.

    >>> near(("a", "b", "c"), ("a", "b")), near(("a", "b", "c"), ("a", "b", "d")), near(("a", "b"), ("a", "c"))
    (True, True, False)
    """
    shared = len(set(one) & set(other))
    return shared >= _LEAST_SHARED and len(one) - shared <= 1 and len(other) - shared <= 1


def within(one: Asset, other: Asset) -> bool:
    """Whether one of the two has all columns of the other."""
    return set(names_of(one)) <= set(names_of(other)) or set(names_of(one)) >= set(names_of(other))


def clusters(tables: Iterable[Asset]) -> list[list[list[Asset]]]:
    """Tables by their column names, each group with those near to it; the group that most tables are in comes first.

    Every table is in one group of one cluster; groups that are near to a cluster's first need not be so to another.
    """
    groups: dict[Names, list[Asset]] = {}
    for asset in sorted(tables, key=lambda a: a.urn):
        groups.setdefault(names_of(asset), []).append(asset)
    found: dict[Names, list[list[Asset]]] = {}
    for names in sorted(groups, key=lambda n: (-len(groups[n]), -len(n), n)):
        core = next((core for core in found if near(core, names)), names)
        found.setdefault(core, []).append(groups[names])
    return list(found.values())


def renamed(asset: Asset, origins: Sequence[Asset], engine: Engine) -> Mapping[str, str]:
    """{own name: its name there} in lower case, of the one column that the largest of `origins` calls otherwise.

    The names tell nothing; the column must have the same type, and its values must be found there. Empty when there is
    no such column.
    """
    largest = max(origins, key=lambda origin: engine.relation(origin).rows)
    own, its = set(names_of(asset)), set(names_of(largest))
    if len(own - its) != 1 or len(its - own) != 1:
        return {}
    here = next(c for c in asset.columns if c.name.lower() not in its)
    there = next(c for c in largest.columns if c.name.lower() not in own)
    if here.type != there.type:
        return {}
    known = f"SELECT {quote(there.name)} FROM {engine.relation(largest).sql}"
    values = f"SELECT DISTINCT {quote(here.name)} AS v FROM {engine.relation(asset).sql} WHERE v IS NOT NULL"
    [(held, distinct)] = engine.query(f"SELECT count(*) FILTER (v IN ({known})), count(*) FROM ({values})")
    return {here.name.lower(): there.name.lower()} if distinct and held >= _LEAST_HELD * distinct else {}
