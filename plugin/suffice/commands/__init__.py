"""The commands of the command line, a file a subject. Each imports what it needs when it runs."""
