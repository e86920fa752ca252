import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { freePort } from "../scripts/ports.mjs";

/** A short version of the chaos command (scripts/chaos): its own service, killed with -9 again and again. */
test("nothing is lost, repeated or stuck when the service and the database are killed", async () => {
  test.setTimeout(200_000);
  const port = String(await freePort());
  const parameters = ["--runs", "10", "--crowd", "60", "--kills", "3", "--seconds", "170", "--port", port];
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/chaos/chaos.mjs", ...parameters], {
    env: { ...process.env, STEPWELL_E2E_PORT: "", PORT: "" },
  });
  expect(stdout).toContain("Nothing lost, nothing twice, nothing stuck.");
});
