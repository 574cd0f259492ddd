"""Discovery memory: what answered which task, what did not, and when not to believe it."""
