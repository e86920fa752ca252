import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { defineQuery, isoDate, select } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { readJson } from "@/server/base/json/json";
import { FORK_MODES } from "@/server/contract/enums";
import { RUN_COLUMNS, RUN_JOINS, runSummary } from "@/server/runs/read/list";
import { queuedRuns } from "@/server/runs/read/run-rows";
import type { Services } from "@/server/runs/services";
import { metadataPairs } from "@/server/runs/start-options";
import { toolConfiguration } from "@/server/work/agent/definition";
import { type SkipNote, skipNote } from "@/server/work/workflow/skip-note";
import { CALL_OF_TIMELINE, STEP_OF_TIMELINE, viewCallLine, viewStepLine } from "./lines";
import { payloadPreview, startOf } from "./payload-preview";

export type RunInspection = Awaited<ReturnType<typeof inspectRun>>;
export type RunDetail = RunInspection["run"];

/**
 * Reads a run with its steps and model calls, or only the lines changed since the sequence `after`. Nothing is
 * missed between two reads. Throws `not_found`.
 */
export async function inspectRun(
  services: Services,
  actor: MemberActor,
  { runId, after = -1 }: { runId: string; after?: number },
) {
  // The run is read first: later lines may be newer than its sequence and are sent twice, but none is skipped.
  const run = await readRunDetail(services, actor, runId);
  const where = { runId, organizationId: actor.orgId, sequence: { gt: after } };
  const [steps, calls] = await Promise.all([
    services.db.step.findMany({ where, orderBy: { stepNumber: "asc" }, select: STEP_OF_TIMELINE }),
    services.db.modelCall.findMany({ where, orderBy: { id: "asc" }, select: CALL_OF_TIMELINE }),
  ]);
  const hasChildren = steps.some(({ childRunId }) => childRunId !== null);
  const spent = hasChildren ? await readChildCredits(services, actor, runId) : undefined;
  const hasFailed = steps.some(({ status }) => status === "Failed");
  const tolerant = hasFailed ? await readTolerantSteps(services, actor, runId) : undefined;
  const hasSkipped = steps.some(({ status }) => status === "Skipped");
  const skipped = hasSkipped ? await readSkipNotes(services, actor, runId) : undefined;
  const lines = steps.map((step) => viewStepLine(step, { spent, tolerant, skipped }));
  return { run, steps: lines, calls: calls.map(viewCallLine) };
}

const READ_SKIP_NOTES = defineQuery(
  "read-skip-notes",
  z.object({ id: z.string(), input: z.string() }),
  "SELECT id, input FROM steps WHERE run_id = $1 AND organization_id = $2 AND status = 'Skipped'",
);

/** The reasons why steps of a run were skipped, by their ids. */
export async function readSkipNotes(
  { pool }: Pick<Services, "pool">,
  actor: MemberActor,
  runId: string,
): Promise<Map<string, SkipNote>> {
  const rows = await READ_SKIP_NOTES(pool, [runId, actor.orgId]);
  return new Map(rows.map(({ id, input }) => [id, skipNote.parse(readJson(input))]));
}

async function readTolerantSteps(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  runId: string,
): Promise<Set<string>> {
  const run = await db.run.findFirst({
    where: { id: runId, organizationId: actor.orgId, kind: "tool" },
    select: { configuration: { select: { document: true } } },
  });
  const stored = toolConfiguration.safeParse(readJson(run?.configuration.document ?? "null"));
  const ids = stored.data?.definition.steps.flatMap((step) =>
    [step, ...(step.parallel ?? [])]
      .filter((each) => each.onError === "continue" || step.onError === "continue")
      .map(({ id }) => id),
  );
  return new Set(ids);
}

const READ_CHILD_CREDITS = defineQuery(
  "read-child-credits",
  z.object({ id: z.string(), credits: z.string() }),
  `SELECT r.id, coalesce(f.credits, r.credits_used)::text AS credits
   FROM runs r CROSS JOIN LATERAL open_run_figures(r.id, r.finished_at IS NULL) f
   WHERE r.parent_run_id = $1 AND r.organization_id = $2`,
);

/** The credits that a run's child runs have used so far, by their ids. */
export async function readChildCredits(
  services: Pick<Services, "pool">,
  actor: MemberActor,
  parentRunId: string,
): Promise<Map<string, string>> {
  const children = await READ_CHILD_CREDITS(services.pool, [parentRunId, actor.orgId]);
  return new Map(children.map(({ id, credits }) => [id, credits]));
}

const RUNS_LOOKED_BACK = 1_000;

