import { z } from "zod";
import type { OrgId } from "@/server/auth/actor";
import { Prisma } from "@/server/db/generated/client";
import {
  asksForSizes,
  exactConditions,
  facetsOf,
  idBounds,
  idCondition,
  type RunFilter,
  runConditions,
} from "@/server/runs/filter";
import { isTerminal } from "@/server/runs/words";
import type { Services } from "@/server/services";

/** A stretch of runs: older than `before`, newer than `after`, so many of the newest, or of the oldest. */
export type Stretch = {
  before?: string | undefined;
  after?: string | undefined;
  limit: number;
  /** Begins at the other end: with `after`, at the run that is next to it. */
  oldestFirst?: boolean;
};

/** The ids of the organization's runs that a filter lets through, newest first unless the oldest are wanted. */
export async function findRunIds(
  services: Services,
  orgId: OrgId,
  filter: RunFilter,
  stretch: Stretch,
): Promise<string[]> {
  const walk = walkConditions(orgId, filter, services.clock.now());
  if (walk) return readIds(services, endOf(walk, stretch));
  const [ended, open] = await Promise.all([
    mayHaveEnded(filter) ? searchEnded(services, orgId, filter, stretch) : [],
    mayBeOpen(filter) ? searchOpen(services, orgId, filter, stretch) : [],
  ]);
  const later = stretch.oldestFirst ? -1 : 1;
  return [...ended, ...open].sort((a, b) => (a < b ? later : -later)).slice(0, stretch.limit);
}

/**
 * The conditions of a filter whose runs stand side by side in one of the indexes that end in the id, so that a page of
 * them is read in one go: everything, or one condition, at any time. Null for all others.
 */
export function walkConditions(orgId: OrgId, filter: RunFilter, now: Date): Prisma.Sql[] | null {
  const { text, status, source, agentId, toolId, triggerId, apiKeyId } = filter;
  const conditions = runConditions(orgId, filter, now);
  const byId = text ? idCondition(text) : null;
  if (byId) return [...conditions, byId];
  if (text || filter.kind || filter.userId || asksForSizes(filter)) return null;
  const indexed = [status?.length, source, agentId, toolId, triggerId, apiKeyId].filter(Boolean).length;
  const manyStatuses = (status?.length ?? 0) > 1 && mayHaveEnded(filter);
  return indexed > 1 || manyStatuses || source === "outside" ? null : conditions;
}

/**
 * Which of these runs a filter lets through, in no order. For few: each row is looked at, and the words of those that fit
 * otherwise are made anew.
 */
export async function findFitting(
  services: Services,
  orgId: OrgId,
  filter: RunFilter,
  ids: string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const conditions = [
    ...runConditions(orgId, filter, services.clock.now()),
    Prisma.sql`r.id = ANY (${ids}::uuid[])`,
  ];
  const byId = filter.text ? idCondition(filter.text) : null;
  if (byId) conditions.push(byId);
  const near = Prisma.join(conditions, " AND ");
  if (!filter.text || byId) return readIds(services, Prisma.sql`SELECT r.id FROM runs r WHERE ${near}`);
  return readIds(
    services,
    Prisma.sql`
    WITH near AS MATERIALIZED (SELECT r.* FROM runs r WHERE ${near})
    SELECT r.id FROM near r WHERE CASE WHEN r.finished_at IS NULL THEN ${inputHolds(filter.text)} ELSE
      ${WORDS} @@ run_words_query(right(${orgId}, 6) || ${SCOPE_START}, ${filter.text}, '{}'::text[]) END`,
  );
}

const mayHaveEnded = ({ status }: RunFilter) => !status?.length || status.some(isTerminal);
const mayBeOpen = ({ status }: RunFilter) => !status?.length || status.some((each) => !isTerminal(each));

const orderOf = ({ oldestFirst }: Stretch) => (oldestFirst ? Prisma.sql`ASC` : Prisma.sql`DESC`);

function endOf(conditions: Prisma.Sql[], stretch: Stretch): Prisma.Sql {
  const { before, after, limit } = stretch;
  const all = [...conditions];
  if (before) all.push(Prisma.sql`r.id < ${before}::uuid`);
  if (after) all.push(Prisma.sql`r.id > ${after}::uuid`);
  return Prisma.sql`
    SELECT r.id FROM runs r WHERE ${Prisma.join(all, " AND ")} ORDER BY r.id ${orderOf(stretch)} LIMIT ${limit}`;
}

