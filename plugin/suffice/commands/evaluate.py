"""`suffice evaluate`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from suffice.commands.base import Context, json_flag, show

if TYPE_CHECKING:
    from suffice.evaluate.lake import Opaque

__all__ = ["evaluate"]


@click.group()
def evaluate() -> None:
    """Measure the reasoner against rankings on solved tasks; fit its weights; make lakes to try it on."""


@evaluate.command("select")
@click.option("--tasks", type=click.Path(path_type=Path), required=True,
              help="JSON lines of {id, question, gold_tables, GROUP}.")  # fmt: skip
@click.option("--selectors", default="rules,bm25,vectors,fused,vectors-top10", show_default=True,
              help="Policies and rankings; the first is compared with the others.")  # fmt: skip
@click.option("--group", default="db", show_default=True, help="Key of the task's source (database, domain).")
@click.option("--gold-key", default="gold_tables", show_default=True, help="Key of the tables that answer the task.")
@click.option("--known", is_flag=True, help="Ask each task with its source as scope.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path),
              help="Folder for answers.jsonl, tasks.jsonl, summary.json and report.html.")  # fmt: skip
@json_flag
@click.pass_obj
def evaluate_select(
    context: Context,
    tasks: Path,
    selectors: str,
    group: str,
    gold_key: str,
    known: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Recall, precision, F1 and exact of selectors, with intervals; an interrupted run goes on."""
    from suffice import render
    from suffice.evaluate.run import evaluate_select as run
    from suffice.evaluate.tasks import read_solved
    from suffice.report import Report
    from suffice.talk import say

    home, report = context.open(), Report("evaluate select")
    sources = {asset.source for asset in home.catalog.assets()}
    solved = read_solved(tasks, sources, group_key=group, gold_key=gold_key, known=known)
    names = [name.strip() for name in selectors.split(",")]
    show(run(home, solved, names, out=out, report=report), as_json, render.evaluation)
    for message, subjects in report.warnings.items():
        say(f"{message}: {', '.join(subjects[:5])}" + (f" and {len(subjects) - 5} more" if len(subjects) > 5 else ""))
    for subject, why in report.failures:
        say(f"failed {subject}: {why}")
    sys.exit(report.exit_code)


@evaluate.command("compare")
@click.argument("before", type=click.Path(file_okay=False, path_type=Path))
@click.argument("after", type=click.Path(file_okay=False, path_type=Path))
@json_flag
def evaluate_compare(before: Path, after: Path, as_json: bool) -> None:
    """Two runs of the same tasks, task by task; exit 1 when AFTER is worse by more than chance."""
    from suffice import render
    from suffice.evaluate.compare import compare_runs

    found = compare_runs(before, after)
    show(found, as_json, render.comparison)
    sys.exit(1 if found["worse"] else 0)


@evaluate.command("fit")
@click.option(
    "--tasks", type=click.Path(path_type=Path), required=True, help="JSON lines of {id, question, gold_tables, GROUP}."
)
@click.option("--group", default="db", show_default=True, help="Key of the task's source.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Where the weights go (JSON).")
@json_flag
@click.pass_obj
def evaluate_fit(context: Context, tasks: Path, group: str, out: Path, as_json: bool) -> None:
    """Fit the reasoner's weights on solved tasks, cross-validated by source."""
    from suffice import render
    from suffice.evaluate.fit import fit, solved_tasks
    from suffice.index.search import Index
    from suffice.reason.load import load_knowledge

    home = context.open()
    knowledge = load_knowledge(home, Index.open(home))
    command = f"suffice evaluate fit --tasks {tasks.name} --group {group}"
    weights, told = fit(knowledge, solved_tasks(tasks, group), command)
    out.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")
    show(told, as_json, render.figures)


@evaluate.command("lake")
@click.argument("database", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for the lake and its truth.")
@click.option("--opaque", is_flag=False, flag_value="subject", default="", metavar="[=full]",
              type=click.Choice(["", "subject", "full"]),
              help="Names that tell the subject but not the version; =full: not even the subject.")  # fmt: skip
@click.option("--described", is_flag=True,
              help="The published experiment's lake: lineage told in comments; a clean twin beside it.")  # fmt: skip
@click.option("--drift", is_flag=True, help="One change of schema on each copy.")
@click.option("--seed", type=int, default=0, show_default=True)
@json_flag
def evaluate_lake(
    database: Path, out: Path, opaque: Opaque, described: bool, drift: bool, seed: int, as_json: bool
) -> None:
    """A messy lake from a database: parts, copies and broken versions, with the truth in a side file."""
    from collections import Counter

    from suffice import render
    from suffice.evaluate.lake import build_clean, build_lake

    out.mkdir(parents=True, exist_ok=True)
    lake = out / f"{database.stem}.duckdb"
    truth = build_lake(database, lake, seed=seed, opaque=opaque, described=described, drifts=drift)
    if described:
        build_clean(database, out / f"{database.stem}_clean.duckdb")
    kinds = Counter(table["kind"] for table in truth["tables"].values())
    told = {"lake": str(lake), "truth": str(lake.with_suffix(".truth.json")), "tables": len(truth["tables"]), **kinds}
    show(told, as_json, render.figures)
