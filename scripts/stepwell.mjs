import { pathToFileURL } from "node:url";
import { ensureBuild } from "./build.mjs";
import { dataFolder, hasDatabase, provideDatabase, readSettings } from "./environment.mjs";
import { runBackupCommand } from "./postgres/backup-commands.mjs";
import { prepareProject } from "./support/prepare-project.mjs";
import { SetupError } from "./support/project.mjs";
import { runCommand } from "./support/shutdown.mjs";

/**
 * `npm run -s stepwell -- <command>`: the operator's command line, with or without a running service. Standard output
 * has the command's result; progress goes to standard error.
 */

const words = process.argv.slice(2);
const isRemote = words[0] === "api";
const isHelp = ["help", undefined].includes(words[0]) || words.includes("--help") || words.includes("-h");

await runCommand(async () => {
  await prepareProject(() => {
    readSettings({ hasDatabase: !isHelp && !isRemote });
    // They read an installation, and create none.
    if (["doctor", "backup"].includes(words[0] ?? "") && !isHelp && !hasDatabase())
      throw new SetupError(describeMissing());
  });
  const code = isHelp || isRemote ? undefined : await runBackupCommand(words);
  if (code !== undefined) return code;
  const build = await ensureBuild({ pages: false });
  if (!isHelp && !isRemote) await provideDatabase();
  Object.assign(process.env, { NODE_ENV: "production" });
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(build.stepwell).href);
  return Number(process.exitCode ?? 0);
});

function describeMissing() {
  return (
    `There is no database yet: DATABASE_URL is not set, and ${dataFolder()} has none. ` +
    "The first npm start creates it. If it is in another folder, set STEPWELL_DATA_DIR."
  );
}
