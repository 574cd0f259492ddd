"""Words of tasks and of names: splitting, stems, and how much a word tells one table from another.

Names are split at case changes, underscores and digits, and run-together ones by word frequency. A word is compared at
three levels: itself in the singular, its stem, and an abbreviation of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

__all__ = ["GENERIC", "HINTS", "STOP", "Token", "abbreviates", "kin", "singular", "stem", "tokenize"]

_TOKENS = re.compile(r"[^\W_]+(?:[.,]\d+)*(?:[-_/&.][^\W_]+)*(?:['’](?!s\b)[^\W_]+)?")
_QUOTES = re.compile(r"\"([^\"]{1,120})\"|“([^”]{1,120})”|«([^»]{1,120})»|`([^`]{1,120})`|(?<!\w)['‘]([^'’]{1,120})['’](?!\w)")

STOP = frozenset(
    """a an the this that these those it its they them their theirs he she his her him we us our you your i me my mine
    of in on at by to for from with without within into onto over under above below between among across through during
    per as than then and or nor but not no yes if else so such both either neither also only just very too more most less
    least fewer few many much some any all each every other another same own which who whom whose what when where why how
    is are was were be been being am do does did done doing have has had having can could shall should will would may
    might must there here out up down off again ever never once about against after before until while because since
    show list find give return get tell display select retrieve compute calculate determine count report provide state
    please let want need know see identify present print fetch answer consider using use used based assume round
    number numbers amount many total average mean sum maximum minimum max min highest lowest largest smallest greatest
    biggest top bottom first last latest earliest oldest youngest longest shortest most least fewest distinct different
    unique various respective respectively corresponding correspond associated ordered order sorted sort ascending
    descending alphabetical alphabetically group grouped greater larger smaller higher lower bigger better equal equals
    exactly like contain contains containing include includes including inclusive starting ending one two three four five
    six seven eight nine ten s t d ll re ve m vs versus etc e g whether percentage percent decimal places place ratio
    share proportion correlation difference compare compared comparison trend overall information info details detail
    detailed data record records entry entries table tables database row rows column columns value values result results
    item items thing things together along given specific particular certain available possible common commonly""".split()
)
"""Words of asking, counting and glue: they name no table by themselves."""

STOP = STOP - {"order", "state", "first", "last", "amount", "total", "place", "average", "record", "count", "report", "details",
               "detail", "information", "item", "items", "number", "mean", "group", "table", "common", "value", "top"}  # fmt: skip

GENERIC = {
    "id": 0.6, "name": 0.5, "number": 0.25, "date": 0.25, "type": 0.2, "code": 0.2, "description": 0.15, "detail": 0.15,
    "status": 0.12, "title": 0.12, "year": 0.15, "time": 0.12, "total": 0.1, "amount": 0.1, "count": 0.2, "value": 0.15,
    "first": 0.1, "last": 0.1, "average": 0.08, "mean": 0.08, "address": 0.08, "city": 0.08, "country": 0.08, "state": 0.1,
    "information": 0.15, "item": 0.1, "order": 0.1, "group": 0.08, "place": 0.08, "location": 0.08, "record": 0.1, "list": 0.1,
    "report": 0.08, "key": 0.2, "no": 0.1, "num": 0.1, "note": 0.08, "comment": 0.06, "category": 0.08, "level": 0.06,
    "start": 0.06, "end": 0.06, "age": 0.06, "email": 0.05, "phone": 0.05, "gender": 0.05, "sex": 0.04, "price": 0.06,
    "top": 0.1, "common": 0.1, "table": 0.1, "day": 0.06, "month": 0.06, "other": 0.08, "size": 0.05, "rank": 0.05,
}  # fmt: skip
"""Share of tables, anywhere, that hold a column of this word: a prior that keeps small lakes from taking `id` for telling."""


_HINTED = {
    "old": "age birth", "older": "age birth", "oldest": "age birth", "young": "age birth", "younger": "age birth",
    "youngest": "age birth", "born": "birth", "tall": "height", "taller": "height", "tallest": "height", "heavy": "weight",
    "heavier": "weight", "heaviest": "weight", "expensive": "price cost", "cheap": "price cost", "cheapest": "price cost",
    "cheaper": "price cost", "cost": "price fee", "worth": "price value", "long": "length duration", "longest": "length duration",
    "longer": "length duration", "shortest": "length duration", "fast": "speed time", "fastest": "speed time", "slowest": "speed time",
    "far": "distance", "farthest": "distance", "furthest": "distance", "deep": "depth", "deepest": "depth", "recent": "date time",
    "recently": "date time", "latest": "date time", "earliest": "date time", "newest": "date time", "when": "date time year",
    "where": "location place address city country", "rich": "salary income", "paid": "salary pay payment", "earn": "salary income",
    "earns": "salary income", "populous": "population", "crowded": "population capacity", "hot": "temperature", "cold": "temperature",
    "warm": "temperature", "rain": "precipitation", "rainfall": "precipitation", "live": "address city residence", "phone": "telephone",
    "female": "sex gender", "male": "sex gender", "woman": "sex gender", "man": "sex gender", "full": "first last",
    "nationality": "country citizenship", "dead": "death", "died": "death", "die": "death", "kill": "death", "killed": "death",
}  # fmt: skip
HINTS: dict[str, tuple[str, ...]] = {}
"""Words that ask for a figure under another name: stems of the columns that commonly hold it."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the task. `start` and `end` are offsets; `quoted` says that it stands in quotation marks."""

    text: str
    word: str
    start: int
    end: int
    capital: bool
    quoted: bool
    opens: bool

    @property
    def number(self) -> bool:
        return self.word.replace(",", "").replace(".", "", 1).isdigit()


