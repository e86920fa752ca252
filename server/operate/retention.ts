import { defineCommand, isOpenSql } from "@/server/base/db/statement";
import { isForeignKeyViolation, LOCKS, withAdvisoryLock } from "@/server/base/db/transaction";
import { UNACCEPTED } from "@/server/catalog/webhooks/delivery-bounds";
import type { Services } from "@/server/services";
import { removeInBatches } from "./remove-in-batches";

/** For how long tables keep rows that time removes: as long as the plan says, or forever. Others have bounds of their own. */
export const KEPT: Record<string, "plan" | "always"> = {
  runs: "plan",
  steps: "plan",
  model_calls: "plan",
  run_events: "plan",
  run_index: "plan",
  run_counts: "plan",
  configurations: "plan",
  deliveries: "plan",
  callback_events: "plan",
  callback_deliveries: "plan",
  callback_attempts: "plan",
  schedule_ticks: "plan",
  credit_entries: "always",
  audit_entries: "always",
};

// In order. `$1` is the time, `$2` the batch. Ledger and audit log are stored forever.
const REMOVALS = Object.entries({
  deliveries: `
    DELETE FROM deliveries WHERE id IN (
      SELECT d.id FROM plans p CROSS JOIN LATERAL (
        SELECT id FROM deliveries WHERE organization_id = p.organization_id
          AND received_at < $1::timestamptz - make_interval(days => p.retention_days)
        ORDER BY received_at LIMIT $2
      ) d LIMIT $2)`,
  scheduleTicks: `
    DELETE FROM schedule_ticks WHERE (schedule_id, due_at) IN (
      SELECT d.schedule_id, d.due_at FROM plans p CROSS JOIN LATERAL (
        SELECT schedule_id, due_at FROM schedule_ticks WHERE organization_id = p.organization_id
          AND outcome IS NOT NULL AND due_at < $1::timestamptz - make_interval(days => p.retention_days)
        ORDER BY due_at LIMIT $2
      ) d LIMIT $2)`,
  // Clears the body; the row stays.
  unacceptedBodies: `
    UPDATE deliveries SET body = '', body_note = 'newer calls of this trigger that started nothing replaced it' WHERE id IN (
      SELECT id FROM (
        SELECT id, sum(body_bytes) OVER (PARTITION BY trigger_id ORDER BY id DESC) AS newer FROM deliveries
        WHERE outcome <> 'accepted' AND body_bytes > ${UNACCEPTED.smallBytes} AND body_note IS NULL
          AND received_at <= $1
      ) d WHERE newer > ${UNACCEPTED.kept.bodyBytes} LIMIT $2)`,
  // By trigger and outcome: these rows have an index of their own (deliveries_not_accepted).
  unacceptedDeliveries: `
    DELETE FROM deliveries WHERE id IN (
      SELECT d.id FROM triggers t CROSS JOIN unnest(enum_range(NULL::delivery_outcome)) AS o (outcome)
      CROSS JOIN LATERAL (
        SELECT id FROM deliveries WHERE organization_id = t.organization_id AND trigger_id = t.id
          AND outcome = o.outcome AND outcome <> 'accepted' AND received_at <= $1
        ORDER BY id DESC OFFSET ${UNACCEPTED.kept.rows} LIMIT $2
      ) d LIMIT $2)`,
  // What a deleted callback waits for is not sent, so that no dispatcher looks for it.
  deletedCallbacks: `
    UPDATE callback_deliveries SET next_at = NULL WHERE id IN (
      SELECT d.id FROM callback_endpoints c CROSS JOIN LATERAL (
        SELECT id FROM callback_deliveries WHERE endpoint_id = c.id AND next_at IS NOT NULL LIMIT $2
      ) d WHERE c.deleted_at <= $1 LIMIT $2)`,
  // With their deliveries and attempts. An event that is still sent has four days: longer than its attempts take without Retry-After.
  callbackEvents: `
    DELETE FROM callback_events WHERE id IN (
      SELECT e.id FROM plans p CROSS JOIN LATERAL (
        SELECT id FROM callback_events q WHERE organization_id = p.organization_id
          AND created_at < $1::timestamptz - make_interval(days => p.retention_days)
          AND (created_at < $1::timestamptz - interval '4 days' OR expanded_at IS NOT NULL
            AND NOT EXISTS (SELECT FROM callback_deliveries d WHERE d.event_id = q.id AND d.next_at IS NOT NULL))
        ORDER BY created_at LIMIT $2
      ) e LIMIT $2)`,
  // Deleted ones, once nothing remains of them. Until then, another DELETE of the same one succeeds, too.
  callbackEndpoints: `
    DELETE FROM callback_endpoints WHERE id IN (
      SELECT c.id FROM callback_endpoints c JOIN plans p USING (organization_id)
      WHERE c.deleted_at < $1::timestamptz - make_interval(days => p.retention_days)
        AND NOT EXISTS (SELECT FROM callback_deliveries d WHERE d.endpoint_id = c.id) LIMIT $2)`,
  callbackSecrets: `
    DELETE FROM callback_secrets WHERE id IN (SELECT id FROM callback_secrets WHERE expires_at <= $1 LIMIT $2)`,
  triggerSecrets: `
    DELETE FROM trigger_secrets WHERE id IN (SELECT id FROM trigger_secrets WHERE expires_at <= $1 LIMIT $2)`,
  // Complete trees: a child is deleted with its root; steps, model calls and index entries with their run. Old runs are
  // found by their ids, which are within an hour of `created_at`. With ANY and this order, only the index that begins with
  // the organization fits; by the primary key, PostgreSQL would read the runs of all organizations for each. A run whose
  // event is still sent stays; OFFSET 0 keeps this check from becoming a join, which would lose the order. So does a
  // tree with a run whose steps answer the calls of an open fork.
  runs: `
    WITH RECURSIVE tree AS (
      (SELECT r.id FROM plans p CROSS JOIN LATERAL (
         SELECT id FROM runs WHERE organization_id = ANY (ARRAY[p.organization_id]) AND parent_run_id IS NULL
           AND id < run_id_floor($1::timestamptz - make_interval(days => p.retention_days) + interval '1 hour')
           AND finished_at < $1::timestamptz - make_interval(days => p.retention_days)
           AND NOT EXISTS (SELECT FROM callback_events e WHERE e.organization_id = runs.organization_id AND e.run_id = runs.id
                           AND e.created_at BETWEEN runs.created_at AND runs.finished_at OFFSET 0)
           AND id <> ALL (ARRAY(
             SELECT origin.root_run_id FROM runs fork JOIN runs origin ON origin.id = fork.forked_from
             WHERE fork.organization_id = p.organization_id AND fork.forked_from IS NOT NULL
               AND fork.fork_mode = 'recorded' AND ${isOpenSql("fork")}))
         ORDER BY organization_id DESC, id LIMIT $2
       ) r LIMIT $2)
      UNION ALL
      SELECT child.id FROM runs child JOIN tree ON child.parent_run_id = tree.id
    )
    DELETE FROM runs WHERE id IN (SELECT id FROM tree)`,
  // After the runs that use them.
  configurations: `
    DELETE FROM configurations WHERE (organization_id, hash) IN (
      SELECT c.organization_id, c.hash FROM configurations c JOIN plans p USING (organization_id)
      WHERE c.created_at < $1::timestamptz - make_interval(days => p.retention_days)
        AND NOT EXISTS (SELECT 1 FROM runs r
                        WHERE r.organization_id = c.organization_id AND r.configuration_hash = c.hash)
      LIMIT $2)`,
  idempotencyKeys: `
    DELETE FROM idempotency_keys WHERE (organization_id, scope, key) IN (
      SELECT organization_id, scope, key FROM idempotency_keys WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
  // An expired value is kept for a day, so that no open run sees its version twice.
  keyValues: `
    DELETE FROM key_values WHERE (organization_id, key) IN (
      SELECT organization_id, key FROM key_values WHERE expires_at <= $1::timestamptz - interval '1 day' LIMIT $2)`,
  // No run is open for longer than two days, so that no step is repeated after that.
  keyValueWrites: `
    DELETE FROM key_value_writes WHERE (organization_id, call) IN (
      SELECT organization_id, call FROM key_value_writes WHERE written_at <= $1::timestamptz - interval '3 days' LIMIT $2)`,
  // Of runs that the collector did not even reject in time, or that no process exports any more.
  traces: `
    DELETE FROM trace_queue WHERE run_id IN (
      SELECT run_id FROM trace_queue WHERE queued_at < $1::timestamptz - interval '25 hours' LIMIT $2)`,
  sessions: `
    DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= $1 LIMIT $2)`,
  oneTimeLinks: `
    DELETE FROM one_time_links WHERE id IN (SELECT id FROM one_time_links WHERE expires_at <= $1 LIMIT $2)`,
  verifications: `
    DELETE FROM verifications WHERE id IN (SELECT id FROM verifications WHERE expires_at <= $1 LIMIT $2)`,
}).map(([kind, text]) => ({ kind, remove: defineCommand(`remove-expired-${kind}`, text) }));

// If a start uses a configuration again at this moment, the next pass deletes the others.
function leaveUsedConfigurations(error: unknown): number {
  if (isForeignKeyViolation(error, "runs_organization_id_configuration_hash_fkey")) return 0;
  throw error;
}

/** The number of runs includes children. With `more`, much is left. `errors`: of the kinds that failed. */
export type Removed = { rows: Record<string, number>; more: boolean; errors: unknown[] };

/**
 * Deletes what exceeds the plans' retention, calls that started no run beyond their bounds, and expired keys,
 * sessions and links. Works in small batches until nothing is left, up to 500 for each kind, or until `shouldContinue`
 * returns false. Null if another process does so. A kind that fails keeps no other one from being removed.
 */
export async function removeExpired(
  services: Pick<Services, "pool" | "clock" | "log">,
  shouldContinue: () => boolean = () => true,
): Promise<Removed | null> {
  const { clock } = services;
  const removed = await withAdvisoryLock(services.pool, LOCKS.retention, async (client) => {
    const all: Removed = { rows: {}, more: false, errors: [] };
    const now = clock.now();
    for (const { kind, remove } of REMOVALS) {
      const ofKind = (limit: number) => remove(client, [now, limit]).catch(leaveUsedConfigurations);
      try {
        const { count, more } = await removeInBatches(ofKind, { clock, shouldContinue });
        all.rows[kind] = count;
        all.more ||= more;
      } catch (error) {
        all.errors.push(error);
        services.log.warn("Could not remove expired data of one kind", { kind, error });
      }
    }
    return all;
  });
  if (removed && Object.values(removed.rows).some((count) => count > 0)) {
    services.log.info("Removed expired data", removed.rows);
  }
  return removed;
}
