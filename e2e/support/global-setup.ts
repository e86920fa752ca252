import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FullConfig } from "@playwright/test";
import { DOMAIN, domainOf } from "./fixtures";
import { slowServerPort, startSlowServer } from "./slow-server";

/**
 * Starts the slow server and applies e2e/support/organization.yaml, once for each worker, with the operator's command line,
 * beside the running service. Tests get the printed ids and secrets through the environment (fixtures.ts).
 */
export default async function setUp({ workers }: FullConfig): Promise<() => void> {
  const { STEPWELL_E2E_DATA: folder = "", STEPWELL_E2E_PORT } = process.env;
  const stopSlowServer = await startSlowServer();

  const declared = join(folder, "organization.yaml");
  const [head, organization = ""] = readFileSync("e2e/support/organization.yaml", "utf8")
    .replaceAll("http://pace.test", `http://127.0.0.1:${slowServerPort()}`)
    .split(/(?<=^organizations:\n)/m);
  const copies = Array.from({ length: workers }, (_, index) =>
    organization.replace("slug: e2e\n", `slug: e2e-${index}\n`).replaceAll(DOMAIN, domainOf(index)),
  );
  writeFileSync(declared, [head, ...copies].join(""));
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
