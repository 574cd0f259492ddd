"""The nouns of Suffice: what a catalog holds, what an enricher finds, what the reasoner answers.

Plain data without behaviour that costs anything: this module imports the standard library only, since every
command loads it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

__all__ = [
    "Alternative",
    "Asset",
    "AssetRole",
    "Column",
    "ColumnKind",
    "ColumnProfile",
    "Cost",
    "Endpoint",
    "Finding",
    "ForeignKey",
    "Join",
    "LeftOut",
    "Missing",
    "Requirement",
    "RequirementKind",
    "Scope",
    "Selected",
    "Selection",
    "SourceRef",
    "Status",
    "TableProfile",
    "Union",
    "digest",
]

ColumnKind = Literal["text", "integer", "number", "time", "boolean", "nested", "binary", "other"]
Status = Literal["proposed", "accepted", "edited", "rejected", "expired"]
SelectionStatus = Literal["sufficient", "insufficient", "needs_binding"]
RequirementKind = Literal["entity", "attribute", "value", "time", "place", "grain", "measure", "comparison"]
AssetRole = Literal["answers", "filters", "bridges", "describes"]


def digest(*parts: object) -> str:
    """A stable 128-bit hex digest of JSON-able parts; the content hash that decides what is redone.

    >>> digest("a", 1) == digest("a", 1), digest("a", 1) == digest("a1")
    (True, False)
    """
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Column:
    """One column (top level; nested fields stay inside their native type).

    `type` is the native type as the source says it; `kind` is what Suffice reasons with. `generated` is None for a
    plain column, else "virtual" or "stored". `original` is the name in the source where a stable rename was needed.
    """

    name: str
    type: str = ""
    kind: ColumnKind = "other"
    nullable: bool = True
    description: str = ""
    generated: Literal["virtual", "stored"] | None = None
    original: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A declared reference: `columns` of the holder point at `ref_columns` of `ref_table`.

    `ref_urn` is empty when the table does not exist in the source ("broken").
    """

    name: str
    columns: tuple[str, ...]
    ref_table: str
    ref_columns: tuple[str, ...]
    ref_urn: str = ""


@dataclass(frozen=True, slots=True)
class Asset:
    """A table or view as the catalog holds it.

    `source` is the platform instance that `ingest --name` gave, `schema` is "main" where the platform has none.
    `upstreams` are urns; `description` is what the source or a person wrote, never a generated text.
    `properties` are DataHub custom properties (strings), among them how a file is read.
    """

    urn: str
    source: str
    schema: str
    name: str
    platform: str
    kind: Literal["table", "view"] = "table"
    columns: tuple[Column, ...] = ()
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    description: str = ""
    definition: str = ""
    upstreams: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """`source.schema.table`, the name a person types."""
        return f"{self.source}.{self.schema}.{self.name}"

    def column(self, name: str) -> Column | None:
        return next((c for c in self.columns if c.name == name), None)

    @property
    def schema_digest(self) -> str:
        """Changes when names, types, keys or texts of the source change; not with its rows."""
        return digest(
            self.kind,
            [dataclasses.astuple(c) for c in self.columns],
            self.primary_key,
            [dataclasses.astuple(k) for k in self.foreign_keys],
            self.description,
            self.definition,
        )


@dataclass(frozen=True, slots=True)
class SourceRef:
    """Where the rows of a source are: enough to read them again, never a password.

    `kind` is "sqlite", "duckdb", "files" or "sqlalchemy"; `location` a path or a URL without password.
    """

    name: str
    kind: Literal["sqlite", "duckdb", "files", "sqlalchemy"]
    location: str
    platform: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Which sources, schemas and tables a command may touch; `!` excludes.

    >>> s = Scope(("shop", "!shop.tmp.*"))
    >>> s.admits("shop", "main", "orders"), s.admits("shop", "tmp", "x"), s.admits("bank", "main", "t")
    (True, False, False)
    >>> Scope().admits("any", "main", "t")
    True
    """

    globs: tuple[str, ...] = ()

    @staticmethod
    def of(value: str | Iterable[str] | None) -> Scope:
        """From a task line's `scope` (a string or a list) or repeated flags."""
        if value is None:
            return Scope()
        return Scope((value,)) if isinstance(value, str) else Scope(tuple(value))

    def admits(self, source: str, schema: str, table: str) -> bool:
        names = (source, f"{source}.{schema}", f"{source}.{schema}.{table}")
        wanted = [g for g in self.globs if not g.startswith("!")]
        barred = [g[1:] for g in self.globs if g.startswith("!")]
        hit = not wanted or any(fnmatchcase(n, g) for g in wanted for n in names)
        return hit and not any(fnmatchcase(n, g) for g in barred for n in names)

    def admits_asset(self, asset: Asset) -> bool:
        return self.admits(asset.source, asset.schema, asset.name)


