"""Data files as tables: how one is read, decided once at ingestion and kept in the asset's properties."""

from __future__ import annotations

from suffice.model import Asset
from suffice.rows.fetch import Fetched

__all__ = ["read"]


def read(asset: Asset, max_rows: int) -> Fetched | str:
    """The rows of a file's table: fetched, or the SELECT with which DuckDB reads a large file in place."""
    raise NotImplementedError
