import type { Services } from "@/server/services";

const PATIENCE_MS = 2_000;

/** What a part says of itself. */
export type Readiness = { ready: boolean; database: "ok" | "unreachable"; engine: "ok" | "not ready" };

/**
 * Whether this process can serve: its database answers and its engine takes runs, each within two seconds.
 * Never throws.
 */
export async function checkReadiness(
  services: Pick<Services, "pool" | "engine" | "log">,
): Promise<Readiness> {
  const [database, engine] = await Promise.all([
    holds(services.pool.query("SELECT 1").then(() => true)),
    holds(services.engine.ready()),
  ]);
  return {
    ready: database && engine,
    database: database ? "ok" : "unreachable",
    engine: engine ? "ok" : "not ready",
  };
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
