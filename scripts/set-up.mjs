import { prepareProject } from "./support/prepare-project.mjs";
import { runCommand } from "./support/shutdown.mjs";

/** Installs packages and generates the database client, for all other tools. */
await runCommand(async () => {
  await prepareProject();
  return 0;
});
