"""What selectors answered, a line a task, written as it comes: an interrupted run goes on where it stopped.

Everything after this file is arithmetic on it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import SufficeError
from suffice.evaluate.rankings import LONGEST, RANKINGS
from suffice.evaluate.tasks import Solved, names_of

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.report import Report

__all__ = ["Answer", "Ask", "asker", "collect"]

Answer = dict[str, Any]
"""`selector`, `id`, `tables` (`source.table`; of a ranking the first LONGEST hits), `cpu`, `seconds`; of a policy also
`status`, `confidence`, `cost`; of a task that failed `error`."""

Ask = Callable[[Solved], Answer]


def asker(home: Home, selector: str) -> Ask:
    """A function that asks the named ranking, else the named policy, one task."""
    names = names_of(home.catalog.assets())
    if selector in RANKINGS:
        from suffice.index.search import Index

        index, mode = Index.open(home), RANKINGS[selector].mode
        return lambda task: {
            "tables": [names[h.urn] for h in index.search(task.question, k=LONGEST, scope=task.scope, mode=mode)]
        }
    from suffice.reason.batch import open_selector

    policy = open_selector(home, selector)

    def ask(task: Solved) -> Answer:
        told = policy.select(task.question, task.scope)
        answer = {key: told[key] for key in ("status", "confidence", "cost")}
        return {"tables": [names[t["urn"]] for t in told["tables"]], **answer}

    return ask


def collect(
    opened: Callable[[str], Ask], tasks: Sequence[Solved], selectors: Sequence[str], path: Path | None, report: Report
) -> list[Answer]:
    """An answer a selector and task, in that order; `opened` gives a selector by name. Those that `path` holds already
    are not asked again.

    A task that a selector fails on is reported and counts as an answer without tables.
    """
    held = {(a["selector"], a["id"]): a for a in _read(path)} if path else {}
    for name in selectors:
        open_tasks = [task for task in tasks if (name, task.id) not in held]
        if open_tasks:
            ask = opened(name)
            for task in open_tasks:
                held[name, task.id] = _timed(ask, name, task, report)
                if path:
                    with path.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps(held[name, task.id]) + "\n")
        report.count(name, len(open_tasks))
    return [held[name, task.id] for name in selectors for task in tasks]


def _timed(ask: Ask, selector: str, task: Solved, report: Report) -> Answer:
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        answer = ask(task)
    except SufficeError as error:
        report.fail(f"{selector} {task.id}", error)
        answer = {"tables": [], "error": str(error)}
    spent = {"cpu": round(time.process_time() - cpu, 5), "seconds": round(time.perf_counter() - wall, 5)}
    return {"selector": selector, "id": task.id, **answer, **spent}


def _read(path: Path) -> Iterator[Answer]:
    """The whole lines of a run; the last one may have been cut off."""
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    whole, _, torn = text.rpartition("\n")
    if torn:
        path.write_text(whole + "\n" * bool(whole), encoding="utf-8")
    for line in whole.splitlines():
        yield json.loads(line)
