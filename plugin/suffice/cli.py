"""The command line: parse, call, print; nothing else. Every command imports what it needs when it runs.

stdout is data, stderr is talk. Exit: 0 done, 1 done in part (said which), 2 wrong use, 3 failed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from suffice import __version__
from suffice.commands.agents import agent, serve
from suffice.commands.base import Context, close, json_flag, recorded, scope_flag
from suffice.commands.base import show as show_answer
from suffice.commands.datahub import publish, withdraw
from suffice.commands.evaluate import evaluate
from suffice.commands.memory import memory, remember
from suffice.commands.review import review
from suffice.errors import SufficeError, UsageError

__all__ = ["cli", "main"]


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
    with recorded(home, report):
        for target in targets:
            run(home, target, name=name, report=report)
    close(report, as_json)


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
    with recorded(home, report, record=not plan):
        run(home, only=only or None, scope=Scope(scope), plan=plan, report=report)
    close(report, as_json)


@cli.command()
@json_flag
@click.pass_obj
def index(context: Context, as_json: bool) -> None:
    """Build or update the search index beside the catalog."""
    from suffice.index.build import build_index
    from suffice.report import Report

    home, report = context.open(), Report("index")
    with recorded(home, report):
        build_index(home, report)
    close(report, as_json)


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
    show_answer(hits, as_json, render.hits)


@cli.command()
@click.argument("table")
@json_flag
@click.pass_obj
def show(context: Context, table: str, as_json: bool) -> None:
    """All that is known of one table: columns, profile, family, copies, quality, keys."""
    from suffice import render
    from suffice.reason.tools import describe_table

    show_answer(describe_table(context.open(), table), as_json, render.asset)


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
    show_answer(
        {"report": str(html), "table": path, "left_out": ", ".join(hidden) or "nothing"}, as_json, render.figures
    )


@cli.command()
@click.argument("table")
@json_flag
@click.pass_obj
def related(context: Context, table: str, as_json: bool) -> None:
    """Tables of the same family, copies, joins, upstream and downstream, each with its relation."""
    from suffice import render
    from suffice.reason.tools import related_tables

    show_answer(related_tables(context.open(), table), as_json, render.related)


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
        show_answer(answer, as_json, render.selection)
        return
    if task or out is None:
        raise UsageError("--tasks goes with --out and without TASK", mend="select --tasks TASKS.jsonl --out OUT.jsonl")
    report = Report("select")
    select_tasks(home, tasks, out, scope=Scope(scope), policy=name, report=report, memory=memory or "")
    close(report, as_json)


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
    show_answer(found, as_json, render.check)
    if any(line["state"] == "broken" for line in found["checks"]):
        sys.exit(1)


for command in (remember, memory, serve, agent, publish, withdraw, review, evaluate):
    cli.add_command(command)


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
