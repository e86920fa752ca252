import { afterAll, expect, it } from "vitest";
import { Decimal } from "@/server/base/amount";
import { authenticateKey } from "@/server/catalog/auth/authenticate-key";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { createGuardedEgress } from "@/server/guard/egress/guarded-fetch";
import { cancelRun } from "@/server/runs/cancel";
import { sumCachedTokens } from "@/server/runs/read/cached-tokens";
import { exportRuns } from "@/server/runs/read/export";
import { indexEndedRuns } from "@/server/runs/read/find/run-index";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { listRuns } from "@/server/runs/read/list";
import { readRunMetrics } from "@/server/runs/read/metrics/metrics";
import { readRun } from "@/server/runs/read/read-run";
import { listRunLines, readRunRecord } from "@/server/runs/read/run-lines";
import { startRun } from "@/server/runs/start";
import { executeRun, executeSegment } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { startModelServer } from "@/testing/servers/model-server";
import { createTenant, openWorld } from "@/testing/world";
import { admitWaitingRuns } from "../claim";

const server = await startModelServer();
const egress = createGuardedEgress({ allow: [new URL(server.url).host] });
afterAll(async () => {
  await egress.close();
  await server.close();
});
const free = { input: new Decimal(0), output: new Decimal(0) };
const world = await openWorld({
  fetch: egress.fetch,
  prices: { defaultModel: free, models: {}, action: new Decimal(0) },
});

const REPORTED = 100_000_000;
const CALLS = 25;
const COUNTED = 1_000_000_000;

it("a run ends, and the organization's runs are read, though its provider reports impossible usage", async () => {
  // Metrics find ended runs by their ids, which hold the real time.
  world.clock.set(new Date());
  const tenant = await createTenant(world);
  const member = await createMember(world, tenant, "owner");
  const key = await authenticateKey(world, tenant.key);
  server.script("Hi", {
    content: "Hello.",
    reported: {
      prompt_tokens: REPORTED,
      completion_tokens: REPORTED,
      prompt_tokens_details: { cached_tokens: REPORTED },
    },
  });
  const [applied] = await applyDefinitionFile(
    world,
    `organizations:
  - slug: ${tenant.slug}
    modelProviders: [{ name: far, api: chat, baseUrl: "${server.url}", models: [far/large] }]
    tools:
      - slug: write
        name: Write
        steps:
          - { id: texts, uses: generate_text, with: { prompt: Hi, model: far/large }, forEach: "{{ input.items }}" }
`,
  );
  const request = {
    kind: "tool",
    targetId: applied?.tools[0]?.id ?? "",
    input: { items: Array.from({ length: CALLS }, (_, index) => index) },
  } as const;
  const start = async () => (await startRun(world, key, request)).runId;
  const [ended, cancelled] = [await start(), await start()];

  const expectReadable = async (runId: string, finishedAt: unknown) => {
    const usage = { inputTokens: COUNTED, outputTokens: COUNTED };
    const both = { tokensUsed: 2 * COUNTED };
    const filter = {};
    const page = { filter, before: undefined, limit: 10 };
    expect(await readRun(world, key, { kind: "tool", runId })).toMatchObject({ ...usage, finishedAt });
    expect(await readRunRecord(world, key, runId)).toMatchObject({ ...usage, ...both });
    expect((await inspectRun(world, member, { runId })).run).toMatchObject(usage);
    const lines = (await listRunLines(world, key, page)).items;
    expect(lines.find(({ id }) => id === runId)).toMatchObject(both);
    const rows = (await listRuns(world, member, page)).items;
    expect(rows.find(({ id }) => id === runId)).toMatchObject({ tokens: 2 * COUNTED });
    const filtered = await listRuns(world, member, { ...page, filter: { minTokens: 1 } });
    expect(filtered.items.map(({ id }) => id)).toContain(runId);
    let exported = "";
    for await (const part of exportRuns(world, member, { filter, format: "csv" })) exported += part;
    expect(exported).toContain(runId);
  };

  await admitWaitingRuns(world, { worker: null, slots: 10 });
  for (const runId of [ended, cancelled]) {
    expect(await executeSegment(world, runId, { calls: CALLS - 1 })).toBe("paused");
    await expectReadable(runId, null);
  }
  expect((await readRunMetrics(world, member, { period: "24h" })).total.tokens).toBe(4 * COUNTED);
  expect(await executeSegment(world, ended)).toBe("ended");
  await cancelRun(world, tenant.orgId, { runId: cancelled, by: "Ada" });
  await executeRun(world, cancelled);
  for (const [runId, status] of [
    [ended, "Completed"],
    [cancelled, "Cancelled"],
  ] as const) {
    expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({ status });
    await expectReadable(runId, expect.any(Date));
  }
  const cached = await sumCachedTokens(world, tenant.orgId, [ended]);
  expect(cached).toEqual([{ runId: ended, tokens: COUNTED }]);
  await indexEndedRuns(world);
  expect((await readRunMetrics(world, member, { period: "24h" })).total.tokens).toBe(4 * COUNTED);
});
