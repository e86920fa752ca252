import { setUp } from "./support/set-up.mjs";
import { runCommand } from "./support/shutdown.mjs";

/** Installs packages and generates the database client, for all other tools. */
await runCommand(async () => {
  await setUp();
  return 0;
});
