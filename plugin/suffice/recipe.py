"""What a target of `suffice ingest` is: a recipe, a URL, a database file, or a folder. Told by content, not by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from suffice.errors import SourceError, UsageError

__all__ = ["DATA_SUFFIXES", "Target", "data_files", "database_files", "file_kind", "parse_target", "source_name"]

TargetKind = Literal["recipe", "sqlite", "duckdb", "files", "url"]

DATA_SUFFIXES = (
    ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz",
    ".ndjson.gz", ".xlsx", ".xlsm", ".xls", ".xlsb", ".ods",
)  # fmt: skip
"""Data files are told by suffix, since text has no signature."""

_SIGNATURES: tuple[tuple[Literal["sqlite", "duckdb"], int, bytes], ...] = (
    ("sqlite", 0, b"SQLite format 3\x00"),
    ("duckdb", 8, b"DUCK"),
)


@dataclass(frozen=True, slots=True)
class Target:
    """One thing to ingest. `location` is a path or a URL as given; `name` is the source's, empty for a folder of
    databases and for a recipe, which name their own."""

    kind: TargetKind
    location: str
    name: str = ""


def parse_target(text: str, name: str | None = None) -> list[Target]:
    """What `text` names; a folder with both databases and data files gives several.

    Raises UsageError for a URL of no known kind, SourceError for a path that is missing or holds nothing to ingest.
    """
    if "://" in text:
        return [_url(text, name)]
    path = Path(text).expanduser()
    if not path.exists():
        raise SourceError(f"'{text}' does not exist", mend="give a recipe, a URL, a database file or a folder")
    if path.is_dir():
        return _folder(path, name)
    kind = file_kind(path)
    if kind is not None:
        return [Target(kind, str(path), name or source_name(path))]
    if path.suffix.lower() in (".yml", ".yaml"):
        return [Target("recipe", str(path), name or "")]
    if is_data_file(path):
        return [Target("files", str(path), name or source_name(path))]
    if path.stat().st_size == 0:
        raise SourceError(f"'{text}' is empty", mend="give a file that holds tables")
    raise SourceError(
        f"'{text}' is neither a SQLite or DuckDB file, a recipe (.yml) nor a data file",
        mend="data files are CSV, TSV, Parquet, JSON (lines) and Excel",
    )


def file_kind(path: Path) -> Literal["sqlite", "duckdb"] | None:
    """The database in a file by its first bytes, None when it is none."""
    with path.open("rb") as handle:
        head = handle.read(16)
    return next((kind for kind, start, mark in _SIGNATURES if head[start : start + len(mark)] == mark), None)


def is_data_file(path: Path) -> bool:
    return path.name.lower().endswith(DATA_SUFFIXES) and not path.name.startswith(("~$", "."))


def source_name(path: Path) -> str:
    """The stem of a file (`x.csv.gz` gives `x`), the name of a folder.

    >>> source_name(Path("lake/shop.sqlite")), source_name(Path("lake/x.csv.gz"))
    ('shop', 'x')
    """
    if path.is_dir():
        return path.resolve().name or "files"
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return Path(name).stem


def database_files(path: Path, kind: Literal["sqlite", "duckdb"]) -> Iterator[Path]:
    """`path` itself when it is a file, else the databases of `kind` anywhere under it, by path."""
    if not path.is_dir():
        yield path
        return
    yield from (file for file in _visible(path) if file_kind(file) == kind)


def data_files(path: Path) -> Iterator[Path]:
    """`path` itself when it is a file, else the data files anywhere under it, by path; hidden ones are left alone."""
    if not path.is_dir():
        yield path
        return
    yield from (file for file in _visible(path) if is_data_file(file))


def _visible(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def _folder(path: Path, name: str | None) -> list[Target]:
    kinds = {file_kind(file) for file in _visible(path)}
    targets = [Target(kind, str(path)) for kind in ("sqlite", "duckdb") if kind in kinds]
    if next(data_files(path), None) is not None:
        targets.append(Target("files", str(path), name or source_name(path)))
    elif name and targets:
        raise UsageError(
            f"'{path}' is a folder of databases, each named by its stem", mend="--name takes one file at a time"
        )
    if not targets:
        raise SourceError(
            f"no table in '{path}'",
            mend="name a folder that holds CSV, Parquet, JSON lines or Excel files, or SQLite or DuckDB databases",
        )
    return targets


def _url(text: str, name: str | None) -> Target:
    scheme, _, rest = text.partition("://")
    if scheme in ("sqlite", "duckdb"):
        path = Path(rest.removeprefix("/")).expanduser()
        if not path.is_file():
            raise SourceError(
                f"'{path}' does not exist", mend=f"a file's URL is {scheme}:///relative or {scheme}:////absolute"
            )
        kind = file_kind(path)
        if kind != scheme:
            raise SourceError(f"'{path}' is no {scheme} database", mend="give the path, its kind is told by content")
        return Target(kind, str(path), name or source_name(path))
    if scheme.split("+")[0] in ("postgresql", "postgres"):
        return Target("url", text, name or "")
    raise UsageError(
        f"no way to read '{scheme}://' URLs",
        mend="give sqlite:///, duckdb:/// or postgresql://, or a DataHub recipe for any other source",
    )
