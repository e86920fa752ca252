import { expect, it } from "vitest";
import { newId } from "@/server/base/ids";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { searchSteps } from "./search-steps";

const world = await openWorld();
const tenant = await createTenant(world);

async function runOf(steps: { input?: string; output?: string; reasoning?: string }[], said = "") {
  const runId = await insertRun(world, tenant, { steps: steps.length });
  for (const [index, data] of steps.entries()) {
    await world.db.step.updateMany({ where: { runId, stepNumber: index + 1 }, data });
  }
  const call = { id: newId(), organizationId: tenant.orgId, runId, key: "think-1", iterationNumber: 1 };
  const model = { provider: "test", model: "m", content: said, startedAt: world.clock.now() };
  await world.db.modelCall.create({ data: { ...call, ...model } });
  const viewer = await createMember(world, tenant, "viewer");
  const rows = await world.db.step.findMany({ where: { runId } });
  return async (text: string) => {
    const { ids, startsOnly } = await searchSteps(world, viewer, { runId, text });
    const lines = ids.map((id) =>
      id === call.id ? "call" : (rows.find((row) => row.id === id)?.stepNumber ?? 0),
    );
    return { lines: lines.sort(), startsOnly };
  };
}

it("finds a text in inputs, outputs, reasoning and model answers, in any case", async () => {
  const search = await runOf(
    [{ input: '{"city":"Lisbon"}' }, { output: '{"from":"LISBON"}' }, { reasoning: "not lisbon" }, {}],
    "In Lisbon it rains.",
  );
  expect(await search("lisbon")).toEqual({ lines: [1, 2, 3, "call"], startsOnly: false });
  expect(await search("Oslo")).toEqual({ lines: [], startsOnly: false });
});

it("takes special characters literally, and finds quotes and line breaks in JSON", async () => {
  const search = await runOf([
    { output: '{"share":"100%"}' },
    { output: '{"share":"1000"}' },
    { output: JSON.stringify({ text: 'he said "no"\nand left' }) },
    { output: '{"path":"a_b\\\\c"}' },
  ]);
  expect((await search("100%")).lines).toEqual([1]);
  expect((await search('said "no"\nand')).lines).toEqual([3]);
  expect((await search("a_b\\c")).lines).toEqual([4]);
  expect((await search("a_b")).lines).toEqual([4]);
  expect((await search("a.b")).lines).toEqual([]);
});

it("ignores the case of letters beyond ASCII", async () => {
  const search = await runOf(
    [{ output: '{"topic":"Großer ÄRGER"}' }, { input: '{"city":"İSTANBUL"}' }, { reasoning: "Η ΟΔΟΣ" }, {}],
    "МОСКВА",
  );
  expect((await search("großer ärger")).lines).toEqual([1]);
  expect((await search("istanbul")).lines).toEqual([2]);
  expect((await search("οδος")).lines).toEqual([3]);
  expect((await search("Москва")).lines).toEqual(["call"]);
});

it("searches only the starts of texts in a very large run, and reports that", async () => {
  const filler = "x".repeat(1_000_000);
  const search = await runOf(
    Array.from({ length: 34 }, (_, n) => ({ output: n === 3 ? `"needle ${filler}"` : `"${filler} thread"` })),
  );
  expect(await search("needle")).toEqual({ lines: [4], startsOnly: true });
  expect((await search("thread")).lines).toEqual([]);
});
