"""`suffice evaluate select`: selectors and rankings over one home and one file of solved tasks, judged alike.

The folder of a run holds `answers.jsonl` (as they came), `tasks.jsonl` (judged), `summary.json` and `report.html`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice import __version__
from suffice.errors import UsageError
from suffice.evaluate.answers import Answer, asker, collect
from suffice.evaluate.metrics import FAULTS, FEW, bootstrap, fault, mcnemar, paired, score, wilson
from suffice.evaluate.rankings import RANKINGS, best_cut, f1_at_cuts
from suffice.evaluate.tasks import Solved
from suffice.model import digest

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.report import Report

__all__ = ["SURE", "Judged", "compared", "evaluate_select", "judge", "lead", "summary_of"]

SURE = 0.9
Judged = dict[str, Any]
"""A judged answer: `selector`, `id`, `group`, `gold`, `chosen`, `recall`, `precision`, `f1`, `exact`, and what the
answer told of itself."""


def evaluate_select(
    home: Home, tasks: Sequence[Solved], selectors: Sequence[str], *, out: Path | None, report: Report
) -> dict[str, Any]:
    """The summary: for each selector recall, precision, F1 and exact with intervals by group, over the same tasks.

    Rankings answer with their best k. The first selector is compared with each other one, task by task. With `out`,
    a run that was interrupted there goes on; one that was finished is made anew.
    """
    if len(set(selectors)) != len(selectors):
        raise UsageError("a selector is named twice", mend="name each once in --selectors")
    _note_strangers(home, tasks, report)
    answers = collect(partial(asker, home), tasks, selectors, _begin(home, tasks, out), report)
    lines, cuts = judge(tasks, answers)
    told = {name: summary_of([x for x in lines if x["selector"] == name]) for name in selectors}
    for name, f1 in cuts.items():
        told[name] |= {"k": RANKINGS[name].cut or best_cut(f1), "f1_at_k": [round(f, 4) for f in f1]}
    for name in selectors[1:]:
        told[name]["against"] = lead(lines, selectors[0], name)
    groups = len({task.group for task in tasks})
    summary = {
        "tasks": len(tasks),
        "groups": groups,
        "intervals": "over sources" if groups >= FEW else "over tasks",
        "scope": "source known" if any(task.scope.globs for task in tasks) else "everything",
        "suffice": __version__,
        "selectors": told,
    }
    _check(summary, lines, len(tasks))
    if out is not None:
        _write(out, summary, lines, report)
    return summary


def judge(tasks: Sequence[Solved], answers: Iterable[Answer]) -> tuple[list[Judged], dict[str, list[float]]]:
    """Each answer beside its task's gold tables; of each ranking, cut at its k, the mean F1 at every k."""
    of = {task.id: task for task in tasks}
    by_selector: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_selector[answer["selector"]].append(answer)
    lines, cuts = [], {}
    for name, given in by_selector.items():
        cut = None
        if name in RANKINGS:
            cuts[name] = f1_at_cuts([of[a["id"]].gold for a in given], [a["tables"] for a in given])
            cut = RANKINGS[name].cut or best_cut(cuts[name])
        lines += [_judged(of[answer["id"]], answer, answer["tables"][:cut]) for answer in given]
    return lines, cuts


def _judged(task: Solved, answer: Answer, chosen: Sequence[str]) -> Judged:
    s = score(task.gold, chosen)
    told = {key: value for key, value in answer.items() if key != "tables"}
    figures = {"recall": s.recall, "precision": s.precision, "f1": s.f1, "exact": s.exact}
    sets = {"gold": list(task.gold), "chosen": list(chosen), "fault": fault(task.gold, chosen)}
    return {**told, "group": task.group, **sets, **figures}


def summary_of(lines: Sequence[Judged]) -> dict[str, Any]:
    """Means with intervals by group, F1 by group, sizes, what an answer cost, and how far its confidence holds."""
    found: dict[str, Any] = {}
    for figure in ("recall", "precision", "f1", "exact"):
        found[figure] = bootstrap(_by_group(lines, figure)).to_json()
    f1 = _by_group(lines, "f1")
    found["f1_by_group"] = bootstrap(f1, of_groups=True).to_json()
    found["by_group"] = {group: {"tasks": len(v), "f1": _mean(v)} for group, v in sorted(f1.items())}
    found["faults"] = {
        name: {
            "tasks": sum(line["fault"] == name for line in lines),
            "f1_lost": round(sum(1 - line["f1"] for line in lines if line["fault"] == name) / len(lines), 4),
        }
        for name in FAULTS
    }
    found["size"] = _mean(len(line["chosen"]) for line in lines)
    found["gold_size"] = _mean(len(line["gold"]) for line in lines)
    found["cpu_s"], found["seconds"] = _mean(x["cpu"] for x in lines), _mean(x["seconds"] for x in lines)
    found["failed"] = sum("error" in line for line in lines)
    told = [line for line in lines if "confidence" in line]
    if told:
        found["cost"] = {key: _mean(x["cost"][key] for x in told) for key in told[0]["cost"] if key != "seconds"}
        found |= _confidence(told)
    return found


