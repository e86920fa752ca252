import { captureConsole, captureErrors } from "@/server/base/log";
import { sleep } from "@/server/base/sleep";
import { findSuspect } from "@/server/runs/engine/run-state";
import { closeServices, wireProcess } from "@/wiring";
import { GRACE_MS, limitStop, STOP_MS } from "./stop";

/**
 * The isolated process: executes suspects, one at a time. Reports each to its parent process, and stops in order
 * when the parent disconnects or ends.
 */

const SEEK_EVERY_MS = 1_000;

const services = wireProcess();
captureConsole(services.log);
captureErrors(services.log);
const stopping = new AbortController();
process.on("disconnect", () => stopping.abort());
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

services.notifications.open();
services.engine.executeSuspects((suspect) => {
  if (process.connected) process.send?.(suspect);
});
let hasWork = true;
while (hasWork && !stopping.signal.aborted) {
  try {
    await sleep(SEEK_EVERY_MS, stopping.signal);
    hasWork = services.engine.isExecuting || (await findSuspect(services.pool)).length > 0;
  } catch (error) {
    services.log.warn("The isolated process could not look for runs; retrying in 1 s", { error });
    await sleep(SEEK_EVERY_MS, stopping.signal);
  }
}
if (stopping.signal.aborted) limitStop(services.log, STOP_MS);
await services.engine.stop(GRACE_MS);
await closeServices(services);
process.exit(0);
