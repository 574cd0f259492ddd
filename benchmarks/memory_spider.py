"""What solved questions of a database do for the others: the rules with memory off, gated, and pushed without a gate.

    BENCH=DIR python benchmarks/memory_spider.py [--each 1,3,5,10] [--step 3] [--home HOME]

`$BENCH/spider` holds `db/*.sqlite` and `tasks.jsonl`. Of each database some questions, drawn with a fixed seed, are
remembered with their tables; of the rest every `--step`th is asked of the whole catalog. "Harmed" is exactly right
without memory and not with it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from suffice.catalogs.home import Home
from suffice.evaluate.metrics import score
from suffice.index.build import build_index
from suffice.index.embed import load_embedder
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.memory.model import Memory, Object
from suffice.memory.store import MemoryStore
from suffice.reason.batch import open_selector
from suffice.report import Report


def f1(home: Home, tasks: list[dict[str, Any]], mode: str) -> list[float]:
    selector = open_selector(home, "rules", mode)
    found = []
    for task in tasks:
        chosen = [f"{t['source']}.{t['table']}" for t in selector.select(task["question"])["tables"]]
        found.append(score([f"{task['db']}.{g}" for g in task["gold_tables"]], chosen).f1)
    return found


def remember(home: Home, tasks: list[dict[str, Any]]) -> None:
    embedder = load_embedder(home.settings)
    assets = {(a.source, a.name.casefold()): a for a in home.catalog.assets()}
    vectors = embedder.embed([t["question"] for t in tasks])
    store = MemoryStore(home.catalog)
    for task, vector in zip(tasks, vectors, strict=True):
        tables = [assets[task["db"], g.casefold()] for g in task["gold_tables"]]
        objects = tuple(Object(a.urn, "", a.schema_digest) for a in tables)
        store.remember(Memory(Memory.clean(task["question"]), objects), embedder.name, vector)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", default="1,3,5,10")
    parser.add_argument("--step", type=int, default=3)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    bench = Path(os.environ.get("BENCH", ""))
    if not (bench / "spider" / "tasks.jsonl").is_file():
        print("skipped: set BENCH to a folder that holds spider/ (Spider's databases and tasks.jsonl)")
        return
    tasks = [json.loads(line) for line in (bench / "spider" / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        ready = arguments.home or _made(Path(folder) / "ready", bench / "spider" / "db")
        plain = dict(zip((t["id"] for t in tasks), [0.0] * len(tasks), strict=True))
        known: set[str] = set()
        print("memories a database | asked | off | gated | helped, harmed | pushed | helped, harmed")
        for each in map(int, arguments.each.split(",")):
            kept, asked = _split(tasks, each, arguments.step)
            place = Path(folder) / f"with{each}"
            shutil.copytree(ready, place)
            home = Home(place)
            new = [t for t in asked if t["id"] not in known]
            plain.update(zip((t["id"] for t in new), f1(home, new, "off"), strict=True))
            known |= {t["id"] for t in new}
            remember(home, kept)
            before = np.array([plain[t["id"]] for t in asked])
            told = [f"{each} | {len(asked)} | {before.mean():.4f}"]
            for mode in ("after-look", "push"):
                after = np.array(f1(home, asked, mode))
                helped, harmed = np.mean((before < 1) & (after == 1)), np.mean((before == 1) & (after < 1))
                told.append(f"{after.mean():.4f} ({after.mean() - before.mean():+.4f}) | {helped:.2%}, {harmed:.2%}")
            print(" | ".join(told), flush=True)


def _split(tasks: list[dict[str, Any]], each: int, step: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rng = np.random.default_rng(0)
    of: dict[str, list[int]] = defaultdict(list)
    for i, task in enumerate(tasks):
        of[task["db"]].append(i)
    kept = {int(i) for places in of.values() for i in rng.permutation(places)[:each]}
    rest = [t for i, t in enumerate(tasks) if i not in kept]
    return [tasks[i] for i in sorted(kept)], rest[::step]


def _made(path: Path, databases: Path) -> Path:
    home, report = Home(path, create=True), Report("benchmark")
    with home.writing():
        ingest(home, str(databases), None, report)
        enrich(home, report=report)
        build_index(home, report)
    return path


if __name__ == "__main__":
    main()
