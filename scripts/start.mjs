import { pathToFileURL } from "node:url";
import { ensureBuild } from "./build.mjs";
import { develop } from "./develop.mjs";
import { checkPort, provideDatabase, readSettings } from "./environment.mjs";
import { prepareProject } from "./support/prepare-project.mjs";
import { markInUse } from "./support/processes.mjs";
import { ROOT } from "./support/project.mjs";
import { expectSignal, onShutdown, runCommand } from "./support/shutdown.mjs";

/**
 * `npm start`: installs, builds and runs the service from any state of the folder. The service runs in this process, so
 * that there is one process to watch, signal and kill. With `--dev` pages reload on changes, and the process restarts
 * when its code changes.
 */

const print = console.log;

await runCommand(async () => {
  await prepareProject(() => {
    readSettings();
    return checkPort();
  });
  if (process.argv.includes("--dev")) return develop();

  // Wrong settings are named before the pages are built, which takes minutes.
  const programs = await ensureBuild({ pages: false });
  /** @type {typeof import("../serve.ts")} */
  const { announce, checkSettings, serve } = await import(pathToFileURL(programs.serve).href);
  for (const warning of checkSettings()) print(warning);
  const build = await ensureBuild();
  onShutdown(markInUse(`${build.folder}/in-use`));
  await provideDatabase();
  Object.assign(process.env, { NODE_ENV: "production" });
  const serving = await serve({ root: ROOT, print });
  onShutdown(() => {
    print("\nStopping …");
    return serving.stop();
  });
  expectSignal();
  if (await serving.untilReady(print)) announce(serving, print);
  return undefined;
});
