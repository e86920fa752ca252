import type pg from "pg";
import { z } from "zod";
import { ClockOffset } from "@/server/base/db/clock-offset";
import { isTransient, rejectsWrites, retryWhileUnavailable } from "@/server/base/db/outage";
import { defineQuery } from "@/server/base/db/statement";
import { newId } from "@/server/base/ids";
import type { Services } from "@/server/runs/services";
import type { Worker } from "./port";
import { ProcessMeter } from "./process-figures";
import { describeProcess } from "./process-settings";
import { StepThrottle } from "./step-throttle";
import type { LaneName } from "./write/numbered-flush";
import { Lane, type LaneOptions, WorkerLost } from "./write/writer";

const HEARTBEAT_MS = 500;
/** Every tenth heartbeat stores the process's figures. */
const BEATS_PER_REPORT = 10;
/**
 * A worker that has not reported for this long is replaced. Other processes continue its runs within 3 s of its last
 * report.
 */
export const SILENT_AFTER_MS = 2_200;
// An older heartbeat proves nothing: the worker may have been replaced since.
const TRUSTED_FOR_MS = 2_000;
// Rather less than SILENT_AFTER_MS: a worker that could not report for longer judges no others, because the database may
// have been away for all of them, some for one heartbeat longer.
const AWAY_AFTER_MS = 1_500;
// If the database's clock is set by more, heartbeats before and after it cannot be compared.
const CLOCK_STEP_MS = 1_000;

/** The time of the heartbeat in ms. */
const AT = "extract(epoch FROM heartbeat_at)::float8 * 1000";

const INSERT_WORKER = defineQuery(
  "insert-worker",
  z.object({ at: z.number() }),
  `WITH worker AS (INSERT INTO workers (id, heartbeat_at, settings) VALUES ($1, clock_timestamp(), $2) RETURNING id, heartbeat_at),
   lanes AS (INSERT INTO worker_lanes (worker_id, lane) SELECT id, lane FROM worker, unnest(ARRAY['accounts', 'journal']) AS lane)
   SELECT ${AT} AS at FROM worker`,
);

/**
 * Registers a worker. If its process dies or stalls, another one continues its runs. Its later writes are rejected,
 * and `onLost` is called once.
 */
export async function openWorker(
  services: Services,
  options: Pick<LaneOptions, "freeSlots" | "onAdmitted" | "onRejected" | "onLost"> & {
    executing: () => number;
  },
): Promise<Worker> {
  const id = `worker-${newId()}`;
  const insertedAt = performance.now();
  const settings = JSON.stringify(describeProcess(services));
  const [inserted] = await INSERT_WORKER(services.pool, [id, settings]);
  if (inserted === undefined) throw new Error("the worker has no row");
  let lost: WorkerLost | undefined;
  const onLost = (error: WorkerLost) => {
    if (lost) return;
    lost = error;
    heartbeat.stop();
    for (const one of [accounts, journal]) one.abandon(error);
    options.onLost(error);
  };
  const throttle = new StepThrottle({ executing: options.executing, starting: () => accounts.starting });
  const onStart = () => throttle.noteStart();
  const lane = (name: LaneName) =>
    new Lane({ ...options, services, workerId: id, lane: name, onStart, onLost });
  const accounts = lane("accounts");
  const journal = lane("journal");
  const heartbeat = startHeartbeat(services, {
    id,
    clock: new ClockOffset(inserted.at - insertedAt),
    onLost,
    onRejected: options.onRejected,
  });
  const isConfirmed = () => !lost && heartbeat.isRecent();
  return {
    id,
    accounts,
    journal,
    waitForTurn: (orgId) => throttle.next(orgId),
    isConfirmed,
    confirm() {
      if (lost) return Promise.reject(lost);
      return isConfirmed() ? undefined : heartbeat.beat();
    },
    figures: () => ({ accounts: accounts.figures, journal: journal.figures }),
    async close() {
      heartbeat.stop();
      await journal.close();
      await accounts.close();
      if (!lost) await removeWorker(services.pool, id).catch(() => {});
    },
  };
}

