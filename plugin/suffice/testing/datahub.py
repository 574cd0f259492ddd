"""A DataHub on loopback: the endpoints that the official client calls, aspects kept as the server keeps them.

UPSERT and PATCH (with its array keys) have the server's semantics; faults can be injected. It answers no search.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["LoopbackDataHub"]

_JOIN = "\u241f"


class LoopbackDataHub:
    """Serves on 127.0.0.1; use as a context manager.

    `aspects` holds the latest value by (urn, aspect), `received` every proposal as (urn, aspect, change type).
    `faults` are HTTP statuses that the next requests get instead of an answer; with `token`, others are refused.
    """

    def __init__(self, token: str = "") -> None:
        self.token = token
        self.aspects: dict[tuple[str, str], dict[str, Any]] = {}
        self.received: list[tuple[str, str, str]] = []
        self.faults: list[int] = []
        self._lock = threading.Lock()

    def __enter__(self) -> LoopbackDataHub:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(200, {"noCode": "true", "versions": {}, "models": {}, "patchCapable": True})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
                if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
                    self._answer(401, {"message": "unauthorized"})
                    return
                with hub._lock:
                    if hub.faults:
                        self._answer(hub.faults.pop(0), {"message": "injected"})
                        return
                    proposals = body.get("proposals") or [body["proposal"]]
                    for proposal in proposals:
                        hub.take(proposal)
                self._answer(200, {"value": ""})

            def _answer(self, status: int, value: Mapping[str, Any]) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Nothing on stderr."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def take(self, proposal: Mapping[str, Any]) -> None:
        """Apply one change proposal."""
        urn, aspect, change = proposal["entityUrn"], proposal["aspectName"], proposal["changeType"]
        value = json.loads(proposal["aspect"]["value"])
        self.received.append((urn, aspect, change))
        if change == "PATCH":
            held = self.aspects.get((urn, aspect), {})
            self.aspects[urn, aspect] = _patched(held, value["patch"], value.get("arrayPrimaryKeys", {}))
        else:
            self.aspects[urn, aspect] = value


def _patched(held: Mapping[str, Any], patch: list[dict[str, Any]], keys: Mapping[str, list[str]]) -> dict[str, Any]:
    """The aspect after add and remove operations on arrays whose entries are found by key fields."""
    value = deepcopy(dict(held))
    for operation in patch:
        name, *parts = (p.replace("~1", "/").replace("~0", "~") for p in operation["path"].strip("/").split("/"))
        fields = [field.split(_JOIN) for field in keys[name]]
        wanted = parts[: len(fields)]
        kept = [e for e in value.get(name, []) if [_at(e, field) for field in fields] != wanted]
        value[name] = [*kept, operation["value"]] if operation["op"] == "add" else kept
    return value


def _at(entry: Any, path: list[str]) -> str:
    for part in path:
        entry = entry.get(part, "") if isinstance(entry, Mapping) else ""
    return str(entry)
