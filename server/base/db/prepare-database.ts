import { join } from "node:path";
import pg from "pg";
import { codeOf, StartError } from "@/server/base/errors";
import { sleep } from "@/server/base/sleep";
import { migrate } from "./migrate";
import { describeOutage, isTransient } from "./outage";

// One second apart.
const DATABASE_ATTEMPTS = 30;

const MIGRATION_ATTEMPTS = 3;

/**
 * Migrates the database at `url` with the project in `root`. Waits up to half a minute for the database; a wrong
 * password fails immediately. Continues over a new connection if one is lost. Throws StartError without
 * the password in its message.
 */
export async function prepareDatabase(
  url: string,
  root: string,
  print: (line: string) => void = () => {},
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await connectPatiently(url, print);
    try {
      const applied = await migrate(client, join(root, "prisma/migrations"), { print });
      if (applied.length > 0) print(`Migrated the database (${applied.length} new)`);
      return;
    } catch (cause) {
      if (!isTransient(cause)) throw cause;
      const why = cause instanceof Error ? cause.message : cause;
      if (attempt === MIGRATION_ATTEMPTS)
        throw new StartError(
          `The connection to the database was lost during its migration, ${attempt} times (${why}). ` +
            "PostgreSQL's log has the cause. Start again: the migration continues.",
          { cause },
        );
      print(`The connection to the database was lost during its migration (${why}); trying again …`);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

async function connectPatiently(url: string, print: (line: string) => void): Promise<pg.Client> {
  const { host } = new URL(url);
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({
      connectionString: url,
      application_name: "stepwell migration",
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    client.on("error", () => {}); // The query reports its own error.
    try {
      await client.connect();
      return client;
    } catch (cause) {
      await client.end().catch(() => {});
      const outage = describeOutage(cause);
      if (outage !== null && !outage.passing) {
        throw new StartError(`${host}: ${outage.text}`, { cause });
      }
      const why = cause instanceof Error ? cause.message || codeOf(cause) : cause;
      if (attempt === DATABASE_ATTEMPTS) {
        throw new StartError(`The database at ${host} cannot be reached: ${why}.`, { cause });
      }
      if (attempt === 1) print(`Waiting for the database at ${host} (${why}) …`);
      await sleep(1_000);
    }
  }
}
