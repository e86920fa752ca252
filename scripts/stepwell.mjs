import { pathToFileURL } from "node:url";
import { ensureBuild } from "./build.mjs";
import { provideDatabase, readSettings } from "./support/environment.mjs";
import { prepareProject } from "./support/prepare-project.mjs";
import { runCommand } from "./support/shutdown.mjs";

/**
 * `npm run -s stepwell -- <command>`: the operator's command line, with or without a running service. Standard output
 * has the command's result; progress goes to standard error.
 */

await runCommand(async () => {
  await prepareProject(readSettings);
  const build = await ensureBuild({ pages: false });
  await provideDatabase();
  Object.assign(process.env, { NODE_ENV: "production" });
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(build.stepwell).href);
  return Number(process.exitCode ?? 0);
});
