"""Calls the people in appointments.json one after the other, waits until each call has ended, and
acts on how it ended. It runs unattended, from cron for example: `python remind.py FOLDER`. The
folder has appointments.json and dial-policy.json, and gets outcomes.json.

It may be ended and started again at any time: each try has an external_id of its own, and the
server places a call with the same external_id only once.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
MOST_TRIES = 3
# The agent "Appointment reminders" and the main line of the sandbox; put yours here.
AGENT = "00000000-0000-4000-8002-000000000002"
LINE = "+12025550110"

# In a clone, after npm ci and npm run build.
CLONE = Path(__file__).resolve().parents[3]
NODE = CLONE / "node_modules/node/bin" / ("node.exe" if os.name == "nt" else "node")
SERVER = StdioServerParameters(
    command=str(NODE),
    args=[
        str(CLONE / "dist/voice-agent-mcp.js"),
        # No person is there to confirm calls, so the dial policy says which ones are allowed, and
        # nothing but these two tools can be used.
        *["--confirm", "never", "--dial-policy", str(FOLDER / "dial-policy.json")],
        *["--tools", "place_call,wait_for_call", "--log-level", "warn"],
    ],
    env=dict(os.environ),
)


class ToolError(Exception):
    """What voice-agent-mcp says about an error, for programs (docs/errors.md)."""

    def __init__(self, text: str, error: dict):
        super().__init__(text)
        # Making the same try again is right: it can succeed later, or it finds the call.
        self.is_open = error["retryable"] or error["kind"] == "unknown_outcome"


async def use(client: Client, name: str, arguments: dict) -> dict:
    """Calls a tool and gives its result."""
    result = await client.call_tool(name, arguments)
    if result.is_error:
        text = "\n".join(part.text for part in result.content if part.type == "text")
        raise ToolError(text, (result.meta or {})["voice-agent-mcp/error"])
    return result.structured_content


async def remind(client: Client, appointment: dict, attempt: int) -> dict:
    """Makes one try, waits until the call has ended, and says what to do then."""
    try:
        call = await use(client, "place_call", {
            "type": "phone",
            "agent_id": AGENT,
            "from_number": LINE,
            "to_number": appointment["phone"],
            "external_id": f"reminder-{appointment['id']}-{attempt}",
            "test_variables": {"contact": {"first_name": appointment["first_name"]}},
        })
        while not call.get("ended"):
            call = await use(client, "wait_for_call", {"call_id": call["id"], "timeout_seconds": 50})
    except ToolError as error:
        state = "open" if error.is_open else "needs a person"
        return {"state": state, "attempt": attempt, "note": str(error)}
    return outcome_of(call, attempt)


def outcome_of(call: dict, attempt: int) -> dict:
    """What to do now that the call has ended."""
    status, answer = call.get("status"), call.get("answer_status")
    note = f"{status}, {answer}"
    if status != "failed" and answer == "human":
        return {"state": "reached", "attempt": attempt, "note": note}
    if answer in ("machine", "user_busy", "user_unavailable") and attempt < MOST_TRIES:
        return {"state": "open", "attempt": attempt + 1, "note": note}
    return {"state": "needs a person", "attempt": attempt, "note": note}


def save(outcomes: dict) -> None:
    """Writes the file as a whole or not at all."""
    new = FOLDER / "outcomes.json.new"
    new.write_text(json.dumps(outcomes, indent=2) + "\n", encoding="utf-8")
    new.replace(FOLDER / "outcomes.json")


async def main() -> int:
    appointments = json.loads((FOLDER / "appointments.json").read_text(encoding="utf-8"))
    saved = FOLDER / "outcomes.json"
    # state: reached, needs a person, or open: the try is to be made, or its outcome to be found out.
    outcomes = json.loads(saved.read_text(encoding="utf-8")) if saved.exists() else {}
    async with Client(SERVER) as client:
        for appointment in appointments:
            before = outcomes.get(appointment["id"], {"state": "open", "attempt": 1})
            if before["state"] != "open":
                continue
            outcome = await remind(client, appointment, before["attempt"])
            outcomes[appointment["id"]] = outcome
            save(outcomes)
            print(f"{appointment['id']} {appointment['first_name']}: {outcome['state']} ({outcome['note']})")
    return any(outcome["state"] == "needs a person" for outcome in outcomes.values())


sys.exit(asyncio.run(main()))
