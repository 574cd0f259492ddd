"""Fixtures that several areas share. The network is cut, the loopback aside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from newcomer import Cli, command_line, make_shop
from postgres import Server, binaries, server
from pytest_socket import socket_allow_hosts


@pytest.fixture(autouse=True)
def _no_network() -> None:
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL for the session; each test makes databases of its own in it."""
    folder = binaries()
    if folder is None:
        pytest.skip("PostgreSQL's server is not installed: apt-get install postgresql")
    with server(folder) as started:
        yield started


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return command_line(tmp_path)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_shop(tmp_path / "shop.sqlite")
