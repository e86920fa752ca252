import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ROOT, readIfPresent, SetupError } from "../support/project.mjs";

/**
 * A backup of the embedded database is a folder:
 *
 *   manifest.json   the last file that is written: a folder without it is no backup
 *   secret          STEPWELL_SECRET
 *   postgres/       PostgreSQL's data directory with the WAL that makes it consistent
 *
 * @typedef {{ path: string, bytes: number, sha256: string }} BackupFile `path` is relative to the folder
 * @typedef {{
 *   version: string, createdAt: string, postgres: number, migration: string,
 *   rows: Record<string, number>, folders: string[], files: BackupFile[],
 * }} Manifest `postgres` is the major version; `rows` is one snapshot of `createdAt`, shortly before the copy ended
 */

export const MANIFEST = "manifest.json";

/** @param {string} folder @returns {Promise<Manifest>} */
export async function readManifest(folder) {
  const text = readIfPresent(join(folder, MANIFEST));
  if (text === undefined) throw new SetupError(`${folder} is not a complete backup: it has no ${MANIFEST}.`);
  const { z } = await import("zod");
  // A damaged or forged manifest must not name a place outside its folder.
  const path = z.string().refine((each) => !each.startsWith("/") && !each.split(/[/\\]/).includes(".."));
  const schema = z.object({
    version: z.string(),
    createdAt: z.iso.datetime(),
    postgres: z.number(),
    migration: z.string().regex(/^\w+$/),
    rows: z.record(z.string(), z.number()),
    folders: z.array(path),
    files: z.array(z.object({ path, bytes: z.number(), sha256: z.string() })),
  });
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new SetupError(`${join(folder, MANIFEST)} is damaged.`, { cause });
  }
}

export function readVersion() {
  return String(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version);
}

/**
 * Copies `path` from one folder to another as a private file, and returns its size and checksum. Its folder is
 * created if missing.
 * @param {string} path
 * @param {{ from: string, to: string, bytes?: number | undefined }} places `bytes`: copies no more than that
 * @returns {Promise<BackupFile>}
 */
export async function copyFile(path, { from, to, bytes }) {
  const hash = createHash("sha256");
  let length = 0;
  const measure = new Transform({
    transform(chunk, _encoding, done) {
      hash.update(chunk);
      length += chunk.length;
      done(null, chunk);
    },
  });
  const target = join(to, path);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const end = bytes === undefined ? Number.POSITIVE_INFINITY : bytes - 1;
  // A range cannot be empty.
  const source = createReadStream(join(from, path), bytes === 0 ? {} : { end, highWaterMark: 1024 * 1024 });
  await pipeline(source, measure, createWriteStream(target, { mode: 0o600 }));
  return { path, bytes: length, sha256: hash.digest("hex") };
}

/**
 * Writes a private file into a folder, and returns its size and checksum.
 * @param {string} folder
 * @param {string} path
 * @param {string | Buffer} content
 * @returns {BackupFile}
 */
export function writeFile(folder, path, content) {
  writeFileSync(join(folder, path), content, { mode: 0o600 });
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { path, bytes: Buffer.byteLength(content), sha256 };
}

/** More at once share a write of the file system's journal. */
const FLUSHED_AT_ONCE = 8;

/**
 * Returns when the files are on disk, not only in the system's memory.
 * @param {string} folder
 * @param {readonly string[]} paths
 */
export async function flushFiles(folder, paths) {
  const left = [...paths];
  const flushSome = async () => {
    for (let path = left.pop(); path !== undefined; path = left.pop()) {
      const file = await open(join(folder, path), "r+");
      await file.sync().finally(() => file.close());
    }
  };
  await Promise.all(Array.from({ length: FLUSHED_AT_ONCE }, flushSome));
}
