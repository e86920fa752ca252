import { expect, test } from "vitest";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { connect } from "@/server/base/db/client";
import { newId } from "@/server/base/ids";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld, type Tenant } from "@/testing/world";

/** The searches of one organization leave database connections to another. */

const world = await openWorld();

async function openDashboard(tenant: Tenant) {
  const { email: _, ...actor } = await createMember(world, tenant, "viewer");
  return (signal?: AbortSignal) =>
    createDashboardCaller({ services: world, actor, requestId: newId() }, { ...(signal && { signal }) });
}

test("an organization's slow calls do not stop those of another", async () => {
  const [tenant, other] = [await createTenant(world), await createTenant(world)];
  const [busy, calm] = [await openDashboard(tenant), await openDashboard(other)];
  const runId = await insertRun(world, tenant, { status: "Completed", steps: 1 });
  const lock = await connect(world.env.databaseUrl);
  await lock.query("BEGIN");
  await lock.query("LOCK TABLE steps IN ACCESS EXCLUSIVE MODE");
  let ended = 0;
  const left = new AbortController();
  const searches = Array.from({ length: 60 }, (_, n) =>
    busy(n < 30 ? undefined : left.signal)
      .runs.searchSteps({ runId, text: "any" })
      .then(
        () => "found",
        () => "left",
      )
      .finally(() => {
        ended += 1;
      }),
  );
  expect(await calm().organization.inspect()).toMatchObject({});
  expect(ended).toBe(0);
  left.abort();
  await lock.query("ROLLBACK");
  await lock.end();
  const outcomes = await Promise.all(searches);
  expect(outcomes).toEqual(outcomes.map((_, n) => (n < 30 ? "found" : "left")));
});
