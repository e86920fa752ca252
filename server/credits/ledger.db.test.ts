import fc from "fast-check";
import { expect, it } from "vitest";
import { handleRest } from "@/server/api/rest";
import { Decimal } from "@/server/base/amount";
import { newId } from "@/server/base/ids";
import { cancelRun } from "@/server/runs/cancel";
import { admitWaitingRuns, claimRun } from "@/server/runs/engine/claim";
import { removeWorker } from "@/server/runs/engine/worker";
import { WorkerLost } from "@/server/runs/engine/write/writer";
import { startRun } from "@/server/runs/start";
import type { ModelReply } from "@/server/work/models/port";
import { executeRun, executeSegment } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld, scriptedModels, type Tenant } from "@/testing/world";
import { grantCredits, postEntries } from "./ledger";
import { listLedger } from "./read-ledger";
import { refundRun } from "./refund";

let reply: () => Partial<ModelReply> | Promise<Partial<ModelReply>> = () => ({});

const world = await openWorld({
  models: scriptedModels(() => reply()),
});

async function balanceOf(tenant: Tenant): Promise<Decimal> {
  const { balance } = await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } });
  return balance;
}

it("accepts exactly 50 of 200 concurrent starts with a balance for 50", async () => {
  const tenant = await createTenant(world, { credits: "0.5", plan: { startsPerMinute: 1000 } });
  const start = () =>
    handleRest(
      world,
      new Request(`http://stepwell.test/v1/tools/run/${tenant.toolId}`, {
        method: "POST",
        headers: { "X-API-Key": tenant.key, "Content-Type": "application/json" },
        body: '{"a":1,"b":2}',
      }),
    );
  const statuses = (await Promise.all(Array.from({ length: 200 }, start))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(50);
  expect(statuses.filter((status) => status === 400)).toHaveLength(150);
  expect((await balanceOf(tenant)).toString()).toBe("0");
  expect(await world.db.run.count({ where: { organizationId: tenant.orgId, status: "Pending" } })).toBe(50);
  expect(await world.db.creditEntry.count({ where: { organizationId: tenant.orgId, kind: "hold" } })).toBe(
    50,
  );
});

it("rejects an overdraft, an entry that does not add up and a change of an entry, even by SQL", async () => {
  const tenant = await createTenant(world, { credits: "1" });
  const overdraft = [{ kind: "adjustment", amount: new Decimal(-2), runId: null, note: "a bug" } as const];
  await expect(
    postEntries(world.pool, tenant.orgId, { entries: overdraft, actor: "test", clock: world.clock }),
  ).rejects.toThrow(/not_negative/);
  await expect(
    world.pool.query("UPDATE organizations SET balance = -1 WHERE id = $1", [tenant.orgId]),
  ).rejects.toThrow(/organizations_balance_not_negative/);
  await expect(
    world.pool.query("UPDATE credit_entries SET amount = 5 WHERE organization_id = $1", [tenant.orgId]),
  ).rejects.toThrow(/append-only/);
  await expect(
    world.pool.query("DELETE FROM credit_entries WHERE organization_id = $1", [tenant.orgId]),
  ).rejects.toThrow(/append-only/);
  expect((await balanceOf(tenant)).toString()).toBe("1");
});

type Crash = null | "claimed" | { inCall: number } | { afterCalls: number };

type Action =
  | { do: "start"; kind: "agent" | "tool" }
  | { do: "execute"; tokens: number; calls: number; crash: Crash }
  | { do: "cancel" }
  | { do: "failRun" }
  | { do: "refund"; nth: number }
  | { do: "grant"; amount: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("start" as const),
      kind: fc.constantFrom("agent" as const, "tool" as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("execute" as const),
      tokens: fc.integer({ min: 0, max: 6000 }),
      calls: fc.integer({ min: 0, max: 3 }),
      crash: fc.option(
        fc.oneof(
          fc.constant("claimed" as const),
          fc.record({ inCall: fc.integer({ min: 0, max: 3 }) }),
          fc.record({ afterCalls: fc.integer({ min: 0, max: 5 }) }),
        ),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("failRun" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("refund" as const), nth: fc.integer({ min: 0, max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("grant" as const), amount: fc.integer({ min: 1, max: 20_000 }) }),
  },
);

it("counts the entries of an organization beyond 32 bits", async () => {
  const tenant = await createTenant(world, { credits: "1" });
  const last = 2 ** 31 - 2;
  await world.db.organization.update({ where: { id: tenant.orgId }, data: { ledgerSequence: last } });
  const actor = await createMember(world, tenant);
  const { runId } = await startRun(world, actor, {
    kind: "tool",
    targetId: tenant.toolId,
    input: { a: 1, b: 2 },
  });
  expect(await executeRun(world, runId)).toBe("ended");
  await grantCredits(world.pool, {
    orgId: tenant.orgId,
    amount: new Decimal(1),
    note: "",
    actor: "operator",
    clock: world.clock,
  });
  const newest = await listLedger(world, actor, { holds: true, limit: 2 });
  expect(newest.items.map(({ sequence }) => sequence)).toEqual([last + 4, last + 3]);
  const older = await listLedger(world, actor, { holds: true, limit: 3, cursor: newest.nextCursor });
  expect(older.items.map(({ sequence }) => sequence)).toEqual([last + 2, last + 1, 1]);
});

it("holds its invariants after any sequence of starts, steps, failures, crashes, cancels and grants", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 14 }), async (actions) => {
      const tenant = await createTenant(world, { credits: "1.5" });
      const open: string[] = [];
      for (const next of actions) {
        await perform(tenant, open, next);
        await expectSound(tenant);
      }
      // Another worker completes the remaining runs.
      reply = () => ({ content: "Done." });
      for (const runId of open) await executeRun(world, runId);
      await expectSound(tenant);
      expect(await world.db.run.count({ where: { organizationId: tenant.orgId, finishedAt: null } })).toBe(0);
      const held = await world.db.run.aggregate({
        where: { organizationId: tenant.orgId },
        _sum: { held: true },
      });
      expect(held._sum.held?.toNumber() ?? 0).toBe(0);
    }),
    { numRuns: 40, endOnFailure: true },
  );
}, 120_000);

