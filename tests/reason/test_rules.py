"""What the rules answer, and what holds for every answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.errors import UsageError
from suffice.model import Scope, Selection
from suffice.reason.rules import RulesPolicy

CASES = yaml.safe_load((Path(__file__).parent.parent / "cases" / "reason" / "answers.yml").read_text())
WORDS = """customer customers name city orders order placed product products price title quantity rainfall station month
millimetres 2019 2020 Paris Oslo Lamp how many list average total of the in by with most passengers luggage weather shop
"Customer 7" who bought between and 1 id""".split()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["task"])
def test_answers(case: dict[str, Any], rules: RulesPolicy) -> None:
    answer = rules.select(case["task"], Scope())
    if "missing" in case:
        assert answer.status == "insufficient"
        assert set(case["missing"]) <= {gap.text for gap in answer.missing}
        return
    assert sorted(t.table for t in answer.tables) == case["tables"]
    assert answer.status == case.get("status", "sufficient")
    assert len(answer.joins) == case.get("joins", 0)
    assert bool(answer.unions) is case.get("union", False)


def test_a_copy_gives_way_and_says_to_what(rules: RulesPolicy) -> None:
    answer = rules.select("How many customers live in Paris?", Scope())
    why = {other.table: other.why for other in answer.left_out}
    assert "customers holds all" in why["shop.main.customers_tmp"]


def test_scope_is_kept(rules: RulesPolicy) -> None:
    answer = rules.select("How many customers live in Paris?", Scope(("weather",)))
    assert {t.source for t in answer.tables} == {"weather"}
    assert answer.status == "insufficient"
    nothing = rules.select("How many customers live in Paris?", Scope(("nowhere",)))
    assert (nothing.tables, nothing.status) == ((), "insufficient")


@pytest.mark.parametrize("task", ["", "   ", "?!"])
def test_a_task_without_words_is_wrong_use(task: str, rules: RulesPolicy) -> None:
    with pytest.raises(UsageError):
        rules.select(task, Scope())


@pytest.mark.parametrize(
    "task",
    [
        "orders " * 10_000,
        "Robert'); DROP TABLE customers;--",
        'SELECT * FROM customers WHERE city = "Paris"',
        "顧客は何人いますか",
        '{"task": "customers"}',
        "\x00\ud800 customers",
    ],
    ids=["long", "injection", "sql", "japanese", "json", "surrogate"],
)
def test_odd_tasks_are_answered(task: str, rules: RulesPolicy) -> None:
    holds(rules.select(task, Scope()), rules)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join))
def test_what_holds_for_every_answer(task: str) -> None:
    holds(POLICY[0].select(task, Scope()), POLICY[0])


POLICY: list[RulesPolicy] = []


@pytest.fixture(scope="session", autouse=True)
def _policy(rules: RulesPolicy) -> None:
    POLICY.append(rules)


def holds(answer: Selection, rules: RulesPolicy) -> None:
    """Connected or said not to be; each table needed; claims that point at what is there; JSON that keeps its form."""
    tables = {t.urn: t for t in answer.tables}
    known = {t.urn: t for t in rules.knowledge.tables}
    assert set(tables) <= set(known)
    assert 0 <= answer.confidence <= 1
    parts = parts_of(answer)
    if parts > 1:
        assert "No known key connects" in answer.justification
    unions = [set(union.tables) for union in answer.unions]
    for urn, table in tables.items():
        alone = any(urn in union for union in unions)
        covered = set(table.covers)
        others = {c for other in answer.tables if other.urn != urn for c in other.covers}
        connects = parts_of(answer, without=urn) > parts
        assert len(tables) == 1 or alone or covered - others or connects, f"{table.table} adds nothing"
        assert set(table.columns) <= {c.name for c in known[urn].columns}
    for requirement in answer.requirements:
        missing = requirement.id in {gap.requirement for gap in answer.missing}
        assert missing or requirement.covered_by
        assert all(place.split("#")[0] in tables for place in requirement.covered_by)
    body = answer.to_json()
    assert body["format"] == 1
    assert body["status"] == ("insufficient" if body["missing"] or not body["tables"] else "sufficient")


def parts_of(answer: Selection, without: str = "") -> int:
    """How many connected parts the tables form through the joins, a union being one."""
    group = {t.urn: t.urn for t in answer.tables if t.urn != without}
    links = [(j.left.urn, j.right.urn) for j in answer.joins]
    links += [(union.tables[0], other) for union in answer.unions for other in union.tables[1:]]
    for one, other in links:
        if one in group and other in group:
            old, new = group[one], group[other]
            group = {urn: new if root == old else root for urn, root in group.items()}
    return len(set(group.values()))
