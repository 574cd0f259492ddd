"""What a task asks for: telling words, values that stand in the data, years, and how each is worth.

No grammar of any one language is needed: quotation marks, capitals, digits and the words of the catalog do the work; a
short list of English words says which are glue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.errors import UsageError
from suffice.reason.knowledge import Knowledge, ValueHit
from suffice.reason.words import GENERIC, HINTS, STOP, Token, singular, stem, tokenize

__all__ = ["MAX_TOKENS", "Span", "Task", "Term", "ValueSpan", "parse"]

MAX_TOKENS = 300
"""Words of a task that are read; the rest says nothing new, and its cost is bounded."""
_LONGEST = 6


@dataclass(frozen=True, slots=True)
class Term:
    """A telling word: `word` in the singular, `at` the positions of its tokens, `weight` how much it tells."""

    word: str
    stem: str
    at: tuple[int, ...]
    weight: float
    generic: bool


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """Tokens `first` to `last` (exclusive) as a value: how sure by the way it stands (0..1), where it was found."""

    first: int
    last: int
    text: str
    strength: float
    hits: tuple[ValueHit, ...]
    quoted: bool


@dataclass(frozen=True, slots=True)
class Span:
    """Years from `low` to `high`, both included."""

    low: int
    high: int
    text: str

    @property
    def years(self) -> range:
        return range(self.low, self.high + 1)


@dataclass(frozen=True, slots=True)
class Task:
    """A parsed task. `values` are those found in the data, `unfound` quoted or capitalised texts that are not."""

    text: str
    tokens: tuple[Token, ...]
    terms: tuple[Term, ...]
    values: tuple[ValueSpan, ...]
    unfound: tuple[ValueSpan, ...]
    spans: tuple[Span, ...]
    months: tuple[int, ...]
    numbers: tuple[str, ...]
    cut: bool = False


def parse(text: str, knowledge: Knowledge) -> Task:
    """Raises UsageError when there is no word in the task."""
    text = text[:20_000].encode("utf-8", "replace").decode()
    tokens = tokenize(text)
    if not tokens:
        raise UsageError("the task is empty", mend="say in words what is to be found out")
    cut = len(tokens) > MAX_TOKENS
    tokens = tokens[:MAX_TOKENS]
    values, unfound = _values(tokens, knowledge)
    taken = {i for v in (*values, *unfound) if v.strength >= 0.6 or v.quoted for i in range(v.first, v.last)}
    return Task(
        text=text,
        tokens=tokens,
        terms=_terms(tokens, taken, knowledge),
        values=values,
        unfound=unfound,
        spans=_year_spans(tokens),
        months=tuple(dict.fromkeys(_MONTHS[t.word[:3]] for t in tokens if _is_month(t))),
        numbers=tuple(t.word for t in tokens if t.number),
        cut=cut,
    )


def _terms(tokens: Sequence[Token], taken: set[int], knowledge: Knowledge) -> tuple[Term, ...]:
    places: dict[str, list[int]] = {}
    for i, token in enumerate(tokens):
        if token.number:
            continue
        parts = [token.word, *(re.split(r"[-_/&.]", token.word) if not token.word.isalnum() else ())]
        for part in parts:
            word = singular(part)
            if not word or len(word) < 2 or ((part in STOP or word in STOP) and part not in HINTS):
                continue
            known = "=" + word in knowledge.postings
            if i in taken and not known:
                continue
            if part != token.word and not known:
                continue
            places.setdefault(word, []).append(i)
    _join_words(tokens, places, knowledge)
    return tuple(
        Term(word, stem(word), tuple(dict.fromkeys(at)), _weight(word, at, taken, knowledge), word in GENERIC)
        for word, at in places.items()
    )


def _join_words(tokens: Sequence[Token], places: dict[str, list[int]], knowledge: Knowledge) -> None:
    """Two words that the catalog writes as one ("try out": tryout) become that one."""
    for i in range(len(tokens) - 1):
        one, two = tokens[i].word, tokens[i + 1].word
        joined = singular(one + two)
        if len(joined) < 6 or min(len(one), len(two)) < 2 or not knowledge.whole_word(joined):
            continue
        places.setdefault(joined, []).append(i)
        for at, word in ((i, singular(one)), (i + 1, singular(two))):
            if word in places and "=" + word not in knowledge.postings:
                places[word] = [p for p in places[word] if p != at]
                if not places[word]:
                    del places[word]


def _weight(word: str, at: Sequence[int], taken: set[int], knowledge: Knowledge) -> float:
    """A word that stands only inside a value may still be a word of the schema, but tells less."""
    return knowledge.weight(word) * (0.4 if all(i in taken for i in at) else 1.0)


# values


def normalise(text: str) -> str:
    """Lower case, words only; how values are compared.

    >>> normalise("San  José-State")
    'san josé state'
    """
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _values(tokens: Sequence[Token], knowledge: Knowledge) -> tuple[tuple[ValueSpan, ...], tuple[ValueSpan, ...]]:
    asked: dict[tuple[int, int], str] = {}
    for first in range(len(tokens)):
        for last in range(first + 1, min(first + _LONGEST, len(tokens)) + 1):
            part = tokens[first:last]
            if all(t.word in STOP or len(t.word) < 2 for t in part) and not any(t.quoted or t.capital for t in part):
                continue
            asked[first, last] = normalise(" ".join(t.text for t in part))
    hits: dict[str, list[ValueHit]] = {}
    for hit in knowledge.lookup(list(dict.fromkeys(asked.values()))):
        hits.setdefault(hit.text, []).append(hit)
    taken: set[int] = set()
    found: list[ValueSpan] = []
    for (first, last), text in sorted(asked.items(), key=lambda item: (item[0][0] - item[0][1], item[0][0])):
        if text not in hits or taken & set(range(first, last)):
            continue
        strength = _strength(tokens[first:last], text, knowledge)
        if strength <= 0:
            continue
        taken |= set(range(first, last))
        quoted = all(t.quoted for t in tokens[first:last])
        found.append(ValueSpan(first, last, text, strength, tuple(hits[text]), quoted))
    return tuple(sorted(found, key=lambda v: v.first)), _unfound(tokens, taken)


def _strength(part: Sequence[Token], text: str, knowledge: Knowledge) -> float:
    """How likely these words are meant as a value, by how they stand."""
    words = [t.word for t in part]
    capitals = sum(t.capital and not (t.opens and len(part) == 1) for t in part)
    if all(t.quoted for t in part):
        strength = 1.0
    elif len(part) == 1 and part[0].number:
        strength = 0.35 if len(part[0].word) >= 4 else 0.1
    elif capitals >= 2:
        strength = 0.9
    elif capitals == 1:
        strength = 0.75
    elif len(part) > 1:
        strength = 0.6
    else:
        strength = 0.3
    if strength < 0.9 and all("=" + singular(w) in knowledge.postings for w in words):
        strength /= 2
    if len(part) == 1 and words[0] in STOP and not part[0].quoted:
        strength = 0.0 if part[0].opens or not part[0].capital else strength / 2
    return strength


def _unfound(tokens: Sequence[Token], taken: set[int]) -> tuple[ValueSpan, ...]:
    """Runs of quoted or capitalised words that no value answers."""
    found, i = [], 0
    while i < len(tokens):
        if not _looks_named(tokens[i]) or i in taken:
            i += 1
            continue
        j = i
        while j < len(tokens) and j not in taken and _looks_named(tokens[j]) and tokens[j].quoted == tokens[i].quoted:
            j += 1
        part = tokens[i:j]
        strength = 1.0 if part[0].quoted else 0.5
        found.append(ValueSpan(i, j, " ".join(t.text for t in part), strength, (), part[0].quoted))
        i = j
    return tuple(found)


def _looks_named(token: Token) -> bool:
    return token.quoted or (token.capital and not token.opens and token.word not in STOP)


# time

_MONTHS = {m: i for i, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}
_MONTH_NAMES = frozenset(
    "january february march april may june july august september october november december".split()
)


def _is_month(token: Token) -> bool:
    return token.word in _MONTH_NAMES and (token.capital or token.word not in ("may", "march"))


_FIRST_YEAR, _LAST_YEAR = 1600, 2099


def _year_spans(tokens: Sequence[Token]) -> tuple[Span, ...]:
    """Years named, ranges read out: "from 2005 to 2010", "between 2005 and 2010", "2005-2010", "since 2015"."""
    found: list[Span] = []
    i = 0
    while i < len(tokens):
        joined = re.fullmatch(r"((?:1[6-9]|20)\d\d)[-–/]((?:1[6-9]|20)\d\d)", tokens[i].word)
        if joined and int(joined[1]) <= int(joined[2]):
            found.append(Span(int(joined[1]), int(joined[2]), tokens[i].text))
        elif _year(tokens[i]):
            low = int(tokens[i].word)
            link = next((j for j in (i + 1, i + 2) if j + 1 <= len(tokens) - 1 and _year(tokens[j + 1])), None)
            word = tokens[link].word if link is not None else ""
            opening = {t.word for t in tokens[max(0, i - 3) : i]}
            ranged = word in ("to", "through", "until", "till", "thru") or (word == "and" and "between" in opening)
            if link is not None and ranged and low <= int(tokens[link + 1].word):
                high = int(tokens[link + 1].word)
                found.append(Span(low, high, f"{low} to {high}"))
                i = link + 1
            elif opening & {"since"}:
                found.append(Span(low, _LAST_YEAR, f"since {low}"))
            elif tokens[i - 1].word in ("after", "before", "until") and i:
                after = tokens[i - 1].word == "after"
                found.append(
                    Span(low + 1, _LAST_YEAR, f"after {low}") if after else Span(_FIRST_YEAR, low, f"up to {low}")
                )
            else:
                found.append(Span(low, low, str(low)))
        i += 1
    return tuple(dict.fromkeys(found))


def _year(token: Token) -> bool:
    return bool(re.fullmatch(r"(?:1[6-9]|20)\d\d", token.word))
