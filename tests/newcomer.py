"""The command line as a newcomer has it, and a small shop to try it on."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

__all__ = ["Cli", "command_line", "make_shop"]

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def command_line(folder: Path) -> Cli:
    """Runs `suffice` in `folder` with its home there."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from suffice.cli import main; main()", "--home", str(folder / "home")]
        return subprocess.run([*command, *arguments], capture_output=True, text=True, cwd=folder, timeout=120)

    return run


def make_shop(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT);
            CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(customer_id),
                                 placed_on TEXT, total REAL);
            INSERT INTO customers VALUES (1, 'Ada', 'Paris'), (2, 'Grace', 'Oslo'), (3, 'Edsger', 'Paris');
            INSERT INTO orders VALUES
              (10, 1, '2024-01-05', 9.5), (11, 1, '2024-02-07', 12.0), (12, 3, '2024-02-09', 3.2);
            """
        )
    return path
