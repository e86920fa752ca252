"""Errors of this package. Every one is a StepwellError."""

from __future__ import annotations

import json
from typing import Any, Mapping

from .models import ApiIssue


class StepwellError(Exception):
    """The base of all errors of this package."""


class ApiError(StepwellError):
    """The service rejected a call. Decide by `code`; the message is for people.

    `code` is None if the answer did not come from Stepwell, such as the page of a proxy. `retry_after` is the
    header Retry-After in seconds. A start repeated with `idempotency_key` starts no second run.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str | None = None,
        issues: list[ApiIssue] | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.issues = issues or []
        self.request_id = request_id
        self.retry_after = retry_after
        self.idempotency_key = idempotency_key


class ConnectionFailedError(StepwellError):
    """No answer arrived: the network failed, or the answer took too long.

    A start repeated with `idempotency_key` starts no second run.
    """

    def __init__(self, message: str, *, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key


class RunFailedError(StepwellError):
    """A run ended without an output: it failed or was cancelled."""

    def __init__(self, run: Any) -> None:
        super().__init__(run.error_message or f"The run is {run.status}.")
        self.run = run


class CallbackError(StepwellError):
    """A callback is not from the service, or too old. Answer it with 400."""


def read_api_error(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    retry_after: float | None,
    idempotency_key: str | None,
) -> ApiError:
    """Reads the answer of a failed call."""
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    facts = parsed if isinstance(parsed, dict) else {}
    code, message = facts.get("code"), facts.get("message")
    is_ours = isinstance(code, str) and isinstance(message, str)
    issues = [
        ApiIssue(path=str(each["path"]), message=str(each["message"]))
        for each in facts.get("issues") or []
        if isinstance(each, dict) and "path" in each and "message" in each
    ]
    return ApiError(
        message if is_ours else f"The answer has the status {status} and did not come from Stepwell.",
        status=status,
        code=code if is_ours else None,
        issues=issues,
        request_id=facts.get("requestId") or headers.get("X-Request-Id"),
        retry_after=retry_after,
        idempotency_key=idempotency_key,
    )
