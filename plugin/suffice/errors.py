"""What can go wrong, each with the mend in its one line.

SufficeError
 ├─ UsageError            wrong use: a bad flag, an unknown table, an empty task          (exit 2)
 │   ├─ SettingsError     a setting that is unknown or has a wrong value
 │   └─ UnknownAsset      a table name that names none, or several
 ├─ NotReady              a step before this one has not run (select before index)        (exit 3)
 ├─ IndexMismatch         the index was built with another embedder or format, or is torn (exit 3)
 ├─ SourceError           a source cannot be read: missing, empty, refused                (exit 3)
 │   └─ DataUnreachable   the catalog knows the table, its rows cannot be read now
 ├─ HomeBusy              another run holds this home                                     (exit 3)
 └─ MissingExtra          an optional package is not installed                            (exit 3)
"""

from __future__ import annotations

__all__ = [
    "DataUnreachable",
    "HomeBusy",
    "IndexMismatch",
    "MissingExtra",
    "NotReady",
    "SettingsError",
    "SourceError",
    "SufficeError",
    "UnknownAsset",
    "UsageError",
]


class SufficeError(Exception):
    """A fault with its place and its mend.

    >>> str(SufficeError("no table in 'data/'", mend="name a folder that holds CSV or Parquet files"))
    "no table in 'data/' (name a folder that holds CSV or Parquet files)"
    """

    exit_code = 3

    def __init__(self, problem: str, *, mend: str = "") -> None:
        self.problem = " ".join(problem.split())
        self.mend = " ".join(mend.split())
        super().__init__(f"{self.problem} ({self.mend})" if self.mend else self.problem)


class UsageError(SufficeError):
    exit_code = 2


class SettingsError(UsageError):
    pass


class UnknownAsset(UsageError):
    pass


class NotReady(SufficeError):
    pass


class IndexMismatch(SufficeError):
    pass


class SourceError(SufficeError):
    pass


class DataUnreachable(SourceError):
    pass


class HomeBusy(SufficeError):
    pass


class MissingExtra(SufficeError):
    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed", mend=f"pip install 'suffice[{extra}]'")
        self.package = package
        self.extra = extra
