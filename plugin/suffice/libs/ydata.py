"""The only importer of ydata-profiling: its HTML report of a sample."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from suffice.errors import MissingExtra

__all__ = ["write_report"]


def write_report(columns: Mapping[str, Any], title: str, path: Path) -> None:
    """Write the report of named columns (arrays of one length) to `path`. Nothing is sent anywhere.

    Raises MissingExtra when the package is not installed.
    """
    os.environ.setdefault("YDATA_PROFILING_NO_ANALYTICS", "True")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from ydata_profiling import ProfileReport
        except ModuleNotFoundError as error:
            raise MissingExtra(error.name or "ydata_profiling", "profile") from error
        import pandas as pd

        report = ProfileReport(pd.DataFrame(dict(columns)), title=title, minimal=True, progress_bar=False)
        report.to_file(str(path), silent=True)
