"""Guarded, read-only access to the rows behind the catalog, as DuckDB relations whatever the source."""
