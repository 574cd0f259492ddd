"""Many tasks through one policy: the reasoner as a job."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice import registry
from suffice.errors import SufficeError, UsageError
from suffice.model import Scope

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.extend import Policy
    from suffice.report import Report

__all__ = ["Selector", "open_selector", "select_one", "select_tasks"]


class Selector:
    """One policy over one home; answers are Selection JSON."""

    def __init__(self, policy: Policy) -> None:
        self.name = policy.name
        self._policy = policy

    def select(self, task: str, scope: Scope | None = None) -> dict[str, Any]:
        return self._policy.select(task, scope or Scope()).to_json()


def open_selector(home: Home, policy: str = "", memory: str = "") -> Selector:
    """A selector of the named policy and memory mode (the site's by default), to be asked many times."""
    made = registry.load("policies", policy or home.settings.policy)
    return Selector(made(home, memory or home.settings.memory))


def select_one(
    home: Home, task: str, *, scope: Scope | None = None, policy: str = "", memory: str = ""
) -> dict[str, Any]:
    """The Selection of one task, as JSON."""
    if not task.strip():
        raise UsageError("the task is empty", mend="say in words what is to be found out")
    return open_selector(home, policy, memory).select(task, scope)


def select_tasks(
    home: Home, tasks: Path, out: Path, *, scope: Scope, policy: str, report: Report, memory: str = ""
) -> None:
    """Answer each line of `tasks` ({id, question, scope?}) with a line of `out` (the id and a Selection).

    A line that cannot be read or answered is reported, and the others are answered. `out` appears whole at the end.
    """
    if not tasks.is_file():
        raise UsageError(f"no file '{tasks}'", mend="give a file with a JSON object {id, question} a line")
    selector = open_selector(home, policy, memory)
    aside = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        with aside.open("w", encoding="utf-8") as answers:
            for number, line in _lines(tasks):
                try:
                    task = _task(line)
                    own = Scope.of(task["scope"]) if task.get("scope") else scope
                    answer = selector.select(task["question"], own)
                except SufficeError as error:
                    report.fail(f"{tasks.name}:{number}", str(error))
                    continue
                answers.write(json.dumps({"id": task["id"], **answer}, ensure_ascii=False) + "\n")
                report.count("answered")
                report.count(answer["status"])
        aside.replace(out)
    finally:
        aside.unlink(missing_ok=True)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, line


def _task(line: str) -> dict[str, Any]:
    try:
        task = json.loads(line)
    except ValueError as error:
        raise UsageError(f"not JSON: {error}", mend="one JSON object a line") from error
    if not isinstance(task, dict) or not isinstance(task.get("question"), str) or "id" not in task:
        raise UsageError("no `id` or no `question`", mend='write {"id": ..., "question": "..."}')
    if not task["question"].strip():
        raise UsageError("the question is empty", mend="say in words what is to be found out")
    return task
