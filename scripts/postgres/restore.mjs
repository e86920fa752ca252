import { createHash } from "node:crypto";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fingerprintOf } from "../../server/guard/secrets/secret-fingerprint.mjs";
import { ROOT, SetupError } from "../support/project.mjs";
import { onShutdown } from "../support/shutdown.mjs";
import { countRows, readFingerprint } from "./backup.mjs";
import { copyFile, readManifest } from "./manifest.mjs";
import { joinPostgres, writePrivately } from "./postgres.mjs";
import { accountFor } from "./postgres-account.mjs";
import { resetPassword } from "./postgres-cluster.mjs";
import { readMajorVersion } from "./postgres-programs.mjs";

/** @typedef {import("./manifest.mjs").Manifest} Manifest */

/** The most ids of executing runs that are printed. */
const LISTED = 20;

/**
 * Restores the backup in `source` into a data folder that does not exist or is empty. It starts the database once, which
 * replays the WAL, and stops it.
 * @param {string} source
 * @param {string} dataDir
 * @returns {Promise<string[]>} what was restored, what was lost, and what to do: lines for the operator
 */
export async function restore(source, dataDir) {
  const manifest = await readManifest(source);
  await checkVersions(manifest);
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    throw new SetupError(
      `The data folder ${dataDir} is not empty. Move it away, or set STEPWELL_DATA_DIR to another folder.`,
    );
  }
  /** @type {string[]} */
  const created = [];
  try {
    const secret = readSecret(source, manifest);
    const { url, leave } = await joinPostgres(dataDir, {
      async create(cluster) {
        // A process killed in the middle leaves no folder that looks complete.
        const making = `${cluster.folder}.restoring`;
        created.push(making, cluster.folder);
        await fill(making, { source, manifest });
        renameSync(making, cluster.folder);
        // The backup's password is not kept.
        await resetPassword(cluster);
      },
    });
    onShutdown(leave);
    try {
      writePrivately(join(dataDir, "secret"), secret);
      return await report(url, { manifest, secret });
    } finally {
      await leave();
    }
  } catch (error) {
    for (const folder of created) rmSync(folder, { recursive: true, force: true });
    if (existsSync(dataDir)) {
      for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true, force: true });
    }
    throw error;
  }
}

/** @param {Manifest} manifest */
async function checkVersions({ version, postgres, migration }) {
  const own = await readMajorVersion();
  if (own !== postgres) {
    throw new SetupError(
      `The backup is of PostgreSQL ${postgres}, and this version has PostgreSQL ${own}. Restore it with Stepwell ${version}.`,
    );
  }
  if (!existsSync(join(ROOT, "prisma/migrations", migration))) {
    throw new SetupError(
      `The backup has a newer schema (${migration}) than this version. Restore it with Stepwell ${version} or later.`,
    );
  }
}

function newestMigration() {
  const names = readdirSync(join(ROOT, "prisma/migrations"), { withFileTypes: true });
  return names.reduce((newest, file) => (file.isDirectory() && file.name > newest ? file.name : newest), "");
}

/** @param {string} source @param {Manifest} manifest */
function readSecret(source, { files }) {
  const known = files.find(({ path }) => path === "secret");
  const path = join(source, "secret");
  const content = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (createHash("sha256").update(content).digest("hex") !== known?.sha256) throw damaged(path);
  return content.toString("utf8").trim();
}

/**
 * @param {string} cluster
 * @param {{ source: string, manifest: Manifest }} backup
 */
async function fill(cluster, { source, manifest }) {
  const account = accountFor(cluster);
  /** @param {string} path */
  const give = (path) => account && chownSync(path, account.uid, account.gid);
  const PREFIX = "postgres/";
  for (const folder of ["", ...manifest.folders.filter((each) => each.startsWith(PREFIX))]) {
    const path = join(cluster, folder.slice(PREFIX.length));
    mkdirSync(path, { recursive: true, mode: 0o700 });
    give(path);
  }
  const from = join(source, "postgres");
  for (const { path, bytes, sha256 } of manifest.files.filter((each) => each.path.startsWith(PREFIX))) {
    const inside = path.slice(PREFIX.length);
    if (!existsSync(join(from, inside))) throw damaged(join(source, path));
    const copied = await copyFile(inside, { from, to: cluster });
    if (copied.bytes !== bytes || copied.sha256 !== sha256) throw damaged(join(source, path));
    give(join(cluster, inside));
  }
}

/** @param {string} path */
const damaged = (path) =>
  new SetupError(
    `${path} is missing or not what was backed up (its checksum differs). Nothing was restored. Use another backup.`,
  );

/**
 * Only columns of the first migration are read: the backup may be of an older version.
 * @param {string} url
 * @param {{ manifest: Manifest, secret: string }} restored
 */
async function report(url, { manifest, secret }) {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: counts } = await countRows(client);
    const { rows: wrong } = await client.query(
      `SELECT slug FROM organizations o WHERE balance <> coalesce(
         (SELECT balance_after FROM credit_entries WHERE organization_id = o.id ORDER BY sequence DESC LIMIT 1), 0)`,
    );
    const { rows: open } = await client.query(
      `SELECT id, claimed_by IS NOT NULL AS executing FROM runs
       WHERE status IN ('Pending', 'Running') AND parent_run_id IS NULL ORDER BY id`,
    );
    const executing = open.filter((run) => run.executing);
    const lines = [
      `Restored the backup of ${manifest.createdAt}, made by Stepwell ${manifest.version}. Everything later is lost.`,
      ...["organizations", "runs", "credit_entries"].map((name) => {
        const [now = 0, before = 0] = [counts[name], manifest.rows[name]];
        return `  ${name}: ${now}${now < before ? `, fewer than the ${before} of the manifest` : ""}`;
      }),
      wrong.length === 0
        ? "  Every balance agrees with its ledger."
        : `  The balance does not agree with the ledger of ${wrong.map(({ slug }) => slug).join(", ")}.`,
      `Open runs: ${open.length}. They continue when the service starts.`,
    ];
    if (executing.length > 0) {
      const more = executing.length > LISTED ? `, and ${executing.length - LISTED} more` : "";
      const isOlder = manifest.migration < newestMigration();
      lines.push(
        `${executing.length} of them were executing. What they did after the backup is lost, and they do it again:`,
        `  ${executing
          .slice(0, LISTED)
          .map(({ id }) => id)
          .join("\n  ")}${more}`,
        ...(isOlder ? ["The schema is older. Migrate it first: npm run -s stepwell -- migrate"] : []),
        "To prevent that, cancel them before the start: npm run -s stepwell -- runs cancel RUN",
      );
    }
    const given = process.env.STEPWELL_SECRET;
    const known = await readFingerprint(client);
    const own = fingerprintOf(secret);
    if (known !== undefined && known !== own) {
      lines.push(
        `The secret of this backup is not that of its database (its fingerprint is ${own}, the database has ${known}). ` +
          "Set STEPWELL_SECRET to the database's own before the start. If it is lost, run `service-secret adopt`.",
      );
    } else if (given && given !== secret) {
      lines.push("STEPWELL_SECRET is set, and is not the secret of this backup. Remove it before the start.");
    }
    return lines;
  } finally {
    await client.end();
  }
}
