import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countFiles } from "./count-files.mjs";
import { fingerprint, ROOT, timed } from "./project.mjs";
import { runNode } from "./run-program.mjs";

const GENERATED = join(ROOT, "server/db/generated");
const STAMP = join(GENERATED, "fingerprint");

/**
 * Generates the Prisma client when the schema, Prisma or the generated files changed.
 * @param {import("./project.mjs").Say} say
 */
export async function ensurePrismaClient(say) {
  const wanted = fingerprint([
    "prisma/schema.prisma",
    "prisma.config.ts",
    "node_modules/prisma/package.json",
  ]);
  const stamp = () => `${wanted} ${countFiles(GENERATED)}`;
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp()) return;
  await timed(say, "Generating the database client", async () => {
    rmSync(GENERATED, { recursive: true, force: true });
    await runNode("prisma generate", join(ROOT, "node_modules/prisma/build/index.js"), ["generate"], {
      env: { CHECKPOINT_DISABLE: "1", PRISMA_HIDE_UPDATE_MESSAGE: "1" },
    });
    writeFileSync(STAMP, ""); // It is counted too.
    writeFileSync(STAMP, stamp());
  });
}
