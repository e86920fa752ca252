import { afterAll, describe, expect, it } from "vitest";
import { saveAgent } from "@/server/catalog/save-agent";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { inspectCall } from "@/server/runs/read/inspect/inspect-line";
import { startRun } from "@/server/runs/start";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { executeRun } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { startChatServer } from "@/testing/servers/families/chat-server";
import { deepseek } from "@/testing/servers/families/deepseek";
import { gemini } from "@/testing/servers/families/gemini";
import { kimi } from "@/testing/servers/families/kimi";
import { mistral } from "@/testing/servers/families/mistral";
import { openrouter } from "@/testing/servers/families/openrouter";
import { startStrictChat } from "@/testing/servers/families/strict-chat";
import { startStrictMessages, thinksFor } from "@/testing/servers/families/strict-messages";
import { createTenant, openWorld } from "@/testing/world";

const FAILS = [1];
const families = await Promise.all(
  [deepseek, kimi, gemini, openrouter].map(async (family) => ({
    name: family.name,
    main: await startStrictChat(family, { fails: FAILS }),
    spare: await startStrictChat(family),
  })),
);
const overloaded = { error: { status: 529, type: "overloaded_error", message: "Overloaded" } };
const thinks = thinksFor(2);
const claude = {
  main: await startStrictMessages((turn) => (FAILS.includes(turn) ? overloaded : thinks(turn))),
  spare: await startStrictMessages(thinks),
};
const mistralServer = await startChatServer(mistral);
const all = [
  ...families.flatMap(({ main, spare }) => [main, spare]),
  claude.main,
  claude.spare,
  mistralServer,
];
afterAll(() => Promise.all(all.map((server) => server.close())));

const clock = testClock();
const world = await openWorld({
  models: createModels({
    providers: [
      ...families.flatMap(({ name, main, spare }) => [
        { name: `${name}-main`, baseUrl: main.url, models: [`${name}-main`] },
        { name: `${name}-spare`, baseUrl: spare.url, models: [`${name}-spare`] },
      ]),
      ...(["main", "spare"] as const).map((kind) => ({
        name: `claude-${kind}`,
        api: "anthropic" as const,
        apiKey: "sk-test",
        baseUrl: claude[kind].url,
        models: [`claude-${kind}`],
      })),
      { name: "mistral", baseUrl: mistralServer.url, models: ["mistral"] },
    ],
    clock,
    sleep: async (ms) => clock.advance(ms),
  }),
});

async function execute(model: string, spare: string) {
  const tenant = await createTenant(world, { credits: "100000" });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const definition = {
    slug: "helper",
    name: "Helper",
    model,
    fallbackModels: [spare],
    functions: ["calculate"],
  };
  await saveAgent(world, actor, { definition });
  const start = { kind: "agent", targetId: tenant.agentId, userMessage: "Add." } as const;
  const { runId } = await startRun(world, actor, start);
  await executeRun(world, runId);
  const viewer = await createMember(world, tenant, "viewer");
  await expectSoundLedger(world, tenant);
  const { run, calls } = await inspectRun(world, viewer, { runId });
  const inspected = await Promise.all(
    calls.map(({ id }) => inspectCall(world, viewer, { runId, callId: id })),
  );
  return {
    ended: { status: run.status, error: run.errorMessage, output: run.output?.text },
    models: inspected.map((call) => call.model),
    attempts: inspected.map(({ attempts }) => [...new Set(attempts.map((attempt) => attempt.model))]),
    last: inspected.map(({ attempts }) => attempts.at(-1)),
  };
}
const DONE = { status: "Completed", error: null, output: "Done after 2." };

describe.each(families)("$name", ({ name, main, spare }) => {
  it("falls back to Anthropic and comes back", async () => {
    const [own, other] = [`${name}-main`, "claude-spare"];
    const { ended, models, attempts, last } = await execute(own, other);
    expect(ended).toEqual(DONE);
    expect(models).toEqual([own, other, own]);
    expect(attempts).toEqual([[own], [own, other], [own]]);
    expect(last).toMatchObject(models.map((model) => ({ provider: model, model, error: null })));
    expect(claude.spare.rejected).toEqual([]);
    // Of the other model's message it rejects at most what that one cannot have.
    expect(main.rejected.length).toBeLessThanOrEqual(1);
    expect(JSON.stringify(claude.spare.requests)).not.toMatch(/reasoning_content|thought_signature/);
  });

  it("answers in the middle of a run on Anthropic", async () => {
    const [own, other] = ["claude-main", `${name}-spare`];
    const { ended, models, attempts } = await execute(own, other);
    expect(ended).toEqual(DONE);
    expect(models).toEqual([own, other, own]);
    expect(attempts).toEqual([[own], [own, other], [own]]);
    expect(claude.main.rejected).toEqual([]);
    expect(spare.rejected.length).toBeLessThanOrEqual(1);
  });
});

it("Mistral gets ids of calls that it accepts", async () => {
  const { ended, models, last } = await execute("claude-main", "mistral");
  expect(ended).toMatchObject({ status: "Completed", output: '{"sum": 2}' });
  expect(models).toEqual(["claude-main", "mistral"]);
  expect(last[1]?.changes).toContain("ids of calls were replaced by ids of nine characters");
  expect(mistralServer.rejected.join()).toContain("Tool call id was toolu_");
});
