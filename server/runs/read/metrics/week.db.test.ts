import { expect, it } from "vitest";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { readWeek } from "./metrics";

const world = await openWorld();

it("counts the last seven days by agent and tool, and nothing of another organization", async () => {
  const tenant = await createTenant(world);
  const other = await createTenant(world);
  const reader = await createMember(world, tenant, "viewer");
  await insertRun(world, tenant, { status: "Completed" });
  await insertRun(world, tenant, { status: "Failed" });
  await insertRun(world, other, { status: "Failed" });
  const weeks = new Map([
    ...(await readWeek(world, reader, "agent")),
    ...(await readWeek(world, reader, "tool")),
  ]);
  expect([...weeks.values()].reduce((sum, { runs }) => sum + runs, 0)).toBe(2);
  const [week] = weeks.values();
  expect(week).toMatchObject({ runs: 2, completed: 1, failed: 1 });
  expect(week?.days).toHaveLength(7);
  expect(week?.days.at(-1)).toEqual({ runs: 2, failed: 1 });
});
