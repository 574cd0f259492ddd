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
_QUOTES = re.compile(
    r"\"([^\"]{1,120})\"|“([^”]{1,120})”|«([^»]{1,120})»|`([^`]{1,120})`|(?<!\w)['‘]([^'’]{1,120})['’](?!\w)"
)

_STOP_TEXT = """
    a about above across after again against all along alphabetical alphabetically also am among an and another
    answer any are as ascending associated assume at available based be because been before being below better
    between bigger biggest both bottom but by calculate can certain column columns commonly compare compared
    comparison compute consider contain containing contains correlation correspond corresponding could d data
    database decimal descending detailed determine did difference different display distinct do does doing done
    down during e each earliest eight either else ending entries entry equal equals etc ever every exactly fetch
    few fewer fewest find five for four from g get give given greater greatest grouped had has have having he
    her here higher highest him his how i identify if in include includes including inclusive info into is it
    its just know larger largest latest least less let like list ll longest lower lowest m many max maximum may
    me might min mine minimum more most much must my need neither never nine no nor not numbers of off oldest on
    once one only onto or ordered other our out over overall own particular per percent percentage places please
    possible present print proportion provide ratio re records respective respectively result results retrieve
    return round row rows s same see select seven shall share she shortest should show since six smaller
    smallest so some sort sorted specific starting such sum t tables tell ten than that the their theirs them
    then there these they thing things this those three through to together too trend two under unique until up
    us use used using values various ve versus very vs want was we were what when where whether which while who
    whom whose why will with within without would yes you youngest your
"""
STOP = frozenset(_STOP_TEXT.split())
"""Words of asking, counting and glue: they name no table by themselves."""

_GENERIC_TEXT = """
    id .6 name .5 number .25 date .25 type .2 code .2 description .15 detail .15 status .12 title .12 year .15
    time .12 total .1 amount .1 count .2 value .15 first .1 last .1 average .08 mean .08 address .08 city .08
    country .08 state .1 information .15 item .1 order .1 group .08 place .08 location .08 record .1 list .1
    report .08 key .2 no .1 num .1 note .08 comment .06 category .08 level .06 start .06 end .06 age .06 email
    .05 phone .05 gender .05 sex .04 price .06 top .1 common .1 table .1 day .06 month .06 other .08 size .05
    rank .05
"""
GENERIC = {word: float(share) for word, share in zip(*[iter(_GENERIC_TEXT.split())] * 2, strict=True)}
"""Share of tables, anywhere, with a column of this word: keeps small lakes from taking `id` for telling."""

_HINT_LINES = """
    old older oldest young younger youngest: age birth
    born: birth
    tall taller tallest: height
    heavy heavier heaviest: weight
    expensive cheap cheapest cheaper: price cost
    cost: price fee
    worth: price value
    long longest longer shortest: length duration
    fast fastest slowest: speed time
    far farthest furthest: distance
    deep deepest: depth
    recent recently latest earliest newest: date time
    when: date time year
    where: location place address city country
    rich earn earns: salary income
    paid: salary pay payment
    populous: population
    crowded: population capacity
    hot cold warm: temperature
    rain rainfall: precipitation
    live: address city residence
    phone: telephone
    female male woman man: sex gender
    full: first last
    nationality: country citizenship
    dead died die kill killed: death
"""
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
    return (
        alike >= 5 and len(one) - alike <= 3 and len(two) - alike <= 3 and alike >= 0.7 * max(len(one), len(two)) - 0.5
    )


@lru_cache(maxsize=400_000)
def abbreviates(short: str, word: str) -> bool:
    """Whether `short` may abbreviate `word`: a prefix, or its letters in order with few vowels.

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


for _asked, _, _named in (line.partition(":") for line in _HINT_LINES.strip().splitlines()):
    HINTS.update({word: tuple(stem(w) for w in _named.split()) for word in _asked.split()})


def content(words: Iterable[str]) -> list[str]:
    """Those that are no stop words, in the singular.

    >>> content(["the", "names", "of", "cities"])
    ['name', 'city']
    """
    return [singular(w) for w in words if w not in STOP]


def ngrams(tokens: Sequence[Token], longest: int) -> list[tuple[int, int]]:
    """Spans (first, past last) of up to `longest` tokens, longest first."""
    return [(i, i + n) for n in range(longest, 0, -1) for i in range(len(tokens) - n + 1)]
