"""The README's commands for one's own data, run as a newcomer would."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from newcomer import Cli

ROOT = Path(__file__).parent.parent


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)


def test_on_your_own_data(cli: Cli, shop: Path) -> None:
    [block] = blocks("sh")
    for line in block.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "suffice"
        done = cli(*arguments)
        assert done.returncode == 0, f"{line}: {done.stderr}{done.stdout}"
        if arguments[0] == "select":
            assert "sufficient" in done.stdout
            assert "shop.main.customers" in done.stdout
            assert "shop.main.orders" in done.stdout


def test_the_two_commands_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    said = re.findall(r"^\$ make (\S+)", "".join(blocks("console")), re.M)
    assert len(said) == 2
    assert set(said) <= targets
