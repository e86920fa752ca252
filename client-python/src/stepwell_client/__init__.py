"""A client for Stepwell."""

from ._events import Event
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
    "RunFailedError",
    "StepwellClient",
    "StepwellError",
    "ToolRun",
    "sign_webhook",
    "verify_callback",
]
