import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { select } from "@/server/base/db/statement";
import { ENDED_STATUSES } from "@/server/contract/enums";
import type { Services } from "@/server/runs/services";
import type { ListedStatus } from "../enums";
import { allRuns, indexedRuns, openRuns, queuedRuns } from "../run-rows";
import {
  asksForSizes,
  exactConditions,
  facetsOf,
  idBounds,
  idCondition,
  metadataConditions,
  metadataQueries,
  type RunFilter,
  runConditions,
} from "./filter";

/** A range of runs: older than `before`, newer than `after`, `limit` of the newest or oldest. */
export type PageRequest = {
  before?: string | undefined;
  after?: string | undefined;
  /** Few, so that each row is read. */
  ids?: string[];
  limit: number;
  /** With `after`, from the run next to it. */
  oldestFirst?: boolean;
};

const idRow = z.object({ id: z.string() });

/** The ids of the organization's runs that match a filter, newest first unless the oldest are requested. */
export async function findRunIds(
  services: Pick<Services, "clock" | "pool">,
  orgId: OrgId,
  { filter, page }: { filter: RunFilter; page: PageRequest },
): Promise<string[]> {
  const statement = selectRunIds(orgId, filter, { page, now: services.clock.now() });
  const found = await select(services.pool, idRow, statement);
  return found.map(({ id }) => id);
}

/** The query of `findRunIds`, with one column `id`. It must be one statement, because a run may move between two. */
export function selectRunIds(
  orgId: OrgId,
  filter: RunFilter,
  { page, now }: { page: PageRequest; now: Date },
): Prisma.Sql {
  const among = page.ids ? [Prisma.sql`r.id = ANY (${page.ids}::uuid[])`] : [];
  const pairs = metadataConditions(filter);
  const conditions = [...runConditions(orgId, filter, now), ...among, ...pairs];
  const byId = filter.text ? idCondition(filter.text) : null;
  if (byId) return selectIds(allRuns(now), [...conditions, byId], page);
  const isIndexed = filter.text || facetsOf(filter).length > 0 || pairs.length > 0;
  if (!filter.text && (page.ids || !isIndexed)) return selectIds(allRuns(now), conditions, page);
  const unindexed = filter.text ? [...conditions, containsText(filter.text)] : conditions;
  const sources: Prisma.Sql[] = [];
  if (mayBeOpen(filter)) sources.push(selectIds(openRuns(now), unindexed, page));
  if (mayHaveEnded(filter)) {
    // Only ended statuses: the B-tree of statuses is sorted within one status only.
    const ended = { ...filter, status: filter.status?.filter(hasEnded) };
    const indexed = [...runConditions(orgId, ended, now), ...among];
    sources.push(selectIds(queuedRuns(now, orderOf(page)), unindexed, page));
    if (page.ids && filter.text) {
      const queries = [wordsQuery(filter.text), ...metadataQueries(filter, Prisma.sql`''`)];
      const matches = queries.map((query) => Prisma.sql`words_fit(r.words, ${query})`);
      sources.push(selectIds(indexedRuns, [...indexed, ...matches], page));
    } else if (isWalkable(ended)) sources.push(selectIds(indexedRuns, indexed, page));
    else sources.push(searchIndex(orgId, ended, { page, now }));
  }
  return merge(sources, page);
}

/** Returns true if one B-tree has the filter's runs in order: one condition, or root runs with at most one status. */
export function isWalkable(filter: RunFilter): boolean {
  const {
    text,
    status = [],
    source,
    agentId,
    toolId,
    targetIds = [],
    triggerId,
    scheduleId,
    apiKeyId,
  } = filter;
  if (text || filter.kind || filter.userId || targetIds.length > 1 || filter.metadata) return false;
  if (asksForSizes(filter)) return false;
  const subjects = [agentId, toolId, targetIds.length, triggerId, scheduleId, apiKeyId].filter(
    Boolean,
  ).length;
  if (source === "outside") return status.length <= 1 && subjects === 0;
  const indexed = subjects + [status.length, source].filter(Boolean).length;
  return indexed === 1 && status.length <= 1 && source !== "saved";
}

export async function findFitting(
  services: Pick<Services, "clock" | "pool">,
  { orgId }: Pick<MemberActor, "orgId">,
  { filter, ids }: { filter: RunFilter; ids: string[] },
): Promise<string[]> {
  return ids.length === 0 ? [] : findRunIds(services, orgId, { filter, page: { ids, limit: ids.length } });
}

/** The next newer and next older run in a filtered list; null at its ends. The run itself may not match. */
export async function findNeighbors(
  services: Pick<Services, "clock" | "pool">,
  { orgId }: MemberActor,
  { runId, filter }: { runId: string; filter: RunFilter },
): Promise<{ newer: string | null; older: string | null }> {
  const [[newer], [older]] = await Promise.all([
    findRunIds(services, orgId, { filter, page: { after: runId, limit: 1, oldestFirst: true } }),
    findRunIds(services, orgId, { filter, page: { before: runId, limit: 1 } }),
  ]);
  return { newer: newer ?? null, older: older ?? null };
}

const hasEnded = (status: ListedStatus) => ENDED_STATUSES.some((each) => each === status);
const mayHaveEnded = ({ status }: RunFilter) => !status?.length || status.some(hasEnded);
const mayBeOpen = ({ status }: RunFilter) => !status?.length || !status.every(hasEnded);

const orderOf = ({ oldestFirst }: PageRequest) => (oldestFirst ? Prisma.sql`ASC` : Prisma.sql`DESC`);

