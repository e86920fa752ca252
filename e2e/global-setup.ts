import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slowServerPort, startSlowServer } from "./slow-server";

/**
 * Starts the slow server and applies e2e/organization.yaml with the operator's command line, beside the running
 * service. Tests get the printed ids and secrets through the environment (fixtures.ts).
 */
export default async function setUp(): Promise<() => void> {
  const { STEPWELL_E2E_DATA: folder = "", STEPWELL_E2E_PORT } = process.env;
  const stopSlowServer = await startSlowServer();

  const declared = join(folder, "organization.yaml");
  const text = readFileSync("e2e/organization.yaml", "utf8");
  writeFileSync(declared, text.replaceAll("http://pace.test", `http://127.0.0.1:${slowServerPort()}`));
  process.env.STEPWELL_E2E_APPLIED = execFileSync(
    process.execPath,
    ["scripts/stepwell.mjs", "apply", declared, "--json"],
    {
      encoding: "utf8",
      env: { ...process.env, STEPWELL_DATA_DIR: folder, APP_URL: `http://localhost:${STEPWELL_E2E_PORT}` },
    },
  );
  return stopSlowServer;
}
