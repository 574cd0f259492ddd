"""`suffice agent install`: the skill and the server's entry where an agent harness looks for them."""

from __future__ import annotations

import json
import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from suffice.errors import UsageError

__all__ = ["HARNESSES", "install"]

HARNESSES = {"claude": (".claude/skills", ".mcp.json"), "cursor": (".cursor/skills", ".cursor/mcp.json"),
             "codex": (".agents/skills", "")}  # fmt: skip
"""Folder of skills and file of MCP servers, from the project's root."""


def install(target: str, root: Path, home: Path) -> list[str]:
    """Write the skills, and the server into the harness's list where it has one; returns what was written.

    Other servers in the list stay. `target` is a harness, or a folder that gets the skills alone. Raises UsageError
    when the list is no JSON object.
    """
    skills, servers = HARNESSES.get(target, (target, ""))
    written = []
    with as_file(files("suffice.agents") / "skills") as shipped:
        for skill in sorted(p for p in shipped.iterdir() if p.is_dir()):
            place = root / skills / skill.name
            shutil.copytree(skill, place, dirs_exist_ok=True)
            written.append(str(place / "SKILL.md"))
    if servers:
        written.append(str(_add_server(root / servers, home)))
    return written


def server_entry(home: Path) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-m", "suffice", "--home", str(home.resolve()), "serve"]}


def _add_server(path: Path, home: Path) -> Path:
    try:
        held = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:
        raise UsageError(f"'{path}' is no JSON: {error}", mend="mend or move it") from error
    if not isinstance(held, dict):
        raise UsageError(f"'{path}' holds no JSON object", mend="mend or move it")
    held.setdefault("mcpServers", {})["suffice"] = server_entry(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(held, indent=2) + "\n", encoding="utf-8")
    return path
