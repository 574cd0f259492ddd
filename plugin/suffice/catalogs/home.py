"""A home: the folder with the catalog, the store, the index and the settings of one site."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.errors import HomeBusy
from suffice.model import SourceRef
from suffice.settings import Settings, load_settings

if TYPE_CHECKING:
    from suffice.catalogs.local import LocalCatalog
    from suffice.catalogs.store import LocalStore

__all__ = ["Home"]


class Home:
    """Opens what lies under `path` lazily. `create` makes the folder and the catalog when they are not there."""

    def __init__(self, path: Path, settings: Settings | None = None, *, create: bool = False) -> None:
        self.path = path
        self.settings = settings if settings is not None else load_settings(path)
        self._create = create
        if create:
            path.mkdir(parents=True, exist_ok=True)

    @property
    def index_dir(self) -> Path:
        return self.path / "index"

    @property
    def cache_dir(self) -> Path:
        return self.path / "cache"

    @property
    def catalog_url(self) -> str:
        return self.settings.catalog or f"sqlite:///{self.path / 'catalog.db'}"

    @cached_property
    def catalog(self) -> LocalCatalog:
        from suffice.catalogs.local import LocalCatalog

        return LocalCatalog(self._engine)

    @cached_property
    def store(self) -> LocalStore:
        from suffice.catalogs.store import LocalStore

        return LocalStore(self._engine)

    def require_catalog(self) -> None:
        """Raises NotReady when nothing was ingested yet."""
        self._engine  # noqa: B018

    @cached_property
    def _engine(self):  # type: ignore[no-untyped-def]
        from suffice.catalogs.tables import connect

        if not self._create and not self.settings.catalog and not (self.path / "catalog.db").exists():
            from suffice.errors import NotReady

            raise NotReady(f"no catalog in '{self.path}'", mend="run: suffice ingest PATH")
        return connect(self.catalog_url, create=self._create)

    def sources(self) -> dict[str, SourceRef]:
        """Where the rows are: as ingested, or as `[sources.NAME] url` says."""
        found = self.store.sources()
        for name, override in self.settings.sources.items():
            if name in found:
                kind = "sqlalchemy" if "://" in override.url else found[name].kind
                found[name] = replace(found[name], location=override.url, kind=kind)
        return found

    @contextmanager
    def writing(self, timeout_s: float = 600.0, on_wait: object = None) -> Iterator[None]:
        """Hold the home for one writing run; the next one waits, and says so through `on_wait()`."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / "run.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if callable(on_wait):
                on_wait()
            try:
                lock.acquire(timeout=timeout_s)
            except Timeout as error:
                raise HomeBusy(
                    f"another run has held '{self.path}' for {timeout_s:.0f} s", mend="wait for it, or stop it"
                ) from error
        try:
            yield
        finally:
            lock.release()
