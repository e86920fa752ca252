import { type Demo, seedDemo } from "@/prisma/seed";
import type { Wired } from "@/process-services";
import { HOUR_MS } from "@/server/base/clock";
import { recordFunctionUse } from "@/server/base/db/create-functions";
import { retryWhileUnavailable } from "@/server/base/db/outage";
import { prepareDatabase } from "@/server/base/db/prepare-database";
import { offerSetUp } from "@/server/catalog/organization/set-up";
import { checkSecretFingerprint } from "@/server/guard/secrets/fingerprint";
import { storeAppUrl } from "@/server/operate/app-url";

/** The longest wait for a database that becomes unavailable during a start. */
const START_PATIENCE_MS = 30_000;

/** Migrates the database and checks that this process may use it. Returns the demo organization, if there is one. */
export async function prepareService(
  services: Wired,
  root: string,
  print: (line: string) => void,
): Promise<Demo | null> {
  await prepareDatabase(services.env.databaseUrl, root, print);
  // The database may restart during a start; its temporary errors are retried.
  const patience = AbortSignal.timeout(START_PATIENCE_MS);
  try {
    await retryWhileUnavailable(() => services.clock.sync(services.pool), patience);
    await retryWhileUnavailable(() => checkSecretFingerprint(services), patience);
  } catch (error) {
    // The embedded database stops next, and an idle connection would log an error below the message.
    await services.pool.end();
    throw error;
  }
  await retryWhileUnavailable(() => storeAppUrl(services), patience);
  return retryWhileUnavailable(() => seedDemo(services, root), patience);
}

/**
 * Does for a process that executes no runs what the engine's start does for others: lets `doctor` find it, and keeps
 * the SQL functions of its release. Without the database, its first start registers it.
 */
export function registerProcess(services: Pick<Wired, "engine" | "pool" | "clock" | "log">): void {
  void services.engine.worker().catch(() => undefined);
  setInterval(() => {
    recordFunctionUse(services).catch((error: unknown) => {
      services.log.warn("Could not record the use of SQL functions; retrying in 1 h", { error });
    });
  }, HOUR_MS).unref();
}

/** A link that creates the first organization; null if there is one, or if this process has no pages. */
export async function offerFirstOrganization(services: Wired): Promise<string | null> {
  return services.env.role === "worker"
    ? null
    : retryWhileUnavailable(() => offerSetUp(services), AbortSignal.timeout(START_PATIENCE_MS));
}
