"""ydata-profiling's report, by the real package, in a process of its own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from newcomer import Cli


def test_the_report_is_written_without_sensitive_values(cli: Cli, shop: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute("ALTER TABLE customers ADD COLUMN email TEXT")
        connection.execute("UPDATE customers SET email = 'secret' || customer_id || '@example.org'")
    for command in (["ingest", str(shop)], ["enrich", "--only", "profile"]):
        assert cli(*command).returncode == 0
    done = cli("profile", "customers", "--html", "customers.html")
    assert done.returncode == 0, done.stderr
    assert "left_out: email" in done.stdout
    page = (tmp_path / "customers.html").read_text()
    assert "Paris" in page
    assert "secret1" not in page
