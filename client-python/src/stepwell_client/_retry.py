"""Pauses between attempts."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
RETRIED_STATUSES = (429, 500, 502, 503, 504)


def pause(attempt: int, retry_after: float | None) -> float:
    """Seconds before the next attempt: never less than the service asks for, and different for each caller."""
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)
    if retry_after is None:
        return longest * (0.5 + random.random() / 2)
    return retry_after + longest * random.random()


def read_retry_after(text: str | None) -> float | None:
    """The header Retry-After in seconds: seconds or a date."""
    if text is None:
        return None
    if text.strip().isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
