import { sleep } from "@/server/db/outage";
import type { Services } from "@/server/services";

const PATIENCE_MS = 2_000;

/** What a part says of itself. */
export type Readiness = { ready: boolean; database: "ok" | "unreachable"; engine: "ok" | "not ready" };

/**
 * Whether this process can serve: its database answers and its engine takes runs, each within two seconds.
 * Never throws.
 */
export async function checkReadiness(
  services: Pick<Services, "pool" | "engine" | "log" | "env">,
): Promise<Readiness> {
  const [database, engine] = await Promise.all([
    holds(services.pool.query("SELECT 1").then(() => true)),
    // A process that only serves hands its starts to others.
    services.env.role === "web" || holds(services.engine.ready()),
  ]);
  return {
    ready: database && engine,
    database: database ? "ok" : "unreachable",
    engine: engine ? "ok" : "not ready",
  };
}

const POLL_MS = 250;
/** Polls before it says what it waits for, and between two such lines: 5 s and 30 s. */
const FIRST_LINE = 20;
const NEXT_LINE = 120;

/**
 * Waits until this process can serve. `say` receives what is missing after 5 s, then every 30 s. False when `signal` was
 * aborted first.
 */
export async function waitUntilReady(
  services: Parameters<typeof checkReadiness>[0],
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  for (let poll = 0; !signal.aborted; poll += 1) {
    const { ready, database, engine } = await checkReadiness(services);
    if (ready) return true;
    if (poll >= FIRST_LINE && (poll - FIRST_LINE) % NEXT_LINE === 0) {
      say(`Stepwell listens but is not ready yet (database ${database}, engine ${engine}). Waiting …`);
    }
    await sleep(POLL_MS, signal);
  }
  return false;
}

async function holds(fact: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PATIENCE_MS);
  });
  try {
    return await Promise.race([fact, timeUp]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
