import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { type Page, pageOf } from "@/server/base/db/page";
import { defineQuery, isoDate, select } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { isJsonObject, readJson } from "@/server/base/json/json";
import { FORK_MODES, RUN_KINDS, RUN_SOURCES, RUN_STATUSES } from "@/server/contract/enums";
import type { Services } from "@/server/runs/services";
import type { RunFilter } from "./find/filter";
import { selectRunIds } from "./find/find";

/** Runs as an API key lists and reads them: without names of people, and without previews of texts. */

const runLine = z.object({
  id: z.string(),
  kind: z.enum(RUN_KINDS),
  targetId: z.string(),
  targetName: z.string(),
  targetVersion: z.number(),
  model: z.string().nullable(),
  status: z.enum(RUN_STATUSES),
  errorCode: z.string().nullable(),
  source: z.enum(RUN_SOURCES),
  triggerId: z.string().nullable(),
  scheduleId: z.string().nullable(),
  apiKeyId: z.string().nullable(),
  parentRunId: z.string().nullable(),
  metadata: z
    .string()
    .nullable()
    .transform((text) => {
      const value = text === null ? null : readJson(text);
      return isJsonObject(value) ? value : null;
    }),
  stepsExecuted: z.number(),
  tokensUsed: z.number(),
  actionsUsed: z.number(),
  creditsUsed: z.string(),
  createdAt: isoDate,
  startedAt: isoDate.nullable(),
  finishedAt: isoDate.nullable(),
});
type RunLine = z.output<typeof runLine>;

const LINE = Prisma.sql`
  r.id, r.kind::text AS kind, coalesce(r.agent_id, r.tool_id) AS "targetId", r.target_name AS "targetName",
  r.target_version AS "targetVersion", r.model, r.status::text AS status, r.error_code AS "errorCode",
  r.source::text AS source, r.trigger_id AS "triggerId", r.schedule_id AS "scheduleId",
  r.api_key_id AS "apiKeyId", r.parent_run_id AS "parentRunId",
  r.metadata,
  coalesce(f.steps, r.steps_executed) AS "stepsExecuted",
  coalesce(f.input_tokens + f.output_tokens, r.input_tokens + r.output_tokens) AS "tokensUsed",
  coalesce(f.actions, r.actions_used) AS "actionsUsed",
  coalesce(f.credits, r.credits_used)::numeric(18, 4)::text AS "creditsUsed",
  r.created_at AS "createdAt", r.started_at AS "startedAt", r.finished_at AS "finishedAt"`;

const FIGURES = Prisma.sql`CROSS JOIN LATERAL open_run_figures(r.id, r.finished_at IS NULL) f`;

/** The runs that match a filter and that the key may see, newest first, by cursor. */
export async function listRunLines(
  services: Services,
  { orgId, targetIds }: Pick<ApiKeyActor, "orgId" | "targetIds">,
  { filter, before, limit }: { filter: RunFilter; before: string | undefined; limit: number },
): Promise<Page<RunLine>> {
  const seen = withinTargets(filter, targetIds);
  if (seen === null) return { items: [], nextCursor: null };
  const ids = selectRunIds(orgId, seen, { page: { before, limit: limit + 1 }, now: services.clock.now() });
  const statement = Prisma.sql`
    SELECT ${LINE} FROM (${ids}) page JOIN runs r ON r.id = page.id ${FIGURES} ORDER BY r.id DESC`;
  return pageOf(await select(services.pool, runLine, statement), limit, "id");
}

/** The filter among the targets of a limited key; null if it can match none. */
function withinTargets(filter: RunFilter, targetIds: readonly string[]): RunFilter | null {
  if (targetIds.length === 0) return filter;
  const wanted = filter.targetIds ?? targetIds;
  const seen = wanted.filter((id) => targetIds.includes(id));
  return seen.length === 0 ? null : { ...filter, targetIds: seen };
}

const runRecord = runLine.extend({
  rootRunId: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  deadlineSeconds: z.number(),
  maxCredits: z.string().nullable(),
  errorMessage: z.string().nullable(),
  cancelledBy: z.string().nullable(),
  fork: z.object({ runId: z.string(), fromStep: z.number(), tools: z.enum(FORK_MODES) }).nullable(),
  input: z.string(),
  output: z.string().nullable(),
});
export type RunRecord = z.output<typeof runRecord>;

/** All facts of a run, with its usage so far. Throws `not_found` also for a run that the key may not see. */
export async function readRunRecord(
  { pool }: Pick<Services, "pool">,
  { orgId, targetIds }: Pick<ApiKeyActor, "orgId" | "targetIds">,
  runId: string,
): Promise<RunRecord> {
  const [run] = await select(
    pool,
    runRecord,
    Prisma.sql`
    SELECT ${LINE}, r.root_run_id AS "rootRunId", coalesce(f.input_tokens, r.input_tokens) AS "inputTokens",
      coalesce(f.output_tokens, r.output_tokens) AS "outputTokens", r.deadline_seconds AS "deadlineSeconds",
      r.max_credits::text AS "maxCredits", r.error_message AS "errorMessage", r.cancelled_by AS "cancelledBy",
      CASE WHEN r.forked_from IS NOT NULL THEN
        json_build_object('runId', r.forked_from, 'fromStep', r.fork_step, 'tools', r.fork_mode) END AS fork,
      r.input, r.output
    FROM runs r ${FIGURES} WHERE r.id = ${runId}::uuid AND r.organization_id = ${orgId}::uuid`,
  );
  return requireSeen(targetIds, run);
}

const FIND = defineQuery(
  "find-own-run",
  z.object({ kind: z.enum(RUN_KINDS), targetId: z.string() }),
  `SELECT kind, coalesce(agent_id, tool_id) AS "targetId" FROM runs WHERE id = $1 AND organization_id = $2`,
);

/** Throws `not_found` if the key may not see the run. */
export async function requireOwnRun(
  { pool }: Pick<Services, "pool">,
  { orgId, targetIds }: Pick<ApiKeyActor, "orgId" | "targetIds">,
  runId: string,
) {
  const [run] = await FIND(pool, [runId, orgId]);
  return requireSeen(targetIds, run);
}

function requireSeen<Run extends { targetId: string }>(
  targetIds: readonly string[],
  run: Run | undefined,
): Run {
  const isSeen = targetIds.length === 0 || targetIds.includes(run?.targetId ?? "");
  if (run === undefined || !isSeen) throw new AppError("not_found", "Run not found.");
  return run;
}
