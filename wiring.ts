import { createEngine, type RunningEngine } from "@/inngest/start";
import { systemClock } from "@/server/clock";
import { openDatabase } from "@/server/db/client";
import { createGuardedEgress } from "@/server/egress/guarded-fetch";
import { type Environment, readEnvironment } from "@/server/env";
import { createLogger, type Logger } from "@/server/log";
import { createModels } from "@/server/models/registry";
import { createVault } from "@/server/secrets/vault";
import type { Services } from "@/server/services";

/** The services of this process, with an engine that it may start. */
export type Wired = Services & { engine: RunningEngine };

/** Composition root: configuration → services. Nothing connects before it is used. */
export function wire(env: Environment, log: Logger = createLogger({ level: env.logLevel })): Wired {
  const { db, pool } = openDatabase(env.databaseUrl, log);
  const services: Wired = {
    env,
    db,
    pool,
    engine: createEngine(() => services),
    prices: env.prices,
    models: createModels({ openai: env.openai, providers: env.providers, clock: systemClock }),
    fetch: createGuardedEgress({ allow: env.egressAllow }).fetch,
    vault: createVault(env.secret, env.previousSecret),
    clock: systemClock,
    log,
  };
  return services;
}

declare global {
  var stepwellServices: Wired | undefined;
}

/**
 * The services of this process. They are kept on globalThis: Next bundles its own copy of this module, and both
 * copies must share one pool and one engine.
 */
export function getServices(): Wired {
  globalThis.stepwellServices ??= wire(readEnvironment());
  return globalThis.stepwellServices;
}
