"""`suffice review`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from suffice.commands.base import Context, json_flag, scope_flag, show

__all__ = ["review"]


@click.group()
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
    show({"items": [item.to_json() for item in items]}, as_json, render.queue)


@review.command("show")
@click.argument("finding")
@json_flag
@click.pass_obj
def review_show(context: Context, finding: str, as_json: bool) -> None:
    """One finding with its evidence."""
    from suffice import render
    from suffice.review.queue import Queue

    show({"items": [Queue(context.open(), "").item(finding).to_json()]}, as_json, render.queue)


def _decide(context: Context, who: str, work: Callable[[Any], Any], as_json: bool) -> None:
    from suffice import render
    from suffice.review.queue import Queue

    show({"items": [work(Queue(context.open(), who)).to_json()]}, as_json, render.queue)


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

    show({"decisions": Queue(context.open(), "").decided()}, as_json, render.decisions)
