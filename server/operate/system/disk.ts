import { readFile, statfs } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { tryParseJson } from "@/server/base/json/json";
import type { Environment } from "@/server/base/settings/env";

/** The disk of the data folder, in bytes. Without the folder, that of the project. */
export async function readDisk({
  dataDir,
}: Pick<Environment, "dataDir">): Promise<{ free: number; total: number }> {
  const { bavail, blocks, bsize } = await statfs(dataDir).catch(() => statfs("."));
  return { free: bavail * bsize, total: blocks * bsize };
}

// Written by the embedded database; see scripts/postgres/postgres.mjs.
const embedded = z.object({ port: z.number(), elsewhere: z.undefined().optional() });

/** Returns true if the service uses the embedded database, and its files are in the data folder. */
export async function isDatabaseHere({
  dataDir,
  databaseUrl,
}: Pick<Environment, "dataDir" | "databaseUrl">): Promise<boolean> {
  const record = await readFile(join(dataDir, "postgres.json"), "utf8").catch(() => "");
  const known = embedded.safeParse(tryParseJson(record)).data;
  return known !== undefined && Number(new URL(databaseUrl).port) === known.port;
}
