"""The shape of the project: packages listed, layers held, start-up light, doctests true, commands documented."""

from __future__ import annotations

import configparser
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).parent.parent
SOURCES = {"suffice": ROOT / "plugin" / "suffice", "suffice_enrichers": ROOT / "enrichers" / "suffice_enrichers"}


def modules() -> list[str]:
    names = []
    for package, folder in SOURCES.items():
        names.append(package)
        names += [m.name for m in pkgutil.walk_packages([str(folder)], f"{package}.")]
    return names


def test_every_package_folder_is_listed_for_the_wheel() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    found = {"suffice.recipes"}
    for package, folder in SOURCES.items():
        for init in folder.rglob("__init__.py"):
            inner = init.parent.relative_to(folder).parts
            found.add(".".join((package, *inner)))
    assert listed == found


def test_help_loads_few_modules() -> None:
    code = (
        "import sys; sys.argv = ['suffice', '--help']\n"
        "from suffice.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(len(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stderr.split()[-1]) <= 150


@pytest.mark.parametrize("name", modules())
def test_doctests(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", modules())
def test_public_names_are_there(name: str) -> None:
    module = importlib.import_module(name)
    assert [each for each in getattr(module, "__all__", ()) if not hasattr(module, each)] == []


def commands() -> dict[str, click.Command]:
    """Every command by the words that call it, those of groups as well."""
    from suffice.cli import cli

    found: dict[str, click.Command] = {}
    for name, command in cli.commands.items():
        if isinstance(command, click.Group):
            found |= {f"{name} {inner}": each for inner, each in command.commands.items()}
        else:
            found[name] = command
    return found


def test_every_command_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [name for name in commands() if f"suffice {name}" not in readme] == []


def test_every_command_that_prints_data_has_json() -> None:
    silent = {"demo", "memory confirm", "memory forget", "serve"}
    without = [n for n, c in commands().items() if not any("--json" in p.opts for p in c.params)]
    assert set(without) == silent
    assert all(command.help for command in commands().values())