function selectIds(source: Prisma.Sql, conditions: Prisma.Sql[], page: PageRequest): Prisma.Sql {
  const { before, after, limit } = page;
  const all = [...conditions];
  if (before) all.push(Prisma.sql`r.id < ${before}::uuid`);
  if (after) all.push(Prisma.sql`r.id > ${after}::uuid`);
  return Prisma.sql`
    SELECT r.id FROM ${source} r WHERE ${Prisma.join(all, " AND ")} ORDER BY r.id ${orderOf(page)} LIMIT ${limit}`;
}

function merge(sources: Prisma.Sql[], page: PageRequest): Prisma.Sql {
  const found = Prisma.join(sources, ") UNION (", "(", ")");
  return Prisma.sql`SELECT id FROM (${found}) found ORDER BY id ${orderOf(page)} LIMIT ${page.limit}`;
}

// The sub-select is evaluated once for all rows.
const wordsQuery = (text: string) => Prisma.sql`(SELECT run_words_query('', ${text}, '{}'))`;

// While a run is in progress, search matches the exact text of its input. An ended run's words are computed
// only if its texts contain each searched word, which is quick to check.
function containsText(text: string): Prisma.Sql {
  const exact = `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
  const patterns = Prisma.sql`
    ARRAY(SELECT '%' || word || '%' FROM unnest(run_text_words(${text})) AS word WHERE NOT is_unspaced(word))`;
  return Prisma.sql`CASE
    WHEN r.finished_at IS NULL THEN r.input ILIKE ${exact}
    WHEN lower(run_text(r.input, r.output, r.error_message)) LIKE ALL (${patterns})
      THEN words_fit(run_keys(r.input, r.output, r.error_message), ${wordsQuery(text)})
    ELSE false END`;
}

// A scope is a day and a half. Each is found from the previous one, so that times without runs cost nothing.
function searchIndex(
  orgId: OrgId,
  filter: RunFilter,
  { page, now }: { page: PageRequest; now: Date },
): Prisma.Sql {
  const bounds = idBounds(filter, now);
  const below = least(bounds.below, page.before);
  const conditions = [...exactConditions(orgId, filter, now), Prisma.sql`r.id < ${below}::uuid`];
  if (page.after) conditions.push(Prisma.sql`r.id > ${page.after}::uuid`);
  const order = orderOf(page);
  const scopeOf = (condition: Prisma.Sql) => Prisma.sql`
    SELECT run_scope(r.organization_id, r.id) AS name FROM runs r
    WHERE r.organization_id = ${orgId}::uuid AND r.id < ${below}::uuid
      AND r.id >= ${greatest(bounds.above, page.after)}::uuid AND ${condition}
    ORDER BY r.id ${order} LIMIT 1`;
  // A scope's name ends in the first 21 bits of its ids: five digits, and 0 or 8.
  const beyondScope = page.oldestFirst
    ? Prisma.sql`r.id > (substr(scope.name, 7, 5) || CASE right(scope.name, 1) WHEN '0' THEN '7' ELSE 'f' END
        || 'ff-ffff-ffff-ffff-ffffffffffff')::uuid`
    : Prisma.sql`r.id < (right(scope.name, 6) || '00-0000-0000-0000-000000000000')::uuid`;
  const facets = facetsOf(filter);
  const words = Prisma.sql`run_words_query(scope.name, ${filter.text ?? null}, ${facets}::text[])`;
  const queries = metadataQueries(filter, Prisma.sql`scope.name`);
  // Without text and facets, the words are null.
  if (filter.text || facets.length > 0) queries.unshift(words);
  const matches = Prisma.join(queries, " && ");
  // Words are searched by prefix, which collects all their runs in the scope. Facets alone show sooner that no run
  // matches.
  const query =
    filter.text && facets.length > 0
      ? Prisma.sql`CASE WHEN EXISTS (
          SELECT 1 FROM run_index WHERE ${TERMS} @@ run_words_query(scope.name, NULL, ${facets}::text[])
        ) THEN ${matches} END`
      : matches;
  // MATERIALIZED, with the terms only: with more conditions the planner would combine an index of the whole
  // organization, or read row after row. Scopes and their hits are in order, so the outer limit ends the search.
  return Prisma.sql`
    WITH RECURSIVE scope AS (
      (${scopeOf(Prisma.sql`true`)})
      UNION ALL
      SELECT next.name FROM scope CROSS JOIN LATERAL (${scopeOf(beyondScope)}) next
    )
    SELECT hit.id FROM scope CROSS JOIN LATERAL (SELECT ${query} AS terms OFFSET 0) search CROSS JOIN LATERAL (
      WITH hits AS MATERIALIZED (
        SELECT run_id AS id, organization_id, kind, created_at, duration_ms, tokens, credits FROM run_index
        WHERE ${TERMS} @@ search.terms
      )
      SELECT r.id FROM hits r WHERE ${Prisma.join(conditions, " AND ")} ORDER BY r.id ${order} LIMIT ${page.limit}
    ) hit LIMIT ${page.limit}`;
}

const TERMS = Prisma.sql`run_terms(organization_id, run_id, kind, status, source, target_id, trigger_id, api_key_id, user_id,
  duration_ms, tokens, credits, words)`;

const least = (a: string, b: string | undefined) => (b !== undefined && b < a ? b : a);
const greatest = (a: string, b: string | undefined) => (b !== undefined && b > a ? b : a);
