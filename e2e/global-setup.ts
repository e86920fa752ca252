import { execFileSync } from "node:child_process";

/**
 * Declares e2e/organization.yaml by the operator's command line beside the running service, as an operator would;
 * the ids and secrets it prints reach the tests through the environment (fixtures.ts).
 */
export default function setUp(): void {
  const output = execFileSync(
    process.execPath,
    ["scripts/stepwell.mjs", "apply", "e2e/organization.yaml", "--json"],
    {
      encoding: "utf8",
      env: {
        ...process.env,
        STEPWELL_DATA_DIR: process.env.STEPWELL_E2E_DATA,
        APP_URL: `http://localhost:${process.env.STEPWELL_E2E_PORT}`,
      },
    },
  );
  process.env.STEPWELL_E2E_APPLIED = output;
}
