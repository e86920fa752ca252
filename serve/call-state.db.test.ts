import { expect, it } from "vitest";
import { builtService, startOverRest, untilReady } from "@/testing/built-service";
import { gemini } from "@/testing/servers/families/gemini";
import { openrouter } from "@/testing/servers/families/openrouter";
import { startStrictChat } from "@/testing/servers/families/strict-chat";
import { startStrictMessages, thinksFor } from "@/testing/servers/families/strict-messages";
import { calculatesFor, startStrictResponses } from "@/testing/servers/families/strict-responses";
import { createTenant, openWorld, setAgent } from "@/testing/world";

/** What a provider gave goes back to it when the real process is killed with SIGKILL between two model calls. */

/** For each server. */
const KILLS = 10;

type BeforeReply = (turn: number) => Promise<unknown>;
const servers = [
  ...[openrouter, gemini].map((family) => ({
    name: family.name,
    api: "chat",
    start: (beforeReply: BeforeReply) => startStrictChat(family, { turns: KILLS, beforeReply }),
  })),
  {
    name: "openai",
    api: "responses",
    start: (beforeReply: BeforeReply) => startStrictResponses(calculatesFor(KILLS), { beforeReply }),
  },
  {
    name: "anthropic",
    api: "anthropic",
    start: (beforeReply: BeforeReply) => startStrictMessages(thinksFor(KILLS), { beforeReply }),
  },
];

const world = await openWorld();
const service = builtService(() => world);

it.each(servers)(
  "$name gets back what it gave, however often the process is killed",
  {
    tags: ["long"],
    timeout: 300_000,
  },
  async ({ api, start: startServer }) => {
    await service.build();
    /** How often each call of the model was requested with all that it must bring back. */
    const asked = new Map<number, number>();
    const chat = await startServer(async (turn) => {
      const before = asked.get(turn) ?? 0;
      asked.set(turn, before + 1);
      // The process that asks for the first time is killed meanwhile.
      if (turn > 0 && before === 0) await new Promise(() => {});
    });
    try {
      const tenant = await createTenant(world);
      await setAgent(world, tenant, { model: "any", maxSteps: KILLS + 1 });
      const start = () =>
        service.start({ env: { OPENAI_API_KEY: "test", OPENAI_API: api, OPENAI_BASE_URL: chat.url } });

      let process = await start();
      await untilReady(process);
      const body = JSON.stringify({ userMessage: "Add." });
      const id = await startOverRest(process, `agents/run/${tenant.agentId}`, { key: tenant.key, body });
      for (let turn = 1; turn <= KILLS; turn += 1) {
        await expect.poll(() => asked.get(turn) ?? 0, { timeout: 60_000 }).toBe(1);
        await service.kill(process.child);
        // The next process executes the run itself, not its isolated process.
        await world.db.run.update({ where: { id }, data: { crashes: 0 } });
        process = await start();
      }
      const read = () => world.db.run.findUniqueOrThrow({ where: { id }, include: { modelCalls: true } });
      await expect.poll(async () => (await read()).status, { timeout: 60_000 }).not.toBe("Running");
      const run = await read();
      expect(chat.refused).toEqual([]);
      expect(run).toMatchObject({ status: "Completed", output: `Done after ${KILLS}.` });
      expect(run.modelCalls).toHaveLength(KILLS + 1);
      // Every call but the first was requested by the killed process and by the next one.
      expect([...asked.values()]).toEqual([1, ...Array.from({ length: KILLS }, () => 2)]);
    } finally {
      await chat.close();
    }
  },
);
