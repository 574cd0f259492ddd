"""The stewards' queue and page."""
