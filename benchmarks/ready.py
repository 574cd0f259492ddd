"""What the benchmarks on data sets share: the place of the sets, a home made of them, the table that is printed."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from suffice import render
from suffice.catalogs.home import Home
from suffice.evaluate.run import evaluate_select
from suffice.evaluate.tasks import Solved
from suffice.index.build import build_index
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.report import Report

SELECTORS = ("rules", "bm25", "vectors", "fused", "vectors-top10")


def bench_folder(name: str, *needed: str) -> Path | None:
    """`$BENCH/name` when it holds what is needed; else says so and gives None."""
    folder = Path(os.environ.get("BENCH", "")) / name
    if os.environ.get("BENCH") and all((folder / path).exists() for path in needed):
        return folder
    print(f"skipped: set BENCH to a folder that holds {', '.join(f'{name}/{path}' for path in needed)}")
    return None


def options(doc: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--home", type=Path, help="keep the home here, and use it again")
    parser.add_argument("--out", type=Path, help="keep the runs with their reports here")
    return parser.parse_args()


@contextmanager
def ready_home(kept: Path | None, targets: Sequence[Path]) -> Iterator[Home]:
    """A home with `targets` ingested, enriched and indexed; one that is kept is brought up to date."""
    with tempfile.TemporaryDirectory() as folder:
        home, report = Home(kept or Path(folder) / "home", create=True), Report("benchmark")
        with home.writing():
            for target in targets:
                _timed(f"ingest {target.name}", lambda target=target: ingest(home, str(target), None, report))
            _timed("enrich", lambda: enrich(home, report=report))
            _timed("index", lambda: build_index(home, report))
        for subject, why in report.failures:
            print(f"failed {subject}: {why}")
        yield home


def table(title: str, home: Home, tasks: Sequence[Solved], out: Path | None) -> None:
    """Run all selectors on the tasks and print a line each."""
    print(f"\n{title}\n", flush=True)
    report = Report("benchmark")
    folder = out / title.split(",")[0].replace(" ", "-") if out else None
    render.evaluation(evaluate_select(home, tasks, SELECTORS, out=folder, report=report))
    for subject, why in report.failures:
        print(f"failed {subject}: {why}")


def sources(home: Home) -> set[str]:
    return {asset.source for asset in home.catalog.assets()}


def _timed(what: str, work: object) -> None:
    started = time.perf_counter()
    assert callable(work)
    work()
    print(f"{what}: {time.perf_counter() - started:.1f} s", flush=True)
