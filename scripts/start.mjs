import { relative } from "node:path";

import { pathToFileURL } from "node:url";
import { noteAddress } from "./address.mjs";
import { ensureBuild } from "./build.mjs";
import { develop } from "./develop.mjs";
import { beforeEnd, runCommand, settle } from "./ending.mjs";
import { checkGround, checkPort, provideDatabase } from "./environment.mjs";
import { ensurePrismaClient } from "./generate.mjs";
import { hold } from "./holders.mjs";
import { ensureDependencies, mendingPackages } from "./install.mjs";
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
  await mendingPackages(say, () => ensurePrismaClient(say));
  if (process.argv.includes("--dev")) return develop(say);

  const build = await mendingPackages(say, () => ensureBuild(say));
  beforeEnd(hold(`${build.folder}/holders`));
  await provideDatabase(say);
  Object.assign(process.env, { NODE_ENV: "production" });
  process.env.STEPWELL_NEXT_DIR = relative(ROOT, build.pages);
  process.setSourceMapsEnabled(true);
  /** @type {typeof import("../serve.ts")} */
  const { serve } = await import(pathToFileURL(build.serve).href);
  const serving = await serve({ root: ROOT, say });
  beforeEnd(() => {
    say("\nStopping …");
    return serving.stop();
  });
  settle();
  beforeEnd(noteAddress(serving.appUrl));
  announce(serving);
  return undefined;
});

/** @param {import("../serve.ts").Serving} serving */
function announce({ appUrl, demo }) {
  say(`\nStepwell is ready: ${appUrl}`);
  if (!demo) return;
  say(`  Sign in as  ${demo.login}${demo.password === null ? "" : `  password  ${demo.password}`}`);
  const message = "What do 12 apples at 0.80 cost?";
  const json = "-H 'Content-Type: application/json'";
  if (demo.apiKey === undefined) {
    const body = JSON.stringify({ question: message });
    if (demo.triggerUrl !== null) say(`  Try it:     curl -s ${demo.triggerUrl} ${json} -d '${body}'`);
  } else {
    say(`  API key     ${demo.apiKey}  (shown this once)`);
    const body = JSON.stringify({ userMessage: message });
    say(
      `  Try it:     curl -s ${appUrl}/v1/agents/run/${demo.agentId} -H 'X-API-Key: ${demo.apiKey}' ${json} -d '${body}'`,
    );
  }
  say("  Stop with Ctrl-C\n");
}
