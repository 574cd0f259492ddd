"""The command line: parse, call, print; nothing else. Every command imports what it needs when it runs.

stdout is data, stderr is talk. Exit: 0 done, 1 done in part (said which), 2 wrong use, 3 failed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from suffice import __version__
from suffice.errors import SufficeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.catalogs.home import Home
    from suffice.evaluate.lake import Opaque
    from suffice.report import Report

__all__ = ["cli", "main"]


@dataclass(slots=True)
class Context:
    home: Path
    flags: dict[str, Any]

    def open(self, *, create: bool = False) -> Home:
        from suffice.catalogs.home import Home
        from suffice.settings import load_settings

        return Home(self.home, load_settings(self.home, **self.flags), create=create)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="suffice")
@click.option("--home", type=click.Path(file_okay=False, path_type=Path), default=Path(".suffice"), show_default=True,
              envvar="SUFFICE_HOME", help="Where the catalog, the index and suffice.toml lie.")  # fmt: skip
@click.option("-v", "--verbose", count=True, help="More talk on stderr; twice for debugging.")
@click.option("--log-format", type=click.Choice(["text", "json"]), help="Talk as text or as JSON lines.")
@click.pass_context
def cli(context: click.Context, home: Path, verbose: int, log_format: str | None) -> None:
    """Which tables answer this? The smallest set that suffices, with the evidence."""
    from suffice.talk import configure

    context.obj = Context(home, {"log_format": log_format})
    configure(verbose, log_format)


json_flag = click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
scope_flag = click.option("--scope", multiple=True, metavar="GLOB",
                          help="source, source.schema or source.schema.table; !GLOB excludes; repeatable.")  # fmt: skip


@cli.command()
@click.argument("targets", nargs=-1, required=True, metavar="RECIPE.yml|URL|PATH...")
@click.option("--name", help="Name of the source; default: the stem of the path, or the database of the URL.")
@json_flag
@click.pass_obj
def ingest(context: Context, targets: tuple[str, ...], name: str | None, as_json: bool) -> None:
    """Pull schemas, keys and lineage into the catalog."""
    from suffice.ingestion.run import ingest as run
    from suffice.report import Report

    if name and len(targets) > 1:
        raise UsageError("--name with several targets", mend="ingest them one at a time")
    home, report = context.open(create=True), Report("ingest")
    with _run(home, report):
        for target in targets:
            run(home, target, name=name, report=report)
    _close(report, as_json)


@cli.command()
@click.option("--only", multiple=True, metavar="NAME", help="Only these enrichers; repeatable.")
@click.option("--plan", is_flag=True, help="Say what would be done; do nothing.")
@click.option("--budget-tokens", type=click.IntRange(0), help="Tokens that this run may spend on the language model.")
@scope_flag
@json_flag
@click.pass_obj
def enrich(
    context: Context,
    only: tuple[str, ...],
    plan: bool,
    budget_tokens: int | None,
    scope: tuple[str, ...],
    as_json: bool,
) -> None:
    """Profile tables, find keys, copies, families and defects, and describe each table against its siblings."""
    from suffice.ingestion.enrich import enrich as run
    from suffice.model import Scope
    from suffice.report import Report

    context.flags["budget_tokens"] = budget_tokens
    home, report = context.open(), Report("enrich")
    with _run(home, report, record=not plan):
        run(home, only=only or None, scope=Scope(scope), plan=plan, report=report)
    _close(report, as_json)


@cli.command()
@json_flag
@click.pass_obj
def index(context: Context, as_json: bool) -> None:
    """Build or update the search index beside the catalog."""
    from suffice.index.build import build_index
    from suffice.report import Report

    home, report = context.open(), Report("index")
    with _run(home, report):
        build_index(home, report)
    _close(report, as_json)


@cli.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-k", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many hits.")
@scope_flag
@json_flag
@click.pass_obj
def search(context: Context, query: tuple[str, ...], k: int, scope: tuple[str, ...], as_json: bool) -> None:
    """Tables by meaning and by words, a ranked list (`select` gives an answer)."""
    from suffice import render
    from suffice.model import Scope
    from suffice.reason.tools import search_tables

    hits = search_tables(context.open(), " ".join(query), k=k, scope=Scope(scope))
    _print(hits, as_json, render.hits)


@cli.command()
@click.argument("table")
@json_flag
@click.pass_obj
def show(context: Context, table: str, as_json: bool) -> None:
    """All that is known of one table: columns, profile, family, copies, quality, keys."""
    from suffice import render
    from suffice.reason.tools import describe_table

    _print(describe_table(context.open(), table), as_json, render.asset)


@cli.command()
@click.argument("table")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Where the report goes.")
@click.option("--rows", type=click.IntRange(10, 1_000_000), default=10_000, show_default=True, help="Rows sampled.")
@json_flag
@click.pass_obj
def profile(context: Context, table: str, html: Path, rows: int, as_json: bool) -> None:
    """ydata-profiling's HTML report of a table, from a sample, without its sensitive columns."""
    from suffice import render
    from suffice.libs.ydata import write_report
    from suffice.reason.look import sample_columns

    path, columns, hidden = sample_columns(context.open(), table, rows)
    write_report(columns, path, html)
    _print({"report": str(html), "table": path, "left_out": ", ".join(hidden) or "nothing"}, as_json, render.figures)


