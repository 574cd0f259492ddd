"""Degraded tables found by content, on messy lakes with known truth and on undisturbed databases.

    BENCH=DIR python benchmarks/copies.py [--seeds N]

`$BENCH/spider/db` holds Spider's SQLite databases, `$BENCH/discovery` Northwind and Berka, `$BENCH/krama` the DuckDB
lakes of KramaBench. Each lake is ingested, profiled and judged as `suffice enrich` does it. Scored on tables of 20
rows and more (smaller ones beside them): degraded found, its kind, and the authoritative table. A kind of defect that
a base had before counts neither for nor against. A pattern over names is the baseline.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from suffice.catalogs.home import Home
from suffice.evaluate.demo_lake import build_demo_lake
from suffice.evaluate.lake import DEGRADED, build_lake
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.report import Report

SPIDER = ("bike_1", "csu_1", "flight_4", "wine_1")
DISCOVERY = ("northwind", "berka")
TAGS = (*DEGRADED, "superseded")
STEPS = ("profile", "keys", "copies", "quality")
NAMED = re.compile(r"(stg|staging|test|tmp|temp|bak|backup|old|copy|broken|nulls|dups|subset)", re.IGNORECASE)
LARGE = 20


def judged(source: Path, name: str) -> tuple[dict[str, set[str]], dict[str, str], dict[str, float], list[Any]]:
    """(tags, authoritative table) by table name, seconds by step, and the tags' findings."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home", create=True)
        report = Report("benchmark")
        with home.writing():
            ingest(home, str(source), name, report)
            enrich(home, only=STEPS, report=report)
        for subject, why in report.failures:
            print(f"  failed {subject}: {why}")
        names = {asset.urn: asset.name for asset in home.catalog.assets()}
        tags: dict[str, set[str]] = {name: set() for name in names.values()}
        findings = [f for f in home.store.findings(list(TAGS)) if f.in_force]
        for finding in findings:
            tags[names[finding.urn]].add(finding.kind)
        chosen = {names[f.urn]: names[f.value["urn"]] for f in home.store.findings(["authoritative"])}
        return tags, chosen, report.seconds, [(names[f.urn], f) for f in findings]


def score(truth: dict[str, Any], tags: dict[str, set[str]], chosen: dict[str, str]) -> Counter[str]:
    """Counts by outcome; those of tables under 20 rows end in ` small`."""
    counts: Counter[str] = Counter()
    tables = truth["tables"]
    for name, entry in tables.items():
        size = "" if entry["rows"] >= LARGE else " small"
        inherited = set(truth["inherited"].get(entry["base"], ()))
        planted = entry["kind"] if entry["kind"] in DEGRADED else ""
        found = {tag for tag in tags[name] if tag == planted or tag not in inherited}
        counts[_outcome(planted, bool(found)) + size] += 1
        if planted and found:
            counts[("kind right" if planted in found else "kind wrong") + size] += 1
        by_name = bool(NAMED.search(name))
        counts["name " + _outcome(planted, by_name) + size] += 1
        use = tables[chosen.get(name, name)]
        right = use["base"] == entry["base"] and use["kind"] in ("base", "identical")
        counts[("use right" if right else "use wrong") + size] += 1
    return counts


def _outcome(planted: str, found: bool) -> str:
    if planted:
        return "hit" if found else "missed"
    return "false" if found else "clean"


def line(label: str, counts: Counter[str], size: str = "") -> str:
    def share(good: str, bad: str) -> str:
        n, k = counts[good + size] + counts[bad + size], counts[good + size]
        if not n:
            return "     -          "
        low, high = wilson(k, n)
        return f"{k / n:.3f} ({low:.2f}-{high:.2f})"

    degraded = counts["hit" + size] + counts["missed" + size]
    parts = [
        share("hit", "false"),
        share("hit", "missed"),
        share("kind right", "kind wrong"),
        share("use right", "use wrong"),
    ]
    return f"| {label:14} | {degraded:4} | " + " | ".join(parts) + " |"


def wilson(k: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of Wilson (1927) for a share of k in n."""
    middle, spread = k / n + z * z / (2 * n), z * math.sqrt(k / n * (1 - k / n) / n + z * z / (4 * n * n))
    return (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--lakes", default=",".join(("demo", *SPIDER, *DISCOVERY)))
    parser.add_argument("--skip-real", action="store_true")
    options = parser.parse_args()
    bench = Path(os.environ.get("BENCH", ""))
    if not os.environ.get("BENCH") or not (bench / "spider" / "db").is_dir():
        print("skipped: set BENCH to a folder that holds spider/db, discovery and krama")
        return
    messy(bench, options.lakes.split(","), options.seeds)
    if not options.skip_real:
        undisturbed(bench)


def messy(bench: Path, lakes: list[str], seeds: int) -> None:
    head = "| lake | degraded | precision | recall | kind right | table to use right |"
    for opaque in (False, True):
        total: Counter[str] = Counter()
        print(f"\n{'opaque' if opaque else 'plain'} names, {seeds} seeds, 95 % intervals\n\n{head}")
        print("|---|---|---|---|---|---|")
        for lake in lakes:
            if lake == "demo" and opaque:
                continue
            counts: Counter[str] = Counter()
            for seed in range(seeds):
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / f"{lake}.duckdb"
                    truth = _built(bench, lake, path, seed, opaque)
                    started = time.perf_counter()
                    tags, chosen, seconds, _ = judged(path, lake)
                    counts += score(truth, tags, chosen)
                    counts["seconds"] += round(time.perf_counter() - started)
                    for step in STEPS:
                        counts[f"ms {step}"] += round(1000 * seconds.get(step, 0))
            print(line(lake, counts), " ".join(f"{s} {counts[f'ms {s}'] / seeds / 1000:.1f} s" for s in STEPS))
            total += counts
        print(line("all", total))
        print(line("under 20 rows", total, " small"))
        named = Counter({key.removeprefix("name "): n for key, n in total.items() if key.startswith("name ")})
        print(line("by name alone", named))


def _built(bench: Path, lake: str, path: Path, seed: int, opaque: bool) -> dict[str, Any]:
    if lake == "demo":
        return build_demo_lake(path, seed=seed)
    folder = bench / ("discovery" if lake in DISCOVERY else "spider/db")
    return build_lake(folder / f"{lake}.sqlite", path, seed=seed, opaque="subject" if opaque else "")


def undisturbed(bench: Path) -> None:
    """Every degraded tag that an undisturbed database gets."""
    print("\ntags on undisturbed databases")
    tables = tagged = 0
    paths = [*(bench / "spider" / "db").glob("*.sqlite"), *(bench / "discovery").glob("*.sqlite")]
    for path in sorted([*paths, *(bench / "krama").glob("*.duckdb")]):
        tags, _, _, findings = judged(path, path.stem)
        tables += len(tags)
        tagged += sum(bool(t) for t in tags.values())
        for name, finding in findings:
            columns = ", ".join(finding.value["columns"])
            numbers = ", ".join(f"{k} {v:.3g}" for k, v in finding.numbers.items() if v is not None)
            print(f"- {path.stem}.{name}: {finding.kind} ({columns}) {numbers}")
    print(f"{tagged} of {tables} tables and views are tagged")


if __name__ == "__main__":
    main()
