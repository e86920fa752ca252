import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, SetupError } from "./support/project.mjs";
import { setUp } from "./support/set-up.mjs";
import { onShutdown, runCommand } from "./support/shutdown.mjs";
import { startThrowawayCluster } from "./support/throwaway.mjs";

/**
 * `npm run migration -- NAME`: writes the migration from the existing migrations to prisma/schema.prisma. Without a
 * name it only prints it. Add by hand what the schema cannot express.
 */

const MIGRATIONS = join(ROOT, "prisma/migrations");
const SCHEMA = join(ROOT, "prisma/schema.prisma");

await runCommand(async () => {
  const name = process.argv[2];
  if (name !== undefined && !/^[a-z0-9_]+$/.test(name)) {
    throw new SetupError(`"${name}" is not a name for a migration: use lower-case letters, digits and _.`);
  }
  await setUp(console.error);
  const { findSchemaDifference } = await import("./support/schema-difference.mjs");
  const script = await findSchemaDifference(await migrateThrowaway(), SCHEMA);
  if (script === "") {
    console.error("The migrations match schema.prisma. There is nothing to write.");
  } else if (name === undefined) {
    console.log(script);
  } else {
    const folder = join(MIGRATIONS, `${timestamp()}_${name}`);
    mkdirSync(folder);
    writeFileSync(join(folder, "migration.sql"), `${script}\n`);
    console.log(join(folder, "migration.sql"));
  }
  return 0;
});

/** @returns {Promise<string>} the URL of a throwaway database with all existing migrations */
async function migrateThrowaway() {
  const { url, stop } = await startThrowawayCluster({ fsync: "off" });
  onShutdown(stop);
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const entries = readdirSync(MIGRATIONS, { withFileTypes: true });
  for (const name of entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort())
    await client.query(readFileSync(join(MIGRATIONS, name, "migration.sql"), "utf8"));
  await client.end();
  return url;
}

/** `20261121093000`, as in Prisma's folder names. */
function timestamp() {
  return new Date().toISOString().replace(/\D/g, "").slice(0, 14);
}
