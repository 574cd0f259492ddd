"""Cheap marks that change whenever the rows behind a source may have changed."""

from __future__ import annotations

from pathlib import Path

from suffice.model import digest
from suffice.rows.fetch import url_with_password

__all__ = ["file_mark", "table_marks"]


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


def table_marks(location: str, source: str) -> dict[tuple[str, str], str]:
    """Marks of all tables of a PostgreSQL database by schema and name; {} for other databases, which give none.

    Counters of inserted, changed and deleted rows, with the file of the table, which TRUNCATE and a refresh change, and
    the time at which the counters were last reset. A session tells of its changes up to a second late: a run within
    that second sees the mark from before, and the next run the new one. Partitioned tables, views and foreign tables
    count nothing of their own and get no mark.
    """
    import sqlalchemy as sa

    url = url_with_password(location, source)
    if url.get_backend_name() != "postgresql":
        return {}
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
    try:
        with engine.connect() as connection:
            rows = connection.execute(sa.text(_COUNTERS)).all()
    except sa.exc.SQLAlchemyError:
        return {}
    finally:
        engine.dispose()
    return {(row[0], row[1]): digest([str(value) for value in row[2:]]) for row in rows}


_COUNTERS = """
SELECT s.schemaname, s.relname, s.n_tup_ins, s.n_tup_upd, s.n_tup_del, c.oid, c.relfilenode, d.stats_reset
FROM pg_stat_all_tables s JOIN pg_class c ON c.oid = s.relid
LEFT JOIN pg_stat_database d ON d.datname = current_database()
WHERE c.relkind IN ('r', 'm')
"""
