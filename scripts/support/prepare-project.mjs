import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureDependencies } from "./install.mjs";
import { fingerprint, ROOT, readIfPresent, SetupError, timed } from "./project.mjs";
import { runNode } from "./run-program.mjs";

const MINIMUM_NODE = { major: 20, minor: 19 };
const GENERATED = join(ROOT, "server/base/db/generated");
const STAMP = join(GENERATED, "fingerprint");

/**
 * Begins every command: checks Node, enters the project's folder, installs packages and generates the Prisma client.
 * @param {() => unknown} [check] reports issues before the long work
 */
export async function prepareProject(check = () => {}) {
  checkNode();
  process.chdir(ROOT);
  await check();
  await ensureDependencies();
  await ensurePrismaClient();
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > MINIMUM_NODE.major || (major === MINIMUM_NODE.major && minor >= MINIMUM_NODE.minor)) return;
  const wanted = `${MINIMUM_NODE.major}.${MINIMUM_NODE.minor}`;
  throw new SetupError(`Stepwell needs Node ${wanted} or later; this is ${process.version}.`);
}

async function ensurePrismaClient() {
  const wanted = fingerprint([
    "prisma/schema.prisma",
    "prisma.config.ts",
    "node_modules/prisma/package.json",
  ]);
  if (readIfPresent(STAMP) === wanted) return;
  await timed("Generating the database client", async () => {
    rmSync(GENERATED, { recursive: true, force: true });
    await runNode("prisma generate", ["node_modules/prisma/build/index.js", "generate"], {
      env: { CHECKPOINT_DISABLE: "1", PRISMA_HIDE_UPDATE_MESSAGE: "1" },
    });
    writeFileSync(STAMP, wanted);
  });
}
