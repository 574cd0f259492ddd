"""The word index: BM25 over the fields of a document, on tantivy. The only importer of tantivy and snowballstemmer.

Texts are cut, stopped and stemmed here, the same way for documents and queries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from suffice.errors import IndexMismatch
from suffice.index.names import pieces
from suffice.index.text import FIELDS, Document

__all__ = ["STOP_WORDS", "WEIGHTS", "WordIndex", "stem", "terms"]

WEIGHTS = {"name": 2.0, "columns": 1.0, "description": 1.0, "values": 0.5, "source": 0.5}
"""Boost of a field's BM25 score; chosen by recall@10 on public text-to-SQL sets, flat around these."""

STOP_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each every find for from get give had has have having he her here hers
    him his how i if in into is it its itself just list many me more most much must my no nor not of off on once only
    or other our out over own please return same she should show so some such tell than that the their them then there
    these they this those through to too under until up us very was we were what when where which while who whom whose
    why will with would you your""".split()
)
_WORDS = re.compile(r"[^\W_]+")
_MEMORY = 30_000_000


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


def terms(text: str) -> list[str]:
    """Stems of the words of a text that are no stop words; a name in camel case gives its parts.

    >>> terms("Show the homeTown of all people in 2019")
    ['home', 'town', 'peopl', '2019']
    """
    words = (piece for word in _WORDS.findall(text) for piece in pieces(word))
    return [stem(word) for word in words if word not in STOP_WORDS]


class WordIndex:
    """BM25 over documents by id, read from the folder that `build` wrote."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        try:
            self._index: Any = tantivy.Index.open(str(folder))
            self._searcher = self._index.searcher()
        except (OSError, ValueError) as error:
            raise IndexMismatch(f"'{folder}' cannot be read: {error}", mend="run: suffice index") from error

    @staticmethod
    def build(folder: Path, documents: Iterable[tuple[int, Document]]) -> None:
        """Write the index of `documents` into an empty folder."""
        import tantivy

        builder: Any = tantivy.SchemaBuilder().add_unsigned_field("id", stored=True, indexed=True)
        builder = builder.add_text_field("of", tokenizer_name="raw", index_option="basic")
        for name in FIELDS:
            builder = builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
        index = tantivy.Index(builder.build(), path=str(folder))
        writer = index.writer(heap_size=_MEMORY, num_threads=1)
        for number, document in documents:
            made: Any = tantivy.Document(of=document.source)
            made.add_unsigned("id", number)
            for name, text in document.fields.items():
                found = terms(text)
                if found:
                    made.add_text(name, " ".join(found))
            writer.add_document(made)
        writer.commit()
        writer.wait_merging_threads()

    def search(self, query: str, k: int, sources: Sequence[str] | None = None) -> list[tuple[int, float]]:
        """At most `k` (id, score), best first; of these sources only, if given."""
        import tantivy

        wanted = terms(query)
        if not wanted or k < 1 or not self._searcher.num_docs:
            return []
        schema, should = self._index.schema, tantivy.Occur.Should
        clauses = []
        for word in dict.fromkeys(wanted):
            for name, weight in WEIGHTS.items():
                term = tantivy.Query.term_query(schema, name, word, "freq")
                clauses.append((should, tantivy.Query.boost_query(term, weight)))
        full = tantivy.Query.boolean_query(clauses)
        if sources is not None:
            held = tantivy.Query.term_set_query(schema, "of", list(sources))
            full = tantivy.Query.boolean_query(
                [(tantivy.Occur.Must, full), (tantivy.Occur.Must, tantivy.Query.const_score_query(held, 0.0))]
            )
        hits = self._searcher.search(full, limit=min(k, self._searcher.num_docs), count=False).hits
        docs = ((self._searcher.doc(address), score) for score, address in hits)
        return [(int(str(doc.get_first("id"))), float(score)) for doc, score in docs]
