import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { withLock } from "../../scripts/support/lock.mjs";
import { ROOT, readIfPresent, reportWait, SetupError, timed } from "../../scripts/support/project.mjs";
import { runProgram } from "../../scripts/support/run-program.mjs";
import { runCommand } from "../../scripts/support/shutdown.mjs";

/**
 * `node tools/node/folder.mjs VERSION` prints the folder of the program `node` of that version, for PATH. VERSION is a
 * folder here, such as 24. If this Node has another version, npm installs the package in that folder. It is no package
 * of the project, because npm scripts would find it before the user's Node.
 */

const [version = ""] = process.argv.slice(2);

await runCommand(async () => {
  console.log(process.version.startsWith(`v${version}.`) ? join(process.execPath, "..") : await ensureNode());
  return 0;
});

/** Installs the package of this machine, unless it is there. */
async function ensureNode() {
  const folder = join(ROOT, "tools/node", version);
  const name = `node-${process.platform}-${process.arch}`;
  const wanted = readManifest(folder).optionalDependencies?.[name];
  if (wanted === undefined)
    throw new SetupError(
      `npm has no Node ${version} for this machine (${process.platform}, ${process.arch}). ` +
        "Install it from https://nodejs.org, and run the command again.",
    );
  const programs = join(folder, "node_modules", name, "bin");
  const isInstalled = () => versionOf(join(programs, "node")) === `v${wanted}`;
  const install = () => timed(`Installing Node ${wanted}`, () => runProgram("npm ci", commandOf(folder)));
  if (!isInstalled()) {
    const onWait = reportWait(() => "Another process is installing Node");
    await withLock(join(folder, "install.lock"), async () => isInstalled() || install(), { onWait });
  }
  // npm does not fail if it cannot get an optional package.
  if (!isInstalled()) throw new SetupError(`npm did not install ${name} ${wanted}. Check the network.`);
  return programs;
}

/**
 * @param {string} folder
 * @returns {[string, ...string[]]}
 */
function commandOf(folder) {
  return ["npm", "ci", `--prefix=${folder}`, "--include=optional", "--no-audit", "--no-fund"];
}

/**
 * @param {string} folder
 * @returns {{ optionalDependencies?: Record<string, string> }}
 */
function readManifest(folder) {
  return JSON.parse(readIfPresent(join(folder, "package.json")) ?? "{}");
}

/** @param {string} program */
function versionOf(program) {
  return spawnSync(program, ["--version"], { encoding: "utf8" }).stdout?.trim();
}