/**
 * Runs that have not ended are few, and not in the index of words: their input is read letter by letter, and their sizes are
 * those of this moment.
 */
async function searchOpen(
  services: Services,
  orgId: OrgId,
  filter: RunFilter,
  stretch: Stretch,
): Promise<string[]> {
  const conditions = runConditions(orgId, filter, services.clock.now());
  conditions.push(Prisma.sql`r.status IN ('Pending', 'Running')`);
  if (filter.text) conditions.push(inputHolds(filter.text));
  return readIds(services, endOf(conditions, stretch));
}

function inputHolds(text: string): Prisma.Sql {
  return Prisma.sql`r.input ILIKE ${`%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`}`;
}

/** What the ids of a run's scope begin with. */
const SCOPE_START = Prisma.sql`left(r.id::text, 5) || CASE WHEN substr(r.id::text, 6, 1) < '8' THEN '0' ELSE '8' END`;

const WORDS = Prisma.sql`run_words(r.organization_id, r.id, r.kind, r.status, r.source, coalesce(r.agent_id, r.tool_id),
  r.trigger_id, r.api_key_id, r.user_id, r.size_facets, r.input, r.output, r.error_message)`;

/**
 * Asks the index of words for one scope (a day and a half) after the other, from the newest or the oldest, until the page
 * is full. Each scope is found from the one before it, so that times without runs cost nothing.
 */
async function searchEnded(
  services: Services,
  orgId: OrgId,
  filter: RunFilter,
  stretch: Stretch,
): Promise<string[]> {
  const now = services.clock.now();
  const bounds = idBounds(filter, now);
  const below = least(bounds.below, stretch.before);
  const conditions = [...exactConditions(orgId, filter, now), Prisma.sql`r.id < ${below}::uuid`];
  if (stretch.after) conditions.push(Prisma.sql`r.id > ${stretch.after}::uuid`);
  const order = orderOf(stretch);
  const scopeOf = (condition: Prisma.Sql) => Prisma.sql`
    SELECT ${SCOPE_START} AS start FROM runs r
    WHERE r.organization_id = ${orgId}::uuid AND r.id < ${below}::uuid
      AND r.id >= ${greatest(bounds.above, stretch.after)}::uuid AND ${condition}
    ORDER BY r.id ${order} LIMIT 1`;
  const beyondScope = stretch.oldestFirst
    ? Prisma.sql`r.id > (left(scope.start, 5) || CASE right(scope.start, 1) WHEN '0' THEN '7' ELSE 'f' END
        || 'ff-ffff-ffff-ffff-ffffffffffff')::uuid`
    : Prisma.sql`r.id < (scope.start || '00-0000-0000-0000-000000000000')::uuid`;
  // MATERIALIZED, with nothing but the words: given more, the planner would mix in an index of the whole organization, or
  // read row after row in hope of a hit. Scopes come in order and each one's hits too, so that the outer limit ends the
  // work.
  return readIds(
    services,
    Prisma.sql`
    WITH RECURSIVE scope AS (
      (${scopeOf(Prisma.sql`true`)})
      UNION ALL
      SELECT next.start FROM scope CROSS JOIN LATERAL (${scopeOf(beyondScope)}) next
    )
    SELECT hit.id FROM scope CROSS JOIN LATERAL (
      WITH hits AS MATERIALIZED (
        SELECT id, organization_id, created_at, started_at, finished_at, input_tokens, output_tokens, credits_used
        FROM runs r
        WHERE r.finished_at IS NOT NULL
          AND ${WORDS} @@ run_words_query(right(${orgId}, 6) || scope.start, ${filter.text ?? null}, ${facetsOf(filter)}::text[])
      )
      SELECT r.id FROM hits r WHERE ${Prisma.join(conditions, " AND ")} ORDER BY r.id ${order} LIMIT ${stretch.limit}
    ) hit LIMIT ${stretch.limit}`,
  );
}

const least = (a: string, b: string | undefined) => (b !== undefined && b < a ? b : a);
const greatest = (a: string, b: string | undefined) => (b !== undefined && b > a ? b : a);

const idRows = z.array(z.object({ id: z.string() }));

async function readIds(services: Services, query: Prisma.Sql): Promise<string[]> {
  return idRows.parse(await services.db.$queryRaw(query)).map(({ id }) => id);
}
