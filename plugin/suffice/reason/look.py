"""Looks at the data that an agent may ask for: exact profiles, values, whether a join holds, how tables connect.

Each is one bounded SELECT that is built here, over a read-only connection with a timeout; names are quoted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from suffice.catalogs.names import resolve
from suffice.errors import UsageError
from suffice.libs import duck
from suffice.model import Asset, Scope
from suffice.rows.engine import Engine

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.index.search import Index
    from suffice.reason.knowledge import JoinEdge, Knowledge

__all__ = ["check_join", "find_values", "join_paths", "profile_columns", "sample_columns"]

_ALL_VALUES = 50
_MOST_PHRASES = 50
_HITS = 20
_PATHS, _HOPS = 5, 4


@contextmanager
def _rows(home: Home) -> Iterator[Engine]:
    settings = home.settings
    engine = Engine(home.sources(), max_rows=settings.max_rows, timeout_s=min(20.0, settings.query_timeout_s))
    try:
        yield engine
    finally:
        engine.close()


def _asset(home: Home, name: str, scope: Scope) -> Asset:
    return resolve(home.catalog.assets(scope), name)


def profile_columns(
    home: Home, table: str, columns: Sequence[str] = (), *, scope: Scope | None = None
) -> dict[str, Any]:
    """Exact figures of columns now: rows, nulls, distinct, smallest and largest; all values of a column with few.

    Values of a sensitive column are counted and not shown. Raises UsageError for an unknown column.
    """
    asset = _asset(home, table, scope or Scope())
    wanted = list(columns) or [c.name for c in asset.columns]
    unknown = [name for name in wanted if asset.column(name) is None]
    if unknown:
        some = ", ".join(c.name for c in asset.columns[:12])
        raise UsageError(f"no column '{unknown[0]}' in {asset.path}", mend=f"it has {some}")
    hidden = {f.column for f in home.store.findings(["sensitive"], [asset.urn])}
    with _rows(home) as rows:
        relation = rows.relation(asset)
        told = [_column(rows, relation.sql, name, name in hidden) for name in wanted if name in relation.columns]
    return {"table": asset.path, "rows": relation.rows, "examined": relation.base, "columns": told}


def _column(rows: Engine, sql: str, name: str, hidden: bool) -> dict[str, Any]:
    cell = duck.quote(name)
    asked = (
        f"SELECT count(*), count({cell}), count(DISTINCT {cell}), min({cell})::VARCHAR, max({cell})::VARCHAR FROM {sql}"
    )
    total, filled, distinct, low, high = rows.query(asked)[0]
    told: dict[str, Any] = {"name": name, "nulls": total - filled, "distinct": distinct}
    if hidden:
        return {**told, "values": "withheld: the column looks sensitive"}
    told |= {"min": low, "max": high}
    if 0 < distinct <= _ALL_VALUES:
        counted = f"SELECT {cell}::VARCHAR, count(*) FROM {sql} WHERE {cell} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1"
        told["values"] = {str(value)[:80]: n for value, n in rows.query(counted)}
    return told


def find_values(home: Home, index: Index, values: Sequence[str], *, scope: Scope | None = None) -> dict[str, Any]:
    """Which columns hold each value, whatever its case and punctuation. Not found is no proof of absence: the most
    frequent values of a column are kept only."""
    asked = [str(v) for v in values][:_MOST_PHRASES]
    paths = {a.urn: a.path for a in home.catalog.assets(scope)}
    found: dict[str, list[dict[str, Any]]] = {value: [] for value in asked}
    for match in index.values.lookup(asked, scope):
        if match.urn in paths and len(found[match.phrase]) < _HITS:
            place = {"table": paths[match.urn], "column": match.column, "value": match.value, "rows": match.count}
            found[match.phrase].append(place)
    return {"values": found, "not_found": [value for value, places in found.items() if not places]}


def check_join(
    home: Home,
    left: str,
    left_columns: Sequence[str],
    right: str,
    right_columns: Sequence[str],
    *,
    scope: Scope | None = None,
) -> dict[str, Any]:
    """Whether two tables join over equally many columns: the share of rows on each side that find a partner, and
    whether the keys are unique. Columns of different types are compared by their text, which is said."""
    one, two = _asset(home, left, scope or Scope()), _asset(home, right, scope or Scope())
    if not left_columns or len(left_columns) != len(right_columns):
        raise UsageError("a join needs as many columns on the left as on the right", mend="give both lists")
    for asset, names in ((one, left_columns), (two, right_columns)):
        for name in names:
            if asset.column(name) is None:
                some = ", ".join(c.name for c in asset.columns[:12])
                raise UsageError(f"no column '{name}' in {asset.path}", mend=f"it has {some}")
    kinds = [(_kind(one, a), _kind(two, b)) for a, b in zip(left_columns, right_columns, strict=True)]
    as_text = [a != b for a, b in kinds]
    with _rows(home) as rows:
        a, b = rows.relation(one), rows.relation(two)
        query = _overlap(a.sql, left_columns, b.sql, right_columns, as_text)
        left_rows, left_keys, found, right_rows, right_keys, used = rows.query(query)[0]
    sides = ((one, left_columns, left_rows, left_keys), (two, right_columns, right_rows, right_keys))
    mine, other = (
        {"table": asset.path, "columns": list(names), "rows": n, "unique": n == keys} for asset, names, n, keys in sides
    )
    return {
        "left": mine,
        "right": other,
        "match": found / left_rows if left_rows else 0.0,
        "back_match": used / right_rows if right_rows else 0.0,
        "compared_as_text": any(as_text),
        "sampled": a.sampled or b.sampled,
    }


def _kind(asset: Asset, name: str) -> str:
    column = asset.column(name)
    kind = column.kind if column is not None else "other"
    return "number" if kind == "integer" else kind


def _overlap(
    left: str, left_columns: Sequence[str], right: str, right_columns: Sequence[str], as_text: Sequence[bool]
) -> str:
    def keyed(names: Sequence[str]) -> str:
        cells = (f"{duck.quote(n)}::VARCHAR" if text else duck.quote(n) for n, text in zip(names, as_text, strict=True))
        return ", ".join(f"{cell} AS k{i}" for i, cell in enumerate(cells))

    def filled(names: Sequence[str]) -> str:
        return " AND ".join(f"{duck.quote(n)} IS NOT NULL" for n in names)

    keys = ", ".join(f"k{i}" for i in range(len(left_columns)))
    mine, other = (f"{keyed(left_columns)}, count(*) AS n", f"{keyed(right_columns)}, count(*) AS m")
    return (
        f"WITH l AS (SELECT {mine} FROM {left} WHERE {filled(left_columns)} GROUP BY ALL), "
        f"r AS (SELECT {other} FROM {right} WHERE {filled(right_columns)} GROUP BY ALL), "
        f"b AS (SELECT n, m FROM l JOIN r USING ({keys})) "
        "SELECT coalesce((SELECT sum(n) FROM l), 0)::BIGINT, (SELECT count(*) FROM l), "
        "coalesce((SELECT sum(n) FROM b), 0)::BIGINT, coalesce((SELECT sum(m) FROM r), 0)::BIGINT, "
        "(SELECT count(*) FROM r), coalesce((SELECT sum(m) FROM b), 0)::BIGINT"
    )


def join_paths(
    home: Home, knowledge: Knowledge, start: str, goal: str, *, scope: Scope | None = None, hops: int = _HOPS
) -> dict[str, Any]:
    """The shortest ways between two tables over declared and measured keys, the most trusted first; at most 4 hops."""
    allowed = scope or Scope()
    one, two = _asset(home, start, allowed), _asset(home, goal, allowed)
    number = knowledge.number
    inside = knowledge.in_scope(allowed)
    found: list[list[int]] = []
    waiting = deque([[number[one.urn]]])
    while waiting and len(found) < _PATHS:
        path = waiting.popleft()
        if path[-1] == number[two.urn]:
            found.append(path)
        elif len(path) <= min(hops, _HOPS):
            near = sorted(knowledge.neighbours.get(path[-1], frozenset()) - set(path))
            waiting.extend([*path, n] for n in near if inside[n] and not knowledge.tables[n].degraded)
    found.sort(key=lambda p: (len(p), -_strength(p, knowledge)))
    return {"from": one.path, "to": two.path, "paths": [[_step(a, b, knowledge) for a, b in _pairs(p)] for p in found]}


def _pairs(path: Sequence[int]) -> list[tuple[int, int]]:
    return list(pairwise(path))


def _edge(a: int, b: int, knowledge: Knowledge) -> JoinEdge:
    return knowledge.between[min(a, b), max(a, b)][0]


def _strength(path: Sequence[int], knowledge: Knowledge) -> float:
    return min((_edge(a, b, knowledge).strength for a, b in _pairs(path)), default=1.0)


def _step(a: int, b: int, knowledge: Knowledge) -> dict[str, Any]:
    edge = _edge(a, b, knowledge)
    return {
        "left": knowledge.tables[edge.left].asset.path,
        "left_columns": list(edge.left_columns),
        "right": knowledge.tables[edge.right].asset.path,
        "right_columns": list(edge.right_columns),
        "kind": edge.kind,
        "match": edge.match,
    }


def sample_columns(home: Home, table: str, rows: int) -> tuple[str, dict[str, Any], list[str]]:
    """A random sample of a table as arrays by column, its path, and the sensitive columns that were left out."""
    asset = _asset(home, table, Scope())
    hidden = sorted({f.column for f in home.store.findings(["sensitive"], [asset.urn])})
    with _rows(home) as engine:
        relation = engine.relation(asset)
        shown = ", ".join(duck.quote(c) for c in relation.columns if c not in hidden)
        sampled = f"SELECT {shown} FROM {relation.sql} USING SAMPLE reservoir({int(rows)} ROWS) REPEATABLE (1)"
        return asset.path, engine.numpy(sampled), hidden
