"""Generations on disk: each is written aside, named by `CURRENT` when whole, and never changed after.

    index/
      CURRENT                 the name of the generation in force
      gen-000012/             manifest.json, tables.db, tables.faiss, texts.npy, words/, values.db
      gen-000011/             the one before; a reader that opened it keeps it

A reader holds a shared lock on its generation; only one that nobody holds is removed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from suffice.errors import IndexMismatch, NotReady
from suffice.extend import Embedder
from suffice.index.text import TEXT_VERSION

__all__ = [
    "FORMAT",
    "Generation",
    "Manifest",
    "open_current",
    "open_or_none",
    "replace_text",
    "write_manifest",
    "writing",
]

FORMAT = 1
KEEP = 2
MEND = "run: suffice index"
_CHECKED_BYTES = 256 * 2**20
"""Up to so many bytes are compared with their checksums when a generation is opened; above, their sizes only."""
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation was made with and of. `files` gives size and checksum by path."""

    embedder: str
    width: int
    text_version: int
    counts: Mapping[str, int]
    values_mark: str = ""
    format: int = FORMAT
    normalised: bool = True
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)


class Generation:
    """A whole generation, held for reading until `close`. Raises IndexMismatch when it is torn or of another format."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock
        self.manifest = _read_manifest(path)
        _compare(path, self.manifest)

    @property
    def name(self) -> str:
        return self.path.name

    def fits(self, embedder: Embedder) -> bool:
        """Whether the vectors here are of this embedder and of texts as they are made now."""
        made = self.manifest
        return (made.embedder, made.width, made.text_version) == (embedder.name, embedder.width, TEXT_VERSION)

    def close(self) -> None:
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)

    __del__ = close  # a reader that is forgotten must not hold its generation for ever


def open_current(index_dir: Path) -> Generation:
    """The generation in force. Raises NotReady when there is none, IndexMismatch when it is damaged."""
    for _ in range(_TRIES):
        name = _current(index_dir)
        if name is None:
            raise NotReady(f"no index in '{index_dir}'", mend=MEND)
        path = index_dir / name
        try:
            lock = os.open(path / "manifest.json", os.O_RDONLY)
        except FileNotFoundError:
            if _current(index_dir) == name:
                raise IndexMismatch(f"the index '{path}' is gone", mend=MEND) from None
            continue
        fcntl.flock(lock, fcntl.LOCK_SH)
        # A writer may have removed it between the open and the lock.
        if os.fstat(lock).st_nlink:
            return Generation(path, lock)
        os.close(lock)
    raise IndexMismatch(f"the index in '{index_dir}' changes too fast to be opened", mend="try again")


def open_or_none(index_dir: Path) -> Generation | None:
    """The generation in force if there is a sound one: for a writer, which mends what is missing or damaged."""
    try:
        return open_current(index_dir)
    except (NotReady, IndexMismatch):
        return None


@contextmanager
def writing(index_dir: Path) -> Iterator[Path]:
    """An empty folder to fill, with `write_manifest` as the last step; it becomes the generation in force at the end
    of the block, or is removed when the block fails. The caller holds the home."""
    index_dir.mkdir(parents=True, exist_ok=True)
    for left in index_dir.glob(".new-*"):
        shutil.rmtree(left, ignore_errors=True)
    aside = index_dir / f".new-{os.getpid()}"
    aside.mkdir()
    try:
        yield aside
        number = max((int(p.name[4:]) for p in index_dir.glob("gen-*") if p.name[4:].isdigit()), default=0) + 1
        path = index_dir / f"gen-{number:06d}"
        aside.rename(path)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    replace_text(index_dir / "CURRENT", path.name)
    prune(index_dir)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Close a generation: sizes and checksums of every file in it, then the manifest itself."""
    files = {
        p.relative_to(folder).as_posix(): (p.stat().st_size, _checksum(p))
        for p in sorted(folder.rglob("*"))
        if p.is_file() and not p.name.endswith(".lock")
    }
    body = {**asdict(manifest), "files": files}
    with (folder / "manifest.json").open("w", encoding="utf-8") as handle:
        json.dump(body, handle, indent=1, sort_keys=True)
        handle.flush()
        os.fsync(handle.fileno())


def prune(index_dir: Path) -> None:
    """Remove generations before the last two that no reader holds."""
    current = _current(index_dir)
    held = sorted(p for p in index_dir.glob("gen-*") if p.name != current)
    for path in held[: len(held) - (KEEP - 1)]:
        with suppress(OSError), (path / "manifest.json").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            gone = path.with_name(f".new-gone-{path.name}")
            (path / "manifest.json").unlink()
            path.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)
        if not (path / "manifest.json").exists():
            shutil.rmtree(path, ignore_errors=True)


def _current(index_dir: Path) -> str | None:
    try:
        name = (index_dir / "CURRENT").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise IndexMismatch(f"'{index_dir / 'CURRENT'}' cannot be read", mend=MEND) from error
    if not name.startswith("gen-") or "/" in name:
        raise IndexMismatch(f"'{index_dir / 'CURRENT'}' names no generation", mend=MEND)
    return name


def replace_text(path: Path, text: str) -> None:
    """Write a small file so that a reader sees the old text or the new one, whole."""
    aside = path.with_name(f".new-{path.name}-{os.getpid()}")
    with aside.open("w", encoding="utf-8") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    aside.replace(path)


def _read_manifest(path: Path) -> Manifest:
    try:
        body: dict[str, Any] = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
        if body["format"] != FORMAT:
            raise IndexMismatch(
                f"the index has format {body['format']}, this version reads {FORMAT}", mend="run: suffice index"
            )
        body["files"] = {name: (int(size), str(mark)) for name, (size, mark) in body["files"].items()}
        return Manifest(**body)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexMismatch(f"the manifest of the index '{path}' is damaged", mend=MEND) from error


def _compare(path: Path, manifest: Manifest) -> None:
    whole = sum(size for size, _ in manifest.files.values()) <= _CHECKED_BYTES
    for name, (size, mark) in manifest.files.items():
        file = path / name
        try:
            same = file.stat().st_size == size and (not whole or _checksum(file) == mark)
        except OSError:
            same = False
        if not same:
            raise IndexMismatch(f"the index is damaged: '{file}' is not what was written", mend=MEND)


def _checksum(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
