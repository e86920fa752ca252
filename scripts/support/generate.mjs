import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, ROOT, timed } from "./project.mjs";
import { runNode } from "./run-program.mjs";

const GENERATED = join(ROOT, "server/db/generated");
const STAMP = join(GENERATED, "fingerprint");

/**
 * Generates the Prisma client when the schema or Prisma changed.
 * @param {import("./project.mjs").Print} print
 */
export async function ensurePrismaClient(print) {
  const wanted = fingerprint([
    "prisma/schema.prisma",
    "prisma.config.ts",
    "node_modules/prisma/package.json",
  ]);
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return;
  await timed(print, "Generating the database client", async () => {
    rmSync(GENERATED, { recursive: true, force: true });
    await runNode("prisma generate", [join(ROOT, "node_modules/prisma/build/index.js"), "generate"], {
      env: { CHECKPOINT_DISABLE: "1", PRISMA_HIDE_UPDATE_MESSAGE: "1" },
    });
    writeFileSync(STAMP, wanted);
  });
}
