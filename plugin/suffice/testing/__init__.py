"""Stand-ins that ship with the library, so that nobody mocks: for our tests and for authors of plugins."""

from suffice.testing.embedder import HashEmbedder

__all__ = ["HashEmbedder"]
