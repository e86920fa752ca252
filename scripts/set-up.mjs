import { checkNode } from "./support/environment.mjs";
import { ensurePrismaClient } from "./support/generate.mjs";
import { ensureDependencies } from "./support/install.mjs";
import { ROOT } from "./support/project.mjs";
import { runCommand } from "./support/shutdown.mjs";

/** Installs packages and generates the database client, for all other tools. */
await runCommand(async () => {
  checkNode();
  process.chdir(ROOT);
  await ensureDependencies(console.log);
  await ensurePrismaClient(console.log);
  return 0;
});
