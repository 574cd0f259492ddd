"""Every extension point on one screen. Ours come in by the same doors as a stranger's.

Entry-point groups: `suffice.enrichers`, `suffice.catalogs`, `suffice.embedders`, `suffice.policies`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from suffice.model import Asset, Finding, Scope, Selection
    from suffice.rows.engine import Engine

__all__ = ["Catalog", "Embedder", "Enricher", "Lake", "Policy", "Unit", "UnitResult"]


class Catalog(Protocol):
    """Where assets live. `local` ships; `datahub` and `openmetadata` follow the same door."""

    def assets(self, scope: Scope | None = None) -> Iterator[Asset]: ...
    def asset(self, urn: str) -> Asset | None: ...
    def aspects(self, urn: str) -> Mapping[str, Any]: ...
    def put(self, urn: str, aspect: str, value: Mapping[str, Any]) -> bool:
        """Write one aspect; False when it is what the catalog holds already."""
        ...


class Lake(Protocol):
    """What an enricher sees: every asset of the catalog, what was found before it, and the rows behind them.

    A narrowed run sees all assets too, and does the units that hold an asset in scope."""

    @property
    def assets(self) -> Mapping[str, Asset]: ...
    @property
    def rows(self) -> Engine: ...
    @property
    def settings(self) -> Mapping[str, Any]:
        """The site's settings by name (`max_rows`, `max_values`, `sample_values`, ...); secrets are not among them."""
        ...

    def findings(self, kind: str, urn: str | None = None) -> Sequence[Finding]:
        """Findings in force of one kind, of one asset or of all."""
        ...

    def evidence(self, urn: str, name: str) -> Any:
        """A JSON value kept aside under `name` (value lists, sketches, fingerprints), or None."""
        ...

    def mark(self, asset: Asset) -> str:
        """Changes whenever the rows of the asset may have changed; "" when the source gives no mark."""
        ...


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of work that is redone only when `inputs` changes: usually a table, sometimes a group of them.

    `urns` are the assets whose findings of this enricher the unit replaces.
    """

    key: str
    urns: tuple[str, ...]
    inputs: str


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What a unit found, and JSON values to keep aside: (urn, name) -> value."""

    findings: tuple[Finding, ...] = ()
    evidence: Mapping[tuple[str, str], Any] | None = None
    notes: tuple[str, ...] = ()


class Enricher(Protocol):
    """Looks at the lake and says what it finds. An error in one unit is reported and the run goes on.

    `name` and `version` go into every finding; a new version redoes all units. `after` names the enrichers whose
    findings this one reads.
    """

    name: str
    version: str
    after: tuple[str, ...]

    def units(self, lake: Lake) -> Iterable[Unit]: ...
    def enrich(self, unit: Unit, lake: Lake) -> UnitResult: ...


@runtime_checkable
class Embedder(Protocol):
    """Texts to unit vectors. `name` and `width` are kept in the index and checked when it is opened."""

    name: str
    width: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), width), rows of norm 1."""
        ...


class Policy(Protocol):
    """From a task to a Selection. `rules` ships; a model drives the same tools.

    The entry point is called with the home and the memory mode.
    """

    name: str

    def select(self, task: str, scope: Scope) -> Selection: ...
