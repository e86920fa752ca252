import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clusterUrl, createCluster, startCluster } from "./postgres/postgres-cluster.mjs";
import { ensureDependencies } from "./support/install.mjs";
import { ROOT, SetupError } from "./support/project.mjs";
import { onShutdown, runCommand } from "./support/shutdown.mjs";
import { createThrowaway, removeThrowaway } from "./support/throwaway.mjs";

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
  await ensureDependencies(console.error);
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
  const folder = await createThrowaway();
  onShutdown(() => removeThrowaway(folder));
  const cluster = { folder: join(folder, "postgres"), password: "throwaway", settings: { fsync: "off" } };
  await createCluster(cluster);
  const { port } = await startCluster(cluster);
  const url = clusterUrl(cluster, port, "postgres");
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const entry of readdirSync(MIGRATIONS, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    if (entry.isDirectory())
      await client.query(readFileSync(join(MIGRATIONS, entry.name, "migration.sql"), "utf8"));
  }
  await client.end();
  return url;
}

/** `20261121093000`, as in Prisma's folder names. */
function timestamp() {
  return new Date().toISOString().replace(/\D/g, "").slice(0, 14);
}
