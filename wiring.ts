import { LRUCache } from "lru-cache";
import { RunningEngine } from "@/inngest/start";
import type { Wired } from "@/process-services";
import { openDatabase } from "@/server/db/client";
import { createConfigurationCaches } from "@/server/db/configuration-cache";
import { createDatabaseClock } from "@/server/db/database-clock";
import { createNotifications } from "@/server/db/notifications";
import { createGuardedConnect } from "@/server/egress/guarded-connect";
import { createGuardedEgress } from "@/server/egress/guarded-fetch";
import { type Environment, readEnvironment } from "@/server/env";
import { memoryLimit, ProcessMemory } from "@/server/limits/process-memory";
import { createLogger, type Logger } from "@/server/log";
import { createMailer } from "@/server/mail/smtp";
import { createModels } from "@/server/models/registry";
import { createEndedRuns } from "@/server/runs/ended-runs";
import { killAtPausePoints } from "@/server/runs/engine/pause-points";
import { createEncryption } from "@/server/secrets/encryption";
import type { Services } from "@/server/services";

/** The composition root: environment → services. Nothing connects before it is used. */
export function wire(env: Environment, log: Logger = createLogger({ level: env.logLevel })): Wired {
  killAtPausePoints(env.pausePoints);
  const { db, pool } = openDatabase(env.databaseUrl, log);
  const clock = createDatabaseClock();
  const notifications = createNotifications({ url: env.databaseUrl, pool, log, clock });
  const cached = createConfigurationCaches(notifications);
  const services: Wired = {
    env,
    db,
    pool,
    notifications,
    cached: { apiKeys: cached(), targets: cached(), triggers: cached(), modelProviders: cached() },
    endedRuns: createEndedRuns(),
    configurationsStored: new LRUCache({ max: 10_000 }),
    engine: new RunningEngine(() => services, { slots: env.slots }),
    memory: new ProcessMemory({ limit: memoryLimit({ processes: env.processes }) }),
    prices: env.prices,
    models: createModels({ openai: env.openai, providers: env.providers, clock }),
    fetch: createGuardedEgress({ allow: env.egressAllow }).fetch,
    sendMail: env.smtp ? createMailer(env.smtp, createGuardedConnect({ allow: env.egressAllow })) : null,
    encryption: createEncryption(env.secret, env.previousSecret),
    clock,
    log,
  };
  return services;
}

/** Wires the services of this process once, from its environment. */
export function wireProcess(): Wired {
  globalThis.stepwellServices ??= wire(readEnvironment());
  return globalThis.stepwellServices;
}

/** Closes the services in order. Stop the engine first. */
export async function closeServices(services: Services): Promise<void> {
  await services.notifications.close();
  await services.db.$disconnect();
  if (!services.pool.ended) await services.pool.end();
}
