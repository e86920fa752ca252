import { z } from "zod";

/**
 * The shapes on the wire of the seven endpoints (interface-spec.md, "Resources and their fields").
 * One schema serves tRPC, REST, the OpenAPI document and clients.
 */

const uuid = z.uuid();
const timestamp = z.iso.datetime({ precision: 3 }).meta({ description: "ISO 8601, UTC, milliseconds" });
const jsonText = z.string().meta({ description: "A JSON document held in a string" });

export const AGENT_RUN_STATUSES = ["Pending", "Running", "Completed", "Failed", "Cancelled"] as const;
export const TOOL_RUN_STATUSES = ["Pending", "Running", "Completed", "Failed"] as const;

/** Numeric form of a tool run's status. */
export const TOOL_STATUS_INT = { Pending: 0, Running: 1, Completed: 2, Failed: 3 } as const;

export const agentRunStatusView = z
  .object({
    id: uuid.meta({ description: "Agent run id" }),
    agentId: uuid.meta({ description: "Agent that was run" }),
    status: z.enum(AGENT_RUN_STATUSES),
    userMessage: z.string().meta({ description: "The message the run was started with" }),
    finalOutput: z.string().nullable().meta({ description: "Available when status is Completed" }),
    errorMessage: z.string().nullable().meta({ description: "To be read when status is Failed" }),
    stepsExecuted: z.int().min(0),
    tokensUsed: z.int().min(0).meta({ description: "Tokens of all model calls" }),
    actionsUsed: z.int().min(0).meta({ description: "Functions and tools executed" }),
    creditsUsed: z.number().min(0).meta({ description: "Credits consumed, four decimal places" }),
    createdAt: timestamp,
    startedAt: timestamp.nullable().meta({ description: "Null until Running" }),
    finishedAt: timestamp.nullable().meta({ description: "Null until the run has ended" }),
  })
  .meta({ id: "AgentRunStatus" });
export type AgentRunStatusView = z.infer<typeof agentRunStatusView>;

export const agentRunStep = z
  .object({
    stepNumber: z.int().min(1),
    iterationNumber: z.int().min(1).meta({ description: "The model call the step belongs to" }),
    toolName: z.string().meta({ description: "Name of the function or tool called" }),
    inputData: jsonText,
    outputData: jsonText,
    reasoning: z.string().meta({ description: "The model's text beside the iteration's tool calls" }),
    tokenUsage: z.object({ inputTokens: z.int().min(0), outputTokens: z.int().min(0) }),
    duration: z.int().min(0).meta({ description: "Milliseconds" }),
  })
  .meta({ id: "AgentRunStep" });

export const agentRunDetailsView = agentRunStatusView
  .extend({ steps: z.array(agentRunStep) })
  .meta({ id: "AgentRunDetails" });
export type AgentRunDetailsView = z.infer<typeof agentRunDetailsView>;

const toolStatusInt = z
  .literal([0, 1, 2, 3])
  .meta({ description: "0 Pending, 1 Running, 2 Completed, 3 Failed" });

export const toolRunStatusView = z
  .object({
    id: uuid.meta({ description: "Tool run id" }),
    toolId: uuid.meta({ description: "Tool that was run" }),
    status: z.enum(TOOL_RUN_STATUSES),
    statusInt: toolStatusInt,
    errorMessage: z.string().nullable(),
    tokensUsed: z.int().min(0),
    actionsUsed: z.int().min(0).meta({ description: "Number of function executions" }),
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
    duration: z.int().min(0).meta({ description: "Milliseconds; elapsed while running" }),
  })
  .meta({ id: "ToolRunStatus" });
export type ToolRunStatusView = z.infer<typeof toolRunStatusView>;

export const toolRunResultView = z
  .object({
    id: uuid.meta({ description: "Tool run id" }),
    toolId: uuid.meta({ description: "Tool that was executed" }),
    toolName: z.string().meta({ description: "Display name of the tool" }),
    status: z.enum(TOOL_RUN_STATUSES),
    statusInt: toolStatusInt,
    inputData: jsonText,
    outputData: jsonText,
    outputSchema: z.string().meta({ description: "JSON Schema of the output, held in a string" }),
    errorMessage: z.string().nullable(),
    tokensUsed: z.int().min(0),
    actionsUsed: z.int().min(0),
    duration: z.int().min(0).meta({ description: "Milliseconds" }),
  })
  .meta({ id: "ToolRunResult" });
export type ToolRunResultView = z.infer<typeof toolRunResultView>;

export const runStarted = z
  .object({
    success: z.literal(true),
    id: uuid.meta({ description: "The new run's id; used to poll" }),
    status: z.literal("Pending"),
    message: z.string(),
  })
  .meta({ id: "RunStarted" });
export type RunStarted = z.infer<typeof runStarted>;

export const webhookAccepted = z
  .object({ success: z.literal(true), runId: uuid, type: z.enum(["agent", "tool"]) })
  .meta({ id: "WebhookAccepted" });
export type WebhookAccepted = z.infer<typeof webhookAccepted>;

/** Endpoint 2's body; other keys are ignored (product.md, "userMessage"). */
export const startAgentBody = z
  .object({ userMessage: z.string().min(1, "must have at least one character") })
  .meta({ id: "StartAgentRun" });

/** Endpoint 1's body: free-form, checked against the tool's own parameter schema. */
export const startToolBody = z.record(z.string(), z.json()).meta({ id: "ToolInput" });

export const issue = z.object({
  path: z.string().meta({ description: "JSON pointer into what was sent" }),
  message: z.string(),
});

/** The body of every error (product.md, "Error body"). */
export const errorBody = z
  .object({
    success: z.literal(false),
    code: z.enum([
      "invalid_request",
      "agent_inactive",
      "insufficient_credits",
      "trigger_misconfigured",
      "unauthenticated",
      "invalid_signature",
      "api_access_disabled",
      "forbidden",
      "organization_suspended",
      "not_found",
      "method_not_allowed",
      "idempotency_conflict",
      "payload_too_large",
      "rate_limited",
      "internal_error",
    ]),
    message: z.string(),
    requestId: z.string(),
    issues: z.array(issue).optional(),
  })
  .meta({ id: "Error" });
export type ErrorBody = z.infer<typeof errorBody>;