def lead(lines: Iterable[Judged], one: str, other: str) -> dict[str, Any]:
    """How far selector `one` is ahead of `other`: mean difference of F1, its p, and McNemar's p on exactness."""
    by_id: dict[str, dict[str, Judged]] = {one: {}, other: {}}
    for line in lines:
        if line["selector"] in by_id:
            by_id[line["selector"]][line["id"]] = line
    pairs = [(by_id[one][i], by_id[other][i]) for i in by_id[one] if i in by_id[other]]
    return {"of": one, **compared([a for a, _ in pairs], [b for _, b in pairs])}


def compared(one: Sequence[Judged], other: Sequence[Judged]) -> dict[str, Any]:
    """Paired answers to the same tasks: lead in F1 with its p, exact answers won and lost with McNemar's p."""
    won = sum(a["exact"] and not b["exact"] for a, b in zip(one, other, strict=True))
    lost = sum(b["exact"] and not a["exact"] for a, b in zip(one, other, strict=True))
    return {
        "tasks": len(one),
        "f1": _mean(a["f1"] - b["f1"] for a, b in zip(one, other, strict=True)),
        "p": round(paired([a["f1"] for a in one], [b["f1"] for b in other]), 4),
        "exact_won": won,
        "exact_lost": lost,
        "p_exact": round(mcnemar([a["exact"] for a in one], [b["exact"] for b in other]), 4),
    }


def _confidence(lines: Sequence[Judged]) -> dict[str, Any]:
    """How right the surer answers are, the share called insufficient, and ten bins of confidence."""
    order = sorted(lines, key=lambda line: -line["confidence"])
    half, sure = order[: len(order) // 2], [line for line in lines if line["confidence"] > SURE]
    bins: list[list[Judged]] = [[] for _ in range(10)]
    for line in lines:
        bins[min(9, int(line["confidence"] * 10))].append(line)
    return {
        "exact_surer_half": _share(line["exact"] for line in half),
        "sure": _share(line["confidence"] > SURE for line in lines),
        "exact_sure": _share(line["exact"] for line in sure),
        "insufficient": _share(line["status"] == "insufficient" for line in lines),
        "reliability": [
            {"n": len(b), "confidence": _mean(x["confidence"] for x in b), "exact": _share(x["exact"] for x in b)}
            for b in bins
            if b
        ],
    }


def _by_group(lines: Iterable[Judged], figure: str) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        groups[line["group"]].append(float(line[figure]))
    return groups


def _share(truths: Iterable[bool]) -> dict[str, float]:
    held = list(truths)
    return wilson(sum(held), len(held)).to_json()


def _mean(values: Iterable[float]) -> float:
    held = list(values)
    return round(sum(held) / len(held), 4) if held else 0.0


def _note_strangers(home: Home, tasks: Iterable[Solved], report: Report) -> None:
    known = {f"{a.source}.{a.name}".casefold() for a in home.catalog.assets()}
    for name in sorted({g for task in tasks for g in task.gold if g.casefold() not in known}):
        report.warn("a gold table is not in the catalog", name)


def _begin(home: Home, tasks: Sequence[Solved], out: Path | None) -> Path | None:
    """The file of answers, emptied unless it belongs to an unfinished run of the same tasks on the same catalog."""
    if out is None:
        return None
    out.mkdir(parents=True, exist_ok=True)
    answers, run = out / "answers.jsonl", out / "run.json"
    asked = [(task.id, task.question, task.gold, task.scope.globs) for task in tasks]
    key = {"key": digest(__version__, home.store.mark(), asked)}
    if (out / "summary.json").exists() or not run.exists() or json.loads(run.read_text(encoding="utf-8")) != key:
        answers.unlink(missing_ok=True)
        (out / "summary.json").unlink(missing_ok=True)
    run.write_text(json.dumps(key) + "\n", encoding="utf-8")
    return answers


def _check(summary: Mapping[str, Any], lines: Sequence[Judged], tasks: int) -> None:
    """What must hold before a figure is shown."""
    assert len({(x["selector"], x["id"]) for x in lines}) == len(lines) == tasks * len(summary["selectors"])
    assert all(x["exact"] == (x["f1"] == 1.0) for x in lines)
    for found in summary["selectors"].values():
        assert sum(group["tasks"] for group in found["by_group"].values()) == tasks
        assert sum(told["tasks"] for told in found["faults"].values()) == tasks
        if "reliability" in found:
            assert sum(b["n"] for b in found["reliability"]) + found["failed"] == tasks


def _write(out: Path, summary: Mapping[str, Any], lines: Iterable[Judged], report: Report) -> None:
    from suffice.errors import MissingExtra
    from suffice.evaluate.page import page

    (out / "tasks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    try:
        (out / "report.html").write_text(page(summary), encoding="utf-8")
    except MissingExtra as error:
        report.warn("no report.html", str(error))
    (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
