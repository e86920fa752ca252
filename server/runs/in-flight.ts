import type { Services } from "@/server/services";

/**
 * The runs that execute in this process: each has an AbortController, and one statement every few seconds beats
 * for all of them and hears of cancels, ends and lost ownership.
 */

const HEARTBEAT_MS = 3_000;

/** Why a run's work was aborted. */
export class RunStopped extends Error {
  override name = "RunStopped";
}

/** One worker's hold of a run: the run's epoch says whether it still is the newest. */
type Entry = { runId: string; epoch: number; controller: AbortController };
type InFlight = { entries: Set<Entry>; timer: NodeJS.Timeout | undefined };
const inFlightOf = new WeakMap<Services, InFlight>();

function inFlight(services: Services): InFlight {
  let known = inFlightOf.get(services);
  if (known === undefined) {
    known = { entries: new Set(), timer: undefined };
    inFlightOf.set(services, known);
  }
  return known;
}

/** Enters a run whose work `controller` can stop; the returned function must be called when that work ends. */
export function enterRun(
  services: Services,
  run: { id: string; epoch: number },
  controller: AbortController,
): () => void {
  const state = inFlight(services);
  const entry = { runId: run.id, epoch: run.epoch, controller };
  state.entries.add(entry);
  if (state.timer === undefined) {
    state.timer = setInterval(() => void beat(services, state), HEARTBEAT_MS);
    state.timer.unref();
  }
  return () => void state.entries.delete(entry);
}

/** Whether this process executes runs, or did a moment ago. */
export function isExecuting(services: Services): boolean {
  return inFlight(services).timer !== undefined;
}

/** Aborts a run's work if it executes in this process. */
export function abortRun(services: Services, runId: string, reason: Error): void {
  for (const entry of inFlight(services).entries) {
    if (entry.runId === runId) entry.controller.abort(reason);
  }
}

async function beat(services: Services, state: InFlight): Promise<void> {
  const entries = [...state.entries];
  if (entries.length === 0) {
    // Only here, not when a run leaves: one of many short steps enters and leaves all the time, and would never beat.
    clearInterval(state.timer);
    state.timer = undefined;
    return;
  }
  try {
    const { rows } = await services.pool.query<{ id: string; epoch: number; cancel: boolean }>(
      // Rows are locked in the order of their ids, callers before what they called, as everywhere: no two wait for each other.
      `WITH held AS MATERIALIZED (
         SELECT runs.id FROM unnest($2::uuid[], $3::int[]) AS entry (id, epoch)
         JOIN runs ON runs.id = entry.id AND runs.epoch = entry.epoch AND runs.status = 'Running'
         ORDER BY runs.id FOR NO KEY UPDATE OF runs
       )
       UPDATE runs SET heartbeat_at = $1 FROM held WHERE runs.id = held.id
       RETURNING runs.id, runs.epoch, cancel_requested_at IS NOT NULL AS cancel`,
      [services.clock.now(), entries.map(({ runId }) => runId), entries.map(({ epoch }) => epoch)],
    );
    const alive = new Map(rows.map((row) => [row.id, row]));
    for (const { runId, epoch, controller } of entries) {
      const row = alive.get(runId);
      if (row?.epoch !== epoch) controller.abort(new RunStopped("The run has ended or has another worker."));
      else if (row.cancel) controller.abort(new RunStopped("The run is to be cancelled."));
    }
  } catch (error) {
    services.log.warn("a heartbeat failed", { error });
  }
}
