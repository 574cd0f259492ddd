"""Names of tables and columns to words: `homeTown`, `dept_no`, `ELEMENTOFFINANCIALSTATEMENT`.

Run-together names are cut by word frequency (wordninja), with the catalog's own words among the frequent ones.
"""

from __future__ import annotations

import gzip
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["NameSplitter", "pieces"]

_PIECES = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_SHORT = frozenset("an as at by fk id in ip is km kg lb no nr of on or pk to tv up".split())
_ENDS_IN_ID = frozenset("acid aid bid grid kid laid lid maid mid paid raid said void".split())
_SHORTEST = 5
_OWN_RANK = 2_000
"""Where the catalog's own words stand in the frequency list: as usual as `director`, never as usual as `of`."""
_WHOLE_RANK = 60_000
"""Words above it in the list are never cut; those below it are rare, or two words that the web writes as one."""


def pieces(name: str) -> list[str]:
    """A name cut where its writing shows a border, lower case.

    >>> pieces("homeTown"), pieces("Flights_2013 (JFK)"), pieces("HTTPStatus"), pieces("année")
    (['home', 'town'], ['flights', '2013', 'jfk'], ['http', 'status'], ['année'])
    """
    if not name.isascii():
        return [p.casefold() for p in re.findall(r"[^\W\d_]+|\d+", name)]
    return [p.lower() for p in _PIECES.findall(name)]


class NameSplitter:
    """Cuts names into words. `names` are those of the catalog: words that stand alone there are known words.

    >>> split = NameSplitter(["imdb_score", "IMDB_votes"]).words
    >>> split("imdbrating"), split("ELEMENTOFFINANCIALSTATEMENT"), split("custid"), split("wban"), split("invoice")
    (('imdb', 'rating'), ('element', 'of', 'financial', 'statement'), ('cust', 'id'), ('wban',), ('invoice',))
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._seen: dict[str, tuple[str, ...]] = {}
        counts = Counter(piece for name in set(names) for piece in set(pieces(name)))
        self._alone = frozenset(counts)
        ranks = _ranks() if counts else {}
        often = (word for word, n in counts.items() if n > 1 and len(word) >= 3 and _plain(word))
        rare = sorted(word for word in often if ranks.get(word, len(ranks)) > _OWN_RANK)
        self._own = frozenset(word for word in rare if not _sound(_common().split(word)))
        self._model = _with_own(sorted(self._own)) if self._own else _common()

    def words(self, name: str) -> tuple[str, ...]:
        """The words of a name in order, lower case; () for a name of signs only."""
        held = self._seen.get(name)
        if held is None:
            held = self._seen[name] = tuple(word for piece in pieces(name) for word in self._cut(piece))
        return held

    def _cut(self, piece: str) -> Sequence[str]:
        if len(piece) < _SHORTEST or not _plain(piece) or piece in self._own:
            return (piece,)
        rank = _ranks().get(piece)
        if rank is not None and rank < _WHOLE_RANK:
            return (piece,)
        parts = list(self._model.split(piece))
        # A closing "id" melts into the word before it ("los sid", "cus tid").
        if len(parts) > 1 and 2 < len(parts[-1]) <= 4 and parts[-1].endswith("id") and parts[-1] not in _ENDS_IN_ID:
            return [*self._cut(piece[:-2]), "id"]
        if len(parts) == 1 or not _sound(parts) or (rank is not None and not self._alone.issuperset(parts)):
            return (piece,)
        return parts


@cache
def _common() -> Any:
    import wordninja  # type: ignore[import-untyped]

    return wordninja.DEFAULT_LANGUAGE_MODEL


@cache
def _ranks() -> dict[str, int]:
    """Place of each English word in wordninja's list, the most frequent first."""
    import wordninja

    packed = Path(wordninja.__file__).parent / "wordninja" / "wordninja_words.txt.gz"
    return {word: i for i, word in enumerate(gzip.decompress(packed.read_bytes()).decode().split())}


def _with_own(own: Sequence[str]) -> Any:
    import wordninja

    moved = set(own)
    rest = [word for word in _ranks() if word not in moved]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.gz"
        path.write_bytes(gzip.compress("\n".join([*rest[:_OWN_RANK], *own, *rest[_OWN_RANK:]]).encode(), 1))
        return wordninja.LanguageModel(str(path))


def _plain(word: str) -> bool:
    return word.isascii() and word.isalpha()


def _sound(parts: Sequence[str]) -> bool:
    """Whether a split gives words and no fragments: a fragment says that the name was not made of words."""
    return len(parts) > 1 and all(len(part) >= 3 or part in _SHORT for part in parts)
