"""What the reasoner knows, as plain facts that cost nothing to read: tables, joins, families, copies, words, vectors.

`Knowledge` is immutable and built once; `suffice.reason.load` fills it from a home.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.model import Asset, Scope, TableProfile
from suffice.reason.words import GENERIC, abbreviates, kin, singular, stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.model import Column

__all__ = ["ColumnFacts", "Copy", "Family", "JoinEdge", "Knowledge", "Posting", "TableFacts", "ValueHit"]

IDF_CAP = 5.5
_ELSEWHERE = 300
"""Tables of an imagined lake added to each count, so that a lake of five tables does not take `id` for telling."""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column with the words of its name (singular) and its part in keys."""

    column: Column
    words: tuple[str, ...]
    stems: tuple[str, ...]
    in_key: bool = False
    refers: bool = False

    @property
    def name(self) -> str:
        return self.column.name


@dataclass(frozen=True, slots=True)
class Family:
    """The group of tables that a table belongs to, as the `family` finding says; `members` are table numbers."""

    id: str
    kind: str
    members: tuple[int, ...]
    base: int | None
    stem: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A table is a copy of `of`: how (`relation`), and the finding's value and numbers."""

    of: int
    relation: str
    value: Mapping[str, Any]
    numbers: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One table or view. `rows` is None where nothing was measured. `hollow` says that it is empty in a source whose
    other tables hold rows. `use` is the number of the table to use instead (itself mostly)."""

    number: int
    asset: Asset
    words: tuple[str, ...]
    stems: tuple[str, ...]
    columns: tuple[ColumnFacts, ...]
    rows: int | None = None
    profile: TableProfile | None = None
    hollow: bool = False
    broken: bool = False
    trust: float = 1.0
    use: int = -1
    use_why: str = ""
    degraded: tuple[str, ...] = ()
    copy: Copy | None = None
    family: Family | None = None
    shard: Mapping[str, Any] | None = None
    description: str = ""

    @property
    def urn(self) -> str:
        return self.asset.urn


@dataclass(frozen=True, slots=True)
class JoinEdge:
    """`left` refers to `right` (table numbers) over equally long lists of columns."""

    left: int
    left_columns: tuple[str, ...]
    right: int
    right_columns: tuple[str, ...]
    match: float | None = None
    unique: bool | None = None
    kind: str = "declared"
    orphans: int | None = None

    @property
    def strength(self) -> float:
        """1 for a key that holds; less for one that was only inferred or is broken for many rows."""
        base = 1.0 if self.kind == "declared" else 0.8
        return base * (1.0 if self.match is None else 0.3 + 0.7 * self.match)


@dataclass(frozen=True, slots=True)
class ValueHit:
    """The text `text` (normalised as it was asked) stands in `column` of a table, `count` times."""

    text: str
    table: int
    column: str
    value: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Posting:
    """Where a word stands in names: column is -1 for the table's name. `share` is 1 / (words of that name)."""

    table: int
    column: int
    share: float


