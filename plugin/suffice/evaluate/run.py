"""`suffice evaluate select`: selectors and rankings over one home and one file of solved tasks, judged alike.

One line a task and selector goes to `tasks.jsonl`, so that a second look needs no second run; the summary states means,
intervals by group, sizes and seconds.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import UsageError
from suffice.evaluate.metrics import bootstrap, mcnemar, paired, score
from suffice.evaluate.rankings import RANKINGS, best_cut, ranked
from suffice.model import Scope

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.report import Report

__all__ = ["evaluate_select", "read_solved"]

Progress = Callable[[int, int], None]


def read_solved(path: Path, group_key: str) -> list[dict[str, Any]]:
    """Tasks with `id`, `question`, `gold_tables` and the group (database, domain) under `group_key`."""
    if not path.is_file():
        raise UsageError(f"no file '{path}'", mend="give a file with a JSON object a line")
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            task = json.loads(line)
            lacking = [key for key in ("id", "question", "gold_tables", group_key) if key not in task]
            if lacking:
                raise UsageError(f"{path.name}:{number}: no `{lacking[0]}`", mend="name the group with --group")
            found.append(task)
    return found


def evaluate_select(
    home: Home,
    tasks: Sequence[dict[str, Any]],
    selectors: Sequence[str],
    *,
    group_key: str,
    known: bool,
    out: Path | None,
    report: Report,
) -> dict[str, Any]:
    """The summary: for each selector recall, precision, F1 and exact with intervals by group, over the same tasks.

    With `known` each task is asked with its group as scope, else of the whole home. Rankings answer with their best
    k. Tables are compared as `source.table`, where the source is the task's group if it is one, else any.
    """
    judge = _Judge(home, tasks, group_key, known)
    lines: list[dict[str, Any]] = []
    summary: dict[str, Any] = {}
    for name in selectors:
        started = time.process_time()
        extra: dict[str, Any] = {}
        if name in RANKINGS:
            cut = best_cut(judge.gold, judge.rank(name))
            chosen, extra = cut["chosen"], {"k": cut["k"]}
            told: list[dict[str, Any]] = [{} for _ in tasks]
        else:
            chosen, told = judge.select(name, report)
        seconds = time.process_time() - started
        rows = judge.judged(name, chosen, told)
        lines += rows
        summary[name] = {**_summary(rows, group_key), **extra, "cpu_seconds_a_task": round(seconds / len(tasks), 4)}
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "tasks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    first, *others = selectors
    for name in others:
        summary[name]["against"] = _against(first, name, lines)
    assert len(lines) == len(tasks) * len(selectors)
    return {"tasks": len(tasks), "scope": "group known" if known else "everything", "selectors": summary}


class _Judge:
    def __init__(self, home: Home, tasks: Sequence[dict[str, Any]], group_key: str, known: bool) -> None:
        self.home, self.tasks, self.group_key, self.known = home, tasks, group_key, known
        assets = list(home.catalog.assets())
        self.sources = {a.source for a in assets}
        self.names = {a.urn: f"{a.source}.{a.name}" for a in assets}
        self.gold = [[self._named(t, g) for g in t["gold_tables"]] for t in tasks]

    def _named(self, task: dict[str, Any], table: str) -> str:
        group = task[self.group_key]
        if group in self.sources:
            return f"{group}.{table}"
        [source] = self.sources if len(self.sources) == 1 else [""]
        return f"{source}.{table}"

    def _scope(self, task: dict[str, Any]) -> Scope:
        return Scope((task[self.group_key],)) if self.known else Scope()

    def rank(self, name: str) -> list[list[str]]:
        from suffice.index.search import Index

        index = Index.open(self.home)
        return [ranked(index, RANKINGS[name], t["question"], self._scope(t), self.names) for t in self.tasks]

    def select(self, name: str, report: Report) -> tuple[list[list[str]], list[dict[str, Any]]]:
        from suffice.reason.batch import open_selector

        selector = open_selector(self.home, name)
        chosen, told = [], []
        for task in self.tasks:
            answer = selector.select(task["question"], self._scope(task))
            chosen.append([self.names[t["urn"]] for t in answer["tables"]])
            told.append({"status": answer["status"], "confidence": answer["confidence"]})
            report.count(f"{name} {answer['status']}")
        return chosen, told

    def judged(
        self, name: str, chosen: Sequence[Sequence[str]], told: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        rows = []
        for task, gold, picked, more in zip(self.tasks, self.gold, chosen, told, strict=True):
            s = score(gold, picked)
            figures = {"recall": s.recall, "precision": s.precision, "f1": s.f1, "exact": s.exact}
            group = {self.group_key: task[self.group_key]}
            rows.append({"id": task["id"], **group, "selector": name, "chosen": list(picked), **figures, **more})
        return rows


def _summary(rows: Sequence[dict[str, Any]], group_key: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for figure in ("recall", "precision", "f1", "exact"):
        groups: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            groups[row[group_key]].append(float(row[figure]))
        found[figure] = str(bootstrap(groups))
        if figure == "f1":
            found["f1_by_group"] = str(bootstrap(groups, of_groups=True))
    found["size"] = round(sum(len(row["chosen"]) for row in rows) / len(rows), 2)
    if rows and "confidence" in rows[0]:
        found.update(_confidence(rows))
    return found


def _confidence(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How right the surer answers are, and the share called insufficient."""
    order = sorted(rows, key=lambda row: -row["confidence"])
    half, sure = order[: len(order) // 2], [row for row in rows if row["confidence"] > 0.9]
    return {
        "exact_surer_half": _mean(row["exact"] for row in half),
        "share_above_.9": round(len(sure) / len(rows), 3),
        "exact_above_.9": _mean(row["exact"] for row in sure),
        "insufficient": _mean(row["status"] == "insufficient" for row in rows),
        "reliability": _reliability(rows),
    }


def _reliability(rows: Sequence[dict[str, Any]]) -> list[dict[str, float]]:
    """Ten bins of confidence: how many answers, their mean confidence, the share that is exact."""
    bins: list[list[dict[str, Any]]] = [[] for _ in range(10)]
    for row in rows:
        bins[min(9, int(row["confidence"] * 10))].append(row)
    return [
        {"n": len(b), "confidence": _mean(r["confidence"] for r in b), "exact": _mean(r["exact"] for r in b)}
        for b in bins
        if b
    ]


def _mean(values: Any) -> float:
    held = [float(v) for v in values]
    return round(sum(held) / len(held), 3) if held else 0.0


def _against(first: str, other: str, lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The first selector's lead over another, task by task."""
    one = [line for line in lines if line["selector"] == first]
    two = [line for line in lines if line["selector"] == other]
    lead = _mean(a["f1"] - b["f1"] for a, b in zip(one, two, strict=True))
    p = paired([a["f1"] for a in one], [b["f1"] for b in two])
    return {
        "of": first,
        "f1": lead,
        "p": round(p, 4),
        "p_exact": mcnemar([a["exact"] for a in one], [b["exact"] for b in two]),
    }
