"""Columns whose values must not leave the site: told by name, or by the values' form, with its checksum where one is.

The answer is the name of a pattern, never a value. A year is no card number, an id with enough digits is no card
number without the checksum, and "phone" as a product is no telephone number when the values are at hand to say so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from suffice_enrichers.names import plain, words

__all__ = ["by_name", "by_values", "pattern_of"]

_ENOUGH = 0.8
"""Share of the distinct values that must have the form."""

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]{2,}")
_SSN = re.compile(r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}")
_PHONE = re.compile(
    r"\+\d[\d .()/-]{6,18}\d(?:\s*(?:x|ext\.?)\s*\d+)?"
    r"|(?:1[-. ])?\(\d{2,5}\)\s?\d[\d .-]{4,12}(?:\s*(?:x|ext\.?)\s*\d+)?"
    r"|(?:1[-. ])?\d{3}[-. ]\d{3}[-. ]\d{4}(?:\s*(?:x|ext\.?)\s*\d+)?"
)
_CARD = re.compile(r"[2-6]\d{3}([ -]?)\d{4}\1\d{4}\1\d{1,7}|3[47]\d{2}([ -]?)\d{6}\2\d{5}")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")

_N = r"(?: number| no| num| nr)?"
_NAMES = (
    ("email", re.compile(r"\be ?mail(?: address| addr)?(?: \d+)?$")),
    ("phone", re.compile(rf"\b(?:tele)?phone{_N}(?: \d+)?$|\b(?:mobile|cell|fax)(?: phone)?{_N}$")),
    ("national_id", re.compile(rf"\bssn$|\bsocial security{_N}$|\bpassport(?: id|{_N})$|\bbirth number$")),
    ("national_id", re.compile(rf"\bnational (?:id|identity|identification|insurance){_N}$|\btax(?:payer)? id$")),
    ("card_number", re.compile(rf"\bcredit card{_N}$|\b(?:card|cc) (?:number|no|num)$")),
    ("iban", re.compile(r"\biban$|\bbank account (?:number|no)$")),
)

_RUN_TOGETHER = {
    "email": "email", "emailaddress": "email", "phonenumber": "phone", "telephonenumber": "phone", "homephone": "phone",
    "workphone": "phone", "mobilephone": "phone", "cellphone": "phone", "socialsecuritynumber": "national_id",
    "nationalid": "national_id", "passportnumber": "national_id", "creditcardnumber": "card_number",
    "cardnumber": "card_number",
}  # fmt: skip


def by_name(name: str) -> str:
    """The pattern that a column's name announces, or "".

    >>> [by_name(n) for n in ("Email_Address", "HomePhone", "ssn", "academic_year_code", "email_sent", "phone_id")]
    ['email', 'phone', 'national_id', '', '', '']
    """
    said = " ".join(words(name)).replace("e mail", "email")
    for pattern, form in _NAMES:
        if form.search(said):
            return pattern
    return _RUN_TOGETHER.get(plain(name), "")


def by_values(values: Sequence[object]) -> tuple[str, float]:
    """The pattern that the distinct values have, with the share that has it; ("", 0.0) for none.

    >>> by_values(["a@b.org", "c.d@e.com"]), by_values([1999, 2000]), by_values(["4111 1111 1111 1111"] * 3)
    (('email', 1.0), ('', 0.0), ('card_number', 1.0))
    """
    texts = [t for t in (str(v).strip() for v in values if v is not None) if t]
    if not texts:
        return "", 0.0
    for pattern, matches in _FORMS:
        share = sum(1 for t in texts if matches(t)) / len(texts)
        if share >= _ENOUGH:
            return pattern, share
    return "", 0.0


def pattern_of(name: str, values: Sequence[object]) -> tuple[str, float | None]:
    """What a column is to be hidden as, by values first and by name else, with the share of values (None by name).

    >>> pattern_of("phone", ["Lumia 920", "Pixel 3"]), pattern_of("phone", [])
    (('', None), ('phone', None))
    """
    pattern, share = by_values(values)
    if pattern:
        return pattern, share
    named = by_name(name)
    if named == "phone" and values:
        dialled = sum(1 for v in values if sum(c.isdigit() for c in str(v)) >= 6)
        if dialled < len(values) / 5:
            return "", None
    return named, None


def _luhn(digits: str) -> bool:
    total = 0
    for i, c in enumerate(reversed(digits)):
        n = int(c) * (2 if i % 2 else 1)
        total += n - 9 if n > 9 else n
    return total % 10 == 0


def _is_card(text: str) -> bool:
    digits = re.sub(r"[ -]", "", text)
    return _CARD.fullmatch(text) is not None and 13 <= len(digits) <= 19 and len(set(digits)) > 1 and _luhn(digits)


def _is_iban(text: str) -> bool:
    bare = text.replace(" ", "").upper()
    if not _IBAN.fullmatch(bare):
        return False
    return int("".join(str(int(c, 36)) for c in bare[4:] + bare[:4])) % 97 == 1


_FORMS = (
    ("email", lambda t: _EMAIL.fullmatch(t) is not None),
    ("national_id", lambda t: _SSN.fullmatch(t) is not None),
    ("card_number", _is_card),
    ("iban", _is_iban),
    ("phone", lambda t: _PHONE.fullmatch(t) is not None),
)
