"""The part of the Python SDK's interface that the examples use. Tests run the examples with it on
machines where the SDK cannot be installed.
"""

import asyncio
import json
from dataclasses import dataclass, field
from types import SimpleNamespace


@dataclass
class StdioServerParameters:
    command: str
    args: list[str] = field(default_factory=list)
    env: dict[str, str] | None = None


class Client:
    """A connection to a server over stdio, with one request at a time."""

    def __init__(self, server: StdioServerParameters):
        self._server = server
        self._requests = 0

    async def __aenter__(self):
        self._process = await asyncio.create_subprocess_exec(
            self._server.command,
            *self._server.args,
            env=self._server.env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # Maximum length of a line, which is one message, bytes.
            limit=64 * 1024 * 1024,
        )
        await self._request("initialize", {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "without-sdk", "version": "1.0.0"},
        })
        await self._send({"method": "notifications/initialized"})
        return self

    async def __aexit__(self, *_):
        self._process.stdin.close()
        await self._process.wait()

    async def call_tool(self, name, arguments):
        result = await self._request("tools/call", {"name": name, "arguments": arguments})
        return SimpleNamespace(
            is_error=result.get("isError", False),
            content=[SimpleNamespace(**part) for part in result["content"]],
            structured_content=result.get("structuredContent"),
            meta=result.get("_meta"),
        )

    async def _request(self, method, params):
        self._requests += 1
        await self._send({"id": self._requests, "method": method, "params": params})
        while True:
            line = await self._process.stdout.readline()
            if not line:
                raise ConnectionError("The server has ended.")
            message = json.loads(line)
            if "method" in message and "id" in message:
                raise NotImplementedError(f"The server asks for {message['method']}.")
            if message.get("id") != self._requests:
                continue
            if "error" in message:
                raise RuntimeError(message["error"]["message"])
            return message["result"]

    async def _send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        self._process.stdin.write(line.encode())
        await self._process.stdin.drain()
