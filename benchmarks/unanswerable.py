"""Questions that the catalog cannot answer: how many are called insufficient, and how many answerable ones are too.

    BENCH=DIR python benchmarks/unanswerable.py [--home DIR] [--out DIR]

200 questions of Spider are drawn with a fixed seed. Each is asked four times: of everything; of everything but its own
database and every database with a table of one of its gold tables' names; with its own database as scope; and with
another database, drawn by the seed, that has no such table. `$BENCH/spider` as in spider.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from ready import bench_folder, options, ready_home, sources

from suffice.catalogs.home import Home
from suffice.evaluate.metrics import wilson
from suffice.evaluate.tasks import Solved, read_solved
from suffice.model import Scope
from suffice.reason.batch import Selector, open_selector

QUESTIONS = 200
SEED = 8
Told = list[tuple[str, float]]


def main() -> None:
    arguments = options(__doc__)
    folder = bench_folder("spider", "db", "tasks.jsonl")
    if folder is None:
        return
    with ready_home(arguments.home, [folder / "db"]) as home:
        run(home, read_solved(folder / "tasks.jsonl", sources(home)), arguments.out)


def run(home: Home, tasks: Sequence[Solved], out: Path | None) -> None:
    rng = np.random.default_rng(SEED)
    drawn = [tasks[i] for i in sorted(rng.choice(len(tasks), QUESTIONS, replace=False))]
    strange = {task.id: strangers(home, task) for task in drawn}
    other = {task.id: strange[task.id][int(rng.integers(len(strange[task.id])))] for task in drawn}
    selector = open_selector(home, "rules")
    asked: Mapping[str, tuple[bool, Callable[[Solved], Scope]]] = {
        "everything": (True, lambda task: Scope()),
        "everything without the answer": (False, lambda task: Scope(tuple(strange[task.id]))),
        "own database": (True, lambda task: Scope((task.group,))),
        "another database": (False, lambda task: Scope((other[task.id],))),
    }
    told = {name: ask(selector, drawn, scope) for name, (_, scope) in asked.items()}
    print(f"\n{QUESTIONS} questions; shares called insufficient, with 95 % intervals\n")
    for name, answers in told.items():
        kind = "answerable" if asked[name][0] else "unanswerable"
        insufficient = wilson(sum(status == "insufficient" for status, _ in answers), len(answers))
        print(f"| {name:30} | {kind:12} | {insufficient} |")
    levels = [i / 20 for i in range(1, 20)]
    print("\nshares whose confidence lies under a threshold\n")
    print(f"| threshold | {' | '.join(told)} |\n|---{'|---' * len(told)}|")
    for level in levels:
        shares = [sum(c < level for _, c in answers) / len(answers) for answers in told.values()]
        print(f"| {level:.2f} | " + " | ".join(f"{share:.3f}" for share in shares) + " |")
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "unanswerable.json").write_text(json.dumps(told) + "\n", encoding="utf-8")
        (out / "unanswerable.svg").write_text(plot(told, levels), encoding="utf-8")


def strangers(home: Home, task: Solved) -> list[str]:
    """The sources that hold no table of the name of one of the task's gold tables."""
    gold = {table.split(".", 1)[1].casefold() for table in task.gold}
    barred = {task.group} | {a.source for a in home.catalog.assets() if a.name.casefold() in gold}
    return sorted(sources(home) - barred)


def ask(selector: Selector, tasks: Sequence[Solved], scope: Callable[[Solved], Scope]) -> Told:
    answers = (selector.select(task.question, scope(task)) for task in tasks)
    return [(answer["status"], answer["confidence"]) for answer in answers]


def plot(told: Mapping[str, Told], levels: Sequence[float]) -> str:
    from suffice.libs import plots

    curves = {
        name: (levels, [sum(c < level for _, c in answers) / len(answers) for level in levels])
        for name, answers in told.items()
    }
    return plots.lines(curves, x="threshold of confidence", y="share of the questions under it")


if __name__ == "__main__":
    main()
