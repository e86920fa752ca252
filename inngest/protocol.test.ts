import { Inngest, NonRetriableError, RetryAfterError } from "inngest";
import { serve } from "inngest/edge";
import { describe, expect, it, onTestFinished } from "vitest";
import { serveFetch } from "@/testing/servers/fetch-server";
import { EVENT_KEY, openInTest, SIGNING_KEY } from "@/testing/servers/inngest-server";

/** The SDK as it is, on the stand-in that the engine suite uses. */

type Config = Parameters<Inngest.Any["createFunction"]>[0];
type Handler = Parameters<Inngest.Any["createFunction"]>[1];

const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function openService(handler: Handler, config: Partial<Config> = {}) {
  const server = await openInTest();
  const client = new Inngest({
    id: "test",
    isDev: false,
    baseUrl: server.url,
    eventKey: EVENT_KEY,
    signingKey: SIGNING_KEY,
    checkpointing: { bufferedSteps: 50, maxInterval: "2s" },
    logger: silent,
    internalLogger: silent,
  });
  const fn = client.createFunction({ id: "fn", triggers: [{ event: "go" }], ...config }, handler);
  const handle = serve({ client, functions: [fn], servePath: "/api/inngest" });
  const { origin, close } = await serveFetch(handle);
  onTestFinished(close);
  const registered = await fetch(`${origin}/api/inngest`, { method: "PUT" });
  expect(registered.status).toBe(200);
  const run = () => server.runs.find(({ fn: { id } }) => id === "test-fn");
  return {
    server,
    client,
    start: (data: Record<string, unknown> = {}) => client.send({ id: "first", name: "go", data }),
    run,
    async ended(status: string) {
      await expect.poll(() => run()?.status).toBe(status);
      const ended = run();
      if (ended === undefined) throw new Error("no run");
      return ended;
    },
  };
}

describe("steps", () => {
  it.each([
    ["in one call, with checkpoints", undefined, 1],
    ["one in each call, without checkpoints", false, 4],
  ] as const)("are executed %s", async (_how, checkpointing, calls) => {
    const executed: string[] = [];
    const { start, ended } = await openService(
      async ({ step }) => {
        const one = await step.run("one", () => executed.push("one"));
        const two = await step.run({ id: "2", name: "two" }, () => executed.push("two"));
        return step.run("three", () => one + two);
      },
      checkpointing === undefined ? {} : { checkpointing },
    );
    await start();
    const run = await ended("Completed");
    expect([run.output, run.calls, executed]).toEqual([3, calls, ["one", "two"]]);
    if (calls > 1) expect(run.stepNames).toEqual(["one", "two", "three"]);
  });

  it("are executed in parallel, each in its own call, and the function goes on after the last one", async () => {
    const { start, ended } = await openService(async ({ step }) => {
      const parts = await Promise.all([1, 2, 3].map((n) => step.run(`part ${n}`, () => n)));
      return step.run("sum", () => parts.reduce((sum, n) => sum + n));
    });
    await start();
    const run = await ended("Completed");
    expect(run.output).toBe(6);
    // One that finds the parts, three that execute them, and one that goes on.
    expect(run.calls).toBe(5);
  });

  it("sleep, and wait for an event of their own run", async () => {
    const { server, client, start, ended } = await openService(async ({ step }) => {
      await step.sleepUntil("a moment", new Date(Date.now() + 600));
      const answer = await step.waitForEvent("answer", {
        event: "answer",
        match: "data.runId",
        timeout: "1h",
      });
      const none = await step.waitForEvent("nothing", { event: "nothing", timeout: "1s" });
      return [answer?.data.text, none];
    });
    await start({ runId: "r1" });
    await expect.poll(() => server.awaited).toEqual(["answer"]);
    await client.send([
      { name: "answer", data: { runId: "r2", text: "another run's" } },
      { name: "answer", data: { runId: "r1", text: "its own" } },
    ]);
    const run = await ended("Completed");
    expect(run.output).toEqual(["its own", null]);
    expect(run.stepNames).toEqual(["a moment", "answer", "nothing"]);
  });
});

describe("an error", () => {
  it("is retried; finished steps are not executed again", async () => {
    const executed: string[] = [];
    const { start, ended } = await openService(async ({ step, attempt }) => {
      await step.run("before", () => void executed.push("before"));
      return step.run("failing", () => {
        executed.push(`attempt ${attempt}`);
        if (executed.length < 3) throw new Error("once");
        return "done";
      });
    });
    await start();
    expect((await ended("Completed")).output).toBe("done");
    expect(executed).toEqual(["before", "attempt 0", "attempt 1"]);
  });

  it("with a time is retried at that time", async () => {
    const attempts: number[] = [];
    const { start, ended } = await openService(async () => {
      attempts.push(performance.now());
      if (attempts.length === 1) throw new RetryAfterError("busy", 1_000);
      return "done";
    });
    await start();
    await ended("Completed");
    expect((attempts[1] ?? 0) - (attempts[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it("that cannot be retried fails the run and calls onFailure, once", async () => {
    const failures: string[] = [];
    const { server, start, ended } = await openService(
      async ({ step }) => {
        await step.run("before", () => 1);
        throw new NonRetriableError("no credits");
      },
      {
        onFailure: async ({ error, event }) => void failures.push(`${error.message} ${event.data.event.id}`),
      },
    );
    await start();
    const run = await ended("Failed");
    expect([run.error, run.calls]).toEqual([expect.objectContaining({ message: "no credits" }), 1]);
    await expect.poll(() => server.runs.map(({ status }) => status)).toEqual(["Failed", "Completed"]);
    expect(failures).toEqual(["no credits first"]);
  });

  it("fails the run after the last attempt", async () => {
    let attempts = 0;
    const { start, ended } = await openService(
      async () => {
        attempts += 1;
        throw new Error("always");
      },
      { retries: 2 },
    );
    await start();
    expect((await ended("Failed")).error).toMatchObject({ message: "always" });
    expect(attempts).toBe(3);
  });
});

it("cancels a run by an event that matches it", async () => {
  const { server, client, start, run, ended } = await openService(
    async ({ step }) => step.sleep("long", "1h"),
    { cancelOn: [{ event: "stop", match: "data.runId" }] },
  );
  await start({ runId: "r1" });
  await expect.poll(() => run()?.calls).toBe(1);
  await client.send({ name: "stop", data: { runId: "r2" } });
  await expect.poll(() => server.events.length).toBe(2);
  expect(run()?.status).toBe("Running");
  await client.send({ name: "stop", data: { runId: "r1" } });
  await ended("Cancelled");
});

it("ignores a repeated event", async () => {
  const { server, start, ended } = await openService(async () => "done");
  await start();
  await start();
  await ended("Completed");
  expect(server.runs).toHaveLength(1);
});
