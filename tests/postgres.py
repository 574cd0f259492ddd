"""A PostgreSQL of the tests' own: Debian's binaries, a temporary folder, a free port on the loopback."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg2

PASSWORD = "tests-only"


@dataclass(frozen=True)
class Server:
    """Answers on the loopback to `postgres` with `PASSWORD`."""

    port: int

    def url(self, database: str, *, password: str = "") -> str:
        secret = f":{password}" if password else ""
        return f"postgresql://postgres{secret}@127.0.0.1:{self.port}/{database}"

    def database(self, script: str, *, name: str = "") -> str:
        """A new database after `script`; returns its name."""
        name = name or f"db_{uuid.uuid4().hex[:10]}"
        self.run("postgres", f'CREATE DATABASE "{name}"')
        if script:
            self.run(name, script)
        return name

    def run(self, database: str, script: str) -> None:
        connection = psycopg2.connect(
            host="127.0.0.1", port=self.port, user="postgres", password=PASSWORD, dbname=database
        )
        connection.autocommit = True
        try:
            with connection.cursor() as cursor:
                cursor.execute(script)
        finally:
            connection.close()


def binaries() -> Path | None:
    """The folder with initdb and postgres, the newest; None when PostgreSQL is not installed."""
    found = [p.parent for p in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if found:
        return max(found, key=lambda folder: int(folder.parent.name))
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


@contextmanager
def server(folder: Path) -> Iterator[Server]:
    """Start it, wait until it answers, stop it. As root it runs as the user `postgres`, since initdb refuses root."""
    home = Path(tempfile.mkdtemp(prefix="suffice-pg-"))
    data, secret = home / "data", home / "password"
    secret.write_text(PASSWORD)
    as_user: dict[str, str] = {}
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        for path in (home, secret):
            os.chown(path, owner.pw_uid, owner.pw_gid)
        as_user = {"user": "postgres", "group": "postgres"}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = home / "log"
    try:
        subprocess.run(
            [folder / "initdb", "-D", data, "-U", "postgres", "-A", "scram-sha-256", "--pwfile", secret, "-N",
             "-E", "UTF8", "--locale", "C.UTF-8"],
            check=True, capture_output=True, cwd=home, **as_user,
        )  # fmt: skip
        with log.open("wb") as out:
            process = subprocess.Popen(
                [folder / "postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1",
                 "-c", f"unix_socket_directories={home}", "-c", "fsync=off"],
                stdout=out, stderr=out, cwd=home, **as_user,
            )  # fmt: skip
        try:
            _wait(Server(port), process, log)
            yield Server(port)
        finally:
            process.send_signal(signal.SIGINT)  # a fast stop, that waits for no client
            process.wait(timeout=30)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _wait(started: Server, process: subprocess.Popen[bytes], log: Path, timeout_s: float = 30.0) -> None:
    end = time.monotonic() + timeout_s
    while True:
        try:
            started.run("postgres", "SELECT 1")
            return
        except psycopg2.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL did not start: {log.read_text()[-2000:]}") from None
            time.sleep(0.05)
