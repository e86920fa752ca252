"""Reads the events of a run, again after a lost connection."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Iterator, NamedTuple, TypeVar

from ._retry import pause
from ._transport import Transport
from .errors import ConnectionFailedError, StepwellError

LAST_EVENTS = ("run.completed", "run.failed", "run.cancelled")
# The service sends a comment every 15 seconds.
SILENCE = 45.0


@dataclass
class Event:
    """An event of a run. `id` is None for the texts, which are not stored."""

    id: int | None
    type: str
    data: dict[str, Any]


@dataclass
class PathPart:
    """The step, of a run further up, that called a run: an agent's or a tool's."""

    step_number: int
    agent_run_id: str | None = None
    tool_run_id: str | None = None


@dataclass
class TreeEvent:
    """An event of a run, or of a run that it calls.

    `path` leads from the run to that one, and is empty for the run itself. `id` is a text such as `12(7.1:5)`, to
    continue after, and None for the texts, which are not stored.
    """

    id: str | None
    type: str
    data: dict[str, Any]
    path: list[PathPart]


_AnyEvent = TypeVar("_AnyEvent", Event, TreeEvent)


def follow(transport: Transport, path: str, since: int | str | None) -> Iterator[Event]:
    """The events of a run until its last one, none missing and none repeated."""
    return _follow(transport, path, since, _event)


def follow_tree(transport: Transport, path: str, since: int | str | None) -> Iterator[TreeEvent]:
    """Like `follow`, with the runs that the run calls."""
    return _follow(transport, path + "?children=true", since, _tree_event)


def _follow(
    transport: Transport, path: str, since: int | str | None, make: Callable[[_Message], _AnyEvent]
) -> Iterator[_AnyEvent]:
    texts: dict[str, _TextProgress] = {}
    last = since
    # Connections in a row that sent nothing.
    silent = 0

    def on_line() -> None:
        nonlocal silent
        silent = 0

    while True:
        silent += 1
        response = transport.open_events(path, last, SILENCE)
        try:
            with response:
                # The run has ended, and `last` is its last event.
                if response.status == 204:
                    return
                for event in map(make, _read_messages(response, on_line)):
                    last = last if event.id is None else event.id
                    called = event.path if isinstance(event, TreeEvent) else []
                    yield from texts.setdefault(str(called), _TextProgress()).take(event)
                    if event.type in LAST_EVENTS:
                        del texts[str(called)]
                        if not called:
                            return
        except (OSError, http.client.HTTPException):
            pass
        if silent > transport.retries:
            raise ConnectionFailedError("The service ends the events without sending any.")
        # Also after an orderly end: the service closes a stream after ten minutes.
        time.sleep(pause(silent, None))
        for each in texts.values():
            each.reconnect()


class _Message(NamedTuple):
    id: str | None
    type: str
    data: dict[str, Any]


def _event(message: _Message) -> Event:
    return Event(None if message.id is None else int(message.id), message.type, message.data)


def _tree_event(message: _Message) -> TreeEvent:
    data = dict(message.data)
    path = [
        PathPart(part["stepNumber"], part.get("agentRunId"), part.get("toolRunId"))
        for part in data.pop("path", [])
    ]
    return TreeEvent(message.id, message.type, data, path)


def _read_messages(response: http.client.HTTPResponse, on_line: Callable[[], None]) -> Iterator[_Message]:
    """Server-sent events (HTML Standard, section 9.2.6), as the service writes them."""
    number, name, data = None, "message", []
    for raw in response:
        on_line()
        # The last line of a cut connection.
        if not raw.endswith(b"\n"):
            return
        line = raw.decode().rstrip("\r\n")
        if line == "":
            if data:
                yield _Message(number, name, _parse(name, "\n".join(data)))
            number, name, data = None, "message", []
            continue
        key, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if key == "id":
            number = value
        elif key == "event":
            name = value
        elif key == "data":
            data.append(value)


def _parse(name: str, text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise StepwellError(f"The event {name} is not JSON.") from error
    return parsed if isinstance(parsed, dict) else {}


@dataclass
class _TextProgress:
    """The text that the reader has of one run. A new connection sends an iteration's text from its start."""

    iteration: int = 0
    text: str = ""
    is_repeated: bool = field(default=False)

    def reconnect(self) -> None:
        self.is_repeated = self.text != ""

    def take(self, event: _AnyEvent) -> Iterator[_AnyEvent]:
        if event.type not in ("text.reset", "text.delta"):
            yield event
            return
        iteration, text = event.data["iteration"], event.data.get("text", "")
        if event.type == "text.reset" or iteration != self.iteration:
            self.iteration, self.text, self.is_repeated = iteration, "", False
        known, is_repeated = self.text, self.is_repeated
        self.text, self.is_repeated = (text if is_repeated else known + text), False
        if not is_repeated:
            yield event
        elif not text.startswith(known):
            yield replace(event, type="text.reset", data={"iteration": iteration})
            yield event
        elif text != known:
            yield replace(event, data={"iteration": iteration, "text": text[len(known) :]})
