"""The tables of the local database: the catalog's aspects and the site's own store, in one file or one PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from suffice.errors import NotReady, SufficeError

__all__ = [
    "FORMAT", "aspects", "batch", "connect", "decisions", "evidence", "findings", "memories", "memory_objects", "meta",
    "metadata", "published", "runs", "sources", "units",
]  # fmt: skip

FORMAT = 4
"""Version of the stored format; a newer one is refused, an older one migrated."""

metadata = sa.MetaData()

aspects = sa.Table(
    "aspects",
    metadata,
    sa.Column("urn", sa.String(500), primary_key=True),
    sa.Column("aspect", sa.String(200), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True, doc="0 is the latest; 1, 2, ... are its history, as in DataHub"),
    sa.Column("value", sa.JSON, nullable=False),
    sa.Column("digest", sa.String(32), nullable=False),
    sa.Column("created_at", sa.Float, nullable=False, doc="seconds since the epoch"),
    sa.Column("run_id", sa.String(100), nullable=False),
    sa.Index("aspects_by_name", "aspect", "version"),
)

findings = sa.Table(
    "findings",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("urn", sa.String(500), nullable=False, index=True),
    sa.Column("kind", sa.String(100), nullable=False, index=True),
    sa.Column("column", sa.String(500), nullable=False),
    sa.Column("subject", sa.String(1000), nullable=False),
    sa.Column("value", sa.JSON),
    sa.Column("numbers", sa.JSON, nullable=False),
    sa.Column("query", sa.Text, nullable=False),
    sa.Column("enricher", sa.String(100), nullable=False),
    sa.Column("version", sa.String(50), nullable=False),
    sa.Column("inputs", sa.String(32), nullable=False),
    sa.Column("confidence", sa.Float, nullable=False),
    sa.Column("fact", sa.Boolean, nullable=False),
    sa.Column("status", sa.String(20), nullable=False),
    sa.Column("unit", sa.String(32), nullable=False, index=True),
)

evidence = sa.Table(
    "evidence",
    metadata,
    sa.Column("urn", sa.String(500), primary_key=True),
    sa.Column("name", sa.String(100), primary_key=True),
    sa.Column("value", sa.JSON, nullable=False),
    sa.Column("unit", sa.String(32), nullable=False, index=True),
)

units = sa.Table(
    "units",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("enricher", sa.String(100), nullable=False, index=True),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("inputs", sa.String(32), nullable=False),
    sa.Column("done_at", sa.Float, nullable=False),
)

sources = sa.Table(
    "sources",
    metadata,
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("kind", sa.String(50), nullable=False),
    sa.Column("location", sa.Text, nullable=False, doc="a path or a URL without password"),
    sa.Column("platform", sa.String(100), nullable=False),
    sa.Column("ingested_at", sa.Float, nullable=False),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.String(100), primary_key=True),
    sa.Column("command", sa.String(100), nullable=False),
    sa.Column("started_at", sa.Float, nullable=False),
    sa.Column("report", sa.JSON, nullable=False),
)

decisions = sa.Table(
    "decisions",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("finding", sa.String(32), nullable=False, index=True),
    sa.Column("urn", sa.String(500), nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("who", sa.String(200), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("before", sa.JSON, nullable=False, doc="status and value of the finding before it"),
    sa.Column("after", sa.JSON, nullable=False),
    sa.Column("undone", sa.Boolean, nullable=False),
)

memories = sa.Table(
    "memories",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("intent", sa.Text, nullable=False),
    sa.Column("outcome", sa.String(20), nullable=False),
    sa.Column("provenance", sa.String(20), nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("learned_at", sa.Float, nullable=False),
    sa.Column("uses", sa.Integer, nullable=False),
    sa.Column("last_use", sa.Float),
    sa.Column("embedder", sa.String(200), nullable=False),
    sa.Column("vector", sa.LargeBinary, nullable=False, doc="float32, of the intent"),
)

memory_objects = sa.Table(
    "memory_objects",
    metadata,
    sa.Column("memory", sa.String(32), primary_key=True),
    sa.Column("urn", sa.String(500), primary_key=True, index=True),
    sa.Column("column", sa.String(500), primary_key=True, doc="empty for the table itself"),
    sa.Column("fingerprint", sa.String(32), nullable=False, doc="of the table's schema when it was learned"),
)

published = sa.Table(
    "published",
    metadata,
    sa.Column("server", sa.String(500), primary_key=True),
    sa.Column("urn", sa.String(500), primary_key=True),
    sa.Column("item", sa.String(200), primary_key=True, doc="documentation, tag:KIND or profile"),
    sa.Column("digest", sa.String(32), nullable=False),
)

meta = sa.Table(
    "meta", metadata, sa.Column("key", sa.String(50), primary_key=True), sa.Column("value", sa.Text, nullable=False)
)


def connect(url: str, *, create: bool) -> sa.Engine:
    """An engine on the local database at `url`; SQLite in WAL mode, so that readers go on while a run writes.

    Raises NotReady when there is no database and `create` is false, SufficeError when a newer Suffice wrote it.
    """
    parsed = sa.make_url(url)
    engine = sa.create_engine(url)
    if parsed.get_backend_name() == "sqlite":
        sa.event.listen(engine, "connect", _sqlite_pragmas)
    try:
        with engine.begin() as connection:
            known = sa.inspect(connection).has_table("meta")
            if not known and not create:
                raise NotReady("the catalog is empty", mend="run: suffice ingest PATH")
            if not known:
                metadata.create_all(connection)
                connection.execute(sa.insert(meta).values(key="format", value=str(FORMAT)))
            found = connection.execute(sa.select(meta.c.value).where(meta.c.key == "format")).scalar_one()
    except sa.exc.OperationalError as error:
        where = parsed.render_as_string(hide_password=True)
        raise SufficeError(
            f"cannot open the catalog at {where}: {error.orig}", mend="check `catalog` in suffice.toml"
        ) from error
    except sa.exc.DatabaseError as error:
        where = parsed.render_as_string(hide_password=True)
        raise SufficeError(
            f"the catalog at {where} is damaged: {error.orig}", mend="move it away and ingest again"
        ) from error
    if int(found) < FORMAT:
        _migrate(engine)
    if int(found) > FORMAT:
        raise SufficeError(f"the catalog has format {found}, this version reads up to {FORMAT}", mend="upgrade suffice")
    return engine


def _migrate(engine: sa.Engine) -> None:
    """From format 1 to 4 tables were added and none was changed."""
    with engine.begin() as connection:
        metadata.create_all(connection)
        connection.execute(sa.update(meta).where(meta.c.key == "format").values(value=str(FORMAT)))


def _sqlite_pragmas(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA busy_timeout=30000")
    cursor.close()


@contextmanager
def batch(engine: sa.Engine) -> Iterator[sa.Connection]:
    """One transaction: all of it is stored, or nothing."""
    with engine.begin() as connection:
        yield connection
