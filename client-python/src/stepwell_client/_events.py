"""Reads the events of a run, again after a lost connection."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator

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


def follow(transport: Transport, path: str, since: int | None) -> Iterator[Event]:
    """The events of a run until its last one, none missing and none repeated."""
    texts = _TextProgress()
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
                for event in _read_events(response, on_line):
                    last = last if event.id is None else event.id
                    yield from texts.take(event)
                    if event.type in LAST_EVENTS:
                        return
        except (OSError, http.client.HTTPException):
            pass
        if silent > transport.retries:
            raise ConnectionFailedError("The service ends the events without sending any.")
        # Also after an orderly end: the service closes a stream after ten minutes.
        time.sleep(pause(silent, None))
        texts.reconnect()


def _read_events(response: http.client.HTTPResponse, on_line: Callable[[], None]) -> Iterator[Event]:
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
                yield Event(None if number is None else int(number), name, _parse(name, "\n".join(data)))
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
    """The text that the reader has. A new connection sends an iteration's text from its start."""

    iteration: int = 0
    text: str = ""
    is_repeated: bool = field(default=False)

    def reconnect(self) -> None:
        self.is_repeated = self.text != ""

    def take(self, event: Event) -> Iterator[Event]:
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
            yield Event(None, "text.reset", {"iteration": iteration})
            yield event
        elif text != known:
            yield Event(None, "text.delta", {"iteration": iteration, "text": text[len(known) :]})
