"""DataHub's own SQL sources: the recipe for a URL, where their rows are, whether they list everything."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from suffice.errors import SourceError, UsageError
from suffice.rows.fetch import password_variable, url_with_password

__all__ = ["connect_check", "filters_in_force", "postgres_recipe", "source_location", "without_password"]

_CONNECT_TIMEOUT_S = 10
_INCLUDES = ("include_tables", "include_views")
_OTHER_PATTERNS = ("profile_pattern", "procedure_pattern", "user_email_pattern")


def postgres_recipe(location: str, name: str) -> dict[str, Any]:
    """The recipe for a PostgreSQL URL; the source is called after its database unless `name` says otherwise."""
    url = _parsed(location)
    if not url.database:
        raise UsageError(f"'{without_password(url)}' names no database", mend="postgresql://user@host/DATABASE")
    source = name or url.database
    url = url_with_password(location, source)
    config: dict[str, Any] = {
        "host_port": f"{url.host or 'localhost'}:{url.port or 5432}",
        "database": url.database,
        "platform_instance": source,
        "include_stored_procedures": False,
    }
    if url.username:
        config["username"] = url.username
    if url.password:
        config["password"] = str(url.password)
    if url.query:
        config["options"] = {"connect_args": dict(url.query)}
    return {"source": {"type": "postgres", "config": config}}


def connect_check(location: str, source: str) -> None:
    """Connect once. Raises SourceError in one line, since DataHub would tell of it in a page."""
    url = url_with_password(location, source)
    try:
        engine = sa.create_engine(url, connect_args={"connect_timeout": _CONNECT_TIMEOUT_S})
        with engine.connect():
            pass
        engine.dispose()
    except ModuleNotFoundError as error:
        raise SourceError(f"{error.name} is not installed", mend="pip install 'suffice[postgres]'") from error
    except sa.exc.SQLAlchemyError as error:
        reason = " ".join(str(getattr(error, "orig", error)).split())
        raise SourceError(
            f"no connection to {without_password(url)}: {reason}",
            mend=f"check host, database and user; the password is read from {password_variable(source)}",
        ) from error


def source_location(config: Any) -> str:
    """The SQLAlchemy URL of a source's config without its password; "" when it has none or spans databases."""
    make = getattr(config, "get_sql_alchemy_url", None)
    one_database = getattr(config, "database", None) or getattr(config, "sqlalchemy_uri", None)
    if not callable(make) or not one_database:
        return ""
    try:
        url = sa.make_url(make())
    except Exception:
        return ""
    return without_password(url)


def filters_in_force(config: Any) -> bool:
    """Whether a source's config leaves anything out: then what it does not list may still be there."""
    for name, field in getattr(type(config), "model_fields", {}).items():
        if name in _INCLUDES or (name.endswith("_pattern") and name not in _OTHER_PATTERNS):
            default = field.get_default(call_default_factory=True)
            if _plain(getattr(config, name)) != _plain(default):
                return True
    return False


def _plain(value: Any) -> Any:
    """A pattern as its fields: one that has been used holds compiled expressions besides, and equals no fresh one."""
    return value.model_dump() if hasattr(value, "model_dump") else value


def _parsed(location: str) -> sa.URL:
    try:
        url = sa.make_url(location)
        url.get_dialect()
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ValueError) as error:
        raise UsageError(
            f"'{location.split('@')[-1]}' is no URL", mend="postgresql://user@host:5432/database"
        ) from error
    return url


def without_password(url: str | sa.URL) -> str:
    """The URL as it may be stored and printed.

    >>> without_password("postgresql://reader:secret@db/shop?sslmode=require")
    'postgresql://reader@db/shop?sslmode=require'
    """
    parsed = sa.make_url(url)
    bare = sa.URL.create(
        parsed.drivername, parsed.username, None, parsed.host, parsed.port, parsed.database, parsed.query
    )
    return bare.render_as_string(hide_password=False)
