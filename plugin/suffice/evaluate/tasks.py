"""Solved tasks: questions with the tables that answer them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suffice.errors import UsageError
from suffice.model import Asset, Scope

__all__ = ["Solved", "names_of", "read_solved"]


@dataclass(frozen=True, slots=True)
class Solved:
    """A task, the group (database, domain) that it belongs to, and its gold tables as `source.table`."""

    id: str
    group: str
    question: str
    gold: tuple[str, ...]
    scope: Scope = field(default_factory=Scope)


def names_of(assets: Iterable[Asset]) -> dict[str, str]:
    """`source.table` by urn: the name under which tables are compared."""
    return {asset.urn: f"{asset.source}.{asset.name}" for asset in assets}


def read_solved(
    path: Path,
    sources: Collection[str],
    *,
    group_key: str = "db",
    gold_key: str = "gold_tables",
    known: bool = False,
) -> list[Solved]:
    """A JSON object a line with `id`, `question`, the group and the gold tables under their keys.

    The group names the source of the gold tables; with a single source it may be called otherwise. With `known` the
    source is the scope of the task. Raises UsageError for a line that lacks something or names no source.
    """
    if not path.is_file():
        raise UsageError(f"no file '{path}'", mend="give a file with a JSON object a line")
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        task = _parsed(line, f"{path.name}:{number}", (group_key, gold_key))
        source = _source(task[group_key], sources, f"{path.name}:{number}")
        gold = tuple(f"{source}.{table}" for table in task[gold_key])
        scope = Scope((source,)) if known else Scope()
        found.append(Solved(str(task["id"]), task[group_key], task["question"], gold, scope))
    _check_ids(found, path)
    return found


def _parsed(line: str, place: str, keys: Sequence[str]) -> dict[str, Any]:
    try:
        task = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{place}: not JSON: {error}", mend="one JSON object a line") from error
    lacking = [key for key in ("id", "question", *keys) if key not in task]
    if lacking:
        raise UsageError(f"{place}: no `{lacking[0]}`", mend="name the keys with --group and --gold-key")
    if not task[keys[-1]]:
        raise UsageError(f"{place}: `{keys[-1]}` is empty", mend="a solved task has at least one table")
    return dict(task)


def _source(group: str, sources: Collection[str], place: str) -> str:
    if group in sources or len(sources) != 1:
        if group not in sources:
            raise UsageError(f"{place}: no source '{group}' in this home", mend="ingest it, or name the key by --group")
        return group
    return next(iter(sources))


def _check_ids(tasks: Sequence[Solved], path: Path) -> None:
    if not tasks:
        raise UsageError(f"no task in '{path}'", mend="give a file with a JSON object a line")
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise UsageError(f"{path.name}: the id '{task.id}' is there twice", mend="give each task its own id")
        seen.add(task.id)
