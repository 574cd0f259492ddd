"""What a harness gets: a skill that names tools that exist, and a server entry beside those that are there."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest
from newcomer import Cli

from suffice.agents.install import HARNESSES, install
from suffice.agents.server import make_server
from suffice.catalogs.home import Home
from suffice.errors import UsageError


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_harness_gets_the_skill_and_keeps_its_servers(harness: str, tmp_path: Path) -> None:
    _, servers = HARNESSES[harness]
    if servers:
        (tmp_path / servers).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / servers).write_text('{"mcpServers": {"other": {"command": "x"}}, "theme": 1}')
    for _ in range(2):
        written = install(harness, tmp_path, tmp_path / "home")
    assert all(Path(path).is_file() for path in written)
    if servers:
        held = json.loads((tmp_path / servers).read_text())
        assert held["mcpServers"]["other"] == {"command": "x"}
        assert held["mcpServers"]["suffice"]["command"] == sys.executable
        assert held["theme"] == 1


def test_a_broken_list_of_servers_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{")
    with pytest.raises(UsageError, match="no JSON"):
        install("claude", tmp_path, tmp_path / "home")
    assert (tmp_path / ".mcp.json").read_text() == "{"


def test_the_skill_names_tools_that_exist(tmp_path: Path) -> None:
    [skill] = install("skills", tmp_path, tmp_path / "home")
    named = set(re.findall(r"`([a-z]+_[a-z_]+|search)`", Path(skill).read_text()))
    server = make_server(Home(tmp_path / "home", create=True))
    tools = {tool.name for tool in asyncio.run(server.list_tools())}
    assert named - {"use_instead"} <= tools
    assert tools <= named


def test_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    done = cli("agent", "install", "claude", "--json")
    assert done.returncode == 0
    assert str(tmp_path) in json.loads(done.stdout)["written"][0]
