"""What waits for a person, and what a person decided: accept, edit, reject, undo, each with who, when and why.

A decision is taken on what was seen: it names the state of the finding, and is refused when that has changed since.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy as sa

from suffice.catalogs import tables as t
from suffice.errors import UsageError
from suffice.model import Finding, Scope, digest

if TYPE_CHECKING:
    from suffice.catalogs.home import Home

__all__ = ["Item", "Queue", "Stale", "state_of"]

Verdict = Literal["accepted", "edited", "rejected"]
SOURCE = "urn:li:dataHubAction:suffice"
"""Attribution of what Suffice writes: by it, and by it alone, its texts are found again."""
DOCUMENTATION = "documentation"


class Stale(UsageError):
    """The finding has changed since it was looked at."""


@dataclass(frozen=True, slots=True)
class Item:
    """A finding in the queue. `state` is to be given back with the decision; `present` is the text in force, written
    by the source or a person."""

    finding: Finding
    path: str
    present: str
    state: str

    def to_json(self) -> dict[str, Any]:
        f = self.finding
        return {
            "id": f.id,
            "state": self.state,
            "table": self.path,
            "column": f.column,
            "kind": f.kind,
            "status": f.status,
            "value": f.value,
            "numbers": dict(f.numbers),
            "query": f.query,
            "confidence": f.confidence,
            "by": f"{f.enricher} {f.version}",
            "present": self.present,
        }


def state_of(finding: Finding) -> str:
    """Changes when the finding's value, status or inputs do."""
    return digest(finding.value, finding.status, finding.inputs)[:12]


class Queue:
    """Proposals and facts of a home, and decisions on them, in the name of `who`."""

    def __init__(self, home: Home, who: str) -> None:
        self._home = home
        self._engine = home.catalog.engine
        self._who = who

    def waiting(
        self, *, kinds: Sequence[str] | None = None, scope: Scope | None = None, after: str = "", limit: int = 50
    ) -> list[Item]:
        """Proposals nobody has decided on, by table, kind and column; `after` is the id of the last one seen."""
        found = [f for f in self._home.store.findings(kinds) if f.status == "proposed" and not f.fact]
        places = [f.id for f in found]
        start = places.index(after) + 1 if after in places else 0
        items: list[Item] = []
        for finding in found[start:]:
            item = self._item(finding, scope)
            if item is not None:
                items.append(item)
                if len(items) == limit:
                    break
        return items

    def item(self, finding_id: str) -> Item:
        """One finding, whatever its status. Raises UsageError when there is none, or its table is gone."""
        found = next((f for f in self._home.store.findings(in_force=False) if f.id == finding_id), None)
        item = self._item(found, None) if found is not None else None
        if item is None:
            raise UsageError(f"no finding '{finding_id}'", mend="suffice review ls lists them")
        return item

    def accept(self, finding_id: str, *, state: str = "", reason: str = "") -> Item:
        return self._decide(finding_id, "accepted", state, reason, None)

    def edit(self, finding_id: str, text: str, *, state: str = "", reason: str = "") -> Item:
        """Accept a text as a person has rewritten it. Raises UsageError for a finding without a text."""
        if not text.strip():
            raise UsageError("the text is empty", mend="reject it instead")
        return self._decide(finding_id, "edited", state, reason, text.strip())

    def reject(self, finding_id: str, *, state: str = "", reason: str = "") -> Item:
        """It leaves the answers and the index, and is not proposed again until its inputs change."""
        return self._decide(finding_id, "rejected", state, reason, None)

    def undo(self, finding_id: str) -> Item:
        """Take back the last decision on a finding. Raises UsageError when there is none."""
        d, f = t.decisions, t.findings
        with t.batch(self._engine) as connection:
            last = connection.execute(
                sa.select(d).where(d.c.finding == finding_id, ~d.c.undone).order_by(d.c.at.desc()).limit(1)
            ).first()
            if last is None:
                raise UsageError(f"nothing was decided on '{finding_id}'", mend="suffice review ls lists the queue")
            connection.execute(sa.update(d).where(d.c.id == last.id).values(undone=True))
            connection.execute(sa.update(f).where(f.c.id == finding_id).values(**last.before))
            self._publish(connection, finding_id)
        return self.item(finding_id)

    def decided(self) -> list[dict[str, Any]]:
        """Every decision, the latest first: who, when, on what, from what to what, and whether it was undone."""
        d = t.decisions
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(sa.select(d).order_by(d.c.at.desc())).mappings()]

    def _item(self, finding: Finding, scope: Scope | None) -> Item | None:
        asset = self._home.catalog.asset(finding.urn)
        if asset is None or (scope is not None and not scope.admits_asset(asset)):
            return None
        column = asset.column(finding.column) if finding.column else None
        present = column.description if column is not None else asset.description
        return Item(finding, asset.path, present if finding.kind == "description" else "", state_of(finding))

    def _decide(self, finding_id: str, verdict: Verdict, state: str, reason: str, text: str | None) -> Item:
        item = self.item(finding_id)
        finding = item.finding
        if state and state != item.state:
            raise Stale(f"'{finding_id}' has changed since it was looked at", mend="look at it again, then decide")
        value = finding.value
        if text is not None:
            if not isinstance(value, dict) or "text" not in value:
                raise UsageError(f"a finding of kind '{finding.kind}' has no text to edit", mend="accept or reject it")
            value = {**value, "text": text}
        before = {"status": finding.status, "value": finding.value}
        after = {"status": verdict, "value": value}
        f, d = t.findings, t.decisions
        with t.batch(self._engine) as connection:
            # Whoever came first wins: the finding must be as it was read.
            same = sa.and_(f.c.id == finding_id, f.c.status == finding.status, f.c.inputs == finding.inputs)
            if connection.execute(sa.update(f).where(same).values(**after)).rowcount != 1:
                raise Stale(f"'{finding_id}' was decided by someone else meanwhile", mend="look at it again")
            connection.execute(
                sa.insert(d).values(
                    id=uuid.uuid4().hex, finding=finding_id, urn=finding.urn, at=time.time(), who=self._who,
                    reason=reason, before=before, after=after, undone=False,
                )
            )  # fmt: skip
            self._publish(connection, finding_id)
        return self.item(finding_id)

    def _publish(self, connection: sa.Connection, finding_id: str) -> None:
        """An accepted text of a table stands in its `documentation`, under our attribution; others' entries stay."""
        f = t.findings
        row = connection.execute(sa.select(f).where(f.c.id == finding_id)).mappings().one()
        if row["kind"] != "description" or row["column"]:
            return
        accepted = connection.execute(
            sa.select(f.c.value, f.c.status)
            .where(f.c.urn == row["urn"], f.c.kind == "description", f.c.column == "")
            .where(f.c.status.in_(("accepted", "edited")))
            .order_by(f.c.subject.desc())
        ).first()
        held = self._home.catalog.aspects(row["urn"]).get(DOCUMENTATION, {}).get("documentations", [])
        kept = [e for e in held if e.get("attribution", {}).get("source") != SOURCE]
        if accepted is not None:
            note = "AI-edited" if accepted.status == "edited" else "AI-approved"
            by = {"source": SOURCE, "actor": f"urn:li:corpuser:{self._who}", "time": 0, "sourceDetail": {"how": note}}
            kept.append({"documentation": accepted.value["text"], "attribution": by})
        if kept or held:
            self._home.catalog.put_within(connection, [(row["urn"], DOCUMENTATION, {"documentations": kept})])
