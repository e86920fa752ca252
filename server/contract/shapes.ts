import { z } from "zod";
import { RUN_KINDS, RUN_STATUSES } from "./enums";
import { errorCode } from "./errors";
import { formatLimit, MAX_USER_MESSAGE_BYTES } from "./sizes";

/** The bodies of the endpoints (docs/contract.md). An `id` makes a schema a named component of the OpenAPI document. */

const uuid = z.uuid();
const count = z.int().min(0);
const timestamp = z.iso.datetime({ precision: 3 }).meta({ description: "ISO 8601, UTC, milliseconds" });
const jsonText = z.string().meta({ description: "A JSON document in a string" });
const milliseconds = count.meta({ description: "Milliseconds" });

const TOOL_RUN_STATUSES = ["Pending", "Running", "Completed", "Failed"] as const;

export const TOOL_STATUS_INT = { Pending: 0, Running: 1, Completed: 2, Failed: 3 } as const;

const agentRunStatus = z.enum(RUN_STATUSES).meta({
  id: "AgentRunStatus",
  description: "Completed, Failed and Cancelled are terminal: such a run never changes",
});

const toolRunStatus = z.enum(TOOL_RUN_STATUSES).meta({
  id: "ToolRunStatus",
  description: "Completed and Failed are terminal. A cancelled tool run is Failed, with “Cancelled by …”",
});

const toolRunStatusInt = z.literal(Object.values(TOOL_STATUS_INT)).meta({
  id: "ToolRunStatusInt",
  description: "0 Pending, 1 Running, 2 Completed, 3 Failed",
  override: { type: "integer" },
});

const errorMessage = z.string().nullable().meta({ description: "Null unless status is Failed" });
const tokensUsed = count.meta({ description: "Input and output tokens of all model calls" });
const times = {
  createdAt: timestamp,
  startedAt: timestamp.nullable().meta({ description: "Null until the run is Running" }),
  finishedAt: timestamp.nullable().meta({ description: "Null until the run has ended" }),
};

export const agentRunStatusView = z
  .object({
    id: uuid.meta({ description: "Agent run id" }),
    agentId: uuid.meta({ description: "Agent that was run" }),
    status: agentRunStatus,
    userMessage: z.string().meta({ description: "The message the run was started with" }),
    finalOutput: z.string().nullable().meta({
      description: "Null unless status is Completed. JSON text if the agent has an output schema",
    }),
    errorMessage,
    stepsExecuted: count.meta({ description: "Number of finished steps" }),
    tokensUsed,
    actionsUsed: count.meta({ description: "Functions and tools executed, retries not counted" }),
    creditsUsed: z.number().min(0).meta({ description: "Credits consumed, with four decimal places" }),
    ...times,
  })
  .meta({ id: "AgentRun" });
export type AgentRunStatusView = z.infer<typeof agentRunStatusView>;

const tokenUsage = z
  .object({ inputTokens: count, outputTokens: count })
  .meta({ id: "TokenUsage", description: "Tokens of the iteration; its steps carry the same figures" });

const agentRunStep = z
  .object({
    stepNumber: z.int().min(1).meta({ description: "Counts from 1" }),
    iterationNumber: z.int().min(1).meta({ description: "The model call that asked for this step" }),
    toolName: z.string().meta({ description: "Name of the function or tool called" }),
    inputData: jsonText,
    outputData: jsonText,
    reasoning: z
      .string()
      .meta({ description: "The model's text beside the iteration's tool calls, or else its reasoning" }),
    tokenUsage,
    duration: milliseconds,
  })
  .meta({ id: "AgentRunStep" });

export const agentRunDetailsView = agentRunStatusView
  .extend({ steps: z.array(agentRunStep) })
  .meta({ id: "AgentRunDetails" });
export type AgentRunDetailsView = z.infer<typeof agentRunDetailsView>;

const toolRunId = uuid.meta({ description: "Tool run id" });
const toolId = uuid.meta({ description: "Tool that was run" });

