"""Words of a table's or column's name: split at case, digits and punctuation, put into the singular."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["GENERIC", "KEY_WORDS", "is_key_name", "plain", "singular", "words"]

_KEY_TEXT = "id ids key code cd no nr num number uuid guid pk fk ref sk"
KEY_WORDS = frozenset(_KEY_TEXT.split())
"""Words that say "this identifies something" and not what."""

_GENERIC_TEXT = """
    name title type kind status state date time year month day description desc text value amount total count note
    comment label category class group flag level rank order index row rowid objectid seq serial
"""
GENERIC = KEY_WORDS | frozenset(_GENERIC_TEXT.split())
"""Words that stand in names of every subject, so that sharing one proves nothing."""

_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")


@lru_cache(maxsize=100_000)
def words(name: str) -> tuple[str, ...]:
    """The words of a name, lower case, in the singular.

    >>> words("CustomerIDs"), words("order_details2019"), words("2nd choice"), words("HTTPStatus")
    (('customer', 'id'), ('order', 'detail', '2019'), ('2', 'nd', 'choice'), ('http', 'status'))
    """
    name = re.sub(r"(?<=[A-Z])s\b", "", name)
    return tuple(singular(piece.casefold()) for piece in _PIECES.findall(name))


def singular(word: str) -> str:
    """The singular of an English noun by its ending; a word that is none stays as it is.

    >>> [singular(w) for w in ("cities", "boxes", "airlines", "status", "address", "data", "movies", "buses", "ids")]
    ['city', 'box', 'airline', 'status', 'address', 'data', 'movie', 'bus', 'id']
    """
    if len(word) < 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return (
            word[:-1] if len(word) < 7 and word in ("movies", "series", "cookies", "ties", "pies") else word[:-3] + "y"
        )
    if word.endswith(("xes", "ches", "shes", "sses", "zes", "uses")):
        return word[:-2]
    return word[:-1]


def plain(name: str) -> str:
    """A name without case and punctuation: what two spellings of one name share.

    >>> plain("Customer_ID") == plain("customerId")
    True
    """
    return "".join(c for c in name.casefold() if c.isalnum())


def is_key_name(name: str) -> bool:
    """Whether a name says that its column identifies something.

    >>> [is_key_name(n) for n in ("customer_id", "CustID", "stuid", "Name", "iata_code", "paid", "zip_no")]
    [True, True, True, False, True, False, True]
    """
    found = words(name)
    if not found:
        return False
    return found[-1] in KEY_WORDS or found[0] in ("id", "pk", "fk") or (_RUN_TOGETHER.search(found[-1]) is not None)


_RUN_TOGETHER = re.compile(r"(?<![aeiou])id$|(?:cust|emp|stu|prod|ord)id$")
