import { pathToFileURL } from "node:url";
import { ensureBuild } from "./build.mjs";
import { provideDatabase, readSettings } from "./support/environment.mjs";
import { setUp } from "./support/set-up.mjs";
import { runCommand } from "./support/shutdown.mjs";

/**
 * `npm run -s stepwell -- <command>`: the operator's command line, with or without a running service. Standard output
 * has the command's result; progress goes to standard error.
 */

const print = console.error;

await runCommand(async () => {
  await setUp(print, readSettings);
  const build = await ensureBuild(print, { pages: false });
  await provideDatabase(print);
  Object.assign(process.env, { NODE_ENV: "production" });
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(build.stepwell).href);
  return Number(process.exitCode ?? 0);
});
