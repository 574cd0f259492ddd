"""Dates and times kept as text or as whole numbers: which notation a column uses, and its values as ISO text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from suffice_enrichers.names import words

__all__ = ["ISO", "integer_notation", "notation", "to_iso"]

ISO = "iso"
"""ISO 8601, date first: text order is time order."""

_ENOUGH = 0.95
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z| ?[+-]\d{2}:?\d{2})?)?")
_SLASHED = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?: \d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?)?", re.I)
_YEAR_FIRST = re.compile(r"(\d{4})([/.])(\d{1,2})\2(\d{1,2})(?: \d{1,2}:\d{2}(?::\d{2})?)?")
_NAMED = ("%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%y")
_MIN_YEAR, _MAX_YEAR = 1500, 2200
_YEAR_WORDS = frozenset(("year", "yr", "annee", "jahr"))
_MOST_YEARS = 0.8
"""A column called a year may hold a few rows of totals."""


def notation(name: str, values: Iterable[object]) -> str:
    """The notation of texts that are dates or times: `ISO`, "year", a strptime format, or "" when they are none.

    Day and month are told apart by a number above 12; where no value tells, it is "" rather than a guess.

    >>> notation("at", ["2024-01-02", "2024-01-03 10:00"]), notation("d", ["7/4/2021", "12/25/2021"])
    ('iso', '%m/%d/%Y')
    >>> notation("d", ["1/2/2021"]), notation("Year", ["1999", "2000", "2001", "2002", "Mean"])
    ('', 'year')
    """
    texts = [t for t in (str(v).strip() for v in values) if t]
    if not texts:
        return ""
    if set(words(name)) & _YEAR_WORDS and sum(to_iso(t, "year") is not None for t in texts) >= _MOST_YEARS * len(texts):
        return "year"
    need = _ENOUGH * len(texts)
    if sum(_iso_date(t) for t in texts) >= need:
        return ISO
    found = [m for m in map(_YEAR_FIRST.fullmatch, texts) if m]
    if len(found) >= need:
        return f"%Y{found[0][2]}%m{found[0][2]}%d"
    found = [m for m in map(_SLASHED.fullmatch, texts) if m]
    if len(found) >= need:
        return _day_or_month([(int(m[1]), int(m[3])) for m in found], found[0][2])
    for form in _NAMED:
        if to_iso(texts[0], form) and sum(to_iso(t, form) is not None for t in texts) >= need:
            return form
    return ""


def _iso_date(text: str) -> bool:
    match = _ISO.fullmatch(text)
    return match is not None and 1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= 31 and match[1] > "1000"


def _day_or_month(pairs: Sequence[tuple[int, int]], between: str) -> str:
    first, second = max(a for a, _ in pairs), max(b for _, b in pairs)
    if first <= 12 < second <= 31:
        return f"%m{between}%d{between}%Y"
    if second <= 12 < first <= 31:
        return f"%d{between}%m{between}%Y"
    return ""


def integer_notation(name: str, low: int, high: int) -> str:
    """The notation of whole numbers whose column's name speaks of time: "year", "%Y%m%d" or "".

    >>> integer_notation("model_year", 1999, 2013), integer_notation("order_date", 20230101, 20231231)
    ('year', '%Y%m%d')
    >>> integer_notation("price", 1999, 2013)
    ''
    """
    said = set(words(name))
    if said & _YEAR_WORDS and _MIN_YEAR <= low <= high <= _MAX_YEAR:
        return "year"
    if said & {"date", "day", "dt", "time"} and all(_compact(n) for n in (low, high)):
        return "%Y%m%d"
    return ""


def _compact(number: int) -> bool:
    return _MIN_YEAR * 10_000 < number < _MAX_YEAR * 10_000 and to_iso(str(number), "%Y%m%d") is not None


def to_iso(value: object, form: str) -> str | None:
    """One value in the notation `form` as ISO text, None when it is not in that notation.

    >>> to_iso("7/4/2021 10:15", "%m/%d/%Y"), to_iso(2013, "year"), to_iso("soon", "%d %b %Y")
    ('2021-07-04T10:15:00', '2013', None)
    """
    text = str(value).strip()
    if form == ISO:
        return text.replace(" ", "T", 1) if _ISO.fullmatch(text) else None
    if form == "year":
        return text if len(text) == 4 and text.isdigit() and _MIN_YEAR <= int(text) <= _MAX_YEAR else None
    for tail, shown in _TAILS:
        try:
            return shown(datetime.strptime(text, form + tail))
        except ValueError:
            continue
    return None


_TAILS: tuple[tuple[str, Callable[[datetime], str]], ...] = (
    ("", lambda at: at.date().isoformat()),
    (" %H:%M", datetime.isoformat),
    (" %H:%M:%S", datetime.isoformat),
    (" %I:%M %p", datetime.isoformat),
    (" %I:%M:%S %p", datetime.isoformat),
)
