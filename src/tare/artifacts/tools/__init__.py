"""Other load generators, fetched by their ordinary package names: YCSB, cassandra-stress, latte."""

from __future__ import annotations

from tare.artifacts.tools.cache import Tool
from tare.artifacts.tools.fetch import TOOL_NAMES, VERSIONS, ToolName, fetch_tool

__all__ = ["TOOL_NAMES", "VERSIONS", "Tool", "ToolName", "fetch_tool"]
