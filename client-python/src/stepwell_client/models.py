"""Generated from the OpenAPI document by `npm run docs:generate`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

ToolInput = dict[str, Any]
Definition = dict[str, Any]
ApiErrorCode = Literal["invalid_request", "agent_inactive", "insufficient_credits", "trigger_misconfigured", "unauthenticated", "invalid_signature", "api_access_disabled", "forbidden", "organization_suspended", "not_found", "method_not_allowed", "conflict", "idempotency_conflict", "precondition_failed", "payload_too_large", "rate_limited", "internal_error"]
ToolRunStatus = Literal["Pending", "Running", "Completed", "Failed"]
ToolRunStatusInt = Literal[0, 1, 2, 3]
AgentRunStatus = Literal["Pending", "Running", "Completed", "Failed", "Cancelled"]
RunKind = Literal["agent", "tool"]


@dataclass(kw_only=True)
class StartAgentRun:
    user_message: str = field(metadata={"name": "userMessage"})


@dataclass(kw_only=True)
class ForkChanges:
    system_prompt: str | None = field(default=None, metadata={"name": "systemPrompt"})
    model: str | None = None
    user_message: str | None = field(default=None, metadata={"name": "userMessage"})
    input: dict[str, Any] | None = None
    output: Any = None
    tool_version: int | None = field(default=None, metadata={"name": "toolVersion"})


@dataclass(kw_only=True)
class ApiIssue:
    path: str
    message: str


@dataclass(kw_only=True)
class RunStarted:
    success: bool
    id: str
    status: Literal["Pending"]
    message: str


@dataclass(kw_only=True)
class StartEstimate:
    hold: str
    most_credits: str | None = field(metadata={"name": "mostCredits"})
    issues: list[StartEstimateIssuesItem]


@dataclass(kw_only=True)
class StartEstimateIssuesItem:
    code: ApiErrorCode
    message: str
    path: str | None = None


@dataclass(kw_only=True)
class ToolRun:
    id: str
    tool_id: str = field(metadata={"name": "toolId"})
    status: ToolRunStatus
    status_int: ToolRunStatusInt = field(metadata={"name": "statusInt"})
    error_message: str | None = field(metadata={"name": "errorMessage"})
    tokens_used: int = field(metadata={"name": "tokensUsed"})
    actions_used: int = field(metadata={"name": "actionsUsed"})
    created_at: str = field(metadata={"name": "createdAt"})
    started_at: str | None = field(metadata={"name": "startedAt"})
    finished_at: str | None = field(metadata={"name": "finishedAt"})
    duration: int


@dataclass(kw_only=True)
class ToolRunResult:
    id: str
    tool_id: str = field(metadata={"name": "toolId"})
    tool_name: str = field(metadata={"name": "toolName"})
    status: ToolRunStatus
    status_int: ToolRunStatusInt = field(metadata={"name": "statusInt"})
    input_data: str = field(metadata={"name": "inputData"})
    output_data: str = field(metadata={"name": "outputData"})
    output_schema: str = field(metadata={"name": "outputSchema"})
    error_message: str | None = field(metadata={"name": "errorMessage"})
    tokens_used: int = field(metadata={"name": "tokensUsed"})
    actions_used: int = field(metadata={"name": "actionsUsed"})
    duration: int


@dataclass(kw_only=True)
class RunCancelled:
    success: bool
    id: str
    status: AgentRunStatus
    message: str


@dataclass(kw_only=True)
class ToolList:
    data: list[ToolListItem]
    next_cursor: str | None = field(metadata={"name": "nextCursor"})
    applied: ToolListApplied


@dataclass(kw_only=True)
class ToolListApplied:
    """The filters and the limit of the page."""

    limit: int


@dataclass(kw_only=True)
class ToolListItem:
    id: str
    slug: str
    name: str
    version: int
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})
    description: str


@dataclass(kw_only=True)
class Tool:
    id: str
    slug: str
    name: str
    version: int
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})
    description: str
    definition: Definition
    versions: list[Version]


@dataclass(kw_only=True)
class Version:
    number: int
    note: str
    created_at: str = field(metadata={"name": "createdAt"})


@dataclass(kw_only=True)
class Archived:
    id: str
    archived_at: str = field(metadata={"name": "archivedAt"})


@dataclass(kw_only=True)
class AgentRun:
    id: str
    agent_id: str = field(metadata={"name": "agentId"})
    status: AgentRunStatus
    user_message: str = field(metadata={"name": "userMessage"})
    final_output: str | None = field(metadata={"name": "finalOutput"})
    error_message: str | None = field(metadata={"name": "errorMessage"})
    steps_executed: int = field(metadata={"name": "stepsExecuted"})
    tokens_used: int = field(metadata={"name": "tokensUsed"})
    actions_used: int = field(metadata={"name": "actionsUsed"})
    credits_used: float = field(metadata={"name": "creditsUsed"})
    created_at: str = field(metadata={"name": "createdAt"})
    started_at: str | None = field(metadata={"name": "startedAt"})
    finished_at: str | None = field(metadata={"name": "finishedAt"})


@dataclass(kw_only=True)
class AgentRunDetails:
    id: str
    agent_id: str = field(metadata={"name": "agentId"})
    status: AgentRunStatus
    user_message: str = field(metadata={"name": "userMessage"})
    final_output: str | None = field(metadata={"name": "finalOutput"})
    error_message: str | None = field(metadata={"name": "errorMessage"})
    steps_executed: int = field(metadata={"name": "stepsExecuted"})
    tokens_used: int = field(metadata={"name": "tokensUsed"})
    actions_used: int = field(metadata={"name": "actionsUsed"})
    credits_used: float = field(metadata={"name": "creditsUsed"})
    created_at: str = field(metadata={"name": "createdAt"})
    started_at: str | None = field(metadata={"name": "startedAt"})
    finished_at: str | None = field(metadata={"name": "finishedAt"})
    steps: list[AgentRunStep]


@dataclass(kw_only=True)
class AgentRunStep:
    step_number: int = field(metadata={"name": "stepNumber"})
    iteration_number: int = field(metadata={"name": "iterationNumber"})
    tool_name: str = field(metadata={"name": "toolName"})
    input_data: str = field(metadata={"name": "inputData"})
    output_data: str = field(metadata={"name": "outputData"})
    reasoning: str
    token_usage: TokenUsage = field(metadata={"name": "tokenUsage"})
    duration: int


@dataclass(kw_only=True)
class TokenUsage:
    """Tokens of the iteration; its steps carry the same figures."""

    input_tokens: int = field(metadata={"name": "inputTokens"})
    output_tokens: int = field(metadata={"name": "outputTokens"})


@dataclass(kw_only=True)
class AgentList:
    data: list[AgentListItem]
    next_cursor: str | None = field(metadata={"name": "nextCursor"})
    applied: AgentListApplied


@dataclass(kw_only=True)
class AgentListApplied:
    """The filters and the limit of the page."""

    status: Literal["active", "inactive"] | None
    limit: int


@dataclass(kw_only=True)
class AgentListItem:
    id: str
    slug: str
    name: str
    version: int
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})
    status: Literal["active", "inactive"]


@dataclass(kw_only=True)
class Agent:
    id: str
    slug: str
    name: str
    version: int
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})
    status: Literal["active", "inactive"]
    definition: Definition
    versions: list[Version]


@dataclass(kw_only=True)
class RunList:
    data: list[RunListItem]
    next_cursor: str | None = field(metadata={"name": "nextCursor"})
    applied: RunListApplied


@dataclass(kw_only=True)
class RunListApplied:
    """The filters and the limit of the page."""

    kind: Literal["agent", "tool"] | None
    status: list[Literal["Pending", "Running", "Completed", "Failed", "Cancelled"]] | None
    target: str | None
    trigger: str | None
    schedule: str | None
    key: str | None
    source: Literal["api", "webhook", "dashboard", "operator", "run", "draft", "schedule"] | None
    from_: str | None = field(metadata={"name": "from"})
    to: str | None
    text: str | None
    metadata: dict[str, Any] | None
    children: bool
    limit: int


@dataclass(kw_only=True)
class RunListItem:
    """A run without input and output."""

    id: str
    kind: Literal["agent", "tool"]
    target_id: str = field(metadata={"name": "targetId"})
    target_name: str = field(metadata={"name": "targetName"})
    target_version: int = field(metadata={"name": "targetVersion"})
    model: str | None
    status: Literal["Pending", "Running", "Completed", "Failed", "Cancelled"]
    error_code: str | None = field(metadata={"name": "errorCode"})
    source: Literal["api", "webhook", "dashboard", "operator", "run", "draft", "schedule"]
    trigger_id: str | None = field(metadata={"name": "triggerId"})
    schedule_id: str | None = field(metadata={"name": "scheduleId"})
    api_key_id: str | None = field(metadata={"name": "apiKeyId"})
    parent_run_id: str | None = field(metadata={"name": "parentRunId"})
    metadata: dict[str, Any] | None
    steps_executed: int = field(metadata={"name": "stepsExecuted"})
    tokens_used: int = field(metadata={"name": "tokensUsed"})
    actions_used: int = field(metadata={"name": "actionsUsed"})
    credits_used: str = field(metadata={"name": "creditsUsed"})
    created_at: str = field(metadata={"name": "createdAt"})
    started_at: str | None = field(metadata={"name": "startedAt"})
    finished_at: str | None = field(metadata={"name": "finishedAt"})


@dataclass(kw_only=True)
class RunRecord:
    """All facts of a run."""

    id: str
    kind: Literal["agent", "tool"]
    target_id: str = field(metadata={"name": "targetId"})
    target_name: str = field(metadata={"name": "targetName"})
    target_version: int = field(metadata={"name": "targetVersion"})
    model: str | None
    status: Literal["Pending", "Running", "Completed", "Failed", "Cancelled"]
    error_code: str | None = field(metadata={"name": "errorCode"})
    source: Literal["api", "webhook", "dashboard", "operator", "run", "draft", "schedule"]
    trigger_id: str | None = field(metadata={"name": "triggerId"})
    schedule_id: str | None = field(metadata={"name": "scheduleId"})
    api_key_id: str | None = field(metadata={"name": "apiKeyId"})
    parent_run_id: str | None = field(metadata={"name": "parentRunId"})
    metadata: dict[str, Any] | None
    steps_executed: int = field(metadata={"name": "stepsExecuted"})
    tokens_used: int = field(metadata={"name": "tokensUsed"})
    actions_used: int = field(metadata={"name": "actionsUsed"})
    credits_used: str = field(metadata={"name": "creditsUsed"})
    created_at: str = field(metadata={"name": "createdAt"})
    started_at: str | None = field(metadata={"name": "startedAt"})
    finished_at: str | None = field(metadata={"name": "finishedAt"})
    root_run_id: str = field(metadata={"name": "rootRunId"})
    input_tokens: int = field(metadata={"name": "inputTokens"})
    output_tokens: int = field(metadata={"name": "outputTokens"})
    deadline_seconds: int = field(metadata={"name": "deadlineSeconds"})
    max_credits: str | None = field(metadata={"name": "maxCredits"})
    error_message: str | None = field(metadata={"name": "errorMessage"})
    cancelled_by: str | None = field(metadata={"name": "cancelledBy"})
    fork: RunRecordFork | None
    input: str
    output: str | None


@dataclass(kw_only=True)
class RunRecordFork:
    run_id: str = field(metadata={"name": "runId"})
    from_step: int = field(metadata={"name": "fromStep"})
    tools: Literal["recorded", "live"]


@dataclass(kw_only=True)
class Receipt:
    run_id: str = field(metadata={"name": "runId"})
    status: Literal["Pending", "Running", "Completed", "Failed", "Cancelled"]
    price_list: ReceiptPriceList = field(metadata={"name": "priceList"})
    lines: list[ReceiptLine]
    credits_used: str = field(metadata={"name": "creditsUsed"})
    credits_refunded: str = field(metadata={"name": "creditsRefunded"})


@dataclass(kw_only=True)
class ReceiptPriceList:
    id: str
    action: str
    models: list[ModelPrice]


@dataclass(kw_only=True)
class ModelPrice:
    """Credits per 1,000 tokens."""

    model: str
    input: str
    cached_input: str | None = field(default=None, metadata={"name": "cachedInput"})
    cache_write: str | None = field(default=None, metadata={"name": "cacheWrite"})
    output: str


@dataclass(kw_only=True)
class ReceiptLine:
    type: Literal["model_call", "action", "waiver"]
    name: str
    status: Literal["Running", "Completed", "Failed", "Skipped"] | None
    provider: str | None = None
    model: str | None = None
    usage: ReceiptUsage | None = None
    step_number: int | None = field(default=None, metadata={"name": "stepNumber"})
    child_run_id: str | None = field(default=None, metadata={"name": "childRunId"})
    credits: str


@dataclass(kw_only=True)
class ReceiptUsage:
    input_tokens: int = field(metadata={"name": "inputTokens"})
    cached_input_tokens: int = field(metadata={"name": "cachedInputTokens"})
    cache_write_tokens: int = field(metadata={"name": "cacheWriteTokens"})
    output_tokens: int = field(metadata={"name": "outputTokens"})
    reasoning_tokens: int = field(metadata={"name": "reasoningTokens"})
    estimated: bool
    reported: list[Any]


@dataclass(kw_only=True)
class ForkEstimate:
    from_step: int = field(metadata={"name": "fromStep"})
    taken_over: int = field(metadata={"name": "takenOver"})
    hold: str
    most_credits: str = field(metadata={"name": "mostCredits"})
    same_usage: str = field(metadata={"name": "sameUsage"})
    side_effects: list[ForkEstimateSideEffectsItem] = field(metadata={"name": "sideEffects"})
    issues: list[ForkEstimateIssuesItem]


@dataclass(kw_only=True)
class ForkEstimateSideEffectsItem:
    name: str
    step: str | None


@dataclass(kw_only=True)
class ForkEstimateIssuesItem:
    code: ApiErrorCode
    message: str
    path: str | None = None


@dataclass(kw_only=True)
class RunMetrics:
    total: RunFigures
    before: RunFigures
    buckets: list[MetricsBucket]
    agents: list[SubjectFigures]
    tools: list[SubjectFigures]
    triggers: list[SubjectFigures]
    keys: list[SubjectFigures]
    schedules: list[SubjectFigures]
    applied: RunMetricsApplied


@dataclass(kw_only=True)
class RunMetricsApplied:
    from_: str = field(metadata={"name": "from"})
    to: str
    interval_ms: int = field(metadata={"name": "intervalMs"})
    target: str | None
    trigger: str | None
    key: str | None
    schedule: str | None


@dataclass(kw_only=True)
class RunFigures:
    runs: int
    completed: int
    failed: int
    cancelled: int
    open: int
    children: int
    drafts: int
    tokens: int
    credits: str
    credits_with_children: str = field(metadata={"name": "creditsWithChildren"})
    draft_credits: str = field(metadata={"name": "draftCredits"})
    p50: int | None
    p95: int | None


@dataclass(kw_only=True)
class MetricsBucket:
    runs: int
    completed: int
    failed: int
    cancelled: int
    open: int
    children: int
    drafts: int
    tokens: int
    credits: str
    credits_with_children: str = field(metadata={"name": "creditsWithChildren"})
    draft_credits: str = field(metadata={"name": "draftCredits"})
    p50: int | None
    p95: int | None
    from_: str = field(metadata={"name": "from"})
    to: str


@dataclass(kw_only=True)
class SubjectFigures:
    runs: int
    completed: int
    failed: int
    cancelled: int
    open: int
    children: int
    drafts: int
    tokens: int
    credits: str
    credits_with_children: str = field(metadata={"name": "creditsWithChildren"})
    draft_credits: str = field(metadata={"name": "draftCredits"})
    p50: int | None
    p95: int | None
    id: str
    name: str


@dataclass(kw_only=True)
class TriggerList:
    data: list[TriggerListItem]
    next_cursor: str | None = field(metadata={"name": "nextCursor"})
    applied: TriggerListApplied


@dataclass(kw_only=True)
class TriggerListApplied:
    """The filters and the limit of the page."""

    target: str | None
    limit: int


@dataclass(kw_only=True)
class TriggerListItem:
    id: str
    slug: str
    name: str
    status: Literal["active", "inactive"]
    kind: Literal["agent", "tool"]
    target_id: str = field(metadata={"name": "targetId"})
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})


@dataclass(kw_only=True)
class CreatedTrigger:
    id: str
    slug: str
    name: str
    status: Literal["active", "inactive"]
    kind: Literal["agent", "tool"]
    target_id: str = field(metadata={"name": "targetId"})
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})
    definition: Definition
    url: str
    secret: str | None


@dataclass(kw_only=True)
class Trigger:
    id: str
    slug: str
    name: str
    status: Literal["active", "inactive"]
    kind: Literal["agent", "tool"]
    target_id: str = field(metadata={"name": "targetId"})
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})
    definition: Definition


@dataclass(kw_only=True)
class DeliveryList:
    data: list[Delivery]
    next_cursor: str | None = field(metadata={"name": "nextCursor"})
    applied: DeliveryListApplied


@dataclass(kw_only=True)
class DeliveryListApplied:
    """The filters and the limit of the page."""

    trigger: str | None
    outcome: Literal["accepted", "repeated", "rejected", "filtered"] | None
    limit: int


@dataclass(kw_only=True)
class Delivery:
    """A call that a trigger received."""

    id: str
    trigger_id: str = field(metadata={"name": "triggerId"})
    received_at: str = field(metadata={"name": "receivedAt"})
    outcome: Literal["accepted", "repeated", "rejected", "filtered"]
    status: int
    code: str | None
    reason: str | None
    body_bytes: int = field(metadata={"name": "bodyBytes"})
    sender_id: str | None = field(metadata={"name": "senderId"})
    redelivery_of: str | None = field(metadata={"name": "redeliveryOf"})
    run_id: str | None = field(metadata={"name": "runId"})


@dataclass(kw_only=True)
class ScheduleList:
    data: list[ScheduleListItem]
    next_cursor: str | None = field(metadata={"name": "nextCursor"})
    applied: ScheduleListApplied


@dataclass(kw_only=True)
class ScheduleListApplied:
    """The filters and the limit of the page."""

    target: str | None
    limit: int


@dataclass(kw_only=True)
class ScheduleListItem:
    id: str
    slug: str
    name: str
    kind: Literal["agent", "tool"]
    target_id: str = field(metadata={"name": "targetId"})
    cron: str
    time_zone: str = field(metadata={"name": "timeZone"})
    paused: bool
    next_at: str | None = field(metadata={"name": "nextAt"})
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})


@dataclass(kw_only=True)
class Schedule:
    id: str
    slug: str
    name: str
    kind: Literal["agent", "tool"]
    target_id: str = field(metadata={"name": "targetId"})
    cron: str
    time_zone: str = field(metadata={"name": "timeZone"})
    paused: bool
    next_at: str | None = field(metadata={"name": "nextAt"})
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})
    definition: Definition


@dataclass(kw_only=True)
class CallbackList:
    data: list[CallbackListItem]
    next_cursor: str | None = field(metadata={"name": "nextCursor"})
    applied: CallbackListApplied


@dataclass(kw_only=True)
class CallbackListApplied:
    """The filters and the limit of the page."""

    limit: int


@dataclass(kw_only=True)
class CallbackListItem:
    id: str
    slug: str
    name: str
    url: str
    events: list[str]
    status: Literal["active", "inactive"]
    failing_since: str | None = field(metadata={"name": "failingSince"})
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})


@dataclass(kw_only=True)
class CreatedCallback:
    id: str
    slug: str
    name: str
    url: str
    events: list[str]
    status: Literal["active", "inactive"]
    failing_since: str | None = field(metadata={"name": "failingSince"})
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})
    definition: Definition
    secret: str


@dataclass(kw_only=True)
class Callback:
    id: str
    slug: str
    name: str
    url: str
    events: list[str]
    status: Literal["active", "inactive"]
    failing_since: str | None = field(metadata={"name": "failingSince"})
    created_at: str = field(metadata={"name": "createdAt"})
    updated_at: str = field(metadata={"name": "updatedAt"})
    definition: Definition


@dataclass(kw_only=True)
class AppliedDefinitionFile:
    dry_run: bool = field(metadata={"name": "dryRun"})
    definitions: list[AppliedDefinition]


@dataclass(kw_only=True)
class AppliedDefinition:
    kind: Literal["tool", "agent", "trigger", "schedule", "callback"]
    slug: str
    id: str | None
    saved: Literal["created", "updated", "restored", "unchanged"]
    version: int | None
    changes: dict[str, Any]
    url: str | None
    secret: str | None


@dataclass(kw_only=True)
class DefinitionFile:
    organizations: list[dict[str, Any]]


@dataclass(kw_only=True)
class CreditBalance:
    available: str
    held: str
    open_runs: int = field(metadata={"name": "openRuns"})
    monthly: str


@dataclass(kw_only=True)
class CreditEntryList:
    data: list[CreditEntry]
    next_cursor: str | None = field(metadata={"name": "nextCursor"})
    applied: CreditEntryListApplied


@dataclass(kw_only=True)
class CreditEntryListApplied:
    """The filters and the limit of the page."""

    kind: Literal["grant", "hold", "charge", "release", "refund", "adjustment"] | None
    holds: bool
    limit: int


@dataclass(kw_only=True)
class CreditEntry:
    sequence: int
    kind: Literal["grant", "hold", "charge", "release", "refund", "adjustment"]
    amount: str
    before: str
    after: str
    run_id: str | None = field(metadata={"name": "runId"})
    note: str
    created_at: str = field(metadata={"name": "createdAt"})


@dataclass(kw_only=True)
class WebhookAccepted:
    success: bool
    run_id: str = field(metadata={"name": "runId"})
    type: RunKind


@dataclass(kw_only=True)
class WebhookFiltered:
    success: bool
    run_id: str | None = field(metadata={"name": "runId"})
    type: RunKind


@dataclass(kw_only=True)
class ApiError:
    success: bool
    code: ApiErrorCode
    message: str
    request_id: str = field(metadata={"name": "requestId"})
    issues: list[ApiIssue] | None = None


@dataclass(kw_only=True)
class ApiProblem:
    success: bool
    code: ApiErrorCode
    message: str
    request_id: str = field(metadata={"name": "requestId"})
    issues: list[ApiIssue] | None = None
    type: Literal["about:blank"]
    title: str
    status: int
    detail: str


@dataclass(kw_only=True)
class ForkRunBody:
    from_step: int = field(metadata={"name": "fromStep"})
    changes: ForkChanges | None = None
    tools: Literal["recorded", "live"]
    dry_run: bool | None = field(default=None, metadata={"name": "dryRun"})
