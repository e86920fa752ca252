import { expect } from "vitest";
import { Decimal, ZERO } from "@/server/base/amount";
import type { World } from "./world";

/**
 * Checks that an organization's ledger is chained without gaps and never negative, that runs are held or charged
 * correctly, and that `in_flight` is the number of slots.
 */
export async function expectSoundLedger(world: World, { orgId }: { orgId: string }): Promise<void> {
  const where = { organizationId: orgId };
  const { balance, inFlight } = await world.db.organization.findUniqueOrThrow({ where: { id: orgId } });
  const entries = await world.db.creditEntry.findMany({ where, orderBy: { sequence: "asc" } });
  let before = ZERO;
  for (const [index, entry] of entries.entries()) {
    expect(entry.sequence).toBe(BigInt(index + 1));
    expect(entry.balanceBefore.toString()).toBe(before.toString());
    expect(entry.balanceAfter.toString()).toBe(before.add(entry.amount).toString());
    expect(entry.balanceAfter.isNegative()).toBe(false);
    before = entry.balanceAfter;
  }
  expect(balance.toString()).toBe(before.toString());

  const runs = await world.db.run.findMany({ where });
  const sum = (id: string, ...kinds: string[]) =>
    entries
      .filter(({ runId, kind }) => runId === id && kinds.includes(kind))
      .reduce((total, { amount }) => total.sub(amount), new Decimal(0));
  for (const run of runs.filter(({ finishedAt }) => finishedAt !== null)) {
    expect(sum(run.id, "charge", "refund").toString()).toBe(run.creditsUsed.toString());
    expect(run.held.toString()).toBe("0");
  }
  for (const root of runs.filter(({ parentRunId }) => parentRunId === null)) {
    // Children release their share of the root's hold with their own entries.
    const tree = runs.filter(({ rootRunId }) => rootRunId === root.id);
    const held = tree.reduce((total, { id }) => total.add(sum(id, "hold", "release")), ZERO);
    expect(held.toString()).toBe(root.held.toString());
  }
  const withSlot = runs.filter((run) => !run.finishedAt && run.admittedAt && run.parentRunId === null);
  expect(inFlight).toBe(withSlot.length);
}
