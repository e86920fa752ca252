import { expect, it } from "vitest";
import { openWorld } from "@/testing/world";
import { CALLS, openWriter, prepareStarts, STEPS, writeRun } from "./write-run";

const world = await openWorld();

it("writes a run with its journal and ledger, and holds nothing at its end", async () => {
  const [start] = await prepareStarts(world);
  if (!start) throw new Error("No organization was created.");
  const writer = await openWriter(world);
  expect(await writeRun(world, writer, start)).toBe("ended");
  const run = await world.db.run.findFirstOrThrow({ include: { modelCalls: true, steps: true } });
  expect(run).toMatchObject({ status: "Completed", stepsExecuted: STEPS });
  expect([run.modelCalls.length, run.steps.length, run.held.toNumber()]).toEqual([CALLS, STEPS, 0]);
  const organization = await world.db.organization.findUniqueOrThrow({ where: { id: run.organizationId } });
  const { _sum } = await world.db.creditEntry.aggregate({
    where: { organizationId: run.organizationId },
    _sum: { amount: true },
  });
  expect([organization.inFlight, organization.balance]).toEqual([0, _sum.amount]);
  await Promise.all([writer.accounts.close(), writer.journal.close()]);
});
