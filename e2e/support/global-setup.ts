import { readFileSync } from "node:fs";
import type { FullConfig } from "@playwright/test";
import { applyDefinitions, runStepwell } from "@/testing/services/service-process";
import { DOMAIN, domainOf } from "./fixtures";
import { slowServerPort, startSlowServer } from "./slow-server";

/**
 * Starts the slow server and applies e2e/support/organization.yaml for each worker, whose owner becomes an operator.
 * Tests get ids and secrets through the environment (fixtures.ts).
 */
export default async function setUp({ workers }: FullConfig): Promise<() => void> {
  const { STEPWELL_E2E_DATA, STEPWELL_E2E_PORT } = process.env;
  const stopSlowServer = await startSlowServer();

  const [head, organization = ""] = readFileSync("e2e/support/organization.yaml", "utf8")
    .replaceAll("http://pace.test", `http://127.0.0.1:${slowServerPort()}`)
    .split(/(?<=^organizations:\n)/m);
  const copies = Array.from({ length: workers }, (_, index) =>
    organization.replace("slug: e2e\n", `slug: e2e-${index}\n`).replaceAll(DOMAIN, domainOf(index)),
  );
  const env = {
    ...process.env,
    STEPWELL_DATA_DIR: STEPWELL_E2E_DATA,
    APP_URL: `http://localhost:${STEPWELL_E2E_PORT}`,
  };
  const applied = await applyDefinitions([head, ...copies].join(""), { env });
  for (const index of copies.keys())
    await runStepwell(["operators", "add", `ada@${domainOf(index)}`], { env });
  process.env.STEPWELL_E2E_APPLIED = JSON.stringify(applied);
  return stopSlowServer;
}
