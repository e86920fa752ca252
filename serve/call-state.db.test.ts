import { expect, it } from "vitest";
import type { ModelApi } from "@/server/base/models/model-api";
import { expectSoundLedger } from "@/testing/ledger";
import { deepseek } from "@/testing/servers/families/deepseek";
import { gemini } from "@/testing/servers/families/gemini";
import { openrouter } from "@/testing/servers/families/openrouter";
import { type ChatFamily, startStrictChat } from "@/testing/servers/families/strict-chat";
import { startStrictMessages, thinksFor } from "@/testing/servers/families/strict-messages";
import { calculatesFor, startStrictResponses } from "@/testing/servers/families/strict-responses";
import { builtService, startOverRest, untilReady } from "@/testing/services/built-service";
import { createTenant, openWorld, setAgent } from "@/testing/world";

type BeforeReply = (turn: number) => Promise<unknown>;
type Start = (
  turns: number,
  beforeReply: BeforeReply,
) => Promise<{ url: string; rejected: string[]; close(): Promise<void> }>;
const chatOf = (family: ChatFamily): [string, ModelApi, Start] => [
  family.name,
  "chat",
  (turns, beforeReply) => startStrictChat(family, { turns, beforeReply }),
];
const servers: [string, ModelApi, Start][] = [
  ...[deepseek, gemini, openrouter].map(chatOf),
  [
    "openai",
    "responses",
    (turns, beforeReply) => startStrictResponses(calculatesFor(turns), { beforeReply }),
  ],
  ["anthropic", "anthropic", (turns, beforeReply) => startStrictMessages(thinksFor(turns), { beforeReply })],
];

const world = await openWorld();
const service = builtService(() => world);

type Kills = { turns: number; each: number };

async function expectGivenBack(
  [, api, startServer]: [string, ModelApi, Start],
  { turns, each }: Kills,
): Promise<void> {
  await service.build();
  const asked = new Map<number, number>();
  const strict = await startServer(turns, async (turn) => {
    const before = asked.get(turn) ?? 0;
    asked.set(turn, before + 1);
    // A process that is killed meanwhile gets no answer.
    if (turn > 0 && before < each) await new Promise(() => {});
  });
  try {
    const tenant = await createTenant(world);
    await setAgent(world, tenant, { model: "any", maxSteps: turns + 1 });
    const start = () =>
      service.start({ env: { OPENAI_API_KEY: "test", OPENAI_API: api, OPENAI_BASE_URL: strict.url } });

    let process = await start();
    await untilReady(process);
    const body = JSON.stringify({ userMessage: "Add." });
    const id = await startOverRest(process, `agents/run/${tenant.agentId}`, { key: tenant.key, body });
    for (let kill = 0; kill < turns * each; kill += 1) {
      const turn = 1 + Math.floor(kill / each);
      await expect.poll(() => asked.get(turn) ?? 0, { timeout: 60_000 }).toBe(1 + (kill % each));
      await service.kill(process.child);
      // The next process executes the run itself, not its isolated process.
      await world.db.run.update({ where: { id }, data: { crashes: 0 } });
      process = await start();
    }
    const read = () => world.db.run.findUniqueOrThrow({ where: { id }, include: { modelCalls: true } });
    await expect.poll(async () => (await read()).status, { timeout: 60_000 }).not.toBe("Running");
    const run = await read();
    expect(strict.rejected).toEqual([]);
    expect(run).toMatchObject({ status: "Completed", output: `Done after ${turns}.` });
    expect(run.modelCalls).toHaveLength(turns + 1);
    // Every call but the first was requested by each killed process and by the last one.
    expect([...asked.values()]).toEqual([1, ...Array.from({ length: turns }, () => each + 1)]);
    await expectSoundLedger(world, tenant);
  } finally {
    await strict.close();
  }
}

it.each(servers)(
  "%s gets back what it gave, although the process is killed twenty times",
  { tags: "long", timeout: 600_000 },
  (...server) => expectGivenBack(server, { turns: 10, each: 2 }),
);

it.each(servers.slice(-1))(
  "%s gets back what it gave, although the process is killed",
  { timeout: 300_000 },
  (...server) => expectGivenBack(server, { turns: 1, each: 1 }),
);
