import { expect, it } from "vitest";
import { cancelMatching } from "@/server/runs/cancel";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";

const world = await openWorld();

it("cancels all open runs of a filter, older ones too when the newest are being cancelled already", async () => {
  const tenant = await createTenant(world);
  const actor = await createMember(world, tenant, "member");
  const insert = (status: "Running" | "Completed") => insertRun(world, tenant, { status });
  const older = [await insert("Running"), await insert("Running")];
  await insert("Completed");
  const newer = [await insert("Running"), await insert("Running"), await insert("Running")];
  await world.db.run.updateMany({
    where: { id: { in: newer } },
    data: { cancelRequestedAt: world.clock.now(), cancelledBy: "somebody" },
  });
  let found = 0;
  let before: string | undefined;
  do {
    const page = await cancelMatching(world, actor, { filter: {}, before, limit: 2 });
    found += page.found;
    before = page.next ?? undefined;
  } while (before !== undefined);
  expect(found).toBe(2);
  const runs = await world.db.run.findMany({ where: { id: { in: older } } });
  expect(runs.map((run) => run.cancelledBy)).toEqual([actor.name, actor.name]);
  expect(await cancelMatching(world, actor, { filter: { status: ["Completed"] } })).toEqual({
    found: 0,
    next: null,
  });
});
