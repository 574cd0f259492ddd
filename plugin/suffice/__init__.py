"""Suffice: which tables answer this? The smallest set that suffices, with the evidence."""

__version__ = "0.1.0"
