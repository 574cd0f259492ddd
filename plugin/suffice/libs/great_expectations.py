"""The only importer of great_expectations: a suite run over a table's columns in memory."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from suffice.errors import MissingExtra

__all__ = ["Expectation", "Outcome", "validate"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expectation by its name in Great Expectations (`expect_column_values_to_not_be_null`) and its arguments."""

    kind: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`unexpected` is the share (0..1) of the non-null values that break it, None where it has none."""

    expectation: Expectation
    success: bool
    unexpected: float | None


def validate(columns: Mapping[str, Any], suite: Sequence[Expectation]) -> list[Outcome]:
    """The outcome of each expectation over named columns (arrays of one length). Nothing is sent anywhere.

    Raises MissingExtra when the package is not installed.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import great_expectations as gx
        except ModuleNotFoundError as error:
            raise MissingExtra(error.name or "great_expectations", "expectations") from error
        import pandas as pd

        logging.getLogger("great_expectations").setLevel(logging.ERROR)
        context: Any = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False, "metric_calculations": False}
        asset = context.data_sources.add_pandas("rows").add_dataframe_asset("table")
        batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": pd.DataFrame(dict(columns))})
        expectations = [_class(gx, each.kind)(**each.arguments) for each in suite]
        found = batch.validate(gx.ExpectationSuite(name="suite", expectations=expectations))
    told: list[Any] = list(found.results)
    by_id = {_key(r.expectation_config.type, r.expectation_config.kwargs): r for r in told}
    return [_outcome(each, by_id[_key(each.kind, each.arguments)]) for each in suite]


def _class(gx: Any, kind: str) -> Any:
    return getattr(gx.expectations, "".join(part.capitalize() for part in kind.split("_")))


def _key(kind: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
    return kind, str(arguments.get("column", ""))


def _outcome(expectation: Expectation, result: Any) -> Outcome:
    percent = result.result.get("unexpected_percent")
    return Outcome(expectation, bool(result.success), None if percent is None else float(percent) / 100)
