"""The only importer of litellm: one question to a language model, answered in text, with what it cost.

Answers are kept by the hash of all that was asked, so that a run that was killed, or repeated, pays once.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.errors import MissingExtra, SufficeError
from suffice.model import digest

__all__ = ["Chat", "Reply"]

_RETRIES = 3
_FIRST_WAIT_S = 0.5


@dataclass(frozen=True, slots=True)
class Reply:
    """`finish` is "stop", "length" when the reply was cut, or what the provider says. `cached` replies cost nothing."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish: str
    cached: bool = False


class Chat:
    """A model by its litellm name, at `api_base` when given; its key comes from the environment, as litellm reads it.

    `budget_tokens` bounds what is spent by this object (0: no bound).
    """

    def __init__(
        self,
        model: str,
        *,
        api_base: str = "",
        cache: Path | None = None,
        timeout_s: float = 120.0,
        budget_tokens: int = 0,
    ) -> None:
        self.model = model
        self.spent = 0
        self.calls = 0
        self._api_base = api_base
        self._timeout_s = timeout_s
        self._budget = budget_tokens
        self._cache = cache
        if cache is not None:
            cache.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(cache, timeout=30)) as connection, connection:
                connection.execute("CREATE TABLE IF NOT EXISTS replies (id TEXT PRIMARY KEY, text TEXT, finish TEXT)")

    def ask(self, messages: Sequence[Mapping[str, str]], *, max_tokens: int = 2000) -> Reply:
        """The reply to `messages` ({role, content}), at temperature 0.

        Busy and failing servers are asked again a few times. Raises SufficeError when there is no reply, and before
        a call that would go beyond the budget.
        """
        asked = digest(self.model, self._api_base, list(map(dict, messages)), max_tokens)
        held = self._held(asked)
        if held is not None:
            return held
        if self._budget and self.spent >= self._budget:
            raise SufficeError(
                f"the budget of {self._budget:,} tokens is spent", mend="run it again with a larger --budget-tokens"
            )
        reply = self._called(messages, max_tokens)
        self.calls += 1
        self.spent += reply.prompt_tokens + reply.completion_tokens
        self._keep(asked, reply)
        return reply

    def _called(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> Reply:
        litellm = _litellm()
        wait = _FIRST_WAIT_S
        for attempt in range(_RETRIES + 1):
            try:
                found = litellm.completion(
                    model=self.model,
                    messages=[dict(m) for m in messages],
                    api_base=self._api_base or None,
                    temperature=0,
                    max_tokens=max_tokens,
                    timeout=self._timeout_s,
                    num_retries=0,
                    drop_params=True,
                )
                return _reply(found)
            except litellm.exceptions.AuthenticationError as error:
                raise SufficeError(
                    f"{self.model} refuses the key: {_line(error)}", mend="set the provider's key in the environment"
                ) from error
            except Exception as error:
                if attempt == _RETRIES or not _passing(litellm, error):
                    raise SufficeError(f"no reply of {self.model}: {_line(error)}", mend="suffice check") from error
                time.sleep(max(wait, _asked_to_wait(error)))
                wait *= 2
        raise AssertionError("the loop ends by return or raise")

    def _held(self, asked: str) -> Reply | None:
        if self._cache is None:
            return None
        with closing(sqlite3.connect(self._cache, timeout=30)) as connection:
            row = connection.execute("SELECT text, finish FROM replies WHERE id = ?", (asked,)).fetchone()
        return Reply(row[0], 0, 0, row[1], cached=True) if row else None

    def _keep(self, asked: str, reply: Reply) -> None:
        if self._cache is not None:
            with closing(sqlite3.connect(self._cache, timeout=30)) as connection, connection:
                row = (asked, reply.text, reply.finish)
                connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", row)


def _litellm() -> Any:
    # The price list ships with the package; without this it is fetched when the package is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "litellm", "model") from error

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    return litellm


def _reply(found: Any) -> Reply:
    choice = found.choices[0]
    usage = getattr(found, "usage", None)
    return Reply(
        choice.message.content or "",
        int(getattr(usage, "prompt_tokens", 0) or 0),
        int(getattr(usage, "completion_tokens", 0) or 0),
        str(choice.finish_reason or "stop"),
    )


def _passing(litellm: Any, error: Exception) -> bool:
    """Whether a fault may be gone in a moment: too many requests, a failing or slow server, a cut connection."""
    e = litellm.exceptions
    return isinstance(
        error,
        e.RateLimitError | e.InternalServerError | e.ServiceUnavailableError | e.Timeout | e.APIConnectionError,
    )


def _asked_to_wait(error: Exception) -> float:
    """Seconds of the server's Retry-After, at most half a minute."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return min(30.0, float(headers.get("retry-after", 0)))
    except ValueError:
        return 0.0


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