def quotes(text: str) -> list[tuple[int, int, str]]:
    """Spans in quotation marks: offsets and content.

    >>> quotes('the store "Rob Dinning" is in')
    [(11, 22, 'Rob Dinning')]
    """
    found = []
    for match in _QUOTES.finditer(text):
        group = next(i for i in range(1, 6) if match[i] is not None)
        found.append((match.start(group), match.end(group), match[group]))
    return found


def tokenize(text: str) -> tuple[Token, ...]:
    """The words of a task in order.

    >>> [t.word for t in tokenize("Names of the store's cities, on-hold since 2001?")]
    ['names', 'of', 'the', 'store', 'cities', 'on-hold', 'since', '2001']
    """
    spans = quotes(text)
    found = []
    for match in _TOKENS.finditer(text):
        raw = match.group()
        if raw in ("s", "S") and text[max(0, match.start() - 1) : match.start()] in ("'", "’"):
            continue
        before = text[: match.start()].rstrip(" \"'“‘(")
        found.append(
            Token(
                text=raw,
                word=raw.casefold(),
                start=match.start(),
                end=match.end(),
                capital=raw[:1].isupper(),
                quoted=any(a <= match.start() < b for a, b, _ in spans),
                opens=not before or before[-1] in ".?!:;\n",
            )
        )
    return tuple(found)


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The Snowball stem of a lower-case word.

    >>> stem("cities"), stem("registrations")
    ('citi', 'registr')
    """
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=200_000)
def singular(word: str) -> str:
    """The singular of a lower-case English noun by its ending; anything else as it is.

    >>> [singular(w) for w in ("cities", "classes", "heads", "status", "bus", "series", "data")]
    ['city', 'class', 'head', 'status', 'bus', 'series', 'data']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or word.endswith(("ss", "us", "is")) or word == "series" or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


_IRREGULAR = {
    "people": "person", "persons": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot",
    "addresses": "address", "statuses": "status", "buses": "bus", "analyses": "analysis", "indices": "index",
    "movies": "movie", "cookies": "cookie", "gases": "gas", "lives": "life", "wives": "wife", "ids": "id",
}  # fmt: skip


def kin(one: str, two: str) -> bool:
    """Whether two stems share a root: the first five letters or more, and short endings after it.

    >>> kin("regist", "registr"), kin("enrol", "enrol"), kin("contact", "contract")
    (True, True, False)
    """
    shorter = min(len(one), len(two))
    alike = next((i for i in range(shorter) if one[i] != two[i]), shorter)
    return alike >= 5 and len(one) - alike <= 3 and len(two) - alike <= 3 and alike >= 0.7 * max(len(one), len(two)) - 0.5


@lru_cache(maxsize=400_000)
def abbreviates(short: str, word: str) -> bool:
    """Whether `short` may abbreviate `word`: a prefix of 3 letters or more, or its letters in order without most vowels.

    >>> abbreviates("dept", "department"), abbreviates("qty", "quantity"), abbreviates("cat", "category")
    (True, True, True)
    >>> abbreviates("age", "average"), abbreviates("to", "total")
    (False, False)
    """
    if not 3 <= len(short) < len(word) - 1 or short[0] != word[0]:
        return False
    if word.startswith(short):
        return len(short) >= 3 and len(word) - len(short) >= 3
    if any(v in short[1:] for v in "aeiou"):
        skeleton = iter(word)
        inside = all(c in skeleton for c in short)
        return inside and len(short) >= 4 and short[-1] == word[-1] and sum(c in "aeiou" for c in short) <= 1
    rest = iter(word)
    return all(c in rest for c in short)


HINTS.update({word: tuple(stem(w) for w in named.split()) for word, named in _HINTED.items()})


def content(words: Iterable[str]) -> list[str]:
    """Those that are no stop words, in the singular.

    >>> content(["the", "names", "of", "cities"])
    ['name', 'city']
    """
    return [singular(w) for w in words if w not in STOP]


def ngrams(tokens: Sequence[Token], longest: int) -> list[tuple[int, int]]:
    """Spans (first, past last) of up to `longest` tokens, longest first."""
    return [(i, i + n) for n in range(longest, 0, -1) for i in range(len(tokens) - n + 1)]
