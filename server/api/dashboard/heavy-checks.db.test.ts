import { expect, test } from "vitest";
import { handleRest } from "@/server/api/rest";
import { newId } from "@/server/base/ids";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { createDashboardCaller } from "./router";

const world = await openWorld();

// Reading this many words and marks takes a third of a second of CPU.
const LARGE = `steps: [${"{},".repeat(12_000)}]`;
const CHECKS = 12;

test("checks of large texts leave the process to other organizations", async () => {
  const [busy, calm] = [await createTenant(world), await createTenant(world)];
  const dashboardOf = async (tenant: typeof busy) =>
    createDashboardCaller({
      services: world,
      actor: await createMember(world, tenant, "member"),
      requestId: newId(),
    });
  const [flooding, other] = [await dashboardOf(busy), await dashboardOf(calm)];
  let checked = 0;
  const checks = Array.from({ length: CHECKS }, async () => {
    const problems = await flooding.definitions.checkTool({ yaml: LARGE });
    expect(problems).not.toEqual([]);
    checked += 1;
  });
  for (let start = 0; start < 5; start += 1) {
    const response = await handleRest(
      world,
      new Request(`http://stepwell.test/v1/tools/run/${calm.toolId}`, {
        method: "POST",
        headers: { "X-API-Key": calm.key, "Content-Type": "application/json" },
        body: '{"a":1,"b":2}',
      }),
    );
    expect(response.status).toBe(200);
  }
  expect(await other.definitions.checkTool({ yaml: "slug: a" })).not.toEqual([]);
  // Counted, not timed: most of the other organization's checks still wait.
  expect(checked).toBeLessThan(CHECKS / 2);
  await Promise.all(checks);
});
