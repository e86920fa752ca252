"""A client for Stepwell."""

from ._events import Event, PathPart, TreeEvent
from .client import AgentRun, StepwellClient, ToolRun
from .errors import ApiError, CallbackError, ConnectionFailedError, RunFailedError, StepwellError
from .webhooks import Callback, sign_webhook, verify_callback

__all__ = [
    "AgentRun",
    "ApiError",
    "Callback",
    "CallbackError",
    "ConnectionFailedError",
    "Event",
    "PathPart",
    "RunFailedError",
    "StepwellClient",
    "StepwellError",
    "ToolRun",
    "TreeEvent",
    "sign_webhook",
    "verify_callback",
]
