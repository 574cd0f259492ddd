"""ingest + enrich + index of 61 Spider databases, a process a command, against embedding 316 texts of 200 tokens.

    BENCH=DIR python benchmarks/pipeline.py

`$BENCH/spider/db` holds the SQLite databases. Prints CPU seconds and the ratio (aim: at most 4); a warm `select` too
(aim: under 0.3 s of CPU).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EMBED = """
import random, time
from suffice.registry import load
random.seed(0)
words = ("flight order customer price date city station region product total weather amount account "
         "student course teacher album track artist invoice").split()
embedder = load("embedders", "minilm-onnx")()
texts = [" ".join(random.choice(words) for _ in range(198)) for _ in range(316)]
embedder.embed(texts)
"""
WARM = """
import json, sys, time
from pathlib import Path
from suffice.catalogs.home import Home
from suffice.reason.batch import open_selector
home = Home(Path(sys.argv[1]))
tasks = [json.loads(line)["question"] for line in open(sys.argv[2])][::150]
selector = open_selector(home, "rules")
selector.select(tasks[0])
taken = []
for task in tasks[1:]:
    started = time.process_time()
    selector.select(task)
    taken.append(time.process_time() - started)
print(sorted(taken)[len(taken) // 2], max(taken))
"""


def cpu(command: list[str]) -> tuple[float, float, str]:
    """CPU and wall seconds of a process, and what it printed."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, time.perf_counter() - started, done.stdout


def main() -> None:
    bench = os.environ.get("BENCH")
    if not bench or not (Path(bench) / "spider" / "db").is_dir():
        print("skipped: set BENCH to a folder that holds spider/db (Spider's SQLite databases)")
        return
    spider = Path(bench) / "spider"
    floor, floor_wall, _ = cpu([sys.executable, "-c", EMBED])
    print(f"embedding 316 texts of 200 tokens   cpu {floor:6.1f} s   wall {floor_wall:6.1f} s")
    with tempfile.TemporaryDirectory() as folder:
        suffice = [sys.executable, "-c", "from suffice.cli import main; main()", "--home", f"{folder}/home"]
        total = wall = 0.0
        for command in (["ingest", str(spider / "db")], ["enrich"], ["index"]):
            spent, took, _ = cpu([*suffice, *command])
            total, wall = total + spent, wall + took
            print(f"suffice {command[0]:27} cpu {spent:6.1f} s   wall {took:6.1f} s")
        print(f"ratio of the three to the floor: cpu {total / floor:.2f}, wall {wall / floor_wall:.2f} (aim: 4)")
        out = cpu([sys.executable, "-c", WARM, f"{folder}/home", str(spider / "tasks.jsonl")])[2].split()
        print(f"warm select: median {float(out[0]):.3f} s of CPU, worst {float(out[1]):.3f} s (aim: .3)")


if __name__ == "__main__":
    main()
