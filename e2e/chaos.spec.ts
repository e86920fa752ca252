import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { test } from "@playwright/test";
import { freePort } from "../scripts/ports.mjs";

/** A short version of the chaos command (scripts/chaos): its own service, killed with -9 again and again. */
test("nothing is lost, repeated or stuck when the service and the database are killed", async () => {
  test.setTimeout(200_000);
  const port = String(await freePort());
  const parameters = ["--runs", "20", "--faults", "2", "--points", "1", "--seconds", "170", "--port", port];
  // Ends with 0 only when nothing was lost, repeated, overcharged or stuck.
  await promisify(execFile)(process.execPath, ["scripts/chaos/chaos.mjs", ...parameters], {
    env: { ...process.env, STEPWELL_E2E_PORT: "", PORT: "" },
  });
});
