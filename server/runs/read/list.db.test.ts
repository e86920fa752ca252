import { describe, expect, it } from "vitest";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { indexEndedRuns } from "./find/run-index";
import { listChildren, listRuns } from "./list";

const ids: Record<string, string> = {};

const world = await openWorld();
const tenant = await createTenant(world);
const actor = await createMember(world, tenant, "viewer");
const hoursAgo = (hours: number) => new Date(world.clock.now().getTime() - hours * 3_600_000);
ids.old = await insertRun(world, tenant, { createdAt: hoursAgo(30), input: '{"city":"Lisbon"}' });
ids.failed = await insertRun(world, tenant, {
  status: "Failed",
  createdAt: hoursAgo(2),
  error: "100% of getaddrinfo ENOTFOUND",
});
await indexEndedRuns(world);
ids.agent = await insertRun(world, tenant, {
  kind: "agent",
  source: "api",
  input: "Where is order 4711?",
  output: "It is on its way.",
});
ids.running = await insertRun(world, tenant, {
  status: "Running",
  admitted: true,
  input: '{"state":"in flight"}',
});

const list = async (filter: Parameters<typeof listRuns>[2]["filter"]) =>
  (await listRuns(world, actor, { filter, limit: 50 })).items.map((run) => run.id);

describe("the list of runs", () => {
  it("shows the newest first", async () => {
    expect(await list({})).toEqual([ids.running, ids.agent, ids.failed, ids.old]);
  });

  it.each([
    ["status", { status: ["Failed", "Running"] }, ["running", "failed"]],
    ["kind", { kind: "agent" }, ["agent"]],
    ["source", { source: "api" }, ["agent"]],
    ["period", { period: "24h" }, ["running", "agent", "failed"]],
    ["input", { text: "lisbon" }, ["old"]],
    ["error", { text: "enotfound" }, ["failed"]],
    ["output", { text: "on its way" }, ["agent"]],
    ["beginnings of words, in any order", { text: "471 whe" }, ["agent"]],
    ["a word that is nowhere", { text: "zebra" }, []],
    ["no word at all", { text: "%%%" }, []],
    ["a running one's input", { text: "in flight" }, ["running"]],
    ["a percent sign in a running one, which is not a wildcard", { text: "in%flight" }, []],
    ["quotes and operators, which are not syntax", { text: "order' | !lisbon" }, []],
  ] as const)("narrows by %s", async (_, filter, expected) => {
    expect(
      await list({ ...filter, ...("status" in filter ? { status: [...filter.status] } : {}) } as never),
    ).toEqual(expected.map((name) => ids[name]));
  });

  it("narrows by agent, tool, key and time", async () => {
    expect(await list({ agentId: tenant.agentId })).toEqual([ids.agent]);
    expect(await list({ toolId: tenant.toolId })).toEqual([ids.running, ids.failed, ids.old]);
    expect(await list({ apiKeyId: tenant.apiKeyId })).toEqual([ids.agent]);
    const from = new Date(world.clock.now().getTime() - 3 * 3_600_000).toISOString();
    const to = new Date(world.clock.now().getTime() - 3_600_000).toISOString();
    expect(await list({ from })).toEqual([ids.running, ids.agent, ids.failed]);
    expect(await list({ from, to })).toEqual([ids.failed]);
    expect(await list({ from, period: "1h" })).toEqual([ids.running, ids.agent]);
    expect(await list({ from, period: "30d" })).toEqual([ids.running, ids.agent, ids.failed]);
  });

  it("finds a run by the start of its id", async () => {
    expect(await list({ text: ids.failed ?? "" })).toEqual([ids.failed]);
  });

  it("pages without gaps or duplicates", async () => {
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = await listRuns(world, actor, { filter: {}, before, limit: 3 });
      seen.push(...page.items.map((run) => run.id));
      before = page.nextCursor ?? undefined;
    } while (before !== undefined);
    expect(seen).toEqual(await list({}));
  });

  it("describes who started a run and how long it took", async () => {
    const { items } = await listRuns(world, actor, { filter: { kind: "agent" }, limit: 1 });
    expect(items[0]).toMatchObject({
      source: "api",
      sourceName: "ci",
      targetName: "Helper",
      inputPreview: "Where is order 4711?",
    });
    expect(items[0]?.createdAt).toBe(world.clock.now().toISOString());
  });
});

it("lists a run's own child runs in the order of their start", async () => {
  const other = await createTenant(world);
  const root = await insertRun(world, other, { kind: "agent" });
  const children = [];
  for (const n of [1, 2, 3]) {
    children.push(
      await insertRun(world, other, { source: "run", parentRunId: root, createdAt: hoursAgo(4 - n) }),
    );
  }
  await insertRun(world, other, { source: "run", parentRunId: children[0] ?? "" });
  const member = await createMember(world, other, "viewer");
  const found = await listChildren(world, member, { runId: root });
  expect(found.map((run) => run.id)).toEqual(children);
  expect(found.map((run) => run.children)).toEqual([1, 0, 0]);
  expect(await listChildren(world, actor, { runId: root })).toEqual([]);
});
