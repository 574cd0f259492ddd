"""DataHub sources of ours, where an official one fails or there is none: SQLite, DuckDB, folders of data files."""
