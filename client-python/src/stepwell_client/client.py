"""The client: starts runs and follows them. `client.operations` has every operation of the service."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from functools import partial
from typing import Any, Callable, Iterator, Literal, Mapping, overload
from urllib.parse import quote

from . import models
from ._events import Event, TreeEvent, follow, follow_tree
from ._retry import pause
from ._transport import Transport
from .errors import ConnectionFailedError, RunFailedError
from .operations import Operations

# The longest wait that the service takes, in seconds.
LONGEST_WAIT = 30


class _Run:
    _kind = ""

    def __init__(self, client: StepwellClient, run_id: str) -> None:
        self.id = run_id
        self._client = client

    @overload
    def events(self, since: int | None = None, *, children: Literal[False] = False) -> Iterator[Event]: ...

    @overload
    def events(self, since: int | str | None = None, *, children: Literal[True]) -> Iterator[TreeEvent]: ...

    def events(
        self, since: int | str | None = None, *, children: bool = False
    ) -> Iterator[Event] | Iterator[TreeEvent]:
        """The events of the run until its end. They continue by themselves after a lost connection.

        `since`: continue after the event with this id; 0: from the first event. Without it a snapshot comes first.
        `children`: also the events of the runs that the run calls.
        """
        path = f"/v1/{self._kind}s/run/{quote(self.id, safe='')}/events"
        return (follow_tree if children else follow)(self._client._transport, path, since)

    @contextmanager
    def _until(self, timeout: float | None) -> Iterator[tuple[Operations, float | None]]:
        """Operations that end with `timeout`, and when that is. Turns their last error into TimeoutError."""
        end = None if timeout is None else time.monotonic() + timeout
        try:
            yield Operations(partial(self._client._transport.call, end=end)), end
        except ConnectionFailedError as error:
            if end is None or time.monotonic() < end:
                raise
            raise TimeoutError(f"The run {self.id} did not answer in {timeout} seconds.") from error

    def _wait(self, read: Callable[[int], Any], end: float | None) -> Any:
        while True:
            asked = time.monotonic()
            left = LONGEST_WAIT if end is None else min(LONGEST_WAIT, end - asked)
            status = read(max(0, int(left)))
            if status.status not in ("Pending", "Running"):
                return status
            now = time.monotonic()
            if end is not None and now >= end:
                raise TimeoutError(f"The run {self.id} has not ended in time.")
            # Such an answer says that the process stops; the next one may not be ready.
            if now - asked < 1:
                time.sleep(pause(1, None) if end is None else max(0.0, min(pause(1, None), end - now)))


class AgentRun(_Run):
    """A run of an agent."""

    _kind = "agent"

    def status(self, wait: int | None = None) -> models.AgentRun:
        """The state of the run. `wait`: seconds, at most 30, to wait for its end."""
        return self._client.operations.get_agent_run_status(self.id, wait=wait)

    def wait(self, timeout: float | None = None) -> models.AgentRun:
        """Waits until the run has completed, failed or was cancelled. Raises TimeoutError."""
        with self._until(timeout) as (operations, end):
            return self._wait(lambda seconds: operations.get_agent_run_status(self.id, wait=seconds), end)

    def output(self, timeout: float | None = None) -> str:
        """Waits for the answer. Raises RunFailedError if the run fails or is cancelled."""
        run = self.wait(timeout)
        if run.status != "Completed":
            raise RunFailedError(run)
        return run.final_output or ""

    def details(self) -> models.AgentRunDetails:
        """The status with the finished steps."""
        return self._client.operations.get_agent_run_details(self.id)

    def cancel(self) -> models.AgentRun | models.RunCancelled:
        """Does nothing if the run has ended."""
        return self._client.operations.cancel_agent_run(self.id)


class ToolRun(_Run):
    """A run of a tool."""

    _kind = "tool"

    def status(self, wait: int | None = None) -> models.ToolRun:
        """The state of the run. `wait`: seconds, at most 30, to wait for its end."""
        return self._client.operations.get_tool_run_status(self.id, wait=wait)

    def wait(self, timeout: float | None = None) -> models.ToolRun:
        """Waits until the run has completed or failed. Raises TimeoutError."""
        with self._until(timeout) as (operations, end):
            return self._wait_with(operations, end)

    def _wait_with(self, operations: Operations, end: float | None) -> models.ToolRun:
        return self._wait(lambda seconds: operations.get_tool_run_status(self.id, wait=seconds), end)

    def output(self, timeout: float | None = None) -> Any:
        """Waits for the output and parses it. Raises RunFailedError if the run fails or is cancelled."""
        with self._until(timeout) as (operations, end):
            run = self._wait_with(operations, end)
            if run.status != "Completed":
                raise RunFailedError(run)
            return json.loads(operations.get_tool_run_result(self.id).output_data)

    def result(self) -> models.ToolRunResult:
        """Input, output and output schema, each as JSON text."""
        return self._client.operations.get_tool_run_result(self.id)

    def cancel(self) -> models.ToolRun | models.RunCancelled:
        """Does nothing if the run has ended."""
        return self._client.operations.cancel_tool_run(self.id)


class StepwellClient:
    """A client of one service with one API key. Keep the key on servers.

    `retries`: attempts after the first one. `timeout`: seconds for an attempt, beside the time that it waits for a
    run. An answer that asks for a pause above `max_retry_after` is raised.
    """

    def __init__(
        self, url: str, key: str, *, retries: int = 4, timeout: float = 60, max_retry_after: float = 60
    ) -> None:
        self._transport = Transport(
            url=url, key=key, retries=retries, timeout=timeout, max_retry_after=max_retry_after
        )
        self.operations = Operations(self._transport.call)

    def run_agent(self, agent_id: str, message: str, **options: Any) -> AgentRun:
        """Starts an agent with a message. The options are those of `start_headers`."""
        body = models.StartAgentRun(user_message=message)
        started = self.operations.run_agent(agent_id, body, **start_headers(**options))
        return self.agent_run(started.id)

    def run_tool(self, tool_id: str, tool_input: Mapping[str, Any] | None = None, **options: Any) -> ToolRun:
        """Starts a tool with an input that matches its parameters. The options are those of `start_headers`."""
        started = self.operations.run_tool(tool_id, dict(tool_input or {}), **start_headers(**options))
        return self.tool_run(started.id)

    def agent_run(self, run_id: str) -> AgentRun:
        """A run of an agent that was started before."""
        return AgentRun(self, run_id)

    def tool_run(self, run_id: str) -> ToolRun:
        """A run of a tool that was started before."""
        return ToolRun(self, run_id)

    def each(self, operation: Callable[..., Any], **query: Any) -> Iterator[Any]:
        """All items of a list, page by page: `client.each(client.operations.list_runs, status="Failed")`."""
        cursor: str | None = query.pop("cursor", None)
        while True:
            page = operation(**query, cursor=cursor)
            yield from page.data
            cursor = page.next_cursor
            if cursor is None:
                return


def start_headers(
    *,
    idempotency_key: str | None = None,
    metadata: Mapping[str, str | int | float | bool] | None = None,
    max_credits: str | None = None,
    deadline_seconds: int | None = None,
    callback_url: str | None = None,
) -> dict[str, Any]:
    """The options of a start. By default each start has a new idempotency key, which its retries keep."""
    return {
        "idempotency_key": idempotency_key,
        "x_metadata": None if metadata is None else json.dumps(metadata),
        "x_max_credits": max_credits,
        "x_deadline_seconds": None if deadline_seconds is None else str(deadline_seconds),
        "x_callback_url": callback_url,
    }
