"""Figures that judge: bounds, agreement with counting, and what an interval and a test must say."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.evaluate.messy import degraded_share, lineage_score
from suffice.evaluate.metrics import FAULTS, bootstrap, fault, mcnemar, paired, score
from suffice.evaluate.rankings import LONGEST, best_cut, f1_at_cuts

names = st.sets(st.sampled_from("abcdefgh"), max_size=6)
shares = st.floats(0, 1)


@given(gold=names.filter(len), chosen=names)
def test_a_score_is_what_counting_says_and_case_is_none_of_it(gold: set[str], chosen: set[str]) -> None:
    s = score(gold, chosen)
    assert s == score({g.upper() for g in gold}, chosen)
    assert s.recall == pytest.approx(len(gold & chosen) / len(gold))
    assert s.f1 == pytest.approx(2 * len(gold & chosen) / (len(gold) + len(chosen)))
    assert s.exact == (gold == chosen) == (s.f1 == 1)


@given(gold=names.filter(len), chosen=names)
def test_f1_lies_between_recall_and_precision(gold: set[str], chosen: set[str]) -> None:
    s = score(gold, chosen)
    low, high = sorted((s.recall, s.precision))
    assert low - 1e-9 <= s.f1 <= high + 1e-9


sourced = st.sets(st.sampled_from(["s.a", "s.b", "s.c", "t.a", "t.b"]), max_size=4)


@given(gold=sourced.filter(len), chosen=sourced)
def test_every_answer_has_one_fault_that_its_score_agrees_with(gold: set[str], chosen: set[str]) -> None:
    s, found = score(gold, chosen), fault(gold, chosen)
    assert found in FAULTS
    assert (found == "exact") == s.exact
    assert (found == "missed") == (s.precision == 1 and s.recall < 1)
    assert (found == "over-included") == (s.recall == 1 and s.precision < 1)
    assert found != "another source" or s.f1 == 0
    assert (found == "nothing chosen") == (not chosen)


@given(groups=st.dictionaries(st.text(max_size=3), st.lists(shares, min_size=1, max_size=5), min_size=1, max_size=6))
def test_an_interval_holds_its_mean_and_the_order_of_groups_is_none_of_it(groups: dict[str, list[float]]) -> None:
    told = bootstrap(groups, draws=200)
    values = list(itertools.chain.from_iterable(groups.values()))
    assert told.mean == pytest.approx(np.mean(values))
    assert min(values) - 1e-9 <= told.low <= told.high <= max(values) + 1e-9
    by_group = bootstrap(groups, of_groups=True, draws=200)
    assert by_group.mean == pytest.approx(np.mean([np.mean(v) for v in groups.values()]))


def test_an_interval_is_as_wide_as_the_groups_differ() -> None:
    alike = bootstrap({str(i): [1.0, 0.0] * 20 for i in range(20)})
    apart = bootstrap({str(i): [float(i % 2)] * 40 for i in range(20)})
    assert (alike.mean, apart.mean) == pytest.approx((0.5, 0.5))
    assert alike.high - alike.low < 0.01 < 0.3 < apart.high - apart.low
    assert bootstrap({}) == bootstrap({"a": []})


def test_a_few_groups_tell_of_their_own_tasks_only() -> None:
    told = bootstrap({"a": [1.0, 0.0] * 50, "b": [0.0] * 100})
    assert told.mean == 0.25
    assert 0.17 < told.low < 0.22 < 0.28 < told.high < 0.33
    even = bootstrap({"a": [1.0] * 9, "b": [0.0]}, of_groups=True)
    assert (even.mean, even.low, even.high) == pytest.approx((0.5, 0.5, 0.5))


def test_the_paired_test_is_exact_in_the_small_and_symmetric() -> None:
    one, other = [1.0, 0.9, 0.8, 1.0, 0.7, 0.9], [0.2, 0.1, 0.3, 0.4, 0.1, 0.0]
    # Of 64 equally likely patterns of sign, two have a mean as far from zero as the one seen.
    assert paired(one, other, draws=20000) == pytest.approx(2 / 64, abs=0.006)
    assert paired(one, other) == paired(other, one)


def test_the_paired_test_keeps_its_level() -> None:
    rng = np.random.default_rng(3)
    ps = [paired(*rng.random((2, 30)), draws=400, seed=i) for i in range(200)]
    assert 0.01 < np.mean([p < 0.05 for p in ps]) < 0.1


@pytest.mark.parametrize(("gained", "lost", "p"), [(0, 0, 1.0), (1, 0, 1.0), (6, 0, 2 / 64), (5, 1, 14 / 64)])
def test_mcnemar_is_the_exact_binomial(gained: int, lost: int, p: float) -> None:
    one = [True] * gained + [False] * lost + [True, False]
    other = [False] * gained + [True] * lost + [True, False]
    assert mcnemar(one, other) == pytest.approx(p)
    assert mcnemar(other, one) == pytest.approx(p)


@given(tasks=st.lists(st.tuples(names.filter(len), st.permutations("abcdefgh")), min_size=1, max_size=5))
def test_no_fixed_cut_beats_the_best_one(tasks: list[tuple[set[str], list[str]]]) -> None:
    gold, hits = [sorted(g) for g, _ in tasks], [h for _, h in tasks]
    f1 = f1_at_cuts(gold, hits)
    assert len(f1) == LONGEST
    assert f1[best_cut(f1) - 1] == max(f1)
    assert f1[2] == pytest.approx(np.mean([score(g, h[:3]).f1 for g, h in zip(gold, hits, strict=True)]))


def entry(base: str, kind: str, rule: str = "", parent: str = "") -> dict[str, str]:
    return {"base": base, "kind": kind, "rule": rule, "parent": parent}


TRUTH: dict[str, Any] = {
    "tables": {
        "Trips": entry("Trips", "base"),
        "trips_prod": entry("Trips", "identical", "exact copy", "Trips"),
        "trips_prod_2": entry("Trips", "identical", "exact copy", "trips_prod"),
        "trips_oslo": entry("Trips", "partition", '"City" = Oslo', "Trips"),
        "trips_rome": entry("Trips", "partition", '"City" = Rome', "Trips"),
        "oslo_prod": entry("Trips", "partition", "exact copy", "trips_oslo"),
        "trips_2020": entry("Trips", "partition", "strftime(\"at\", '%Y') = 2020", "Trips"),
        "trips_test": entry("Trips", "subset_of", "a random 10 % of the rows", "Trips"),
        "oslo_nulls": entry("Trips", "missing_values", "5 % of the cells null", "trips_oslo"),
        "cities": entry("cities", "base"),
    }
}
OSLO = [["trips.city", "=", "'oslo'", None]]
BOTH = [*OSLO, ["Trips.City", "=", "Rome", None]]


@pytest.mark.parametrize(
    ("filters", "chosen", "recall", "precision"),
    [
        ([], ["Trips"], 1, 1),
        ([], ["trips_prod_2"], 1, 1),
        ([], ["Trips", "trips_prod"], 1, 0.5),
        ([], ["trips_test"], 0, 0),
        ([], ["oslo_prod"], 0, 0),
        ([], [], 0, 0),
        (OSLO, ["oslo_prod"], 1, 1),
        (OSLO, ["trips_oslo", "oslo_prod"], 1, 0.5),
        (OSLO, ["trips_oslo", "Trips"], 1, 0.5),
        (OSLO, ["trips_rome"], 0, 0),
        (OSLO, ["oslo_nulls"], 0, 0),
        (OSLO, ["trips_2020"], 0, 0),
        ([["trips.city", "!=", "Oslo", None]], ["trips_oslo"], 0, 0),
        (BOTH, ["trips_oslo"], 0, 1),
        (BOTH, ["trips_oslo", "trips_rome"], 1, 1),
        (BOTH, ["trips_oslo", "cities"], 0, 0.5),
    ],
)
def test_a_choice_among_copies(filters: list[list[Any]], chosen: list[str], recall: float, precision: float) -> None:
    s = lineage_score(TRUTH, ["trips"], filters, chosen)
    assert (s.recall, s.precision) == (recall, precision)
    assert s.exact == (recall == precision == 1)


def test_two_bases_are_counted_apart() -> None:
    s = lineage_score(TRUTH, ["trips", "cities"], OSLO, ["oslo_prod", "cities"])
    assert (s.recall, s.precision, s.exact) == (1, 1, True)
    assert lineage_score(TRUTH, ["trips", "cities"], [], ["Trips"]).recall == 0.5


def test_degraded_picks_are_counted_over_all_answers() -> None:
    assert degraded_share(TRUTH, [["trips_test", "Trips"], [], ["oslo_nulls", "trips_oslo"]]) == (2, 4)
