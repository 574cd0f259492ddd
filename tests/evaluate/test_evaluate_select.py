"""Runs of selectors on solved tasks: what is judged, resumed, shown, compared, and refused."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.catalogs.home import Home
from suffice.errors import SourceError, UsageError
from suffice.evaluate.answers import Answer, asker, collect
from suffice.evaluate.compare import compare_runs
from suffice.evaluate.page import page
from suffice.evaluate.run import evaluate_select, judge, lead, summary_of
from suffice.evaluate.tasks import Solved, read_solved
from suffice.report import Report

SOURCES = {"shop", "zoo"}


@pytest.fixture
def tasks(solved_file: Path) -> list[Solved]:
    return read_solved(solved_file, SOURCES)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_from_tasks_to_report(two_sources: Home, tasks: list[Solved], tmp_path: Path) -> None:
    report = Report("test")
    told = evaluate_select(two_sources, tasks, ["rules", "fused", "vectors-top10"], out=tmp_path / "run", report=report)
    assert (told["tasks"], told["groups"], told["scope"], report.failures) == (4, 2, "everything", [])
    rules, fused, ten = (told["selectors"][name] for name in ("rules", "fused", "vectors-top10"))
    assert rules["exact"]["mean"] == 1
    assert fused["f1"]["mean"] == max(fused["f1_at_k"]) == fused["f1_at_k"][fused["k"] - 1]
    assert (ten["k"], ten["size"], ten["recall"]["mean"]) == (10, 4, 1)
    assert ten["against"]["f1"] == pytest.approx(1 - ten["f1"]["mean"], abs=1e-3)
    assert ten["against"]["exact_won"] == 4
    assert rules["gold_size"] == 1.25
    assert ten["faults"]["over-included"] == {"tasks": 4, "f1_lost": pytest.approx(1 - ten["f1"]["mean"], abs=1e-3)}
    judged = lines_of(tmp_path / "run" / "tasks.jsonl")
    assert len(judged) == 12
    assert judged[0]["gold"] == ["shop.Orders", "shop.customers"]
    assert sorted(judged[0]["chosen"]) == ["shop.customers", "shop.orders"]
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == told
    html = (tmp_path / "run" / "report.html").read_text()
    assert html.count("<svg") == html.count("</svg>") == 3
    assert not re.search(r'(src|href)="(?!#)', html)


def test_with_the_source_known_nothing_else_is_answered_with(two_sources: Home, solved_file: Path) -> None:
    known = read_solved(solved_file, SOURCES, known=True)
    answers = collect(partial(asker, two_sources), known, ["vectors", "rules"], None, Report("test"))
    of = {task.id: task.group for task in known}
    assert len(answers) == 8
    assert all(table.startswith(of[a["id"]] + ".") for a in answers for table in a["tables"])


def test_an_interrupted_run_goes_on_and_a_finished_one_starts_anew(
    two_sources: Home, tasks: list[Solved], tmp_path: Path
) -> None:
    out, answers = tmp_path / "run", tmp_path / "run" / "answers.jsonl"
    evaluate_select(two_sources, tasks, ["bm25"], out=out, report=Report("test"))
    whole = answers.read_text().splitlines(keepends=True)
    marked = whole[0].replace('"cpu": ', '"cpu": 7')
    answers.write_text(marked + whole[1] + whole[2][:20])
    (out / "summary.json").unlink()
    report = Report("test")
    evaluate_select(two_sources, tasks, ["bm25"], out=out, report=report)
    assert report.done["bm25"] == 2
    assert [a["id"] for a in lines_of(answers)] == ["1", "2", "3", "4"]
    assert answers.read_text().startswith(marked)
    report = Report("test")
    evaluate_select(two_sources, tasks, ["bm25"], out=out, report=report)
    assert report.done["bm25"] == 4
    assert not answers.read_text().startswith(marked)


def test_answers_to_other_tasks_are_not_taken_up(two_sources: Home, tasks: list[Solved], tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate_select(two_sources, tasks[:3], ["bm25"], out=out, report=Report("test"))
    (out / "summary.json").unlink()
    report = Report("test")
    evaluate_select(two_sources, tasks, ["bm25"], out=out, report=report)
    assert report.done["bm25"] == 4


def test_a_task_that_fails_counts_as_wrong_and_is_reported(tasks: list[Solved]) -> None:
    def ask(task: Solved) -> Answer:
        if task.id == "1":
            raise SourceError("the file is gone")
        return {"tables": ["shop.customers"]}

    report = Report("test")
    lines, _ = judge(tasks[:2], collect(lambda name: ask, tasks[:2], ["some"], None, report))
    assert [line["exact"] for line in lines] == [False, True]
    assert lines[0]["f1"] == 0
    assert report.failures == [("some 1", "the file is gone")]
    assert summary_of(lines)["failed"] == 1


def test_a_gold_table_that_nobody_ingested_is_named(two_sources: Home, tmp_path: Path) -> None:
    tasks = [Solved("1", "zoo", "cages", ("zoo.cages",))]
    report = Report("test")
    evaluate_select(two_sources, tasks, ["bm25"], out=None, report=report)
    assert report.warnings == {"a gold table is not in the catalog": ["zoo.cages"]}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "solved.jsonl:5: not JSON"),
        ('{"id": 5, "question": "?", "db": "zoo"}', "no `gold_tables`"),
        ('{"id": 5, "question": "?", "gold_tables": ["x"]}', "no `db`"),
        ('{"id": 5, "question": "?", "db": "bank", "gold_tables": ["x"]}', "no source 'bank'"),
        ('{"id": 5, "question": "?", "db": "zoo", "gold_tables": []}', "`gold_tables` is empty"),
        ('{"id": 4, "question": "?", "db": "zoo", "gold_tables": ["x"]}', "the id '4' is there twice"),
    ],
)
def test_a_line_that_is_no_solved_task(solved_file: Path, line: str, says: str) -> None:
    solved_file.write_text(solved_file.read_text() + line + "\n")
    with pytest.raises(UsageError, match=re.escape(says)):
        read_solved(solved_file, SOURCES)


def test_a_file_without_tasks(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        read_solved(tmp_path / "gone.jsonl", SOURCES)
    (tmp_path / "bare.jsonl").write_text("\n")
    with pytest.raises(UsageError, match="no task"):
        read_solved(tmp_path / "bare.jsonl", SOURCES)


def test_the_group_of_a_single_source_may_be_called_otherwise(solved_file: Path) -> None:
    assert read_solved(solved_file, {"everything"})[3].gold == ("everything.keepers",)


# arithmetic on answers alone


def answer(selector: str, number: int, tables: list[str], **more: Any) -> Answer:
    return {"selector": selector, "id": str(number), "tables": tables, "cpu": 0.0, "seconds": 0.0, **more}


def sure(number: int, right: bool, confidence: float) -> Answer:
    told = {"confidence": confidence, "status": "sufficient", "cost": {"steps": 1, "seconds": 0.1}}
    return answer("rules", number, ["s.a" if right else "s.b"], **told)


def solved(n: int) -> list[Solved]:
    return [Solved(str(i), f"g{i % 6}", "?", ("s.A",)) for i in range(n)]


@given(given_=st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=40))
def test_confidence_is_told_for_every_answer_once(given_: list[tuple[bool, float]]) -> None:
    lines, _ = judge(solved(len(given_)), [sure(i, right, c) for i, (right, c) in enumerate(given_)])
    told = summary_of(lines)
    assert sum(b["n"] for b in told["reliability"]) == len(given_)
    right = sum(b["n"] * b["exact"]["mean"] for b in told["reliability"])
    assert right == pytest.approx(sum(r for r, _ in given_), abs=0.01)
    assert told["sure"]["mean"] == pytest.approx(sum(c > 0.9 for _, c in given_) / len(given_), abs=1e-3)
    assert told["cost"] == {"steps": 1}


def test_the_surer_half_is_the_surer_half() -> None:
    lines, _ = judge(solved(10), [sure(i, i < 5, 0.95 - i / 20) for i in range(10)])
    told = summary_of(lines)
    assert told["exact"]["mean"] == 0.5
    assert told["exact_surer_half"]["mean"] == 1
    assert (told["sure"]["mean"], told["exact_sure"]["mean"]) == (0.1, 1)


def test_the_lead_is_antisymmetric() -> None:
    given_ = [answer("one", i, ["s.a"]) for i in range(8)] + [answer("two", i, ["s.b"]) for i in range(8)]
    lines, _ = judge(solved(8), given_)
    ahead, behind = lead(lines, "one", "two"), lead(lines, "two", "one")
    assert (ahead["f1"], ahead["exact_won"], ahead["exact_lost"]) == (1, 8, 0)
    assert (behind["f1"], behind["exact_won"], behind["exact_lost"]) == (-1, 0, 8)
    assert ahead["p"] == behind["p"] < 0.02
    assert ahead["p_exact"] == behind["p_exact"] == pytest.approx(2 / 256, abs=1e-4)


def test_a_page_escapes_names_of_sources(tmp_path: Path) -> None:
    tasks = [Solved("1", "<script>alert(1)</script>", "?", ("s.a",))]
    lines, _ = judge(tasks, [sure(1, True, 0.99)])
    told = {"rules": summary_of(lines)}
    html = page(
        {"tasks": 1, "groups": 1, "scope": "everything", "intervals": "over tasks", "suffice": "1", "selectors": told}
    )
    assert "<script" not in html
    assert "&lt;script" in html


# two runs


def write_run(folder: Path, right: list[bool], gold: str = "s.a") -> Path:
    folder.mkdir()
    rows = [
        {"selector": "rules", "id": str(i), "gold": [gold], "f1": float(r), "exact": r} for i, r in enumerate(right)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        ([True] * 20, [False] * 10 + [True] * 10, True),
        ([False] * 10 + [True] * 10, [True] * 20, False),
        ([True] * 20, [False] + [True] * 19, False),
        ([True, False] * 10, [True, False] * 10, False),
    ],
    ids=["lost many", "won many", "lost one: chance", "the same"],
)
def test_a_gate_closes_on_what_chance_does_not_explain(
    tmp_path: Path, before: list[bool], after: list[bool], worse: bool
) -> None:
    told = compare_runs(write_run(tmp_path / "a", before), write_run(tmp_path / "b", after))
    assert told["worse"] is worse
    assert told["selectors"]["rules"]["f1"] == pytest.approx((sum(after) - sum(before)) / 20)


def test_tasks_of_one_run_only_are_told_and_do_not_count(tmp_path: Path) -> None:
    told = compare_runs(write_run(tmp_path / "a", [True] * 5), write_run(tmp_path / "b", [True] * 8))
    assert (told["selectors"]["rules"]["tasks"], told["in_one_only"]) == (5, {"rules": 3})


def test_runs_that_cannot_be_compared(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", [True])
    with pytest.raises(UsageError, match="no run in"):
        compare_runs(run, tmp_path)
    with pytest.raises(UsageError, match="gold tables of a task differ"):
        compare_runs(run, write_run(tmp_path / "b", [True], gold="s.c"))


def test_the_commands(two_sources: Home, solved_file: Path, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from suffice.cli import cli

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(cli, ["--home", str(two_sources.path), "evaluate", *arguments])

    first, second = str(tmp_path / "a"), str(tmp_path / "b")
    for out, selectors in ((first, "rules,fused"), (second, "fused")):
        done = run("select", "--tasks", str(solved_file), "--selectors", selectors, "--out", out)
        assert done.exit_code == 0, done.output
    assert "fused (k = 1)" in done.output
    done = run("compare", first, second)
    assert (done.exit_code, "fused: F1 +0.000" in done.output) == (0, True)
    assert json.loads(run("compare", first, second, "--json").output)["worse"] is False
