import { type Demo, seedDemo } from "@/prisma/seed";
import { outlast } from "@/server/db/outage";
import { prepareDatabase } from "@/server/db/prepare-database";
import { noteAppUrl } from "@/server/operate/app-url";
import { checkSecretFingerprint } from "@/server/secrets/fingerprint";
import type { Wired } from "@/wiring";

/** How long a start waits for a database that went away in the middle of it. */
const START_PATIENCE_MS = 30_000;

/** Brings the database up to date and checks that this process may use it. Returns the demo organization, if there is one. */
export async function prepare(
  services: Wired,
  root: string,
  say: (line: string) => void,
): Promise<Demo | null> {
  await prepareDatabase(services.env.databaseUrl, root, say);
  // The database may be killed or restarted while a process starts; it is not sent away for that.
  const patience = AbortSignal.timeout(START_PATIENCE_MS);
  try {
    await outlast(() => checkSecretFingerprint(services), patience);
  } catch (error) {
    // The embedded database stops next; an idle connection would complain of it below the message.
    await services.pool.end();
    throw error;
  }
  await outlast(() => noteAppUrl(services), patience);
  return outlast(() => seedDemo(services, root), patience);
}
