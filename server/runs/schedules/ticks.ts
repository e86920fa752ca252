import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineCommand, defineQuery, isOpenSql, type Queryable } from "@/server/base/db/statement";
import { mintOrgId } from "@/server/base/mint-org-id";
import { OVERLAP_POLICIES, RUN_KINDS, type TickCode, type TickOutcomeName } from "@/server/contract/enums";
import type { ErrorCode } from "@/server/contract/errors";

/** A process that dies or stalls leaves its tick to the others after this time. */
export const LEASE_SECONDS = 30;
const BATCH = 20;
/** The interval at which a queued tick looks for the end of the earlier run. */
export const QUEUE_POLL_MS = 5_000;

const tick = z.object({
  scheduleId: z.string(),
  orgId: z.string().transform(mintOrgId),
  dueAt: z.date(),
  /** Before it was taken. */
  attemptAt: z.date(),
  queuedAt: z.date().nullable(),
  name: z.string(),
  kind: z.enum(RUN_KINDS),
  targetId: z.string(),
  input: z.string(),
  cron: z.string(),
  timeZone: z.string(),
  overlap: z.enum(OVERLAP_POLICIES),
  catchUpSeconds: z.number(),
  jitterSeconds: z.number(),
  isPaused: z.boolean(),
});
export type Tick = z.infer<typeof tick>;

// Takes undecided ticks for a lease. Those of one schedule are taken in order: one at a time, besides the one
// that waits for an earlier run.
const TAKE = defineQuery(
  "take-schedule-ticks",
  tick,
  `WITH taken AS (
     SELECT u.schedule_id, u.due_at, u.attempt_at FROM schedule_ticks u
     WHERE u.outcome IS NULL AND u.attempt_at <= $1 AND NOT EXISTS (
       SELECT FROM schedule_ticks e
       WHERE e.schedule_id = u.schedule_id AND e.due_at < u.due_at AND e.outcome IS NULL AND e.queued_at IS NULL)
     ORDER BY u.attempt_at, u.due_at LIMIT ${BATCH} FOR NO KEY UPDATE SKIP LOCKED
   )
   UPDATE schedule_ticks t SET attempt_at = $1::timestamptz + make_interval(secs => ${LEASE_SECONDS})
   FROM taken JOIN schedules s ON s.id = taken.schedule_id
   WHERE t.schedule_id = taken.schedule_id AND t.due_at = taken.due_at AND t.organization_id = s.organization_id
   RETURNING t.schedule_id AS "scheduleId", t.organization_id AS "orgId", t.due_at AS "dueAt",
     taken.attempt_at AS "attemptAt", t.queued_at AS "queuedAt", s.name,
     CASE WHEN s.agent_id IS NULL THEN 'tool' ELSE 'agent' END AS kind, coalesce(s.agent_id, s.tool_id) AS "targetId",
     s.input, s.cron, s.time_zone AS "timeZone", s.overlap::text AS overlap, s.catch_up_seconds AS "catchUpSeconds", s.jitter_seconds AS "jitterSeconds",
     s.paused_at IS NOT NULL OR s.deleted_at IS NOT NULL AS "isPaused"`,
);

export function takeTicks(client: Queryable, now: Date): Promise<Tick[]> {
  return TAKE(client, [now]);
}

type TickKey = { orgId: OrgId; scheduleId: string; dueAt: Date };

/** The key of a tick's start in `idempotency_keys`. Longer than any catch-up window, it leads to the run. */
export const TICK_SCOPE = "schedule";
export const tickKey = ({ scheduleId, dueAt }: Omit<TickKey, "orgId">) =>
  `${scheduleId} ${dueAt.toISOString()}`;

const READ_FACTS = defineQuery(
  "read-schedule-tick-facts",
  z.object({ ownRunId: z.string().nullable(), openRunId: z.string().nullable(), isQueueTaken: z.boolean() }),
  `SELECT
     (SELECT run_id FROM idempotency_keys
      WHERE organization_id = $1 AND scope = '${TICK_SCOPE}' AND key = $4) AS "ownRunId",
     (SELECT id FROM runs
      WHERE organization_id = $1 AND schedule_id = $2 AND ${isOpenSql()} ORDER BY id LIMIT 1) AS "openRunId",
     EXISTS (SELECT FROM schedule_ticks
             WHERE organization_id = $1 AND schedule_id = $2 AND due_at < $3 AND outcome IS NULL
               AND queued_at IS NOT NULL) AS "isQueueTaken"`,
);

/** The run that the tick started, an earlier run that is still open, and whether an earlier tick is queued. */
export async function readTickFacts(client: Queryable, { orgId, ...key }: TickKey) {
  const [facts] = await READ_FACTS(client, [orgId, key.scheduleId, key.dueAt, tickKey(key)]);
  if (facts === undefined) throw new Error("a tick has no facts");
  return facts;
}

const QUEUE = defineCommand(
  "queue-schedule-tick",
  `UPDATE schedule_ticks SET queued_at = coalesce(queued_at, $4), attempt_at = $5
   WHERE organization_id = $1 AND schedule_id = $2 AND due_at = $3 AND outcome IS NULL`,
);

/** Lets a tick wait for the end of an earlier run, and for an earlier tick that is queued. */
export async function queueTick(client: Queryable, key: TickKey, now: Date): Promise<void> {
  const again = new Date(now.getTime() + QUEUE_POLL_MS);
  await QUEUE(client, [key.orgId, key.scheduleId, key.dueAt, now, again]);
}

const isoSql = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Records `schedule.missed` for the missed ones among `ticks`, a table expression: one event for those of a schedule.
 * Organizations without callbacks have none.
 */
export const RAISE_MISSED = `
  INSERT INTO callback_events (id, organization_id, type, schedule_id, data, created_at)
  SELECT gen_random_uuid(), s.organization_id, 'schedule.missed', s.id,
    json_build_object('scheduleId', s.id, 'slug', s.slug, 'name', s.name, 'code', t.code, 'reason', t.reason,
      'ticks', count(*), 'firstDueAt', ${isoSql("min(t.due_at)")}, 'lastDueAt', ${isoSql("max(t.due_at)")}),
    t.decided_at
  FROM ticks t JOIN schedules s ON s.id = t.schedule_id JOIN organizations o ON o.id = s.organization_id
  WHERE t.outcome = 'missed' AND o.has_callbacks GROUP BY s.id, t.code, t.reason, t.decided_at`;

// A process that lost its lease may have decided otherwise before; a run that exists is the truth.
const DECIDE = defineCommand(
  "decide-schedule-tick",
  `WITH ticks AS (
     UPDATE schedule_ticks SET outcome = $4::tick_outcome, code = $5, reason = $6, run_id = $7, decided_at = $8
     WHERE organization_id = $1 AND schedule_id = $2 AND due_at = $3
       AND (outcome IS NULL OR ($4 = 'started' AND outcome <> 'started')) RETURNING *)
   ${RAISE_MISSED}`,
);

export type TickDecision =
  | { outcome: Extract<TickOutcomeName, "started">; runId: string }
  | { outcome: Exclude<TickOutcomeName, "started">; code: TickCode | ErrorCode; reason: string };

export async function decideTick(
  client: Queryable,
  { orgId, scheduleId, dueAt }: TickKey,
  { at, ...decision }: TickDecision & { at: Date },
): Promise<void> {
  const { code = null, reason = null, runId = null } = { ...NOTHING, ...decision };
  await DECIDE(client, [orgId, scheduleId, dueAt, decision.outcome, code, reason, runId, at]);
}

const NOTHING: { code?: string; reason?: string; runId?: string } = {};
