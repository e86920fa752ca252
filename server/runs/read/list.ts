import { z } from "zod";
import type { Actor, OrgId } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { type Page, pageOf } from "@/server/base/db/page";
import { isoDate, select } from "@/server/base/db/statement";
import { RUN_KINDS, RUN_SOURCES, RUN_STATUSES } from "@/server/contract/enums";
import type { Services } from "@/server/runs/services";
import { MAX_LISTED_CHILDREN, PREVIEW_LENGTH } from "./enums";
import type { RunFilter } from "./find/filter";
import { selectRunIds } from "./find/find";
import { CREDITS_OF_TREE, IS_WAITING } from "./run-rows";

/** A row as selected by `RUN_COLUMNS`. Times become ISO 8601; credits are decimals in strings. */
export const runSummary = z.object({
  id: z.string(),
  kind: z.enum(RUN_KINDS),
  status: z.enum(RUN_STATUSES),
  targetId: z.string(),
  targetName: z.string(),
  targetVersion: z.number(),
  model: z.string().nullable(),
  source: z.enum(RUN_SOURCES),
  /** Of the trigger, schedule, key, person or parent run's target. */
  sourceName: z.string().nullable(),
  inputPreview: z.string(),
  errorPreview: z.string().nullable(),
  /** Direct children, counted up to MAX_COUNTED_CHILDREN. */
  children: z.number(),
  steps: z.number(),
  tokens: z.number(),
  credits: z.string(),
  /** With those of all runs below it. */
  creditsWithChildren: z.string(),
  createdAt: isoDate,
  startedAt: isoDate.nullable(),
  finishedAt: isoDate.nullable(),
  waiting: z.boolean(),
  cancelRequested: z.boolean(),
  sequence: z.number(),
});
export type RunSummary = z.infer<typeof runSummary>;

export type RunPage = Page<RunSummary>;

const MAX_COUNTED_CHILDREN = 1_000;

const PREVIEW = Prisma.raw(String(PREVIEW_LENGTH));

export const RUN_COLUMNS = Prisma.sql`
  r.id, r.kind::text AS kind, r.status::text AS status, coalesce(r.agent_id, r.tool_id) AS "targetId",
  r.target_name AS "targetName", r.target_version AS "targetVersion", r.model, r.source::text AS source,
  coalesce(t.name, s.name, k.name, u.name, p.target_name) AS "sourceName",
  left(r.input, ${PREVIEW}) AS "inputPreview", left(r.error_message, ${PREVIEW}) AS "errorPreview",
  (SELECT count(*)::int FROM (
    SELECT FROM runs c WHERE c.parent_run_id = r.id LIMIT ${Prisma.raw(String(MAX_COUNTED_CHILDREN))}) c) AS children,
  coalesce(f.steps, r.steps_executed) AS steps,
  coalesce(f.input_tokens + f.output_tokens, r.input_tokens + r.output_tokens) AS tokens,
  coalesce(f.credits, r.credits_used)::text AS credits,
  (${Prisma.raw(CREDITS_OF_TREE)})::text AS "creditsWithChildren",
  r.created_at AS "createdAt", r.started_at AS "startedAt", r.finished_at AS "finishedAt",
  ${Prisma.raw(IS_WAITING)} AS waiting,
  r.cancel_requested_at IS NOT NULL AND r.finished_at IS NULL AS "cancelRequested",
  greatest(f.sequence, r.sequence) AS sequence`;

export const RUN_JOINS = Prisma.sql`
  CROSS JOIN LATERAL open_run_figures(r.id, r.finished_at IS NULL) f
  LEFT JOIN triggers t ON t.id = r.trigger_id AND t.organization_id = r.organization_id
  LEFT JOIN schedules s ON s.id = r.schedule_id AND s.organization_id = r.organization_id
  LEFT JOIN api_keys k ON k.id = r.api_key_id AND k.organization_id = r.organization_id
  LEFT JOIN users u ON u.id = r.user_id
  LEFT JOIN runs p ON p.id = r.parent_run_id AND p.organization_id = r.organization_id`;

/** The organization's runs that match a filter, newest first, by cursor. */
export async function listRuns(
  services: Pick<Services, "clock" | "pool">,
  actor: Pick<Actor, "orgId">,
  { filter, before, limit }: { filter: RunFilter; before?: string | undefined; limit: number },
): Promise<RunPage> {
  const { orgId } = actor;
  const page = { before, limit: limit + 1 };
  const found = await readRuns(services, selectRunIds(orgId, filter, { page, now: services.clock.now() }));
  return pageOf(found, limit, "id");
}

export async function readRunsById(
  services: Pick<Services, "pool">,
  orgId: OrgId,
  ids: string[],
): Promise<RunSummary[]> {
  if (ids.length === 0) return [];
  return readRuns(
    services,
    Prisma.sql`SELECT id FROM runs WHERE organization_id = ${orgId}::uuid AND id = ANY (${ids}::uuid[])`,
  );
}

/** The runs that a run called itself, oldest first, up to MAX_LISTED_CHILDREN. */
export async function listChildren(
  services: Pick<Services, "pool">,
  { orgId }: Pick<Actor, "orgId">,
  { runId }: { runId: string },
): Promise<RunSummary[]> {
  const children = await readRuns(
    services,
    Prisma.sql`
    SELECT id FROM runs WHERE organization_id = ${orgId}::uuid AND parent_run_id = ${runId}::uuid
    ORDER BY id LIMIT ${MAX_LISTED_CHILDREN}`,
  );
  return children.reverse();
}

function readRuns({ pool }: Pick<Services, "pool">, ids: Prisma.Sql): Promise<RunSummary[]> {
  return select(
    pool,
    runSummary,
    Prisma.sql`
    SELECT ${RUN_COLUMNS} FROM (${ids}) page JOIN runs r ON r.id = page.id ${RUN_JOINS} ORDER BY r.id DESC`,
  );
}
