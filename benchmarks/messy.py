"""Answers on messy lakes made from Spider's databases, beside rankings of the same lake.

    BENCH=DIR python benchmarks/messy.py [--seed N] [--databases A,B] [--variants plain,opaque,full,described]

`$BENCH/spider` holds `db/*.sqlite` and `tasks.jsonl`. Each database becomes a lake and is asked its own questions.
Judged by lineage (see `suffice.evaluate.messy`). `plain` names tell what was done to a copy, `opaque` ones only the
subject, `full` not even that; `described` is the published experiment's lake, which tells its lineage in comments.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ready import bench_folder

from suffice.catalogs.home import Home
from suffice.evaluate.answers import asker
from suffice.evaluate.lake import build_lake
from suffice.evaluate.messy import degraded_share, lineage_score
from suffice.evaluate.metrics import Score, bootstrap
from suffice.evaluate.rankings import LONGEST, RANKINGS
from suffice.evaluate.tasks import Solved
from suffice.index.build import build_index
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.report import Report

DATABASES = ("bike_1", "csu_1", "flight_4", "hr_1", "wine_1")
SELECTORS = ("rules", "bm25", "fused", "vectors-top10")
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "opaque": {"opaque": "subject"},
    "full": {"opaque": "full"},
    "described": {"described": True},
}


def run(database: Path, tasks: Sequence[dict[str, Any]], folder: Path, variant: str, seed: int) -> dict[str, Any]:
    """For each selector the scores of all tasks, and (degraded, all) tables chosen; rankings at their best k."""
    lake = folder / f"{database.stem}.duckdb"
    truth = build_lake(database, lake, seed=seed, **VARIANTS[variant])
    home, report = Home(folder / "home", create=True), Report("benchmark")
    with home.writing():
        ingest(home, str(lake), None, report)
        enrich(home, report=report)
        build_index(home, report)
    for subject, why in report.failures:
        print(f"  failed {subject}: {why}")
    told: dict[str, Any] = {"tables": len(truth["tables"])}
    for name in SELECTORS:
        ask = asker(home, name)
        answers = [ask(Solved(t["id"], t["db"], t["question"], ()))["tables"] for t in tasks]
        chosen = [[table.split(".", 1)[1] for table in tables] for tables in answers]
        cuts = range(1, LONGEST + 1) if name in RANKINGS and RANKINGS[name].cut is None else [None]
        scored = {k: judged(truth, tasks, chosen, k) for k in cuts}
        k = max(scored, key=lambda cut: sum(s.f1 for s in scored[cut]))
        told[name] = (scored[k], degraded_share(truth, [c[:k] for c in chosen]))
    return told


def judged(
    truth: dict[str, Any], tasks: Sequence[dict[str, Any]], chosen: Sequence[list[str]], k: int | None
) -> list[Score]:
    return [lineage_score(truth, t["gold_tables"], t["filters"], c[:k]) for t, c in zip(tasks, chosen, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--databases", default=",".join(DATABASES))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    arguments = parser.parse_args()
    bench = bench_folder("spider", "db", "tasks.jsonl")
    if bench is None:
        return
    tasks = [json.loads(line) for line in (bench / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]
    for variant in arguments.variants.split(","):
        print(f"\n{variant}, seed {arguments.seed}, 95 % intervals by lake\n")
        print("| lake | tables | tasks | " + " | ".join(f"{name}: F1, degraded" for name in SELECTORS) + " |")
        print("|---" * (3 + len(SELECTORS)) + "|", flush=True)
        scores: dict[str, dict[str, list[Score]]] = defaultdict(dict)
        shares: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for name in arguments.databases.split(","):
            own = [task for task in tasks if task["db"] == name]
            with tempfile.TemporaryDirectory() as folder:
                told = run(bench / "db" / f"{name}.sqlite", own, Path(folder), variant, arguments.seed)
            for selector in SELECTORS:
                scores[selector][name] = told[selector][0]
                shares[selector].append(told[selector][1])
            cells = [f"{mean(told[s][0]):.3f}, {share([told[s][1]])}" for s in SELECTORS]
            print(f"| {name} | {told['tables']} | {len(own)} | " + " | ".join(cells) + " |", flush=True)
        for label, of_groups in (("all tasks", False), ("mean of lakes", True)):
            cells = [f"{bootstrap(f1_of(scores[s]), of_groups=of_groups)}, {share(shares[s])}" for s in SELECTORS]
            print(f"| {label} | | | " + " | ".join(cells) + " |", flush=True)


def f1_of(scores: dict[str, list[Score]]) -> dict[str, list[float]]:
    return {name: [s.f1 for s in given] for name, given in scores.items()}


def mean(scores: Sequence[Score]) -> float:
    return sum(s.f1 for s in scores) / len(scores)


def share(counted: Sequence[tuple[int, int]]) -> str:
    degraded, chosen = (sum(counts) for counts in zip(*counted, strict=True))
    return f"{degraded} of {chosen}"


if __name__ == "__main__":
    main()
