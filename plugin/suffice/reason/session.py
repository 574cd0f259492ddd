"""One caller's session: what it has been shown, what it asked and what that cost, and what it may submit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from suffice.access import Access
from suffice.errors import UsageError
from suffice.model import Scope
from suffice.reason import look, tools

if TYPE_CHECKING:
    from suffice.catalogs.home import Home
    from suffice.reason.rules import RulesPolicy

__all__ = ["Call", "Session", "Shared"]

_KEPT_CALLS = 200


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: its name, its seconds, whether it ended in an error."""

    tool: str
    seconds: float
    failed: bool


class Shared:
    """What all sessions of a process share: the policy with its knowledge and index, opened anew when the index or
    the catalog has changed. One call at a time, since an index is not for two threads."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.lock = threading.RLock()
        self._policy: RulesPolicy | None = None
        self._mark = ""

    def policy(self) -> RulesPolicy:
        from suffice.reason.rules import RulesPolicy

        mark = f"{self._generation()} {self.home.store.mark()}"
        if self._policy is None or mark != self._mark:
            self._policy, self._mark = RulesPolicy(self.home, self.home.settings.memory), mark
        return self._policy

    def _generation(self) -> str:
        current = self.home.index_dir / "CURRENT"
        return current.read_text() if current.exists() else ""


@dataclass
class Session:
    """The tools for one caller, who sees the tables of `scope` only. Answers are plain JSON."""

    shared: Shared
    scope: Scope = field(default_factory=Scope)
    seen: set[str] = field(default_factory=set)
    calls: list[Call] = field(default_factory=list)

    def search(self, query: str, k: int = 10) -> dict[str, Any]:
        """The tables nearest to a query, those new to the session with their columns, keys and defects."""
        found = self._call("search", lambda: tools.search_tables(self.home, query, k=k, scope=self.scope))
        found["hits"] = [{**hit, **self._attached(hit["table"])} for hit in found["hits"]]
        return self._cleaned(found)

    def describe_table(self, table: str) -> dict[str, Any]:
        told = self._call("describe_table", lambda: tools.describe_table(self.home, table, scope=self.scope))
        self.seen.add(told["table"])
        return self._cleaned(told)

    def related_tables(self, table: str) -> dict[str, Any]:
        told = self._call("related_tables", lambda: tools.related_tables(self.home, table, scope=self.scope))
        self.seen |= {told["table"], *(r["table"] for r in told["related"])}
        return self._cleaned(told)

    def profile_columns(self, table: str, columns: Sequence[str] = ()) -> dict[str, Any]:
        return self._call("profile_columns", lambda: look.profile_columns(self.home, table, columns, scope=self.scope))

    def find_values(self, values: Sequence[str]) -> dict[str, Any]:
        index = self.shared.policy().index
        found = self._call("find_values", lambda: look.find_values(self.home, index, values, scope=self.scope))
        self.seen |= {place["table"] for places in found["values"].values() for place in places}
        return found

    def check_join(
        self, left: str, left_columns: Sequence[str], right: str, right_columns: Sequence[str]
    ) -> dict[str, Any]:
        return self._call(
            "check_join",
            lambda: look.check_join(self.home, left, left_columns, right, right_columns, scope=self.scope),
        )

    def join_paths(self, start: str, goal: str) -> dict[str, Any]:
        knowledge = self.shared.policy().knowledge
        found = self._call("join_paths", lambda: look.join_paths(self.home, knowledge, start, goal, scope=self.scope))
        self.seen |= {step[side] for path in found["paths"] for step in path for side in ("left", "right")}
        return found

    def select_tables(self, task: str, scope: Sequence[str] = ()) -> dict[str, Any]:
        """The Selection of the rules; a scope given here narrows that of the session."""
        wanted = Scope((*self.scope.globs, *scope)) if not self._positive(self.scope) else self.scope
        if scope and self._positive(self.scope):
            raise UsageError("this server has a scope of its own", mend="leave `scope` out")
        answer = self._call("select_tables", lambda: self.shared.policy().select(task, wanted).to_json())
        self.seen |= {f"{t['source']}.{t['schema']}.{t['table']}" for t in answer["tables"]}
        return self._cleaned(answer)

    def record_selection(
        self, task: str, tables: Sequence[Mapping[str, Any]], queries: Sequence[str]
    ) -> dict[str, Any]:
        """Check a set that the caller chose: every table was shown to it, has a role and a reason of its own, and joins
        the others; every query is plain language. Returns what is wrong, or that it is accepted."""
        return self._call("record_selection", lambda: self._checked(task, tables, queries))

    # how it is done

    @property
    def home(self) -> Home:
        return self.shared.home

    @staticmethod
    def _positive(scope: Scope) -> bool:
        return any(not glob.startswith("!") for glob in scope.globs)

    def _call(self, tool: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        started, failed = time.perf_counter(), True
        try:
            with self.shared.lock:
                done = work()
            failed = False
            return done
        finally:
            self.calls.append(Call(tool, round(time.perf_counter() - started, 4), failed))
            del self.calls[:-_KEPT_CALLS]

    def _cleaned(self, value: dict[str, Any]) -> dict[str, Any]:
        if not self.scope.globs:
            return value
        return dict(Access(self.scope, self.home.catalog.assets()).cleaned(value))

    def _attached(self, table: str) -> dict[str, Any]:
        """What a caller should know of a table that it sees for the first time."""
        if table in self.seen:
            return {"seen": True}
        self.seen.add(table)
        told = tools.describe_table(self.home, table, scope=self.scope)
        return {key: told[key] for key in ("rows", "primary_key", "columns", "joins", "authoritative")}

    def _checked(self, task: str, tables: Sequence[Mapping[str, Any]], queries: Sequence[str]) -> dict[str, Any]:
        wrong = [*_wrong_queries(queries)]
        if not task.strip():
            wrong.append("the task is empty")
        if not tables:
            wrong.append("no table is named")
        paths: list[str] = []
        for entry in tables:
            name = str(entry.get("table", ""))
            paths.append(name)
            if name not in self.seen:
                wrong.append(f"'{name}' was shown by no tool of this session: name it in full, as it was shown")
            for key in ("role", "reason"):
                if not str(entry.get(key, "")).strip():
                    wrong.append(f"'{name}' has no {key}")
        reasons = [str(e.get("reason", "")).strip().casefold() for e in tables]
        if len(set(reasons)) < len(reasons):
            wrong.append("two tables have the same reason: say what each alone gives, or leave one out")
        if len(set(paths)) < len(paths):
            wrong.append("a table is named twice")
        if not wrong:
            wrong += self._unconnected(paths)
        return {"accepted": not wrong, "wrong": wrong}

    def _unconnected(self, paths: Sequence[str]) -> Iterable[str]:
        knowledge = self.shared.policy().knowledge
        number = {t.asset.path: t.number for t in knowledge.tables}
        left = [number[p] for p in paths if p in number]
        waiting, rest = left[:1], set(left[1:])
        while waiting:
            near = knowledge.neighbours.get(waiting.pop(), frozenset()) & rest
            rest -= near
            waiting += near
        if rest:
            names = ", ".join(sorted(knowledge.tables[n].asset.path for n in rest))
            yield f"no known key connects {names} with the others: add the table between them, or check_join them"


def _wrong_queries(queries: Sequence[str]) -> Iterable[str]:
    for query in queries:
        words = query.split()
        if words and words[0].upper() in ("SELECT", "WITH", "SHOW", "DESCRIBE"):
            yield f"a query is to be in plain language, not SQL: '{query[:60]}'"
