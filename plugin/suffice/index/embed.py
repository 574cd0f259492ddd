"""The embedder that the settings name, and vectors kept from run to run by text and model."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import registry
from suffice.errors import SufficeError
from suffice.extend import Embedder
from suffice.model import digest
from suffice.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EmbeddingCache", "load_embedder", "token_counter", "token_window"]

_CHUNK = 256
_WINDOW = 256


def load_embedder(settings: Settings) -> Embedder:
    """The embedder in force; what is heavy in it is loaded with the first text. Raises when it is not installed."""
    made: Embedder = registry.load("embedders", settings.embedder)(settings.embedder_model)
    return made


def token_window(embedder: Embedder) -> int:
    """Tokens that the embedder reads of a text: its `window`, if it says one."""
    return int(getattr(embedder, "window", _WINDOW))


def token_counter(embedder: Embedder) -> Callable[[str], int] | None:
    """The embedder's `count_tokens`, if it has one."""
    return getattr(embedder, "count_tokens", None)


class EmbeddingCache:
    """Vectors of one embedder in an SQLite file. A damaged or foreign entry is embedded again."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        self._path = path
        self._embedder = embedder
        self.embedded = 0

    def embed(self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None) -> NDArray[np.float32]:
        """(len(texts), width). Equal texts are embedded once; what is done is kept even when the run is killed."""
        width = self._embedder.width
        keys = [digest(text) for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._connect()) as connection:
            vectors = self._held(connection, list(by_key), width)
            missing = [key for key in by_key if key not in vectors]
            # Sorted by length, a chunk pads little; the chunks are stored one by one.
            missing.sort(key=lambda key: (len(by_key[key]), key))
            for start in range(0, len(missing), _CHUNK):
                part = missing[start : start + _CHUNK]
                made = np.asarray(self._embedder.embed([by_key[key] for key in part]), dtype=np.float32)
                if made.shape != (len(part), width) or not np.isfinite(made).all():
                    raise SufficeError(
                        f"embedder '{self._embedder.name}' gave {made.shape} numbers, not all finite or not "
                        f"({len(part)}, {width})", mend="choose another embedder",
                    )  # fmt: skip
                rows = [(self._embedder.name, key, vector.tobytes()) for key, vector in zip(part, made, strict=True)]
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
                vectors.update(zip(part, made, strict=True))
                self.embedded += len(part)
                if progress is not None:
                    progress(min(start + _CHUNK, len(missing)), len(missing))
        return np.stack([vectors[key] for key in keys]) if keys else np.zeros((0, width), dtype=np.float32)

    def keep_only(self, texts: Sequence[str]) -> None:
        """Forget this embedder's vectors of other texts, once they outnumber the living ones."""
        alive = {digest(text) for text in texts}
        with closing(self._connect()) as connection, connection:
            mine = (self._embedder.name,)
            known = {row[0] for row in connection.execute("SELECT key FROM vectors WHERE model = ?", mine)}
            dead = known - alive
            if len(dead) > len(alive):
                connection.executemany(
                    "DELETE FROM vectors WHERE model = ? AND key = ?", [(self._embedder.name, key) for key in dead]
                )

    def _connect(self) -> sqlite3.Connection:
        for _ in range(2):
            connection = sqlite3.connect(self._path, timeout=30)
            try:
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS vectors"
                    " (model TEXT, key TEXT, vector BLOB, PRIMARY KEY (model, key)) WITHOUT ROWID"
                )
                return connection
            except sqlite3.DatabaseError:
                connection.close()
                self._path.unlink(missing_ok=True)
        raise SufficeError(f"cannot write '{self._path}'", mend="check the folder's permissions")

    def _held(self, connection: sqlite3.Connection, keys: Sequence[str], width: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            marks = ",".join("?" * len(part))
            for key, blob in connection.execute(
                f"SELECT key, vector FROM vectors WHERE model = ? AND key IN ({marks})", [self._embedder.name, *part]
            ):
                if len(blob) == 4 * width:
                    found[key] = np.frombuffer(blob, dtype=np.float32)
        return found
