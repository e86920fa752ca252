import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuild } from "./build.mjs";
import { develop } from "./develop.mjs";
import { beforeEnd, runCommand, settle } from "./ending.mjs";
import { checkGround, checkPort, provideDatabase } from "./environment.mjs";
import { ensurePrismaClient } from "./generate.mjs";
import { hold } from "./holders.mjs";
import { ensureDependencies } from "./install.mjs";
import { ROOT } from "./project.mjs";

/**
 * `npm start`: from whatever state the folder is in to the running service. It is the service's own process: what it
 * prepared is imported, not started beside it, so that there is one process to watch, signal and kill.
 * With `--dev`: pages reload in place and the process is started again when its code changes.
 */

const say = console.log;

await runCommand(async () => {
  checkGround();
  await checkPort();
  await ensureDependencies(say);
  await ensurePrismaClient(say);
  if (process.argv.includes("--dev")) return develop(say);

  const build = await ensureBuild(say);
  beforeEnd(hold(`${build.folder}/holders`));
  await provideDatabase(say);
  Object.assign(process.env, { NODE_ENV: "production" });
  process.env.STEPWELL_NEXT_DIR = relative(ROOT, build.pages);
  /** @type {typeof import("../serve.ts")} */
  const { announce, serve } = await import(pathToFileURL(build.serve).href);
  const serving = await serve({ root: ROOT, say });
  beforeEnd(() => {
    say("\nStopping …");
    return serving.stop();
  });
  settle();
  if (await serving.untilReady(say)) announce(serving, say);
  return undefined;
});
