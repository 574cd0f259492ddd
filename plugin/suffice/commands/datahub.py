"""`suffice publish` and `suffice withdraw`."""

from __future__ import annotations

import click

from suffice.commands.base import Context, close, json_flag, recorded, scope_flag

__all__ = ["publish", "withdraw"]


@click.command()
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
    with recorded(home, report, record=not dry_run):
        run(home, Scope(scope), report, proposed=proposed, dry_run=dry_run)
    close(report, as_json)


@click.command()
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
    with recorded(home, report, record=not dry_run):
        run(home, Scope(scope), report, dry_run=dry_run)
    close(report, as_json)
