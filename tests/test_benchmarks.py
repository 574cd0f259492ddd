"""Benchmarks on data sets say what they lack and stop; where the sets are, they run by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "benchmarks"
ON_SETS = ("copies", "fiben", "krama", "memory_spider", "messy", "spider", "unanswerable")
RUN = """
import importlib, sys
sys.path.insert(0, sys.argv.pop(1))
names, sys.argv[1:] = sys.argv[1:], []
for name in names:
    importlib.import_module(name).main()
"""


def test_without_their_set_they_say_so_and_stop(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "BENCH"}
    command = [sys.executable, "-c", RUN, str(FOLDER), *ON_SETS]
    for bench in ({}, {"BENCH": str(tmp_path)}):
        done = subprocess.run(command, capture_output=True, text=True, env=environment | bench, check=True)
        lines = done.stdout.splitlines()
        assert len(lines) == len(ON_SETS)
        assert all(line.startswith("skipped: set BENCH to a folder that holds") for line in lines)