const lastGood = (now: Date) => Prisma.sql`(
  SELECT g.id FROM (
    (SELECT e.run_id AS id, e.status FROM run_index e
     WHERE e.organization_id = r.organization_id AND e.target_id = coalesce(r.agent_id, r.tool_id) AND e.run_id < r.id
     ORDER BY e.run_id DESC LIMIT ${RUNS_LOOKED_BACK})
    UNION ALL
    SELECT e.id, e.status FROM ${queuedRuns(now)} e
    WHERE e.organization_id = r.organization_id AND e.target_id = coalesce(r.agent_id, r.tool_id) AND e.id < r.id
  ) g WHERE g.status = 'Completed' ORDER BY g.id DESC LIMIT 1)`;

const runDetail = runSummary.extend({
  input: payloadPreview,
  output: payloadPreview.nullable(),
  agentId: z.string().nullable(),
  toolId: z.string().nullable(),
  triggerId: z.string().nullable(),
  scheduleId: z.string().nullable(),
  apiKeyId: z.string().nullable(),
  parentRunId: z.string().nullable(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  actions: z.number(),
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
  cancelledBy: z.string().nullable(),
  deadlineSeconds: z.number(),
  metadata: z.string().nullable().transform(metadataPairs),
  yieldedAt: z.array(isoDate),
  resumedAt: z.array(isoDate),
  /** Null if the agent or tool was deleted. */
  currentVersion: z.number().nullable(),
  /** The last completed run of the target before a failed one, if it is recent. */
  lastGoodRunId: z.string().nullable(),
  /** `isStored`: false once its origin is deleted. */
  fork: z
    .object({ runId: z.string(), fromStep: z.number(), tools: z.enum(FORK_MODES), isStored: z.boolean() })
    .nullable(),
  forks: z.array(z.object({ id: z.string() })),
});

const MAX_FORKS = 20;

async function readRunDetail(services: Pick<Services, "clock" | "pool">, actor: MemberActor, runId: string) {
  const [row] = await select(
    services.pool,
    runDetail,
    Prisma.sql`
    SELECT ${RUN_COLUMNS}, r.agent_id AS "agentId", r.tool_id AS "toolId", r.trigger_id AS "triggerId", r.schedule_id AS "scheduleId",
      r.api_key_id AS "apiKeyId", r.parent_run_id AS "parentRunId",
      coalesce(f.input_tokens, r.input_tokens) AS "inputTokens", coalesce(f.output_tokens, r.output_tokens) AS "outputTokens",
      coalesce(f.actions, r.actions_used) AS actions, r.error_code AS "errorCode", r.error_message AS "errorMessage",
      r.cancelled_by AS "cancelledBy", r.deadline_seconds AS "deadlineSeconds", r.metadata, r.yielded_at AS "yieldedAt",
      r.resumed_at AS "resumedAt",
      coalesce((SELECT a.version FROM agents a WHERE a.id = r.agent_id AND a.deleted_at IS NULL),
               (SELECT t.version FROM tools t WHERE t.id = r.tool_id AND t.deleted_at IS NULL)) AS "currentVersion",
      CASE WHEN r.forked_from IS NOT NULL THEN
        json_build_object('runId', r.forked_from, 'fromStep', r.fork_step, 'tools', r.fork_mode, 'isStored', EXISTS (
          SELECT FROM runs o WHERE o.id = r.forked_from AND o.organization_id = r.organization_id)) END AS fork,
      (SELECT coalesce(json_agg(f), '[]') FROM (
        SELECT f.id FROM runs f WHERE f.organization_id = r.organization_id AND f.forked_from = r.id
        ORDER BY f.id DESC LIMIT ${MAX_FORKS}) f) AS forks,
      CASE WHEN r.status = 'Failed' THEN ${lastGood(services.clock.now())} END AS "lastGoodRunId",
      ${Prisma.raw(startOf("r.input"))} AS input, ${Prisma.raw(startOf("r.output"))} AS output
    FROM runs r ${RUN_JOINS} WHERE r.id = ${runId}::uuid AND r.organization_id = ${actor.orgId}::uuid`,
  );
  if (!row) throw new AppError("not_found", `There is no run ${runId} in this organization.`);
  const { yieldedAt, resumedAt, ...run } = row;
  // `to` is null while it waits for a slot.
  const turns = yieldedAt.map((from, index) => ({
    from,
    // A run that ended while it waited did so until its end.
    to: resumedAt[index] ?? run.finishedAt,
  }));
  return { ...run, turns };
}
