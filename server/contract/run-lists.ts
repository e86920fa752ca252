import { z } from "zod";
import { FORK_MODES, RUN_KINDS, RUN_SOURCES, RUN_STATUSES, STEP_STATUSES } from "./enums";

/** The bodies of `/v1/runs` and what is below it. Amounts are decimals in strings. */

const count = z.int().min(0);
const timestamp = z.iso.datetime({ precision: 3 });
export const amount = z.string().meta({ description: "Credits: a decimal with four places, such as 0.0612" });

export const runListItem = z
  .object({
    id: z.uuid(),
    kind: z.enum(RUN_KINDS).meta({ description: "What was started" }),
    targetId: z.uuid().meta({ description: "The agent or tool" }),
    targetName: z.string(),
    targetVersion: z.int().min(1),
    model: z.string().nullable().meta({ description: "Null for a tool" }),
    status: z.enum(RUN_STATUSES).meta({ description: "Of a cancelled tool run, too: Cancelled" }),
    errorCode: z.string().nullable().meta({ description: "Why it failed; null otherwise" }),
    source: z.enum(RUN_SOURCES).meta({
      description: "run: another run started it; schedule: a schedule; draft: a draft was tried in an editor",
    }),
    triggerId: z.uuid().nullable(),
    scheduleId: z.uuid().nullable(),
    apiKeyId: z.uuid().nullable(),
    parentRunId: z.uuid().nullable().meta({ description: "The run that started it" }),
    metadata: z
      .record(z.string(), z.unknown())
      .meta({ override: { type: "object", additionalProperties: true } })
      .nullable()
      .meta({ description: "The start's X-Metadata" }),
    stepsExecuted: count,
    tokensUsed: count,
    actionsUsed: count,
    creditsUsed: amount,
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: "RunListItem", description: "A run without input and output" });

export const runRecord = runListItem
  .extend({
    rootRunId: z.uuid().meta({ description: "The first run of the chain; itself without a parent" }),
    inputTokens: count,
    outputTokens: count,
    deadlineSeconds: count.meta({ description: "From its start" }),
    maxCredits: amount.nullable().meta({ description: "The most it may spend; null: no cap" }),
    errorMessage: z.string().nullable().meta({ description: "Null unless status is Failed" }),
    cancelledBy: z.string().nullable(),
    fork: z
      .object({
        runId: z.uuid().meta({ description: "Its origin, which may be deleted by now" }),
        fromStep: z.int().meta({ description: "The first step that it did not take over" }),
        tools: z.enum(FORK_MODES),
      })
      .nullable()
      .meta({ description: "Null unless the run is a fork" }),
    input: z.string().meta({ description: "The message of an agent run, the JSON input of a tool run" }),
    output: z.string().nullable().meta({ description: "Null unless status is Completed" }),
  })
  .meta({ id: "RunRecord", description: "All facts of a run" });

const usage = z
  .object({
    inputTokens: count,
    cachedInputTokens: count.meta({ description: "The part of the input that was read from the cache" }),
    cacheWriteTokens: count.meta({ description: "The part of the input that was written to the cache" }),
    outputTokens: count,
    reasoningTokens: count.meta({ description: "The part of the output that was reasoning" }),
    estimated: z.boolean().meta({ description: "True if the provider reported nothing" }),
    reported: z.array(z.unknown()).meta({ description: "What the provider reported, one for each attempt" }),
  })
  .meta({ id: "ReceiptUsage" });

const receiptLine = z
  .object({
    type: z.enum(["model_call", "action", "waiver"]).meta({
      description: "waiver: takes back the other lines, because the service failed",
    }),
    name: z.string().meta({ description: "The call's name in the run, or the function or tool" }),
    status: z.enum(STEP_STATUSES).nullable(),
    provider: z.string().optional().meta({ description: "Of a model call" }),
    model: z.string().optional().meta({ description: "Of a model call" }),
    usage: usage.optional().meta({ description: "Of a model call" }),
    stepNumber: z.int().optional().meta({ description: "Of an action" }),
    childRunId: z.uuid().nullable().optional().meta({
      description: "The run that the action started. Its usage is in its own receipt",
    }),
    credits: amount,
  })
  .meta({ id: "ReceiptLine" });

const price = z
  .object({
    model: z.string(),
    input: z.string(),
    cachedInput: z.string().optional(),
    cacheWrite: z.string().optional(),
    output: z.string(),
  })
  .meta({ id: "ModelPrice", description: "Credits per 1,000 tokens" });

export const receipt = z
  .object({
    runId: z.uuid(),
    status: z.enum(RUN_STATUSES),
    priceList: z.object({
      id: z.string().meta({ description: "Equal price lists have equal ids" }),
      action: z.string().meta({ description: "Credits of one action" }),
      models: z.array(price).meta({ description: "The prices of the models in the lines" }),
    }),
    lines: z.array(receiptLine),
    creditsUsed: amount.meta({ description: "The sum of the lines: what the run was charged" }),
    creditsRefunded: amount.meta({ description: "What was given back later" }),
  })
  .meta({ id: "Receipt" });
