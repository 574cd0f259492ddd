"""How the schema of a copy drifts away from its origin: the rows stay what they are, the columns do not.

Every change keeps at least one column as it was, so that a copy still can be told by its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DRIFTS", "drift"]

_Drift = Callable[["pa.Table", np.random.Generator, Collection[str]], "pa.Table | None"]


def drift(table: pa.Table, rng: np.random.Generator, spared: Collection[str] = ()) -> tuple[pa.Table, str]:
    """The table with one change of its schema, and the change's name (a key of DRIFTS; "" when none can be made).

    Columns in `spared` are not renamed, dropped or retyped.
    """
    for name in rng.permutation(list(DRIFTS)):
        changed = DRIFTS[str(name)](table, rng, spared)
        if changed is not None:
            return changed, str(name)
    return table, ""


def _renamed(table: pa.Table, rng: np.random.Generator, spared: Collection[str]) -> pa.Table | None:
    column = _one_of(table, rng, spared)
    return None if column is None else table.rename_columns({column: f"{column}_new"})


def _added(table: pa.Table, rng: np.random.Generator, _: Collection[str]) -> pa.Table | None:
    import pyarrow as pa

    if "load_batch" in table.column_names:
        return None
    return table.append_column("load_batch", pa.array(rng.integers(1, 4, table.num_rows)))


def _dropped(table: pa.Table, rng: np.random.Generator, spared: Collection[str]) -> pa.Table | None:
    column = _one_of(table, rng, spared)
    return None if column is None else table.drop_columns([column])


def _retyped(table: pa.Table, rng: np.random.Generator, spared: Collection[str]) -> pa.Table | None:
    """Whole numbers kept as text."""
    import pyarrow as pa

    whole = [f.name for f in table.schema if pa.types.is_integer(f.type) and f.name not in spared]
    if not whole:
        return None
    at = table.schema.get_field_index(whole[int(rng.integers(len(whole)))])
    return table.set_column(at, table.column_names[at], table.column(at).cast(pa.string()))


def _reordered(table: pa.Table, rng: np.random.Generator, _: Collection[str]) -> pa.Table | None:
    """Rows and columns in another order."""
    rows = table.take(rng.permutation(table.num_rows))
    return rows.select([table.column_names[i] for i in rng.permutation(table.num_columns)])


def _one_of(table: pa.Table, rng: np.random.Generator, spared: Collection[str]) -> str | None:
    """A column that may change; None when too few would be left to tell the rows by."""
    free = [name for name in table.column_names if name not in spared]
    return free[int(rng.integers(len(free)))] if free and table.num_columns > 2 else None


DRIFTS: Mapping[str, _Drift] = {
    "renamed": _renamed,
    "added": _added,
    "dropped": _dropped,
    "retyped": _retyped,
    "reordered": _reordered,
}
