"""The enrichers that ship with Suffice, one a file. They enter by the entry-point group `suffice.enrichers`."""
