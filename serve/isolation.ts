import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Wired } from "@/process-services";
import { retryWhileUnavailable } from "@/server/base/db/outage";
import { sleep } from "@/server/base/sleep";
import { findSuspect } from "@/server/runs/engine/run-state";
import { failSuspect } from "@/server/runs/engine/slots/slot";
import { type Suspect, suspect } from "@/server/runs/engine/suspects";

/**
 * The isolated process (serve/isolated.ts) of a service: executes suspects, one at a time. If one crashes it, only
 * that run fails.
 */

const SEEK_EVERY_MS = 1_000;
/** An operator who kills the service may kill the isolated process first: a kill counts if this process outlives it. */
const KILL_COUNTS_AFTER_MS = 2_000;
const STOP_MS = 10_000;

/** Looks for suspects, and starts the isolated process, `program`, if there are any. */
export function startIsolation(services: Wired, program: string): { stop(): Promise<void> } {
  const { log, pool } = services;
  const stopping = new AbortController();
  let child: ChildProcess | undefined;

  const execute = async (): Promise<void> => {
    log.warn("Runs whose process crashed twice continue in a process of their own");
    child = startChild(program);
    let last: Suspect | undefined;
    child.on("message", (message) => {
      last = suspect.parse(message);
    });
    const [code, signal] = await once(child, "exit");
    child = undefined;
    if (code === 0 || stopping.signal.aborted) return;
    const error = new Error(`The isolated process ended with ${signal ?? `exit code ${code}`}.`);
    if (signal === "SIGKILL" || signal === "SIGTERM" || signal === "SIGINT")
      await sleep(KILL_COUNTS_AFTER_MS, stopping.signal);
    if (stopping.signal.aborted) return;
    log.error("The isolated process crashed", { error });
    const crashed = last;
    if (crashed !== undefined)
      await retryWhileUnavailable(() => failSuspect(services, crashed, error), stopping.signal);
  };
  const seek = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        if ((await findSuspect(pool)).length > 0) await execute();
      } catch (error) {
        if (!stopping.signal.aborted)
          log.warn("Could not look for runs whose process crashed; retrying in 1 s", { error });
      }
      await sleep(SEEK_EVERY_MS, stopping.signal);
    }
  };
  const seeking = seek();
  return {
    async stop() {
      stopping.abort();
      if (child !== undefined) await stopChild(child);
      await seeking;
    },
  };
}

/** `fork` passes Node's options on, so the heap has the same limit. */
function startChild(program: string): ChildProcess {
  // Its runs are the same on an Inngest server, and kills at points of the engine are not crashes.
  const unset = Object.keys(process.env).filter((name) => name.startsWith("INNGEST_"));
  return fork(program, [], {
    env: {
      ...process.env,
      ...Object.fromEntries([...unset, "STEPWELL_PAUSE_POINTS"].map((name) => [name, undefined])),
      STEPWELL_SLOTS: "1",
      STEPWELL_PROCESSES: "1",
    },
    // A signal to the terminal's group is for this process, which stops it in order.
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}
