import { checkNode } from "./environment.mjs";
import { ensurePrismaClient } from "./generate.mjs";
import { ensureDependencies } from "./install.mjs";
import { ROOT } from "./project.mjs";
import { runCommand } from "./shutdown.mjs";

/** Installs packages and generates the database client, for all other tools. */
await runCommand(async () => {
  checkNode();
  process.chdir(ROOT);
  await ensureDependencies(console.log);
  await ensurePrismaClient(console.log);
  return 0;
});
