"""The only importer of the MCP SDK and of uvicorn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import MissingExtra

if TYPE_CHECKING:
    from mcp.server import MCPServer

__all__ = ["run_http", "server", "tool_error"]


def server(name: str, instructions: str, version: str) -> MCPServer[Any]:
    """An empty MCP server. Raises MissingExtra when the SDK is not installed."""
    try:
        from mcp.server import MCPServer
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "mcp", "agents") from error
    return MCPServer(name, instructions=instructions, version=version, log_level="WARNING")


def tool_error(text: str) -> Exception:
    """What a tool raises to answer with an error that the agent can read."""
    from mcp.server.mcpserver.exceptions import ToolError

    return ToolError(text)


def run_http(app: Any, host: str, port: int) -> None:
    import uvicorn

    uvicorn.run(app, host=host, port=port, log_level="warning")
