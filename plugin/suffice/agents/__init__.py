"""What an agent harness installs: the MCP server, skills and rules."""
