"""Sends requests with urllib, again if that is safe."""

from __future__ import annotations

import http.client
import json
import secrets
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Mapping, Sequence
from urllib.parse import quote, urlencode, urlsplit

from ._codec import decode, encode
from ._retry import RETRIED_STATUSES, pause, read_retry_after
from .errors import ApiError, ConnectionFailedError, StepwellError, read_api_error


# Seconds, also for a call whose time is nearly over, such as wait(timeout=0).
SHORTEST_ATTEMPT = 1.0


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the key to another address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None
    is_repeatable: bool
    timeout: float
    # On the monotonic clock: no attempt begins later.
    end: float | None = None


class Transport:
    """The connection to one service with one API key."""

    def __init__(self, *, url: str, key: str, retries: int, timeout: float, max_retry_after: float) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError("url must begin with http:// or https://")
        self._url = url.rstrip("/")
        self._key = key
        self.retries = retries
        self.timeout = timeout
        self._max_retry_after = max_retry_after
        self._opener = urllib.request.build_opener(_NoRedirect)

    def call(
        self,
        method: str,
        path: str,
        *,
        repeat: str,
        answer: Any,
        texts: Sequence[str] = (),
        parameters: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        body: Any = None,
        end: float | None = None,
    ) -> Any:
        """Calls an operation, until `end` on the monotonic clock. Raises ApiError or ConnectionFailedError."""
        sent = {name: _text(value) for name, value in (headers or {}).items() if value is not None}
        if repeat == "with-key":
            sent.setdefault("Idempotency-Key", secrets.token_hex(16))
        if body is not None:
            sent["Content-Type"] = "application/json"
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        request = Request(
            method=method,
            path=_fill(path, parameters or {}) + (f"?{urlencode(given)}" if given else ""),
            headers=sent,
            body=None if body is None else json.dumps(encode(body)).encode(),
            is_repeatable=repeat != "never",
            timeout=self.timeout + float(given.get("wait", "0")),
            end=end,
        )
        return decode(answer, self._send(request, lambda response: _read_answer(response, texts)))

    def open_events(self, path: str, last: int | str | None, silence: float) -> http.client.HTTPResponse:
        """Opens a stream of events after the event `last`."""
        headers = {"Accept": "text/event-stream, application/json"}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        request = Request("GET", path, headers, None, True, silence)
        return self._send(request, lambda response: response)

    def _send(self, request: Request, read: Any) -> Any:
        attempt = 0
        while True:
            try:
                return self._attempt(request, read)
            except (ApiError, ConnectionFailedError) as error:
                wait = error.retry_after if isinstance(error, ApiError) else None
                may_retry = attempt < self.retries and _is_retriable(error, request.is_repeatable)
                if not may_retry or (wait or 0) > self._max_retry_after:
                    raise
                delay = pause(attempt, wait)
                if request.end is not None and time.monotonic() + delay >= request.end:
                    raise
            time.sleep(delay)
            attempt += 1

    def _attempt(self, request: Request, read: Any) -> Any:
        outgoing = urllib.request.Request(
            self._url + request.path,
            data=request.body,
            headers={"X-API-Key": self._key, **request.headers},
            method=request.method,
        )
        idempotency_key = request.headers.get("Idempotency-Key")
        timeout = request.timeout
        if request.end is not None:
            timeout = min(timeout, max(SHORTEST_ATTEMPT, request.end - time.monotonic()))
        try:
            return read(self._opener.open(outgoing, timeout=timeout))
        except urllib.error.HTTPError as error:
            with error:
                raise _rejection(error, idempotency_key) from None
        except (OSError, http.client.HTTPException) as error:
            message = f"The service cannot be reached: {error}"
            raise ConnectionFailedError(message, idempotency_key=idempotency_key) from error


def _rejection(error: urllib.error.HTTPError, idempotency_key: str | None) -> ApiError:
    try:
        body = error.read()
    except (OSError, http.client.HTTPException):
        body = b""
    retry_after = read_retry_after(error.headers.get("Retry-After"))
    return read_api_error(
        error.code, error.headers, body, retry_after=retry_after, idempotency_key=idempotency_key
    )


def _is_retriable(error: StepwellError, is_repeatable: bool) -> bool:
    """429 has done nothing; other failures may have."""
    if isinstance(error, ApiError):
        return error.status == 429 or (is_repeatable and error.status in RETRIED_STATUSES)
    return is_repeatable


def _read_answer(response: http.client.HTTPResponse, texts: Sequence[str]) -> Any:
    """Reads JSON, or a text if it has one of the media types `texts`."""
    with response:
        text = response.read()
    if response.headers.get_content_type() in texts:
        return text.decode()
    try:
        return json.loads(text)
    except ValueError as error:
        raise StepwellError("The answer is not JSON.") from error


def _fill(path: str, parameters: Mapping[str, Any]) -> str:
    for name, value in parameters.items():
        if not value:
            raise ValueError(f"The parameter {name} of the path is missing.")
        path = path.replace("{" + name + "}", quote(str(value), safe=""))
    return path


def _text(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
