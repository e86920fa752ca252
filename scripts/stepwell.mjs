import { pathToFileURL } from "node:url";
import { ensureBuild } from "./build.mjs";
import { checkSetUp, provideDatabase } from "./environment.mjs";
import { ensurePrismaClient } from "./generate.mjs";
import { ensureDependencies } from "./install.mjs";
import { runCommand } from "./shutdown.mjs";

/**
 * `npm run -s stepwell -- <command>`: the operator's command line, beside a running service or without one. Standard output
 * belongs to the command; what is prepared is told on standard error.
 */

const print = console.error;

await runCommand(async () => {
  checkSetUp();
  await ensureDependencies(print);
  await ensurePrismaClient(print);
  const build = await ensureBuild(print, { pages: false });
  await provideDatabase(print);
  Object.assign(process.env, { NODE_ENV: "production" });
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(build.stepwell).href);
  return Number(process.exitCode ?? 0);
});
