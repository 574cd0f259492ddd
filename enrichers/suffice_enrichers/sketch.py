"""KMV sketches: the smallest 64-bit hashes of a column's distinct values, comparable whatever source they come from.

Bar-Yossef et al., "Counting distinct elements in a data stream" (RANDOM 2002). The hash is the lower half of MD5 of
the value's text, which Python and DuckDB give alike, in every version; it guards nothing.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Sequence

__all__ = ["SIZE", "containment", "of_values", "sql"]

SIZE = 512


def of_values(values: Iterable[object], size: int = SIZE) -> list[int]:
    """The `size` smallest hashes of the texts of `values`, ascending.

    >>> len(of_values(range(1000))), of_values([1, 2]) == of_values(["2", "1", 1.0])
    (512, True)
    """
    hashes = {_hash(_text(value)) for value in values}
    return sorted(hashes) if len(hashes) <= size else heapq.nsmallest(size, hashes)


def sql(value: str, table: str, size: int = SIZE) -> str:
    """DuckDB SQL of one row, one column: the same hashes of the text expression `value` over `table`."""
    distinct = f"SELECT DISTINCT md5_number_lower({value}) AS h FROM {table} WHERE {value} IS NOT NULL"
    return f"SELECT list(h ORDER BY h) FROM (SELECT h FROM ({distinct}) ORDER BY h LIMIT {size})"


def containment(left: Sequence[int], right: Sequence[int], size: int = SIZE) -> tuple[float, int]:
    """Estimated share of the distinct values of `left` that are in `right`, and on how many hashes it rests.

    A sketch that is not full holds every value; a full one says nothing above its largest hash.

    >>> a, b = of_values(range(100)), of_values(range(50, 5000))
    >>> share, base = containment(a, b); base < 30
    True
    >>> containment(of_values(range(50)), of_values(range(100)))
    (1.0, 50)
    """
    limit = right[-1] if len(right) >= size else None
    known = [h for h in left if limit is None or h <= limit]
    if not known:
        return 0.0, 0
    there = set(right)
    return sum(h in there for h in known) / len(known), len(known)


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _hash(text: str) -> int:
    return int.from_bytes(
        hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()[8:], "little"
    )