async function perform(tenant: Tenant, open: string[], next: Action): Promise<void> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  switch (next.do) {
    case "start": {
      const started =
        next.kind === "agent"
          ? startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Go" })
          : startRun(world, actor, { kind: "tool", targetId: tenant.toolId, input: { a: 1, b: 2 } });
      await started.then(
        ({ runId }) => open.push(runId),
        (error: Error) => expect(error.message).toBe("Insufficient credits."),
      );
      return;
    }
    case "execute": {
      const runId = open.shift();
      if (runId === undefined) return;
      let left = next.calls;
      let call = 0;
      reply = async () => {
        if (
          next.crash !== null &&
          typeof next.crash === "object" &&
          "inCall" in next.crash &&
          next.crash.inCall === call
        ) {
          await loseWorker();
        }
        call += 1;
        const usage = { inputTokens: next.tokens, outputTokens: next.tokens, estimated: false };
        if (left === 0) return { content: "Done.", usage };
        left -= 1;
        const calls = [
          { id: "a", name: "calculate", arguments: `{"expression":"${left}+1"}` },
          { id: "b", name: "adder", arguments: `{"a":${left},"b":1}` },
        ];
        return { toolCalls: calls, usage };
      };
      const crashed = await executeUntil(runId, next.crash);
      if (crashed) open.push(runId);
      return;
    }
    case "cancel": {
      const runId = open.shift();
      if (runId !== undefined) await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
      if (runId !== undefined) open.push(runId);
      return;
    }
    case "failRun": {
      // The engine gives up after its last attempt.
      const runId = open.shift();
      if (runId !== undefined) await world.engine.failRun(runId, new Error("the database was away"));
      return;
    }
    case "refund": {
      const runs = await world.db.run.findMany({
        where: { organizationId: tenant.orgId },
        orderBy: { id: "asc" },
      });
      const run = runs[next.nth];
      if (run === undefined) return;
      await refundRun(world, actor, { runId: run.id, note: "sorry" }).catch((error: Error) =>
        expect(error.message).toMatch(/has not ended|nothing to refund/),
      );
      return;
    }
    case "grant":
      await grantCredits(world.pool, {
        orgId: tenant.orgId,
        amount: new Decimal(next.amount).div(10_000),
        note: "more",
        actor: "operator",
        clock: world.clock,
      });
  }
}

async function loseWorker(): Promise<void> {
  await removeWorker(world.pool, (await world.engine.worker()).id);
}

async function executeUntil(runId: string, crash: Crash): Promise<boolean> {
  if (crash === "claimed") {
    await admitWaitingRuns(world, { worker: null, slots: 1_000 });
    const workerId = `worker-${newId()}`;
    await world.pool.query("INSERT INTO workers (id, heartbeat_at) VALUES ($1, clock_timestamp())", [
      workerId,
    ]);
    await claimRun(world, { runId }, workerId);
    await removeWorker(world.pool, workerId);
    return true;
  }
  if (crash !== null && "afterCalls" in crash) {
    await admitWaitingRuns(world, { worker: null, slots: 1_000 });
    return (await executeSegment(world, runId, { calls: crash.afterCalls })) !== "ended";
  }
  try {
    return (await executeRun(world, runId)) !== "ended";
  } catch (error) {
    if (error instanceof WorkerLost) return true;
    throw error;
  }
}

async function expectSound(tenant: Tenant): Promise<void> {
  const where = { organizationId: tenant.orgId };
  const entries = await world.db.creditEntry.findMany({ where, orderBy: { sequence: "asc" } });
  const runs = await world.db.run.findMany({ where });
  let balance = new Decimal(0);
  for (const [index, entry] of entries.entries()) {
    expect(entry.sequence).toBe(BigInt(index + 1));
    expect(entry.balanceBefore.equals(balance)).toBe(true);
    balance = balance.add(entry.amount);
    expect(entry.balanceAfter.equals(balance)).toBe(true);
    expect(balance.gte(0)).toBe(true);
  }
  expect((await balanceOf(tenant)).equals(balance)).toBe(true);
  const openHolds = runs.reduce((sum, run) => sum.add(run.held), new Decimal(0));
  const ledgerHolds = entries
    .filter(({ kind }) => kind === "hold" || kind === "release")
    .reduce((sum, { amount }) => sum.sub(amount), new Decimal(0));
  expect(openHolds.equals(ledgerHolds)).toBe(true);
  for (const run of runs.filter(({ finishedAt }) => finishedAt !== null)) {
    const charged = entries
      .filter(({ runId, kind }) => runId === run.id && kind === "charge")
      .reduce((sum, { amount }) => sum.sub(amount), new Decimal(0));
    expect(charged.equals(run.creditsUsed)).toBe(true);
    expect(run.held.isZero()).toBe(true);
    const refunds = entries.filter(({ runId, kind }) => runId === run.id && kind === "refund");
    expect(refunds.length).toBeLessThanOrEqual(1);
    for (const { amount } of refunds) expect(amount.equals(charged)).toBe(true);
    // A platform error costs nothing, whatever was charged before.
    if (run.errorCode === "internal_error") expect(charged.isZero()).toBe(true);
    const caller = runs.find(({ id }) => id === run.parentRunId);
    if (caller?.errorCode === "internal_error" && !charged.isZero()) expect(refunds).toHaveLength(1);
  }
}
