import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { test } from "@playwright/test";
import { freePort } from "../scripts/ports.mjs";

/**
 * A short version of the chaos command (scripts/chaos) with its own service, which is killed with SIGKILL again and
 * again.
 */
test("nothing is lost, repeated or stuck when the service and the database are killed", async () => {
  test.setTimeout(200_000);
  const port = String(await freePort());
  const parameters = ["--runs", "20", "--faults", "2", "--points", "1", "--seconds", "170", "--port", port];
  // Exits with 0 only if nothing was lost, repeated, overcharged or stuck.
  await promisify(execFile)(process.execPath, ["scripts/chaos/chaos.mjs", ...parameters], {
    env: { ...process.env, STEPWELL_E2E_PORT: "", PORT: "" },
  });
});
