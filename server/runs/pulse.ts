import { z } from "zod";
import type { MemberActor } from "@/server/auth/actor";
import { AppError } from "@/server/errors";
import type { Services } from "@/server/services";

/** Whether an open run is alive, and what one waits for that has not begun. */
export type Pulse = {
  /** Milliseconds since the process that executes it was last heard of; null while none does. */
  silentMs: number | null;
  /** What stands before a run that has no place yet; null for all others. */
  queue: {
    /** Runs of the organization that came earlier and have no place either. */
    ahead: number;
    /** Places of the plan, and how many of them are taken. */
    places: number;
    taken: number;
  } | null;
};

const row = z.object({
  now_running: z.boolean(),
  heartbeat_at: z.date().nullable(),
  queued: z.boolean(),
  ahead: z.number(),
  places: z.number(),
  taken: z.number(),
});

/** Feels the pulse of a run; heartbeats change no line of it, so that no event tells of them. Throws not_found. */
export async function readPulse(services: Services, actor: MemberActor, runId: string): Promise<Pulse> {
  const found = await services.db.$queryRaw`
    SELECT r.status = 'Running' AND r.waiting_since IS NULL AS now_running, r.heartbeat_at,
      r.status = 'Pending' AND r.admitted_at IS NULL AND r.parent_run_id IS NULL AS queued,
      (SELECT count(*)::int FROM runs q WHERE q.organization_id = r.organization_id
         AND q.status IN ('Pending', 'Running') AND q.admitted_at IS NULL AND q.id < r.id) AS ahead,
      p.concurrency AS places,
      (SELECT count(*)::int FROM runs f WHERE f.organization_id = r.organization_id AND f.status IN ('Pending', 'Running')
         AND f.admitted_at IS NOT NULL AND f.waiting_since IS NULL AND f.parent_run_id IS NULL) AS taken
    FROM runs r JOIN plans p ON p.organization_id = r.organization_id
    WHERE r.id = ${runId}::uuid AND r.organization_id = ${actor.orgId}::uuid`;
  const [pulse] = z.array(row).parse(found);
  if (!pulse) throw new AppError("not_found", `There is no run ${runId} in this organization.`);
  const { heartbeat_at, now_running, queued, ahead, places, taken } = pulse;
  const silentMs = heartbeat_at ? services.clock.now().getTime() - heartbeat_at.getTime() : null;
  return {
    silentMs: now_running && silentMs !== null ? Math.max(0, silentMs) : null,
    queue: queued ? { ahead, places, taken } : null,
  };
}
