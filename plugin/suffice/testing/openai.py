"""A language model that answers as it is told, behind a real HTTP server on loopback that speaks OpenAI's protocol."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["LoopbackOpenAI", "Said"]

Script = Callable[[Sequence[Mapping[str, Any]]], "Said | str"]


@dataclass(frozen=True, slots=True)
class Said:
    """One answer: a text, or an HTTP `status` that is no success; `finish` "length" says that it was cut."""

    text: str = ""
    status: int = 200
    finish: str = "stop"
    wait_s: float = 0.0
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class LoopbackOpenAI:
    """Serves `/v1/chat/completions` on 127.0.0.1; use as a context manager.

    `script` gives the answers, one after the other (the last again and again), or is called with the messages.
    `asked` holds the messages of every request.
    """

    script: Iterable[Said | str] | Script
    asked: list[list[dict[str, Any]]] = field(default_factory=list)

    def __enter__(self) -> LoopbackOpenAI:
        script = self.script
        answers: list[Said | str] = [] if callable(script) else list(script)
        lock = threading.Lock()

        def next_answer(messages: Sequence[Mapping[str, Any]]) -> Said:
            with lock:
                following = answers.pop(0) if len(answers) > 1 else next(iter(answers), "")
                found = script(messages) if callable(script) else following
            return found if isinstance(found, Said) else Said(found)

        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                asked.append(request["messages"])
                said = next_answer(request["messages"])
                time.sleep(said.wait_s)
                body = said.body if said.body is not None else json.dumps(_completion(request, said))
                self.send_response(said.status)
                self.send_header("Content-Type", "application/json")
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())

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
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"


def _completion(request: Mapping[str, Any], said: Said) -> dict[str, Any]:
    if said.status != 200:
        return {"error": {"message": said.text or "scripted", "type": "scripted", "code": said.status}}
    words = sum(len(str(m.get("content", "")).split()) for m in request["messages"])
    message = {"role": "assistant", "content": said.text}
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model", "scripted"),
        "choices": [{"index": 0, "message": message, "finish_reason": said.finish}],
        "usage": {
            "prompt_tokens": words,
            "completion_tokens": len(said.text.split()),
            "total_tokens": words + len(said.text.split()),
        },
    }
