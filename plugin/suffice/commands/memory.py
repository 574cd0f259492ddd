"""`suffice remember` and `suffice memory`."""

from __future__ import annotations

import click

from suffice.commands.base import Context, json_flag, show
from suffice.errors import UsageError

__all__ = ["memory", "remember"]


@click.command()
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
    show({"memories": [kept]}, as_json, render.memories)


@click.group()
def memory() -> None:
    """What was remembered: list, show, confirm, forget."""


@memory.command("ls")
@json_flag
@click.pass_obj
def memory_ls(context: Context, as_json: bool) -> None:
    """Every memory, the latest first, with what holds it back."""
    from suffice import render
    from suffice.memory.commands import listed

    show({"memories": listed(context.open())}, as_json, render.memories)


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
    show({"memories": found}, as_json, render.memories)


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