export const toolRunStatusView = z
  .object({
    id: toolRunId,
    toolId,
    status: toolRunStatus,
    statusInt: toolRunStatusInt,
    errorMessage,
    tokensUsed,
    actionsUsed: count.meta({ description: "Functions executed, retries not counted" }),
    ...times,
    duration: count.meta({ description: "Milliseconds: 0 while pending, elapsed while running, then final" }),
  })
  .meta({ id: "ToolRun" });
export type ToolRunStatusView = z.infer<typeof toolRunStatusView>;

export const toolRunResultView = z
  .object({
    id: toolRunId,
    toolId,
    toolName: z.string().meta({ description: "Display name of the tool" }),
    status: toolRunStatus,
    statusInt: toolRunStatusInt,
    inputData: z.string().meta({ description: "The input, a JSON document in a string" }),
    outputData: z.string().meta({
      description: 'The output, a JSON document in a string; "null" unless status is Completed',
    }),
    outputSchema: z.string().meta({
      description: "JSON Schema of the output in a string: the tool's own, or inferred from the output",
    }),
    errorMessage,
    tokensUsed: count,
    actionsUsed: count,
    duration: milliseconds,
  })
  .meta({ id: "ToolRunResult" });
export type ToolRunResultView = z.infer<typeof toolRunResultView>;

export const runStarted = z
  .object({
    success: z.literal(true),
    id: uuid.meta({ description: "The new run's id, for polling" }),
    status: z.literal("Pending"),
    message: z.string().meta({ description: "For people" }),
  })
  .meta({ id: "RunStarted" });
export type RunStarted = z.infer<typeof runStarted>;

const amount = z.string().meta({ description: "A decimal with four places, such as 0.0612" });

/** The credits of a start, and what would reject it. */
export const startEstimate = z
  .object({
    hold: amount.meta({ description: "The credits that the start would hold, such as 0.4210" }),
    mostCredits: amount.nullable().meta({
      description: "The most that the run can use, such as 1.0000. Null: only the balance limits it",
    }),
    issues: z
      .array(
        z.object({
          code: errorCode,
          message: z.string().meta({ description: "For people; may change" }),
          path: z.string().optional().meta({ description: "JSON pointer into the tool's input" }),
        }),
      )
      .meta({ description: "What would reject the start; empty if nothing does" }),
  })
  .meta({ id: "StartEstimate" });

/** The answer to a cancel by a key that may not read runs. */
export const runCancelled = z
  .object({
    success: z.literal(true),
    id: uuid.meta({ description: "The run's id" }),
    status: agentRunStatus,
    message: z.string().meta({ description: "For people" }),
  })
  .meta({ id: "RunCancelled" });
export type RunCancelled = z.infer<typeof runCancelled>;

const runKind = z.enum(RUN_KINDS).meta({ id: "RunKind", description: "What the trigger starts" });

export const webhookAccepted = z
  .object({
    success: z.literal(true),
    runId: uuid.meta({ description: "The run that was started" }),
    type: runKind,
  })
  .meta({ id: "WebhookAccepted" });
export type WebhookAccepted = z.infer<typeof webhookAccepted>;

/** The answer to a call that the trigger's filter rejects. */
export const webhookFiltered = z
  .object({
    success: z.literal(false),
    // Not every client generator has a type for null alone.
    runId: z.null().meta({
      description: "null: no run was started",
      override: { type: ["string", "null"], format: "uuid" },
    }),
    type: runKind,
  })
  .meta({ id: "WebhookFiltered" });
export type WebhookFiltered = z.infer<typeof webhookFiltered>;

/** Endpoint 2's body. Other keys are ignored. */
export const startAgentBody = z
  .object(
    {
      userMessage: z
        .string({
          error: ({ input }) => `userMessage ${input === undefined ? "is required" : "must be a string"}`,
        })
        .min(1, "userMessage must have at least one character")
        .meta({
          description: `At least one character, at most ${formatLimit(MAX_USER_MESSAGE_BYTES)} in UTF-8, without U+0000`,
        }),
    },
    "The body must be a JSON object",
  )
  .meta({ id: "StartAgentRun" });
