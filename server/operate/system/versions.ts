import { z } from "zod";
import { defineQuery, type Queryable } from "@/server/base/db/statement";
import { VERSION } from "@/server/base/version";
import type { Services } from "@/server/services";

const READ_VERSION = defineQuery(
  "read-server-version",
  z.object({ version: z.string() }),
  "SELECT current_setting('server_version') AS version",
);

export async function readServerVersion(client: Queryable): Promise<string> {
  const [row] = await READ_VERSION(client);
  return row?.version ?? "";
}

/** The migrations that the database has, or that are in progress. */
export const listMigrations = defineQuery(
  "list-migrations",
  z.object({ name: z.string(), finished: z.boolean() }),
  "SELECT migration_name AS name, finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL",
);

/** The versions of what this process consists of, and of the database's schema. */
export async function readVersions({ pool, env }: Pick<Services, "pool" | "env">) {
  const [postgres, migrations] = await Promise.all([readServerVersion(pool), listMigrations(pool)]);
  const names = migrations.map(({ name }) => name).sort();
  return {
    stepwell: VERSION,
    node: process.versions.node,
    postgres,
    // The number of the newest migration: when it was written.
    schema: names.at(-1)?.split("_")[0] ?? "",
    engine: env.inngest === undefined ? ("embedded" as const) : ("inngest" as const),
  };
}
