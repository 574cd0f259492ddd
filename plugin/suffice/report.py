"""What a run did: written, unchanged, failed and why; equal warnings folded into one with a count."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Report"]


@dataclass(slots=True)
class Report:
    """Collects what happened to each subject of a run; `exit_code` is 0 when nothing failed, else 1."""

    command: str
    done: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)
    warnings: dict[str, list[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def count(self, what: str, n: int = 1) -> None:
        self.done[what] += n

    def fail(self, subject: str, why: object) -> None:
        self.failures.append((subject, " ".join(str(why).split())))

    def warn(self, message: str, subject: str) -> None:
        """`message` is constant; the variable part goes into `subject`, so that a thousand equal ones fold."""
        self.warnings.setdefault(message, []).append(subject)

    @property
    def exit_code(self) -> int:
        return 1 if self.failures else 0

    def to_json(self) -> dict[str, Any]:
        return {
            "command": self.command,
            "done": dict(self.done),
            "failures": [{"subject": s, "why": w} for s, w in self.failures],
            "warnings": [{"message": m, "count": len(s), "subjects": s[:10]} for m, s in self.warnings.items()],
            "seconds": {k: round(v, 3) for k, v in self.seconds.items()},
        }
