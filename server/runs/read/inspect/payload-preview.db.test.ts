import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { inspectRun } from "./inspect";
import { inspectStep } from "./inspect-line";
import { startOf, TEXT_PREVIEW_CHARACTERS } from "./payload-preview";

const world = await openWorld();
const tenant = await createTenant(world);
const actor = await createMember(world, tenant, "viewer");

it.each([
  ["one byte", "x", 1],
  ["three bytes", "€", 3],
  ["four bytes", "😀", 4],
])("cuts a text after a number of characters of %s", async (_, character, bytes) => {
  for (const more of [-1, 0, 1]) {
    const length = TEXT_PREVIEW_CHARACTERS + more;
    const text = character.repeat(length);
    const start = character.repeat(Math.min(length, TEXT_PREVIEW_CHARACTERS));
    const cut = { text: start, bytes: length * bytes, cut: more > 0 };
    const runId = await insertRun(world, tenant, { input: text, output: text, steps: 1 });
    await world.db.step.updateMany({ where: { runId }, data: { input: text, output: text } });
    const { run, steps } = await inspectRun(world, actor, { runId });
    expect(run).toMatchObject({ input: cut, output: cut });
    const step = await inspectStep(world, actor, { runId, stepId: steps[0]?.id ?? "" });
    expect(step).toMatchObject({ input: cut, output: cut });
  }
});

it("reads only the start of a long text", async () => {
  // Does not compress when it is stored.
  const output = randomBytes(3_000_000).toString("hex");
  const id = await insertRun(world, tenant, { output });
  const { rows: plan } = await world.pool.query<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT ${startOf("output")} FROM runs WHERE id = $1`,
    [id],
  );
  const { "Shared Hit Blocks": hit = 0, "Shared Read Blocks": read = 0 } =
    plan[0]?.["QUERY PLAN"][0].Plan ?? {};
  expect(hit + read).toBeGreaterThan(0);
  // Of 8 kB each; the complete text is more than 400.
  expect(hit + read).toBeLessThan(100);
});
