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

type InFlight = { controllers: Map<string, AbortController>; timer: NodeJS.Timeout | undefined };
const inFlightOf = new WeakMap<Services, InFlight>();

function inFlight(services: Services): InFlight {
  let known = inFlightOf.get(services);
  if (known === undefined) {
    known = { controllers: new Map(), timer: undefined };
    inFlightOf.set(services, known);
  }
  return known;
}

/** Enters a run whose work `controller` can stop; the returned function must be called when that work ends. */
export function enterRun(services: Services, runId: string, controller: AbortController): () => void {
  const state = inFlight(services);
  state.controllers.set(runId, controller);
  if (state.timer === undefined) {
    state.timer = setInterval(() => void beat(services, state), HEARTBEAT_MS);
    state.timer.unref();
  }
  return () => {
    if (state.controllers.get(runId) === controller) state.controllers.delete(runId);
  };
}

/** Aborts a run's work if it executes in this process. */
export function abortRun(services: Services, runId: string, reason: Error): void {
  inFlight(services).controllers.get(runId)?.abort(reason);
}

async function beat(services: Services, state: InFlight): Promise<void> {
  const ids = [...state.controllers.keys()];
  if (ids.length === 0) {
    // Only here, not when a run leaves: one of many short steps enters and leaves all the time, and would never beat.
    clearInterval(state.timer);
    state.timer = undefined;
    return;
  }
  try {
    const { rows } = await services.pool.query<{ id: string; cancel: boolean }>(
      `UPDATE runs SET heartbeat_at = $1 WHERE id = ANY($2::uuid[]) AND status = 'Running'
       RETURNING id, cancel_requested_at IS NOT NULL AS cancel`,
      [services.clock.now(), ids],
    );
    const alive = new Map(rows.map((row) => [row.id, row.cancel]));
    for (const id of ids) {
      if (alive.get(id) === true) abortRun(services, id, new RunStopped("The run is to be cancelled."));
      else if (!alive.has(id)) abortRun(services, id, new RunStopped("The run has ended."));
    }
  } catch (error) {
    services.log.warn("a heartbeat failed", { error });
  }
}
