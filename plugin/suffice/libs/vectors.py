"""The only importer of faiss: unit vectors by id, nearest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import IndexMismatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FlatVectors"]


class FlatVectors:
    """An exact index (inner product) of `width` floats a vector, by 63-bit ids of the caller's.

    >>> import numpy as np
    >>> v = FlatVectors(2)
    >>> v.put([7, 9], np.eye(2, dtype=np.float32))
    >>> [(i, round(s, 2)) for i, s in v.search(np.array([1, 0], dtype=np.float32), 10)]
    [(7, 1.0), (9, 0.0)]
    """

    def __init__(self, width: int) -> None:
        import faiss

        self._index: Any = faiss.IndexIDMap2(faiss.IndexFlatIP(width))

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def width(self) -> int:
        return int(self._index.d)

    def put(self, ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Add vectors; one whose id is held takes its place. Raises ValueError on a repeated id or a width that
        differs, or a number that is not finite."""
        if len(set(ids)) != len(ids) or vectors.shape != (len(ids), self.width):
            raise ValueError(f"{len(set(ids))} ids for vectors of shape {vectors.shape}, width {self.width}")
        if not np.isfinite(vectors).all():
            raise ValueError("a vector holds a number that is not finite")
        if ids:
            self.remove(ids)
            self._index.add_with_ids(np.ascontiguousarray(vectors), np.asarray(ids, dtype=np.int64))

    def remove(self, ids: Iterable[int]) -> None:
        wanted = np.fromiter(ids, dtype=np.int64)
        if len(wanted) and len(self):
            self._index.remove_ids(wanted)

    def search(self, query: NDArray[np.float32], k: int, among: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """At most `k` (id, cosine), best first, of those `among` if given; none for a query that is not finite."""
        import faiss

        k = min(k, len(self) if among is None else len(among))
        if k < 1 or not np.isfinite(query).all():
            return []
        params = None
        if among is not None:
            params = faiss.SearchParameters()
            params.sel = faiss.IDSelectorBatch(np.asarray(among, dtype=np.int64))
        scores, ids = self._index.search(np.ascontiguousarray(query.reshape(1, -1)), k, params=params)
        # faiss pads with -1 where it has fewer
        return [(int(i), float(s)) for i, s in zip(ids[0], scores[0], strict=True) if i >= 0]

    def get(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """(len(ids), width). Raises KeyError for an id that is not held."""
        try:
            found = self._index.reconstruct_batch(np.asarray(ids, dtype=np.int64)) if len(ids) else None
        except RuntimeError as error:
            raise KeyError("an id that the index does not hold") from error
        return np.zeros((0, self.width), dtype=np.float32) if found is None else np.asarray(found, dtype=np.float32)

    def save(self, path: Path) -> None:
        import faiss

        faiss.write_index(self._index, str(path))

    @classmethod
    def load(cls, path: Path) -> FlatVectors:
        """Raises IndexMismatch when the file is no index."""
        import faiss

        held = cls.__new__(cls)
        try:
            held._index = faiss.read_index(str(path))
        except RuntimeError as error:
            raise IndexMismatch(f"'{path}' cannot be read", mend="run: suffice index") from error
        return held
