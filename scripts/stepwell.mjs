import { pathToFileURL } from "node:url";
import { ensureBuild } from "./build.mjs";
import { runCommand } from "./ending.mjs";
import { checkGround, provideDatabase } from "./environment.mjs";
import { ensurePrismaClient } from "./generate.mjs";
import { ensureDependencies } from "./install.mjs";

/**
 * `npm run -s stepwell -- <command>`: the operator's command line, beside a running service or without one. Standard output
 * belongs to the command; what is prepared is told on standard error.
 */

const say = console.error;

await runCommand(async () => {
  checkGround();
  await ensureDependencies(say);
  await ensurePrismaClient(say);
  const build = await ensureBuild(say, { pages: false });
  await provideDatabase(say);
  Object.assign(process.env, { NODE_ENV: "production" });
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(build.stepwell).href);
  return Number(process.exitCode ?? 0);
});
