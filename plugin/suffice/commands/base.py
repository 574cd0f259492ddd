"""What commands share: the opened home, the common flags, a recorded run, the printing of one answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.catalogs.home import Home
    from suffice.report import Report

__all__ = ["Context", "close", "json_flag", "recorded", "scope_flag", "show"]


@dataclass(slots=True)
class Context:
    home: Path
    flags: dict[str, Any]

    def open(self, *, create: bool = False) -> Home:
        from suffice.catalogs.home import Home
        from suffice.settings import load_settings

        return Home(self.home, load_settings(self.home, **self.flags), create=create)


json_flag = click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
scope_flag = click.option("--scope", multiple=True, metavar="GLOB",
                          help="source, source.schema or source.schema.table; !GLOB excludes; repeatable.")  # fmt: skip


@contextmanager
def recorded(home: Home, report: Report, *, record: bool = True) -> Iterator[None]:
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


def close(report: Report, as_json: bool) -> None:
    from suffice import render

    show(report.to_json(), as_json, render.report)
    sys.exit(report.exit_code)


def show(value: Mapping[str, Any], as_json: bool, text: Callable[[Mapping[str, Any]], None]) -> None:
    if as_json:
        click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, default=str))
    else:
        text(value)
