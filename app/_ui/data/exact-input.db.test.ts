import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { expect, it } from "vitest";
import { changesOf, type ForkDraft } from "@/app/(dashboard)/runs/[runId]/fork/fork-draft";
import { NEW_SCHEDULE, readDraft } from "@/app/(dashboard)/schedules/_form/schedule-draft";
import { respondToDashboard } from "@/server/api/dashboard/respond";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import { startRun } from "@/server/runs/start";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { insertTool } from "@/testing/tools";
import { createTenant, openWorld } from "@/testing/world";
import { exactInput } from "./exact-input";

const ID = "8202522731445525542";
const world = await openWorld();
const tenant = await createTenant(world);
const actor = await createMember(world, tenant, "member");
const answer = (request: Request) => respondToDashboard(world, request, { actor, sessionId: undefined });
const url = "http://stepwell.test/api/trpc";
const client = createTRPCClient<DashboardRouter>({
  links: [
    exactInput,
    httpBatchLink({
      url,
      fetch: (address, { signal, ...init } = {}) =>
        answer(new Request(address, { ...init, signal: signal ?? null })),
    }),
  ],
});

it("a schedule keeps the digits of its input", async () => {
  const draft = { ...NEW_SCHEDULE, slug: "exact", name: "Exact", target: "tool/adder" };
  const input = `{"a":${ID},"b":2}`;
  const { id } = await client.schedules.create.mutate(readDraft({ ...draft, input }).definition);
  const { facts, ...schedule } = await client.schedules.inspect.query({ scheduleId: id });
  expect(schedule.input).toBe(input);
  const changed = readDraft({ ...draft, input, cron: "0 9 * * *" }).definition;
  await client.schedules.update.mutate({ ...changed, replaces: facts });
  expect(await client.schedules.inspect.query({ scheduleId: id })).toMatchObject({
    input,
    cron: "0 9 * * *",
  });
});

it.each([
  ["input", `{"key":"k","value":${ID}}`],
  ["output", `{"version":${ID}}`],
] as const)("a fork keeps the digits of a step's changed %s", async (change, value) => {
  const definition = {
    steps: [{ id: "set", uses: "set_value", with: { key: "k", value: 1 } }],
    output: "{{ steps.set }}",
  };
  const targetId = await insertTool(world, tenant, { slug: `sets-${change}`, definition });
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  await executeRun(world, runId);
  const base = { model: null, systemPrompt: null, userMessage: null, toolVersion: 1, versions: [] };
  const draft: ForkDraft = { ...base, change, value, tools: "live", maxCredits: "" };
  const changes = changesOf(draft, base);
  const fork = await client.runs.fork.mutate({ runId, fromStep: 1, tools: "live", changes });
  await executeRun(world, fork.runId);
  const [step] = await world.db.step.findMany({ where: { runId: fork.runId } });
  expect(step).toMatchObject({ status: "Completed", [change]: value });
});

it("rejects a text beyond the limits of a call", async () => {
  const sendBody = (input: string) =>
    answer(
      new Request(`${url}/schedules.create`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(input),
      }),
    );
  for (const input of ["[".repeat(201), `[${"1,".repeat(20_000)}1]`, "{", '{"a":1e400}']) {
    const response = await sendBody(input);
    expect(response.status, input.slice(0, 20)).toBe(400);
    expect(await response.text()).toMatch(/The input (is|has more than)/);
  }
});
