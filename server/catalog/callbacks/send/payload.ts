import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery, type Queryable } from "@/server/base/db/statement";
import { type Json, readJson, writeJson } from "@/server/base/json/json";
import { RUN_KINDS } from "@/server/contract/enums";
import { MAX_CALLBACK_TEXT_BYTES } from "@/server/contract/sizes";
import { agentRunStatus, toolRunStatus } from "@/server/runs/read/views";
import { runFacts } from "@/server/runs/run-facts";

const shortText = (column: string) =>
  `CASE WHEN octet_length(${column}) <= ${MAX_CALLBACK_TEXT_BYTES} THEN ${column} END`;

// Like `read-run`, without long texts.
const READ_RUN = defineQuery(
  "read-callback-run",
  runFacts.extend({
    kind: z.enum(RUN_KINDS),
    metadata: z.string().nullable(),
    isInputLong: z.boolean(),
    isOutputLong: z.boolean(),
  }),
  `SELECT run.id, run.kind, run.metadata, run.agent_id AS "agentId", run.tool_id AS "toolId", run.target_name AS "targetName",
         encode(run.configuration_hash, 'hex') AS "configurationHash", run.status,
         coalesce(${shortText("run.input")}, '') AS input, octet_length(run.input) > ${MAX_CALLBACK_TEXT_BYTES} AS "isInputLong",
         ${shortText("run.output")} AS output, coalesce(octet_length(run.output) > ${MAX_CALLBACK_TEXT_BYTES}, false) AS "isOutputLong",
         run.error_message AS "errorMessage", run.cancelled_by AS "cancelledBy",
         coalesce(open.steps, run.steps_executed) AS "stepsExecuted",
         coalesce(open.input_tokens, run.input_tokens) AS "inputTokens",
         coalesce(open.output_tokens, run.output_tokens) AS "outputTokens",
         coalesce(open.actions, run.actions_used) AS "actionsUsed",
         coalesce(open.credits, run.credits_used) AS "creditsUsed",
         run.created_at AS "createdAt", run.started_at AS "startedAt", run.finished_at AS "finishedAt"
  FROM runs AS run
  CROSS JOIN LATERAL open_run_figures(run.id, run.finished_at IS NULL) AS open
  WHERE run.id = $1 AND run.organization_id = $2`,
);

export type CallbackEvent = {
  orgId: OrgId;
  type: string;
  at: Date;
  /** Null: it is not about a run. */
  runId: string | null;
  /** A JSON object, instead of a run; null: a test. */
  data: string | null;
  wait: { reason: string; until: Date | null } | null;
};

/** The body of a callback, as of now; null if the run was deleted. `appUrl` has no trailing slash. */
export async function renderCallback(
  client: Queryable,
  event: CallbackEvent,
  { appUrl, now }: { appUrl: string; now: Date },
): Promise<string | null> {
  const { orgId, type, at, runId, data, wait } = event;
  if (data !== null) return bodyOf(type, at, readJson(data));
  if (runId === null) return bodyOf(type, at, { message: "This is a test from Stepwell." });
  const [run] = await READ_RUN(client, [runId, orgId]);
  if (run === undefined) return null;
  const { kind, metadata, isInputLong, isOutputLong } = run;
  const address = `${appUrl}/v1/${kind}s/run/${runId}`;
  const view =
    kind === "agent"
      ? {
          ...agentRunStatus(run),
          ...(isInputLong ? { userMessage: null, userMessageUrl: `${address}/status` } : {}),
          ...(isOutputLong ? { finalOutputUrl: `${address}/status` } : {}),
        }
      : {
          ...toolRunStatus(run, now),
          outputData: run.output,
          ...(isOutputLong ? { outputDataUrl: `${address}/result` } : {}),
        };
  const { id, ...rest } = view;
  return bodyOf(type, at, {
    id,
    kind,
    ...rest,
    ...(wait ? { waiting: { reason: wait.reason, until: wait.until?.toISOString() ?? null } } : {}),
    metadata: metadata === null ? {} : readJson(metadata),
  });
}

const bodyOf = (type: string, at: Date, data: Json | object) =>
  writeJson({ type, timestamp: at.toISOString(), data });
