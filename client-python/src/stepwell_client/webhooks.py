"""Signatures of callbacks (Standard Webhooks) and of calls to webhook triggers."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from .errors import CallbackError

# A rotation sends two.
MAX_SIGNATURES = 16


@dataclass
class Callback:
    """A callback of the service. `id` is the same for every attempt: skip an id that you have seen."""

    id: str
    type: str
    timestamp: str
    data: dict[str, Any]


def verify_callback(
    secret: str | Sequence[str],
    headers: Mapping[str, str],
    body: bytes | str,
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> Callback:
    """Checks that a callback comes from the service and returns it.

    Give the body's exact bytes, before any parser has changed them. During a rotation, `secret` may be a list.
    Raises CallbackError.
    """
    given = {name.lower(): value for name, value in headers.items()}
    event_id = _header(given, "webhook-id")
    timestamp = _header(given, "webhook-timestamp")
    signatures = _header(given, "webhook-signature").split(" ")[:MAX_SIGNATURES]
    age = abs((time.time() if now is None else now) - float(timestamp)) if timestamp.isdecimal() else float("inf")
    if age > tolerance_seconds:
        raise CallbackError("The callback's webhook-timestamp is too old, too new or not a time.")
    content = _bytes(body)
    signed = f"{event_id}.{timestamp}.".encode() + content
    secrets = [secret] if isinstance(secret, str) else secret
    expected = [base64.b64encode(_hmac(_callback_key(each), signed)) for each in secrets]
    found = [
        hmac.compare_digest(each, signature[3:].encode())
        for each in expected
        for signature in signatures
        if signature.startswith("v1,")
    ]
    if True not in found:
        raise CallbackError("No signature of the callback is valid.")
    return _parse(event_id, content)


def sign_webhook(secret: str, body: bytes | str) -> str:
    """The header X-Signature of a call to a trigger whose signature is `hex`. Sign the exact bytes that you send."""
    return _hmac(secret.encode(), _bytes(body)).hex()


def _parse(event_id: str, content: bytes) -> Callback:
    try:
        body = json.loads(content)
    except ValueError as error:
        raise CallbackError("The callback's body is not JSON.") from error
    facts = body if isinstance(body, dict) else {}
    kind, timestamp, data = facts.get("type"), facts.get("timestamp"), facts.get("data")
    if isinstance(kind, str) and isinstance(timestamp, str) and isinstance(data, dict):
        return Callback(event_id, kind, timestamp, data)
    raise CallbackError("The callback's body has no type, timestamp and data.")


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if value:
        return value
    raise CallbackError(f"The callback has no header {name}.")


def _callback_key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if key:
        return key
    raise CallbackError("The secret is not valid: it has the form whsec_ and base64.")


def _bytes(body: bytes | str) -> bytes:
    return body.encode() if isinstance(body, str) else body


def _hmac(key: bytes, content: bytes) -> bytes:
    return hmac.new(key, content, hashlib.sha256).digest()
