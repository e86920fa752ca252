import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { startThrowawayCluster } from "@/scripts/postgres/throwaway.mjs";
import { SetupError } from "@/scripts/support/project.mjs";
import { onShutdown, runCommand } from "@/scripts/support/shutdown.mjs";
import { migrate } from "@/server/base/db/migrate";
import { findSchemaDifference } from "./schema-difference";

/**
 * `npm run migration -- NAME`: writes the migration from the existing migrations to prisma/schema.prisma; without a
 * name, only prints it. Add by hand what the schema cannot express.
 */

const MIGRATIONS = "prisma/migrations";

await runCommand(async () => {
  const name = process.argv[2];
  if (name !== undefined && !/^[a-z0-9_]+$/.test(name)) {
    throw new SetupError(`"${name}" is not a name for a migration: use lower-case letters, digits and _.`);
  }
  const script = await findSchemaDifference(await migrateThrowaway(), "prisma/schema.prisma");
  if (script === "") {
    console.error("The migrations match schema.prisma. There is nothing to write.");
  } else if (name === undefined) {
    console.log(script);
  } else {
    // `20261121093000`, as in Prisma's folder names.
    const timestamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
    const file = join(MIGRATIONS, `${timestamp}_${name}`, "migration.sql");
    mkdirSync(join(file, ".."));
    writeFileSync(file, `${script}\n`);
    console.log(file);
  }
  return 0;
});

async function migrateThrowaway(): Promise<string> {
  const { url, stop } = await startThrowawayCluster({ fsync: "off" });
  onShutdown(stop);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // The functions may name what the new migration will add.
  await migrate(client, MIGRATIONS, { functions: [] });
  await client.end();
  return url;
}
