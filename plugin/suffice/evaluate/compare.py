"""`suffice evaluate compare`: two runs over the same tasks, such as before and after a change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from suffice.errors import UsageError
from suffice.evaluate.run import Judged, compared

__all__ = ["LEVEL", "compare_runs"]

LEVEL = 0.05


def compare_runs(before: Path, after: Path) -> dict[str, Any]:
    """For each selector of both folders, over the tasks of both: how far `after` is ahead.

    `worse` says that F1 or exactness fell by more than chance explains (p below LEVEL). Raises UsageError when the
    folders hold no run or share no task.
    """
    first, second = _read(before), _read(after)
    shared = [key for key in first if key in second]
    if not shared:
        raise UsageError(f"'{before}' and '{after}' share no task and selector", mend="name two runs of the same tasks")
    selectors = {}
    for name in dict.fromkeys(selector for selector, _ in shared):
        keys = [key for key in shared if key[0] == name]
        if any(first[key]["gold"] != second[key]["gold"] for key in keys):
            raise UsageError("the gold tables of a task differ", mend="judge both runs on the same file")
        told = compared([second[key] for key in keys], [first[key] for key in keys])
        fell = told["exact_lost"] > told["exact_won"]
        worse = (told["f1"] < 0 and told["p"] < LEVEL) or (fell and told["p_exact"] < LEVEL)
        selectors[name] = {**told, "worse": worse}
    lost = {name: len({k for k in first.keys() ^ second.keys() if k[0] == name}) for name in selectors}
    return {"selectors": selectors, "in_one_only": lost, "worse": any(s["worse"] for s in selectors.values())}


def _read(folder: Path) -> dict[tuple[str, str], Judged]:
    path = folder / "tasks.jsonl"
    if not path.is_file():
        raise UsageError(f"no run in '{folder}'", mend="make one: suffice evaluate select --out FOLDER")
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {(line["selector"], line["id"]): line for line in lines}
