"""What is remembered: an intent, the tables and columns that answered it or did not, and how that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from suffice.model import digest

__all__ = ["OUTCOMES", "PROVENANCES", "Memory", "Object", "Outcome", "Provenance"]

Outcome = Literal["worked", "failed", "corrected"]
Provenance = Literal["confirmed", "learned", "guessed"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)
PROVENANCES: tuple[str, ...] = get_args(Provenance)
_LONGEST_INTENT = 2000


@dataclass(frozen=True, slots=True)
class Object:
    """A table, or one column of it. `fingerprint` is the digest of the table's schema when it was learned."""

    urn: str
    column: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """`learned_at` and `last_use` are seconds since the epoch. `worked` and `corrected` say that the objects answered
    the intent, `failed` that they did not."""

    intent: str
    objects: tuple[Object, ...]
    outcome: Outcome = "worked"
    provenance: Provenance = "confirmed"
    note: str = ""
    learned_at: float = 0.0
    uses: int = 0
    last_use: float | None = None

    @property
    def id(self) -> str:
        """The same intent with the same objects is one memory, whatever came of it."""
        return digest(self.intent.casefold(), sorted((o.urn, o.column) for o in self.objects))[:16]

    @property
    def urns(self) -> frozenset[str]:
        return frozenset(o.urn for o in self.objects)

    @staticmethod
    def clean(intent: str) -> str:
        """An intent as it is kept: one line, no signs that do not print, bounded.

        >>> Memory.clean("orders\\n by  city\\x00")
        'orders by city'
        """
        return " ".join("".join(c if c.isprintable() else " " for c in intent).split())[:_LONGEST_INTENT]

    def to_json(self) -> Mapping[str, Any]:
        """As the aspect `discoveryMemory` holds it."""
        return {
            "id": self.id,
            "intent": self.intent,
            "objects": [{"urn": o.urn, "column": o.column, "fingerprint": o.fingerprint} for o in self.objects],
            "outcome": self.outcome,
            "provenance": self.provenance,
            "note": self.note,
            "learnedAt": int(self.learned_at * 1000),
        }
