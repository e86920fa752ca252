import type { RunningEngine } from "@/inngest/start";
import type { DatabaseClock } from "@/server/base/db/database-clock";
import type { Services } from "@/server/services";

/** The services of this process, with an engine that it may start and the clock that follows the database's. */
export type Wired = Services & { engine: RunningEngine; clock: DatabaseClock };

declare global {
  var stepwellServices: Wired | undefined;
}

/**
 * The services that serve.ts or serve/next.ts has wired. They are on globalThis because Next bundles its own copy of
 * this module. Pages and routes import them from here: wiring.ts would add the engine to each of their bundles.
 */
export function getServices(): Wired {
  if (globalThis.stepwellServices === undefined) throw new Error("The services are not wired.");
  return globalThis.stepwellServices;
}