@dataclass(frozen=True, slots=True)
class Finding:
    """What an enricher says of an asset or a column.

    `kind` names it ("profile", "subset_of", "family", ...); `value` is JSON; `numbers` are the figures a steward reads
    beside it; `query` is the statement that gave them, in DuckDB's SQL. `fact` tells measured facts from proposals.
    `subject` tells apart several findings of one kind on one asset (the other table of a join, say).
    `inputs` is the digest of all that the finding was drawn from.
    """

    urn: str
    kind: str
    value: Any = None
    column: str = ""
    subject: str = ""
    numbers: Mapping[str, float | int | None] = field(default_factory=dict)
    query: str = ""
    enricher: str = ""
    version: str = ""
    inputs: str = ""
    confidence: float = 1.0
    fact: bool = True
    status: Status = "accepted"

    @property
    def id(self) -> str:
        """The same from run to run, whatever the numbers: a decision of a person sticks to it."""
        return digest(self.urn, self.column, self.kind, self.subject)

    @property
    def in_force(self) -> bool:
        return self.status not in ("rejected", "expired")


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """Statistics of one column over `base` rows of its table profile.

    Shares are 0..1 of the examined rows and None when there are none. `distinct` counts non-null values and is exact
    unless `distinct_exact` is False. `types` gives the share of non-null cells a stored type where it is not one type
    ("integer", "real", "text", "blob"). `top` holds [value, count], most frequent first. `quantiles` are the 5th,
    25th, 50th, 75th and 95th percent. `skipped` says why a column or which metric was not computed.
    """

    nulls: float | None = None
    blanks: float | None = None
    distinct: int | None = None
    distinct_exact: bool = True
    unique: bool = False
    min: Any = None
    max: Any = None
    mean: float | None = None
    quantiles: tuple[Any, ...] = ()
    top: tuple[tuple[Any, int], ...] = ()
    length: tuple[int, int] | None = None
    types: Mapping[str, float] = field(default_factory=dict)
    nonfinite: float = 0.0
    sensitive: str = ""
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class TableProfile:
    """Statistics of one table. `rows` counts the whole table, `base` the rows examined (less when sampled)."""

    rows: int
    base: int
    columns: Mapping[str, ColumnProfile]
    notes: tuple[str, ...] = ()

    @property
    def sampled(self) -> bool:
        return self.base < self.rows

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> TableProfile:
        columns = {
            name: ColumnProfile(
                **{
                    **c,
                    "quantiles": tuple(c.get("quantiles", ())),
                    "top": tuple((v, n) for v, n in c.get("top", ())),
                    "length": tuple(c["length"]) if c.get("length") else None,
                }
            )
            for name, c in value["columns"].items()
        }
        return TableProfile(value["rows"], value["base"], columns, tuple(value.get("notes", ())))


@dataclass(frozen=True, slots=True)
class Endpoint:
    urn: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """An equi-join. `match` is the share (0..1) of non-null left keys found on the right, None when not measured;
    `unique` says whether the right key is unique, None when not known."""

    left: Endpoint
    right: Endpoint
    match: float | None = None
    unique: bool | None = None
    kind: Literal["declared", "measured", "queried", "remembered"] = "declared"


@dataclass(frozen=True, slots=True)
class Union:
    tables: tuple[str, ...]
    on: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing the task needs. `covered_by` are `urn#column` or a urn; empty means it is missing."""

    id: str
    text: str
    kind: RequirementKind
    covered_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selected:
    """A table of the answer, with why it is in it and how far it can be trusted (0..1)."""

    urn: str
    source: str
    schema: str
    table: str
    role: AssetRole
    covers: tuple[str, ...]
    columns: tuple[str, ...]
    evidence: tuple[str, ...]
    trust: float


@dataclass(frozen=True, slots=True)
class Alternative:
    tables: tuple[str, ...]
    confidence: float
    differs: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    table: str
    why: str


@dataclass(frozen=True, slots=True)
class Missing:
    requirement: str
    text: str
    nearest: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    steps: int = 0
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    sql_statements: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Selection:
    """The answer: the best set found, whatever the status.

    `tables` is never empty unless nothing in scope fits at all. See docs/architecture.md for each JSON field.
    """

    task: str
    tables: tuple[Selected, ...] = ()
    unions: tuple[Union, ...] = ()
    joins: tuple[Join, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    confidence: float = 0.0
    alternatives: tuple[Alternative, ...] = ()
    missing: tuple[Missing, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    requests: tuple[Mapping[str, Any], ...] = ()
    deferred: tuple[Mapping[str, Any], ...] = ()
    justification: str = ""
    memory: Mapping[str, Any] = field(default_factory=lambda: {"mode": "off", "recalled": []})
    cost: Cost = field(default_factory=Cost)

    @property
    def status(self) -> SelectionStatus:
        if self.requests:
            return "needs_binding"
        return "insufficient" if self.missing or not self.tables else "sufficient"

    def to_json(self) -> dict[str, Any]:
        """The stable JSON, `"format": 1`; plain dicts, lists, strings and numbers."""
        body = dataclasses.asdict(self)
        return {"format": 1, "task": body.pop("task"), "status": self.status, **body}
