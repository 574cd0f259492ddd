"""Answers on messy lakes made from Spider's databases, beside rankings of the same lake.

    BENCH=DIR python benchmarks/messy.py [--seed N] [--databases A,B]

`$BENCH/spider` holds `db/*.sqlite` and `tasks.jsonl`. Each database becomes a lake, with telling and with opaque names,
and is asked its own questions. Judged by lineage (see `suffice.evaluate.messy`).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from suffice.catalogs.home import Home
from suffice.evaluate.lake import build_lake
from suffice.evaluate.messy import degraded_share, lineage_score
from suffice.evaluate.metrics import bootstrap
from suffice.index.build import build_index
from suffice.index.search import Index
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.model import Scope
from suffice.reason.batch import open_selector
from suffice.report import Report

DATABASES = ("bike_1", "csu_1", "flight_4", "hr_1", "wine_1")
CUTS = range(1, 11)


def run(database: Path, tasks: list[dict[str, Any]], folder: Path, *, opaque: bool, seed: int) -> dict[str, Any]:
    lake = folder / f"{database.stem}.duckdb"
    truth = build_lake(database, lake, seed=seed, opaque="subject" if opaque else "")
    home, report = Home(folder / "home", create=True), Report("benchmark")
    with home.writing():
        ingest(home, str(lake), None, report)
        enrich(home, report=report)
        build_index(home, report)
    for subject, why in report.failures:
        print(f"  failed {subject}: {why}")
    selector, index = open_selector(home, "rules"), Index.open(home)
    names = {a.urn: a.name for a in home.catalog.assets()}
    chosen = [[t["table"] for t in selector.select(task["question"])["tables"]] for task in tasks]
    hits = [[names[h.urn] for h in index.search(task["question"], k=max(CUTS), scope=Scope())] for task in tasks]
    f1 = [lineage_score(truth, t["gold_tables"], t["filters"], c).f1 for t, c in zip(tasks, chosen, strict=True)]
    cut = max(CUTS, key=lambda k: _mean(_ranked(truth, tasks, hits, k)))
    degraded, picked = degraded_share(truth, chosen)
    spoiled, shown = degraded_share(truth, [h[:cut] for h in hits])
    return {
        "tables": len(truth["tables"]),
        "f1": f1,
        "degraded": degraded,
        "picked": picked,
        "fused": _ranked(truth, tasks, hits, cut),
        "k": cut,
        "fused_degraded": spoiled / max(1, shown),
    }


def _ranked(truth: dict[str, Any], tasks: list[dict[str, Any]], hits: list[list[str]], k: int) -> list[float]:
    return [lineage_score(truth, t["gold_tables"], t["filters"], h[:k]).f1 for t, h in zip(tasks, hits, strict=True)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--databases", default=",".join(DATABASES))
    arguments = parser.parse_args()
    bench = Path(os.environ.get("BENCH", ""))
    if not (bench / "spider" / "tasks.jsonl").is_file():
        print("messy: no data set; set BENCH to a folder that holds spider/")
        return
    lines = (bench / "spider" / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    tasks = [json.loads(line) for line in lines]
    for opaque in (False, True):
        print(f"names {'opaque' if opaque else 'telling'}")
        scores: dict[str, list[float]] = {}
        degraded = picked = 0
        for name in arguments.databases.split(","):
            own = [t for t in tasks if t["db"] == name]
            with tempfile.TemporaryDirectory() as folder:
                source = bench / "spider" / "db" / f"{name}.sqlite"
                told = run(source, own, Path(folder), opaque=opaque, seed=arguments.seed)
            scores[name] = told["f1"]
            degraded, picked = degraded + told["degraded"], picked + told["picked"]
            print(
                f"  {name:10} {told['tables']:4} tables {len(own):4} tasks  F1 {_mean(told['f1']):.3f}  degraded "
                f"{told['degraded']} of {told['picked']}  fused (best k = {told['k']}) F1 {_mean(told['fused']):.3f}, "
                f"degraded {told['fused_degraded']:.1%}",
                flush=True,
            )
        print(f"  all        F1 {bootstrap(scores)}  mean of lakes {bootstrap(scores, of_groups=True)}  "
              f"degraded {degraded} of {picked} ({degraded / max(1, picked):.2%})")  # fmt: skip


if __name__ == "__main__":
    main()