/** `clock` is the database's, to detect that it was set. */
function startHeartbeat(
  services: Services,
  {
    id,
    clock,
    onLost,
    onRejected,
  }: { id: string; clock: ClockOffset } & Pick<LaneOptions, "onLost" | "onRejected">,
) {
  const stopping = new AbortController();
  let confirmedAt = performance.now();
  let answeredAt = confirmedAt;
  let hasFailed = false;
  // From then on, all living workers have reported since the database was away, by its present clock.
  let comparableFrom = 0;
  let beating: Promise<void> | undefined;
  const replacing = new Set<string>();
  const handleError = (message: string) => (error: unknown) => {
    if (rejectsWrites(error)) onRejected();
    if (!isTransient(error) && !(error instanceof WorkerLost)) services.log.error(message, { error });
  };
  // Waits for locks of the silent worker's transactions, so no heartbeat waits for it.
  const replace = (silentId: string) => {
    if (replacing.has(silentId)) return;
    replacing.add(silentId);
    replaceSilentWorker(services, silentId)
      .catch(handleError("Could not replace a silent worker; retrying"))
      .finally(() => replacing.delete(silentId));
  };
  const meter = new ProcessMeter();
  let beats = 0;
  const beatOnce = async () => {
    const sentAt = performance.now();
    const figures = beats % BEATS_PER_REPORT === 0 ? JSON.stringify(meter.read(services)) : null;
    beats += 1;
    const workers = await BEAT(services.pool, [id, SILENT_AFTER_MS / 1000, figures]);
    const own = workers.find((worker) => worker.id === id);
    if (own === undefined) throw new WorkerLost();
    const receivedAt = performance.now();
    const silentMs = (hasFailed ? receivedAt : sentAt) - answeredAt;
    // Slow answers alone, such as of a busy database, are no outage.
    const wasAway = Math.max(silentMs, receivedAt - sentAt) > AWAY_AFTER_MS;
    confirmedAt = sentAt;
    answeredAt = receivedAt;
    hasFailed = false;
    const stepMs = clock.learn({ shown: own.at, askedAt: sentAt, receivedAt });
    if (wasAway || Math.abs(stepMs) > CLOCK_STEP_MS) comparableFrom = receivedAt + SILENT_AFTER_MS;
    if (receivedAt < comparableFrom) return;
    for (const worker of workers) if (worker.silent) replace(worker.id);
  };
  const beatNow = () => {
    beating ??= beatOnce()
      .catch((error: unknown) => {
        hasFailed = true;
        if (error instanceof WorkerLost) onLost(error);
        throw error;
      })
      .finally(() => {
        beating = undefined;
      });
    return beating;
  };
  const timer = setInterval(() => {
    beatNow().catch(handleError("The worker's heartbeat failed"));
  }, HEARTBEAT_MS);
  timer.unref();
  return {
    // True proves that the worker was not replaced.
    isRecent: () => performance.now() - confirmedAt < TRUSTED_FOR_MS,
    // Waits while the database is unavailable. Throws WorkerLost.
    beat: () =>
      retryWhileUnavailable(beatNow, stopping.signal).catch((error: unknown) => {
        throw error instanceof WorkerLost
          ? error
          : new WorkerLost("The worker cannot report.", { cause: error });
      }),
    stop() {
      clearInterval(timer);
      meter.stop();
      stopping.abort();
    },
  };
}

// Returns the worker itself, if it exists, and those that are silent for $2 seconds. A heartbeat in the
// future counts as silent: the clock was set back after it. $3: the process's figures; null keeps the earlier
// ones.
const BEAT = defineQuery(
  "heartbeat",
  z.object({ id: z.string(), silent: z.boolean(), at: z.number() }),
  `WITH beat AS (SELECT clock_timestamp() AS now, make_interval(secs => $2) AS bound),
   own AS (UPDATE workers SET heartbeat_at = (SELECT now FROM beat), figures = coalesce($3, figures)
           WHERE id = $1 RETURNING id, heartbeat_at)
   SELECT id, false AS silent, ${AT} AS at FROM own
   UNION ALL SELECT id, true, ${AT} FROM workers, beat
   WHERE id <> $1 AND heartbeat_at NOT BETWEEN now - bound AND now + bound`,
);

async function replaceSilentWorker(services: Services, id: string): Promise<void> {
  const runs = await removeWorker(services.pool, id, { crashed: true });
  services.log.warn("A worker stopped reporting; its runs were taken over", { worker: id, runs });
  if (runs > 0) services.engine.wake();
}

const REMOVE_WORKER = defineQuery(
  "remove-worker",
  z.object({ runs: z.number() }),
  "SELECT remove_worker($1, $2) AS runs",
);

/**
 * Deletes a worker and releases its runs: they wait for a slot again. A crash is counted in their rows. Returns how many
 * there were.
 */
export async function removeWorker(pool: pg.Pool, id: string, { crashed = false } = {}): Promise<number> {
  const [removed] = await REMOVE_WORKER(pool, [id, crashed]);
  return removed?.runs ?? 0;
}
