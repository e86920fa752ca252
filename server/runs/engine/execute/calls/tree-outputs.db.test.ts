import { expect, it, vi } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { startRun } from "@/server/runs/start";
import type { ModelReply } from "@/server/work/models/port";
import { executeRun } from "@/testing/execute";
import { insertTool } from "@/testing/tools";
import { createTenant, openWorld, scriptedModels, type Tenant } from "@/testing/world";

/** The outputs of a run and of the runs in progress that it calls, within a smaller limit than in production. */

vi.mock(import("@/server/contract/sizes"), async (original) => {
  const sizes = await original();
  return { ...sizes, MAX_TREE_OUTPUTS_BYTES: 2 * sizes.MIB };
});

let play: (prompt: string) => Promise<Partial<ModelReply>>;
const world = await openWorld({
  models: scriptedModels(({ messages }) => play(messages.map(({ content }) => content).join(" "))),
});
const ask = (id: string) => ({ id, uses: "generate_text", with: { prompt: id } });
const TEXT = {
  id: "text",
  uses: "transform_json",
  with: { value: 1, expression: '$pad("x", 900000, "x")' },
};

/** Runs a tool that runs `steps` four times as a child run; `concurrency` of them at a time. */
async function run(tenant: Tenant, steps: JsonObject[], concurrency: number) {
  const child = { steps, output: "done" };
  await insertTool(world, tenant, { slug: "child", definition: child });
  const call = { id: "all", uses: "run_tool", with: { tool: "child", input: {} }, onError: "continue" };
  const definition = { steps: [{ ...call, forEach: "{{ [1..4] }}", concurrency }] };
  const targetId = await insertTool(world, tenant, { slug: "caller", definition });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  await executeRun(world, runId);
  return world.db.run.findUniqueOrThrow({ where: { id: runId } });
}

it("does not count runs that have ended", async () => {
  const done = await run(await createTenant(world), [TEXT], 1);
  expect(done).toMatchObject({ status: "Completed", output: '["done","done","done","done"]' });
});

it("fails the step whose output exceeds the limit", async () => {
  const waiting: (() => void)[] = [];
  let begun = 0;
  play = async (prompt) => {
    if (prompt.includes("begin")) {
      const before = Math.min(begun, 2);
      begun += 1;
      // One after the other: the first two have stored their texts before the others do.
      await vi.waitUntil(() => waiting.length >= before, { timeout: 20_000 });
      return { content: "ok" };
    }
    // Two children keep their texts until the others have failed.
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { content: "ok" };
  };
  const running = run(await createTenant(world), [ask("begin"), TEXT, ask("hold")], 4);
  await expect
    .poll(async () => world.db.step.count({ where: { status: "Failed", toolName: "transform_json" } }), {
      timeout: 20_000,
    })
    .toBe(2);
  await expect.poll(() => waiting.length).toBe(2);
  for (const release of waiting) release();
  const done = await running;
  const outputs: unknown[] = JSON.parse(done.output ?? "");
  expect(outputs.filter((output) => output === "done")).toHaveLength(2);
  expect(done.output).toContain(
    "The outputs of a run and of the runs in progress that it calls are larger than 2 MiB together.",
  );
});
