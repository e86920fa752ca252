import { expect, it } from "vitest";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { listRuns } from "../list";
import { countStatuses } from "./count-statuses";
import { groupErrors } from "./error-groups";
import { indexEndedRuns } from "./run-index";

const world = await openWorld();
const HOUR = 3_600_000;

it("groups failed runs by equal errors, with their number, first and last time", async () => {
  const tenant = await createTenant(world);
  const actor = await createMember(world, tenant, "viewer");
  const now = world.clock.now().getTime();
  const failed = (hoursAgo: number, error: string, kind: "agent" | "tool" = "tool") =>
    insertRun(world, tenant, { kind, status: "Failed", error, createdAt: new Date(now - hoursAgo * HOUR) });
  const answered = (id: string) => `The model provider "openai" answered 500 Sorry. Request id ${id}.`;
  await failed(9, answered("req_1a"));
  await failed(8, "No such order 17.");
  await failed(7, "No such order 4.");
  await failed(5, "10.0.0.7 was busy until 2026-11-26T07:02:57.388Z.");
  await failed(4, "10.0.1.12 was busy until 2026-11-27T00:00:00Z.");
  await failed(8, 'Step "check" failed: Error: The warehouse answered 503. Try later.');
  await failed(7, answered("req_2b"), "agent");
  const newest = await insertRun(world, tenant, {
    status: "Failed",
    error: answered("req_3c"),
    createdAt: new Date(now - 6 * HOUR),
    credits: "0.5",
  });
  await insertRun(world, tenant, { status: "Completed" });
  await insertRun(world, await createTenant(world), { status: "Failed" });
  const expected = {
    runs: 8,
    from: new Date(now - 9 * HOUR).toISOString(),
    to: new Date(now - 4 * HOUR).toISOString(),
    readSince: null,
    groups: [
      {
        headline: "Provider openai answered 500",
        runs: 3,
        message: answered("req_3c"),
        affected: [
          { name: "Adder", runs: 2 },
          { name: "Helper", runs: 1 },
        ],
        targets: 2,
        firstAt: new Date(now - 9 * HOUR).toISOString(),
        lastAt: new Date(now - 6 * HOUR).toISOString(),
        newest: [
          { id: newest, name: "Adder", at: new Date(now - 6 * HOUR).toISOString() },
          expect.objectContaining({ name: "Helper" }),
          expect.objectContaining({ at: new Date(now - 9 * HOUR).toISOString() }),
        ],
        credits: "0.5000",
        bars: [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
      },
      expect.objectContaining({ headline: "… was busy until …", runs: 2 }),
      expect.objectContaining({ headline: "No such order …", runs: 2 }),
      expect.objectContaining({
        headline: "The warehouse answered 503",
        runs: 1,
        affected: [{ name: "Adder", runs: 1 }],
      }),
    ],
  };
  const filter = { source: "outside" as const };
  expect(await groupErrors(world, actor, { filter })).toEqual(expected);
  await indexEndedRuns(world);
  expect(await groupErrors(world, actor, { filter })).toEqual(expected);
});

it("lists root runs with the number of their children, and counts statuses", async () => {
  const tenant = await createTenant(world);
  const actor = await createMember(world, tenant, "viewer");
  const root = await insertRun(world, tenant, { kind: "agent" });
  for (const status of ["Completed", "Failed"] as const)
    await insertRun(world, tenant, { status, source: "run", parentRunId: root });
  await insertRun(world, tenant, { status: "Running", admitted: true });
  const look = async () => {
    const roots = await listRuns(world, actor, { filter: { source: "outside" }, limit: 10 });
    return {
      roots: roots.items.map(({ status, children }) => [status, children]),
      counts: await countStatuses(world, actor, { filter: { source: "outside" } }),
      all: await countStatuses(world, actor, { filter: {} }),
    };
  };
  const expected = {
    roots: [
      ["Running", 0],
      ["Completed", 2],
    ],
    counts: { Pending: 0, Running: 1, Waiting: 0, Completed: 1, Failed: 0, Cancelled: 0 },
    all: { Pending: 0, Running: 1, Waiting: 0, Completed: 2, Failed: 1, Cancelled: 0 },
  };
  expect(await look()).toEqual(expected);
  await indexEndedRuns(world);
  expect(await look()).toEqual(expected);
  // No index has these in order.
  expect(await countStatuses(world, actor, { filter: { text: "late" } })).toBeNull();
  expect(await countStatuses(world, actor, { filter: { minTokens: 5, source: "outside" } })).toBeNull();
});

it("an error is as old as the first equal one, also before the filter's period", async () => {
  const tenant = await createTenant(world);
  const actor = await createMember(world, tenant, "viewer");
  const now = world.clock.now().getTime();
  const at = (hours: number) => new Date(now - hours * HOUR);
  await insertRun(world, tenant, { status: "Failed", error: "No order 1.", createdAt: at(90) });
  await insertRun(world, tenant, { status: "Failed", error: "No order 2.", createdAt: at(2) });
  await insertRun(world, tenant, { status: "Failed", error: "Other.", createdAt: at(1) });
  const look = async (filter: Parameters<typeof groupErrors>[2]["filter"]) => {
    const { groups, readSince } = await groupErrors(world, actor, { filter });
    return { readSince, firsts: groups.map(({ runs, firstAt }) => [runs, firstAt]).sort() };
  };
  expect(await look({ period: "24h", source: "outside" })).toEqual({
    readSince: null,
    firsts: [
      [1, at(1).toISOString()],
      [1, at(90).toISOString()],
    ].sort(),
  });
  // A search of all times could take long.
  expect(await look({ period: "24h", text: "order" })).toEqual({
    readSince: at(2).toISOString(),
    firsts: [[1, at(2).toISOString()]],
  });
});

it("shows and filters credits with those of all runs below, and waiting runs apart", async () => {
  const tenant = await createTenant(world);
  const actor = await createMember(world, tenant, "viewer");
  const root = await insertRun(world, tenant, { kind: "agent", credits: "0.5" });
  const child = await insertRun(world, tenant, { credits: "1", source: "run", parentRunId: root });
  await insertRun(world, tenant, { credits: "2", source: "run", parentRunId: child });
  const open = await insertRun(world, tenant, { status: "Running", credits: "1" });
  await insertRun(world, tenant, { status: "Running", credits: "3", source: "run", parentRunId: open });
  const running = await insertRun(world, tenant, { status: "Running", admitted: true, credits: "1" });
  const look = async () => {
    const { items } = await listRuns(world, actor, { filter: { source: "outside" }, limit: 10 });
    const find = async (filter: Parameters<typeof listRuns>[2]["filter"]) =>
      (await listRuns(world, actor, { filter: { source: "outside", ...filter }, limit: 10 })).items.map(
        ({ id }) => id,
      );
    return {
      credits: items.map(({ credits, creditsWithChildren }) => [credits, creditsWithChildren]),
      over: await find({ minCredits: "3.5" }),
      under: await find({ maxCredits: "3.4" }),
      running: await find({ status: ["Running"] }),
      waiting: await find({ status: ["Waiting"] }),
      open: await find({ status: ["Waiting", "Running"] }),
      counts: await countStatuses(world, actor, { filter: { source: "outside" } }),
    };
  };
  const expected = {
    credits: [
      ["1.0000", "1.0000"],
      ["1.0000", "4.0000"],
      ["0.5000", "3.5000"],
    ],
    over: [open, root],
    under: [running],
    running: [running],
    waiting: [open],
    open: [running, open],
    counts: { Pending: 0, Running: 1, Waiting: 1, Completed: 1, Failed: 0, Cancelled: 0 },
  };
  expect(await look()).toEqual(expected);
  await indexEndedRuns(world);
  expect(await look()).toEqual(expected);
});
