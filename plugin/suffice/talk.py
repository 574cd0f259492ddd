"""Talk on stderr: text or JSON lines; a library's chatter only when asked for."""

from __future__ import annotations

import json
import logging
import sys
import warnings

__all__ = ["configure", "say"]

_LOG = logging.getLogger("suffice")


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"), "level": record.levelname.lower(),
                "logger": record.name, "message": record.getMessage()}  # fmt: skip
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure(verbosity: int, log_format: str | None) -> None:
    """0: what a person should know; 1: each step; 2 and more: the libraries too."""
    import os

    handler = logging.StreamHandler(sys.stderr)
    as_json = (log_format or os.environ.get("SUFFICE_LOG_FORMAT", "text")) == "json"
    handler.setFormatter(_JsonLines() if as_json else logging.Formatter("%(message)s"))
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(logging.DEBUG if verbosity > 1 else logging.CRITICAL)
    _LOG.setLevel(logging.DEBUG if verbosity else logging.INFO)
    _LOG.propagate = True
    if verbosity < 2:
        warnings.simplefilter("ignore")


def say(message: str) -> None:
    _LOG.info(message)