@cli.command()
@click.argument("table")
@json_flag
@click.pass_obj
def related(context: Context, table: str, as_json: bool) -> None:
    """Tables of the same family, copies, joins, upstream and downstream, each with its relation."""
    from suffice import render
    from suffice.reason.tools import related_tables

    _print(related_tables(context.open(), table), as_json, render.related)


@cli.command()
@click.argument("task", nargs=-1)
@scope_flag
@click.option("--policy", help="Entry point of suffice.policies; default: the setting `policy`.")
@click.option(
    "--memory",
    type=click.Choice(["off", "push", "pull", "after-look"]),
    default=None,
    help="Whether memories of solved tasks may move the answer; default: the setting `memory`.",
)
@click.option("--tasks", type=click.Path(path_type=Path), help="JSON lines of {id, question, scope?}: a batch.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the batch's answers go, a line each.")
@json_flag
@click.pass_obj
def select(
    context: Context,
    task: tuple[str, ...],
    scope: tuple[str, ...],
    policy: str | None,
    memory: str | None,
    tasks: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """The smallest set of tables that answers TASK, with the evidence; or what is missing."""
    from suffice import render
    from suffice.model import Scope
    from suffice.reason.batch import select_one, select_tasks
    from suffice.report import Report

    home = context.open()
    name = policy or home.settings.policy
    if tasks is None:
        if out is not None:
            raise UsageError("--out without --tasks", mend="give the file of tasks, or use --json > FILE")
        answer = select_one(home, " ".join(task), scope=Scope(scope), policy=name, memory=memory or "")
        _print(answer, as_json, render.selection)
        return
    if task or out is None:
        raise UsageError("--tasks goes with --out and without TASK", mend="select --tasks TASKS.jsonl --out OUT.jsonl")
    report = Report("select")
    select_tasks(home, tasks, out, scope=Scope(scope), policy=name, report=report, memory=memory or "")
    _close(report, as_json)


@cli.command()
@click.argument("task", nargs=-1, required=True)
@click.option("--tables", multiple=True, required=True, metavar="TABLE", help="Table, or TABLE#COLUMN; repeatable.")
@click.option("--outcome", type=click.Choice(["worked", "failed", "corrected"]), default="worked", show_default=True)
@click.option(
    "--provenance",
    type=click.Choice(["confirmed", "learned", "guessed"]),
    default="confirmed",
    show_default=True,
    help="Who says so: a person, a solved task, a model.",
)
@click.option("--note", default="", help="Anything worth keeping, the query for instance.")
@json_flag
@click.pass_obj
def remember(
    context: Context,
    task: tuple[str, ...],
    tables: tuple[str, ...],
    outcome: str,
    provenance: str,
    note: str,
    as_json: bool,
) -> None:
    """Keep which tables answered TASK, or did not."""
    from suffice import render
    from suffice.memory.commands import remember as run

    kept = run(context.open(), " ".join(task), tables, outcome=outcome, provenance=provenance, note=note)
    _print({"memories": [kept]}, as_json, render.memories)


@cli.command()
@click.option("--http", metavar="HOST:PORT", help="Serve over HTTP under /mcp; default: stdin and stdout.")
@scope_flag
@click.pass_obj
def serve(context: Context, http: str | None, scope: tuple[str, ...]) -> None:
    """The tools for agents, over the Model Context Protocol. The token of --http is read from SUFFICE_TOKEN."""
    import os

    from suffice.agents.server import serve_http, serve_stdio
    from suffice.model import Scope

    home = context.open()
    home.require_catalog()
    if http is None:
        serve_stdio(home, Scope(scope))
        return
    host, _, port = http.rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(f"'{http}' is no HOST:PORT", mend="for example 127.0.0.1:8765")
    serve_http(home, Scope(scope), host, int(port), os.environ.get("SUFFICE_TOKEN", ""))


@cli.command()
@click.option("--proposed", is_flag=True, help="Texts that nobody has accepted yet, too.")
@click.option("--dry-run", is_flag=True, help="Say what would be sent; send nothing.")
@scope_flag
@json_flag
@click.pass_obj
def publish(context: Context, proposed: bool, dry_run: bool, scope: tuple[str, ...], as_json: bool) -> None:
    """Write accepted texts, quality tags and row counts into DataHub, under our attribution."""
    from suffice.ingestion.publish import publish as run
    from suffice.model import Scope
    from suffice.report import Report

    home, report = context.open(), Report("publish")
    with _run(home, report, record=not dry_run):
        run(home, Scope(scope), report, proposed=proposed, dry_run=dry_run)
    _close(report, as_json)


@cli.command()
@click.option("--dry-run", is_flag=True, help="Say what would be removed; remove nothing.")
@scope_flag
@json_flag
@click.pass_obj
def withdraw(context: Context, dry_run: bool, scope: tuple[str, ...], as_json: bool) -> None:
    """Remove from DataHub all that publish ever wrote there, and nothing else."""
    from suffice.ingestion.publish import withdraw as run
    from suffice.model import Scope
    from suffice.report import Report

    home, report = context.open(), Report("withdraw")
    with _run(home, report, record=not dry_run):
        run(home, Scope(scope), report, dry_run=dry_run)
    _close(report, as_json)


@cli.group()
def review() -> None:
    """What waits for a person: list, show, accept, edit, reject, undo."""


who_flag = click.option("--as", "who", envvar="USER", default="steward", show_default=True, help="Who decides.")
state_flag = click.option("--state", default="", help="The `state` that was seen; refused when it has changed since.")
reason_flag = click.option("--reason", default="", help="Why.")


@review.command("ls")
@click.option("--kind", multiple=True, help="description, join, ...; repeatable.")
@click.option("--after", default="", help="Id of the last one seen.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@scope_flag
@json_flag
@click.pass_obj
def review_ls(
    context: Context, kind: tuple[str, ...], after: str, limit: int, scope: tuple[str, ...], as_json: bool
) -> None:
    """Proposals that nobody has decided on."""
    from suffice import render
    from suffice.model import Scope
    from suffice.review.queue import Queue

    items = Queue(context.open(), "").waiting(kinds=kind or None, scope=Scope(scope), after=after, limit=limit)
    _print({"items": [item.to_json() for item in items]}, as_json, render.queue)


@review.command("show")
@click.argument("finding")
@json_flag
@click.pass_obj
def review_show(context: Context, finding: str, as_json: bool) -> None:
    """One finding with its evidence."""
    from suffice import render
    from suffice.review.queue import Queue

    _print({"items": [Queue(context.open(), "").item(finding).to_json()]}, as_json, render.queue)


def _decide(context: Context, who: str, work: Callable[[Any], Any], as_json: bool) -> None:
    from suffice import render
    from suffice.review.queue import Queue

    _print({"items": [work(Queue(context.open(), who)).to_json()]}, as_json, render.queue)


@review.command("accept")
@click.argument("finding")
@who_flag
@state_flag
@reason_flag
@json_flag
@click.pass_obj
def review_accept(context: Context, finding: str, who: str, state: str, reason: str, as_json: bool) -> None:
    """Accept a proposal; a text then stands in the table's documentation."""
    _decide(context, who, lambda queue: queue.accept(finding, state=state, reason=reason), as_json)


@review.command("edit")
@click.argument("finding")
@click.argument("text")
@who_flag
@state_flag
@reason_flag
@json_flag
@click.pass_obj
def review_edit(context: Context, finding: str, text: str, who: str, state: str, reason: str, as_json: bool) -> None:
    """Accept a text as rewritten."""
    _decide(context, who, lambda queue: queue.edit(finding, text, state=state, reason=reason), as_json)


@review.command("reject")
@click.argument("finding")
@who_flag
@state_flag
@reason_flag
@json_flag
@click.pass_obj
def review_reject(context: Context, finding: str, who: str, state: str, reason: str, as_json: bool) -> None:
    """Reject a finding: it is not proposed again until its inputs change."""
    _decide(context, who, lambda queue: queue.reject(finding, state=state, reason=reason), as_json)


@review.command("undo")
@click.argument("finding")
@who_flag
@json_flag
@click.pass_obj
def review_undo(context: Context, finding: str, who: str, as_json: bool) -> None:
    """Take back the last decision on a finding."""
    _decide(context, who, lambda queue: queue.undo(finding), as_json)


@review.command("log")
@json_flag
@click.pass_obj
def review_log(context: Context, as_json: bool) -> None:
    """Every decision: who, when, from what to what."""
    from suffice import render
    from suffice.review.queue import Queue

    _print({"decisions": Queue(context.open(), "").decided()}, as_json, render.decisions)


@cli.group()
def agent() -> None:
    """Set up an agent harness to use Suffice."""


@agent.command("install")
@click.argument("target", metavar="claude|cursor|codex|DIR")
@json_flag
@click.pass_obj
def agent_install(context: Context, target: str, as_json: bool) -> None:
    """Write the skill, and the server's entry, where the harness looks for them in this folder."""
    from suffice import render
    from suffice.agents.install import install

    _print({"written": install(target, Path.cwd(), context.home)}, as_json, render.figures)


@cli.group()
def memory() -> None:
    """What was remembered: list, show, confirm, forget."""


@memory.command("ls")
@json_flag
@click.pass_obj
def memory_ls(context: Context, as_json: bool) -> None:
    """Every memory, the latest first, with what holds it back."""
    from suffice import render
    from suffice.memory.commands import listed

    _print({"memories": listed(context.open())}, as_json, render.memories)


@memory.command("show")
@click.argument("memory_id")
@json_flag
@click.pass_obj
def memory_show(context: Context, memory_id: str, as_json: bool) -> None:
    """One memory."""
    from suffice import render
    from suffice.memory.commands import listed

    found = [m for m in listed(context.open()) if m["id"] == memory_id]
    if not found:
        raise UsageError(f"no memory '{memory_id}'", mend="suffice memory ls lists them")
    _print({"memories": found}, as_json, render.memories)


@memory.command("confirm")
@click.argument("memory_id")
@click.pass_obj
def memory_confirm(context: Context, memory_id: str) -> None:
    """Say that a memory is right."""
    from suffice.memory.store import MemoryStore

    MemoryStore(context.open().catalog).confirm(memory_id)


@memory.command("forget")
@click.argument("memory_id")
@click.pass_obj
def memory_forget(context: Context, memory_id: str) -> None:
    """Remove a memory from the store and from the tables it names."""
    from suffice.memory.store import MemoryStore

    MemoryStore(context.open().catalog).forget(memory_id)


@cli.command()
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Leave the lake and its home here.")
@click.pass_obj
def demo(context: Context, keep: Path | None) -> None:
    """A real lake full of look-alikes: ingested, enriched, indexed, five tasks answered."""
    from suffice.demo import run

    sys.exit(run(keep))


@cli.command()
@json_flag
@click.pass_obj
def check(context: Context, as_json: bool) -> None:
    """What is in force and from where; what is installed, reachable, stale or broken, and the mend."""
    from suffice import render
    from suffice.check import check_home

    found = check_home(context.home, context.flags)
    _print(found, as_json, render.check)
    if any(line["state"] == "broken" for line in found["checks"]):
        sys.exit(1)


@cli.group()
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
    _print(run(home, solved, names, out=out, report=report), as_json, render.evaluation)
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
    _print(found, as_json, render.comparison)
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
    _print(told, as_json, render.figures)


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
    _print(told, as_json, render.figures)


@contextmanager
def _run(home: Home, report: Report, *, record: bool = True) -> Iterator[None]:
    """One writing run: the home is held, the time taken, the report kept for `suffice check`."""
    import time
    import uuid

    from suffice.talk import say

    started = time.time()
    with home.writing(on_wait=lambda: say(f"waiting: another run holds '{home.path}'")):
        yield
        report.seconds["total"] = time.time() - started
        if record:
            home.store.put_run(f"{report.command}-{uuid.uuid4().hex[:12]}", report.command, started, report.to_json())


def _close(report: Report, as_json: bool) -> None:
    from suffice import render

    _print(report.to_json(), as_json, render.report)
    sys.exit(report.exit_code)


def _print(value: Mapping[str, Any], as_json: bool, text: Callable[[Mapping[str, Any]], None]) -> None:
    if as_json:
        click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, default=str))
    else:
        text(value)


def main() -> None:
    """The console script: every fault of ours is one line on stderr and an exit code."""
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(3)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except SufficeError as error:
        click.echo(f"suffice: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        click.echo("suffice: interrupted; what was finished is kept, run it again to go on", err=True)
        sys.exit(3)
