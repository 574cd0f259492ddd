"""`suffice serve` and `suffice agent`."""

from __future__ import annotations

from pathlib import Path

import click

from suffice.commands.base import Context, json_flag, scope_flag, show
from suffice.errors import UsageError

__all__ = ["agent", "serve"]


@click.command()
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


@click.group()
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

    show({"written": install(target, Path.cwd(), context.home)}, as_json, render.figures)