@dataclass
class Knowledge:
    """All facts of a home. `lookup` gives the values found for normalised texts, `embed` unit vectors of texts."""

    tables: tuple[TableFacts, ...]
    joins: tuple[JoinEdge, ...]
    table_vectors: NDArray[np.float32]
    name_vectors: NDArray[np.float32]
    column_vectors: NDArray[np.float32]
    embed: Callable[[Sequence[str]], NDArray[np.float32]]
    lookup: Callable[[Sequence[str]], Sequence[ValueHit]]
    split: Callable[[str], Sequence[str]] = str.split
    as_of: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def number(self) -> Mapping[str, int]:
        """Table number by urn."""
        return {t.urn: t.number for t in self.tables}

    @cached_property
    def column_start(self) -> NDArray[np.intp]:
        """Row of `column_vectors` at which each table's columns start; one more entry than tables."""
        return np.concatenate([[0], np.cumsum([len(t.columns) for t in self.tables])]).astype(np.intp)

    @cached_property
    def edges(self) -> Mapping[int, tuple[JoinEdge, ...]]:
        """The joins of each table, either side."""
        found: dict[int, list[JoinEdge]] = defaultdict(list)
        for edge in self.joins:
            found[edge.left].append(edge)
            if edge.right != edge.left:
                found[edge.right].append(edge)
        return {table: tuple(edges) for table, edges in found.items()}

    @cached_property
    def between(self) -> Mapping[tuple[int, int], tuple[JoinEdge, ...]]:
        """Joins by unordered pair of tables (smaller number first), strongest first."""
        found: dict[tuple[int, int], list[JoinEdge]] = defaultdict(list)
        for edge in self.joins:
            found[min(edge.left, edge.right), max(edge.left, edge.right)].append(edge)
        return {pair: tuple(sorted(edges, key=lambda e: -e.strength)) for pair, edges in found.items()}

    @cached_property
    def neighbours(self) -> Mapping[int, frozenset[int]]:
        found: dict[int, set[int]] = defaultdict(set)
        for a, b in self.between:
            if a != b:
                found[a].add(b)
                found[b].add(a)
        return {table: frozenset(others) for table, others in found.items()}

    @cached_property
    def postings(self) -> Mapping[str, tuple[Posting, ...]]:
        """Places of each word in names: by the word in the singular ("=word") and by its stem ("~stem")."""
        found: dict[str, list[Posting]] = defaultdict(list)
        for table in self.tables:
            _post(found, table.words, table.stems, table.number, -1)
            for i, column in enumerate(table.columns):
                _post(found, column.words, column.stems, table.number, i)
        return {word: tuple(places) for word, places in found.items()}

    @cached_property
    def source_of(self) -> NDArray[np.intp]:
        """A small number for the source of each table."""
        names = {name: i for i, name in enumerate(self.sources)}
        return np.array([names[t.asset.source] for t in self.tables], dtype=np.intp)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        return tuple(sorted({t.asset.source for t in self.tables}))

    def weight(self, word: str) -> float:
        """How much a word tells: its inverse document frequency over tables, at most `IDF_CAP`."""
        return self.stem_weight(stem(word))

    def stem_weight(self, root: str) -> float:
        tables = {p.table for p in self.postings.get("~" + root, ())}
        prior = _PRIOR.get(root, 0.003)
        share = (len(tables) + _ELSEWHERE * prior) / (len(self.tables) + _ELSEWHERE)
        return min(IDF_CAP, -math.log(share))

    def whole_word(self, word: str) -> bool:
        """Whether some name holds `word` as one word, not only as several written together."""
        return any(
            word in (self.tables[p.table].words if p.column < 0 else self.tables[p.table].columns[p.column].words)
            for p in self.postings.get("=" + word, ())
        )

    def abbreviations(self, word: str) -> tuple[str, ...]:
        """Words in names that may be short for `word` and are no words that tasks use themselves."""
        held = self._abbreviations.get(word)
        if held is None:
            near = self._short_words.get(word[:1], ())
            held = self._abbreviations[word] = tuple(s for s in near if abbreviates(s, word))
        return held

    def kin(self, root: str) -> tuple[str, ...]:
        """Other stems in names that share the root of `root` ("regist": "registr")."""
        held = self._kin.get(root)
        if held is None:
            near = self._roots.get(root[:5], ()) if len(root) >= 5 else ()
            held = self._kin[root] = tuple(s for s in near if s != root and kin(s, root))
        return held

    @cached_property
    def _kin(self) -> dict[str, tuple[str, ...]]:
        return {}

    @cached_property
    def _roots(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = defaultdict(list)
        for key in self.postings:
            if key[0] == "~" and len(key) > 5:
                found[key[1:6]].append(key[1:])
        return {first: tuple(roots) for first, roots in found.items()}

    @cached_property
    def source_stems(self) -> Mapping[str, tuple[int, ...]]:
        """Numbers of the sources (and schemas) whose name holds a stem."""
        found: dict[str, set[int]] = defaultdict(set)
        for table, source in zip(self.tables, self.source_of, strict=True):
            for name in {table.asset.source, table.asset.schema} - {"main", "public", "dbo"}:
                for root in facts_of_name(name, self.split)[1]:
                    found[root].add(int(source))
        return {root: tuple(sorted(numbers)) for root, numbers in found.items() if not root.isdigit()}

    @cached_property
    def _abbreviations(self) -> dict[str, tuple[str, ...]]:
        return {}

    @cached_property
    def _short_words(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = defaultdict(list)
        for key in self.postings:
            if key[0] == "=" and 3 <= len(key) - 1 <= 5:
                found[key[1]].append(key[1:])
        return {first: tuple(words) for first, words in found.items()}

    def in_scope(self, scope: Scope) -> NDArray[np.bool_]:
        """Which tables a scope admits."""
        return np.array([scope.admits_asset(t.asset) for t in self.tables], dtype=bool)


_PRIOR = {stem(word): share for word, share in GENERIC.items()}


def _post(found: dict[str, list[Posting]], words: Sequence[str], stems: Sequence[str], table: int, column: int) -> None:
    for word in dict.fromkeys(words):
        found["=" + word].append(Posting(table, column, 1 / len(words)))
    for root in dict.fromkeys(stems):
        found["~" + root].append(Posting(table, column, 1 / len(words)))
    if 1 < len(words) <= 3:
        found["=" + "".join(words)].append(Posting(table, column, 1.0))


def facts_of_name(name: str, split: Callable[[str], Sequence[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words (singular, without glue words) and stems of a name that `split` cuts; the whole name when none is left.

    >>> facts_of_name("names_of_cities", lambda n: n.split("_"))[0], facts_of_name("fname", lambda n: [n])[0]
    (('name', 'city'), ('f', 'name'))
    """
    words: list[str] = []
    for word in split(name):
        # One letter before a usual word stands for the thing (`fname`, `dno`): the word is what counts.
        initial = len(word) >= 5 and word[1:] in GENERIC and word not in GENERIC
        words += [word[0], word[1:]] if initial else [singular(word)]
    kept = tuple(w for w in words if w not in _GLUE) or tuple(words) or (name.casefold(),)
    return kept, tuple(stem(w) for w in kept)


_GLUE = frozenset("a an the of in on at by to for from and or is has have ref tbl".split())
