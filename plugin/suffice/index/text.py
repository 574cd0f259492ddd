"""One document a table: the text that is embedded, the fields that the word index holds, the texts of its columns.

The distinguishing part stands first. A text longer than the embedder's window is cut where it hurts least: what many
tables share goes first, so that siblings stay apart, and the cut is noted. Values stand in the word index only: in the
embedded text they cost 4 points of recall@10 on a lake of 316 tables, among the words they gain 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from suffice.index.names import NameSplitter
from suffice.model import Asset, digest

__all__ = ["FIELDS", "TEXT_VERSION", "Document", "Told", "documents"]

TEXT_VERSION = 1
"""Raised when the same catalog gives other texts: indexes built before are rebuilt."""

FIELDS = ("name", "columns", "description", "values", "source")
"""Fields of the word index; their weights are in `suffice.index.words`."""

VALUES_SHOWN = 5
"""Values of a column that enter the word index; the look-up of values holds all of them."""
VALUES_FEW = 50
"""Only columns of at most so many distinct texts (categories, not names) show values."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_PIECE_WORDS = 25


@dataclass(frozen=True, slots=True)
class Told:
    """What was found of an asset: the generated description, those of columns, and shown values by column."""

    description: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A table as the index holds it. `columns` has one text a column, in the asset's order; `was_cut` says that
    `text` had to leave something out. `mark` changes whenever what this was made from does."""

    urn: str
    source: str
    schema: str
    table: str
    name: str
    text: str
    fields: Mapping[str, str]
    columns: tuple[str, ...]
    was_cut: bool
    mark: str

    @property
    def path(self) -> str:
        return f"{self.source}.{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    group: int


_HEAD, _NAME, _COLUMN = range(3)


def documents(
    assets: Iterable[Asset],
    told: Mapping[str, Told],
    *,
    window: int = 256,
    count_tokens: Callable[[str], int] | None = None,
) -> list[Document]:
    """The documents of `assets`, by urn. `window` is in tokens as `count_tokens` counts them."""
    held = sorted(assets, key=lambda a: a.urn)
    split = NameSplitter(name for a in held for name in (a.name, a.source, *(c.name for c in a.columns)))
    measure = count_tokens or _estimated_tokens
    parts = {a.urn: _parts(a, told.get(a.urn, Told()), split) for a in held}
    spread = Counter(text for each in parts.values() for text in {p.text for p in each})
    found = []
    for asset in held:
        text, was_cut = _fit(parts[asset.urn], window, measure, spread)
        found.append(_document(asset, told.get(asset.urn, Told()), split, text, was_cut))
    return found


def _document(asset: Asset, told: Told, split: NameSplitter, text: str, was_cut: bool) -> Document:
    name = " ".join(split.words(asset.name))
    columns = tuple(_column_text(c.name, split) for c in asset.columns)
    noted = [c.description or told.columns.get(c.name, "") for c in asset.columns]
    fields = {
        "name": name,
        "columns": " ".join(columns),
        "description": " ".join(filter(None, [asset.description, told.description, *noted])),
        "values": " ".join(_shown(told, [c.name for c in asset.columns])),
        "source": " ".join(split.words(asset.source)),
    }
    mark = digest(fields, columns, told.values, asset.source, asset.schema, asset.name)
    return Document(asset.urn, asset.source, asset.schema, asset.name, name, text, fields, columns, was_cut, mark)


def _column_text(name: str, split: NameSplitter) -> str:
    return " ".join(split.words(name)) or name


def _shown(told: Told, columns: Sequence[str]) -> list[str]:
    shown = []
    for column in columns:
        values = told.values.get(column, ())
        if 0 < len(values) <= VALUES_FEW:
            words = [str(value) for value, _ in values if any(c.isalpha() for c in str(value))]
            shown += words[:VALUES_SHOWN]
    return shown


def _parts(asset: Asset, told: Told, split: NameSplitter) -> list[_Part]:
    """The pieces of the text in the order in which they stand."""
    head = [p for text in (asset.description, told.description) for p in _sentences(text)]
    parts = [_Part(text, _HEAD) for text in head]
    parts.append(_Part(" ".join(split.words(asset.name)) or asset.name, _NAME))
    parts += [_Part(_column_text(c.name, split), _COLUMN) for c in asset.columns]
    return parts


def _sentences(text: str) -> list[str]:
    """Sentences, long ones cut by words: pieces short enough that two texts which differ late share the early ones."""
    found = []
    for sentence in _SENTENCE.split(text):
        words = sentence.split()
        found += [" ".join(words[i : i + _PIECE_WORDS]) for i in range(0, len(words), _PIECE_WORDS)]
    return found


def _fit(
    parts: Sequence[_Part], window: int, measure: Callable[[str], int], spread: Mapping[str, int]
) -> tuple[str, bool]:
    """The parts as one text within `window` tokens, and whether some had to go."""
    text = _joined(parts)
    if measure(text) <= window:
        return text, False
    order = sorted(
        range(len(parts)),
        key=lambda i: (parts[i].group != _NAME, spread[parts[i].text], i),
    )
    left = window - 2 - sum(measure(part.text) for part in parts if part.group == _NAME)
    kept = []
    for i in order:
        cost = measure(parts[i].text) + 1
        if cost <= left:
            left -= cost
            kept.append(i)
    return _joined([parts[i] for i in sorted(kept)]), True


def _joined(parts: Sequence[_Part]) -> str:
    by_group: dict[int, list[str]] = {}
    for part in parts:
        by_group.setdefault(part.group, []).append(part.text)
    head = " ".join(by_group.get(_HEAD, ()))
    name = " ".join(by_group.get(_NAME, ()))
    columns = ", ".join(by_group.get(_COLUMN, ()))
    # Twice, for pooling takes the mean over all words: among forty columns the name would weigh next to nothing.
    body = f"{name}. {name}: {columns}" if columns else name
    return ". ".join(filter(None, [head.rstrip("."), body]))


def _estimated_tokens(text: str) -> int:
    """For an embedder that does not count: a token is about four letters, and no word is less than one."""
    return 2 + sum(1 + len(word) // 5 for word in text.split())
