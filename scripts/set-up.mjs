import { checkNode } from "./environment.mjs";
import { ensurePrismaClient } from "./generate.mjs";
import { ensureDependencies } from "./install.mjs";
import { ROOT } from "./project.mjs";
import { runCommand } from "./shutdown.mjs";

/** What every other tool needs to be there: the packages and the generated database client. */
await runCommand(async () => {
  checkNode();
  process.chdir(ROOT);
  await ensureDependencies(console.log);
  await ensurePrismaClient(console.log);
  return 0;
});
