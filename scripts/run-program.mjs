import { spawn } from "node:child_process";
import { beforeEnd } from "./ending.mjs";
import { ROOT, SetupError } from "./project.mjs";

/**
 * Runs a Node program of the project to its end, quietly: what it wrote is only shown when it fails.
 * @param {string} name how people know it
 * @param {string} script
 * @param {string[]} parameters
 * @param {{ env?: Record<string, string | undefined>, loud?: boolean }} [options] `loud` passes its output on
 * @returns {Promise<void>}
 */
export function runNode(name, script, parameters, options) {
  return runProgram(name, process.execPath, [script, ...parameters], options);
}

/**
 * Runs any program to its end; see `runNode`.
 * @param {string} name
 * @param {string} command
 * @param {string[]} parameters
 * @param {{ env?: Record<string, string | undefined>, loud?: boolean }} [options]
 * @returns {Promise<void>}
 */
export function runProgram(name, command, parameters, { env = {}, loud = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: loud ? "inherit" : ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32" && !command.endsWith(".exe"),
    });
    // Ctrl-C reaches it by itself; a signal sent to us alone does not.
    beforeEnd(() => child.kill());
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        said += chunk;
      });
    }
    child.on("error", (cause) => reject(new SetupError(`${name} could not be run: ${cause.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return resolve();
      reject(new SetupError(`${name} failed (${signal ?? `exit code ${code}`}).\n${said.trim()}`.trim()));
    });
  });
}
