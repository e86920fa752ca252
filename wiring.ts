import { LRUCache } from "lru-cache";
import { RunningEngine } from "@/inngest/start";
import type { Wired } from "@/process-services";
import { openDatabase } from "@/server/base/db/client";
import { createConfigurationCaches } from "@/server/base/db/configuration-cache";
import { createDatabaseClock } from "@/server/base/db/database-clock";
import { createNotifications } from "@/server/base/db/notifications";
import { createLogger, type Logger } from "@/server/base/log";
import { killAtPausePoints } from "@/server/base/pause-points";
import { type Environment, readEnvironment } from "@/server/base/settings/env";
import { createGuardedConnect } from "@/server/guard/egress/guarded-connect";
import { createGuardedEgress } from "@/server/guard/egress/guarded-fetch";
import { memoryLimit, ProcessMemory } from "@/server/guard/limits/process-memory";
import { createMailer } from "@/server/guard/mail/smtp";
import { createEncryption } from "@/server/guard/secrets/encryption";
import { createServiceMetrics } from "@/server/operate/metrics/service-metrics";
import { createEndedRuns } from "@/server/runs/ended-runs";
import { EndWaiters } from "@/server/runs/live/end-waiters";
import type { Services } from "@/server/services";
import { createModels } from "@/server/work/models/registry";

/** The composition root: environment → services. Nothing connects before it is used. */
export function wire(env: Environment, log: Logger = createLogger({ level: env.logLevel })): Wired {
  killAtPausePoints(env.pausePoints);
  const { db, pool } = openDatabase(env.databaseUrl, log);
  const clock = createDatabaseClock();
  const notifications = createNotifications({ url: env.databaseUrl, pool, log, clock });
  const cached = createConfigurationCaches(notifications);
  const models = createModels({ openai: env.openai, providers: env.providers, clock });
  const services: Wired = {
    env,
    db,
    pool,
    notifications,
    cached: { apiKeys: cached(), targets: cached(), triggers: cached(), modelProviders: cached() },
    endedRuns: createEndedRuns(clock),
    endWaiters: new EndWaiters({ pool, notifications }),
    configurationsStored: new LRUCache({ max: 10_000 }),
    engine: new RunningEngine(() => services, { slots: env.slots }),
    memory: new ProcessMemory({ limit: memoryLimit({ processes: env.processes }) }),
    prices: env.prices,
    models,
    fetch: createGuardedEgress({ allow: env.egressAllow }).fetch,
    sendMail: env.smtp ? createMailer(env.smtp, createGuardedConnect({ allow: env.egressAllow })) : null,
    encryption: createEncryption(env.secret, env.previousSecret),
    clock,
    log,
    metrics: createServiceMetrics({ env, models, prices: env.prices }),
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
