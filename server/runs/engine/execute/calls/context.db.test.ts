import { afterAll, expect, it } from "vitest";
import { saveAgent } from "@/server/catalog/save-agent";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { inspectCall } from "@/server/runs/read/inspect/inspect-line";
import { inspectModelRequest } from "@/server/runs/read/inspect/model-request";
import { startRun } from "@/server/runs/start";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { executeRun } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { startModelServer } from "@/testing/servers/model-server";
import { createTenant, openWorld } from "@/testing/world";

const server = await startModelServer();
afterAll(() => server.close());
const world = await openWorld({
  models: createModels({
    providers: [
      {
        name: "small",
        baseUrl: server.url,
        models: ["tiny"],
        limits: new Map([["tiny", { contextWindow: 4_500 }]]),
      },
    ],
    clock: testClock(),
  }),
});

async function execute(userMessage: string) {
  const tenant = await createTenant(world);
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  await saveAgent(world, actor, {
    definition: {
      slug: "helper",
      name: "Helper",
      model: "tiny",
      systemPrompt: "You help.",
      functions: ["transform_json"],
    },
  });
  server.requests.length = 0;
  const start = { kind: "agent", targetId: tenant.agentId, userMessage } as const;
  const { runId } = await startRun(world, actor, start);
  await executeRun(world, runId);
  await expectSoundLedger(world, tenant);
  const viewer = await createMember(world, tenant, "viewer");
  const { run, calls } = await inspectRun(world, viewer, { runId });
  const inspected = await Promise.all(
    calls.map(async ({ id: callId }) => ({
      ...(await inspectCall(world, viewer, { runId, callId })),
      request: await inspectModelRequest(world, viewer, { runId, callId }),
    })),
  );
  return { run, calls: inspected };
}

// About 800 tokens.
const asks = (word: string) => ({
  calls: [{ name: "transform_json", arguments: { value: [], expression: `$join([1..800].("${word} "))` } }],
});

it("goes on with shortened outputs, and the page shows the requests as sent", async () => {
  server.script("long", ...["one", "two", "three", "four", "five"].map(asks), { content: "Done." });
  const { run, calls } = await execute("long");
  expect(run).toMatchObject({ status: "Completed", output: { text: "Done." } });
  for (const [index, { request, attempts }] of calls.entries()) {
    const sent = server.requests[index]?.body.messages ?? [];
    expect(request.messages.map(({ content }) => content.text)).toEqual(
      sent.map(({ content }) => content ?? ""),
    );
    const isCut = JSON.stringify(sent).includes("[shortened: 1000 of ");
    expect(request.messages.some(({ isShortened }) => isShortened)).toBe(isCut);
    expect(attempts.some(({ shortened }) => shortened !== undefined)).toBe(isCut);
  }
  const [last] = calls.slice(-1);
  expect(last?.attempts[0]?.changes?.at(-1)).toMatch(
    /^of the functions' outputs, the oldest \d were shortened from [\d,]+ to [\d,]+ bytes$/,
  );
  // The last two iterations are whole.
  expect(last?.request.messages.slice(-4).some(({ isShortened }) => isShortened)).toBe(false);
});

it("fails with the figures if the message itself is too long", async () => {
  const { run } = await execute(`too long ${"word ".repeat(6_000)}`);
  expect(run).toMatchObject({
    status: "Failed",
    errorCode: "input_too_long",
    errorMessage: expect.stringMatching(
      /^The input has about 6,\d{3} tokens, and the context window of tiny has 4,500$/,
    ),
  });
  expect(server.requests).toEqual([]);
});
