"""Answers that fit: compact JSON within a budget of tokens, whole items, and what was left out said."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["compact_table", "fitted", "tokens"]

_SHORT = 160
_LONG_LISTS = ("hits", "related", "columns", "left_out", "alternatives", "tables", "paths", "requirements", "joins")


def tokens(text: str) -> int:
    """An upper estimate of a text's tokens: a third of its UTF-8 bytes.

    >>> tokens("orders by city")
    5
    """
    return math.ceil(len(text.encode("utf-8", "replace")) / 3)


def fitted(answer: Mapping[str, Any], budget: int) -> str:
    """The answer as JSON text of at most `budget` tokens: texts are shortened first, then the longest lists lose their
    last items, whole, and `more` says how many.

    >>> fitted({"hits": [{"table": "t" * 30}] * 50}, 60).endswith('"more": {"hits": 47}}')
    True
    """
    body = _plain(answer)
    text = _dump(body)
    for limit in (600, _SHORT, 60):
        if tokens(text) <= budget:
            return text
        body = _shortened(body, limit)
        text = _dump(body)
    more: dict[str, int] = {}
    while tokens(text) > budget:
        lists = [(len(_dump(body[key])), key) for key in _LONG_LISTS if isinstance(body.get(key), list) and body[key]]
        if not lists:
            return _dump(
                {"error": "the answer does not fit the budget", "mend": "ask for less: fewer columns, smaller k"}
            )
        key = max(lists)[1]
        dropped = max(1, len(body[key]) // 8)
        body[key] = body[key][:-dropped]
        more[key] = more.get(key, 0) + dropped
        body["more"] = more
        text = _dump(body)
    return text


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)


def _plain(value: Any) -> Any:
    """JSON without numbers that are none, bytes, and signs that do not print."""
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    if isinstance(value, str):
        return "".join(c if c.isprintable() or c == "\n" else " " for c in value)
    return value


def _shortened(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= limit else value[: limit - 1] + "…"
    if isinstance(value, Mapping):
        return {k: _shortened(v, limit) for k, v in value.items()}
    return [_shortened(v, limit) for v in value] if isinstance(value, list) else value


def compact_table(told: Mapping[str, Any]) -> dict[str, Any]:
    """A table as an agent reads it: one line a column, joins and defects in words."""
    use = told["authoritative"]
    compact = {
        "table": told["table"],
        "rows": told["rows"],
        "description": told.get("description") or told.get("proposed_description", ""),
        "primary_key": told["primary_key"],
        "columns": [_column(c) for c in told["columns"]],
        "refers_to": [_refers(join) for join in told["joins"]],
        "defects": [q["kind"] for q in told.get("quality", ())],
    }
    if use["table"] != told["table"]:
        compact["use_instead"] = f"{use['table']}: {use['why']}"
    return {key: value for key, value in compact.items() if value not in ("", [], None)}


def _column(column: Mapping[str, Any]) -> str:
    profile = column.get("profile") or {}
    parts = [column["name"], column["type"]]
    if profile.get("nulls"):
        parts.append(f"{profile['nulls']:.0%} null")
    if profile.get("sensitive"):
        parts.append("(values withheld)")
    elif profile.get("top") and (profile.get("distinct") or 0) <= 12:
        parts.append("one of " + ", ".join(str(value)[:40] for value, _ in profile["top"][:12]))
    elif profile.get("min") is not None:
        parts.append(f"{str(profile['min'])[:30]} to {str(profile['max'])[:30]}")
    if column.get("description"):
        parts.append(f"- {column['description'][:120]}")
    return " ".join(parts)


def _refers(join: Mapping[str, Any]) -> str:
    match = join["numbers"].get("match")
    found = "" if match is None else f" {match:.0%} found"
    mine, other = (", ".join(join[side]["columns"]) for side in ("left", "right"))
    return f"{mine} -> {_name(join['right']['urn'])}({other}){found}"


def _name(urn: str) -> str:
    parts = urn.split(",")
    return parts[1] if len(parts) == 3 else urn
