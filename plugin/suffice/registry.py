"""Entry points by name: ours and a stranger's alike, loaded when asked for."""

from __future__ import annotations

import difflib
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from suffice.errors import MissingExtra, UsageError

__all__ = ["load", "names"]


def names(group: str) -> dict[str, EntryPoint]:
    """The entry points of `suffice.<group>`, by name."""
    return {point.name: point for point in sorted(entry_points(group=f"suffice.{group}"), key=lambda p: p.name)}


def load(group: str, name: str) -> Any:
    """The object behind one entry point. Raises UsageError with the nearest name, MissingExtra with the pip command."""
    known = names(group)
    if name not in known:
        near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)
        raise UsageError(
            f"no {group[:-1]} '{name}'", mend=f"did you mean '{near[0]}'?" if near else "none is installed"
        )
    try:
        return known[name].load()
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or name, "export") from error
