"""The only importer of duckdb."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

__all__ = ["connect", "error_types", "quote", "readable_errors", "text"]


def connect(path: str = ":memory:", *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """A connection that cannot install extensions or reach the network."""
    import duckdb

    return duckdb.connect(
        path,
        read_only=read_only,
        config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"},
    )


def error_types() -> tuple[type[Exception], ...]:
    import duckdb

    return (duckdb.Error,)


def readable_errors() -> tuple[type[Exception], ...]:
    """What opening or reading a source may raise."""
    return (*error_types(), OSError)


def quote(*names: str) -> str:
    """A quoted, dotted identifier.

    >>> quote("a", 'b "c"')
    '"a"."b ""c\"""'
    """
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def text(value: str) -> str:
    """A string literal.

    >>> text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"
