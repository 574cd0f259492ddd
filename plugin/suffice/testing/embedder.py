"""An embedder without weights."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["HashEmbedder"]

_WORDS = re.compile(r"[^\W_]+")


class HashEmbedder:
    """An `Embedder` that hashes words into a bag: deterministic, instant, and texts that share words are near.

    `embedded` counts the texts seen, so that a test can tell what was embedded again.

    >>> a, b, c = HashEmbedder(64).embed(["red shoes", "Red socks", "tax law"])
    >>> bool(a @ b > a @ c)
    True
    """

    def __init__(self, width: int = 64, *, name: str = "hash", window: int = 256) -> None:
        self.name = name
        self.width = width
        self.window = window
        self.embedded = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), width), rows of norm 1."""
        self.embedded += len(texts)
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORDS.findall(text.casefold())[: self.window]:
                mark = zlib.crc32(word.encode())
                vectors[row, mark % self.width] += 1.0 if mark & 0x10000 else -1.0
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        norms: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / norms

    def count_tokens(self, text: str) -> int:
        return len(_WORDS.findall(text))
