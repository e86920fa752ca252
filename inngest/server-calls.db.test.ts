import { describe, expect, it, onTestFinished } from "vitest";
import { cancelRun } from "@/server/runs/cancel";
import { ModelError } from "@/server/work/models/port";
import { createServerStage } from "@/testing/engine/server-stage";
import { type ModelAnswer, openStage, type Script } from "@/testing/engine/stage";
import { createProcess } from "@/testing/process";
import type { Carry } from "@/testing/servers/inngest/executor";
import { sign } from "@/testing/servers/inngest/protocol";
import { openInTest, SIGNING_KEY } from "@/testing/servers/inngest-server";
import { createTenant } from "@/testing/world";

const stage = await createServerStage({});
const { world, calls, startProcess, start, ended } = await openStage(stage);

const calculates = (call: number): ModelAnswer =>
  call === 1
    ? { toolCalls: [{ id: "c", name: "calculate", arguments: '{"expression":"1+1"}' }] }
    : { content: "2" };

async function startRunOn({ carry, script = calculates }: { carry?: Carry; script?: Script } = {}) {
  const server = await openInTest();
  if (carry) server.carry = carry;
  const tenant = await createTenant(world);
  const services = await startProcess(script, server.env);
  const runId = await start(services, tenant);
  return {
    server,
    tenant,
    services,
    runId,
    async expectOnce() {
      const run = await ended(runId);
      expect(run).toMatchObject({ status: "Completed", output: "2", stepsExecuted: 1 });
      expect([run.modelCalls.length, run.steps.length, calls()]).toEqual([2, 1, 2]);
      await expect.poll(() => server.runs.map(({ status }) => status)).toEqual(["Completed"]);
    },
  };
}

it("registers its functions with their events and the address that the server calls", async () => {
  const server = await openInTest();
  await startProcess(() => ({}), server.env);
  const functions = [...server.functions.values()];
  expect(functions.flatMap(({ triggers }) => triggers.map(({ event }) => event))).toEqual(
    expect.arrayContaining(["run/agent.admitted", "run/tool.admitted"]),
  );
  for (const { id, steps } of functions) {
    const url = new URL(steps.step.runtime.url);
    expect([url.origin + url.pathname, url.searchParams.get("fnId")]).toEqual([stage.url, id]);
  }
});

it.each([
  ["a registration", {}, 200],
  ["one of the kind that must be signed", { "X-Inngest-Sync-Kind": "in_band" }, 401],
])("registers nothing when a stranger asks for %s", async (_kind, headers, status) => {
  const server = await openInTest();
  await startProcess(() => ({}), server.env);
  server.functions.clear();
  const body = JSON.stringify({ url: "http://stranger.test/api/inngest" });
  const answer = await fetch(`${stage.url}?probe=trust&deployId=x`, { method: "PUT", headers, body });
  expect([answer.status, server.functions.size]).toEqual([status, 0]);
});

it("passes no foreign parameter of an address on: the run executes", async () => {
  const executed: number[] = [];
  const { expectOnce } = await startRunOn({
    carry: async ({ url, body }, send) => {
      const headers = { "X-Inngest-Signature": sign(body, SIGNING_KEY) };
      await fetch(`${url}&probe=trust`, { method: "POST", body, headers });
      executed.push(calls());
      return send();
    },
  });
  await expectOnce();
  expect(executed[0]).toBe(2);
});

it("is not ready while the server rejects the registration", async () => {
  const server = await openInTest();
  const services = createProcess(world, {
    env: { ...stage.env, ...server.env, INNGEST_SIGNING_KEY: "fedcba" },
  });
  onTestFinished(() => services.stop());
  await services.engine.execute();
  await expect.poll(() => server.unauthorized).toBeGreaterThan(0);
  expect([await services.engine.ready(), server.functions.size]).toEqual([false, 0]);
});

it("sends heartbeats from the start, and so replaces workers that died before", async () => {
  await world.pool.query(
    "INSERT INTO workers (id, heartbeat_at) VALUES ('dead', now() - interval '1 minute')",
  );
  await startProcess(() => ({}), (await openInTest()).env);
  const isThere = async () =>
    (await world.pool.query("SELECT FROM workers WHERE id = 'dead'")).rowCount === 1;
  await expect.poll(isThere).toBe(false);
});

it.each([
  ["without a signature", () => ({})],
  ["with another key's signature", (body: string) => ({ "X-Inngest-Signature": sign(body, "fedcba") })],
  [
    "with another body's signature",
    (body: string) => ({ "X-Inngest-Signature": sign(`${body} `, SIGNING_KEY) }),
  ],
  [
    "with an old signature",
    (body: string) => ({ "X-Inngest-Signature": sign(body, SIGNING_KEY, Date.now() - 6 * 60_000) }),
  ],
])("rejects a call %s, and executes nothing", async (_how, headersFor) => {
  const answers: unknown[] = [];
  const { expectOnce } = await startRunOn({
    carry: async ({ url, body }, send) => {
      const answer = await fetch(url, { method: "POST", body, headers: headersFor(body) });
      answers.push([answer.status, await answer.json(), calls()]);
      return send();
    },
  });
  await expectOnce();
  expect(answers[0]).toEqual([401, { message: "Unauthorized" }, 0]);
});

it("executes a run once if the server calls it twice at the same time", async () => {
  const { expectOnce } = await startRunOn({
    carry: async (_call, send) => {
      const [one, other] = await Promise.all([send(), send()]);
      return one.status < 300 ? one : other;
    },
  });
  await expectOnce();
});

it("executes a run although late calls for an earlier hand-over come at the same time", async () => {
  const { expectOnce } = await startRunOn({
    carry: async ({ url, body }, send) => {
      const lateBody = body.replaceAll('"handOver":1', '"handOver":99');
      expect(lateBody).not.toBe(body);
      const headers = { "X-Inngest-Signature": sign(lateBody, SIGNING_KEY) };
      const sendLate = () => fetch(url, { method: "POST", body: lateBody, headers });
      const late = Array.from({ length: 8 }, sendLate);
      const answer = await send();
      for (const { status } of await Promise.all(late)) expect(status).toBeLessThan(300);
      return answer;
    },
  });
  await expectOnce();
});

it("executes nothing if the server repeats a call after the run's end", async () => {
  const repeated: number[] = [];
  const { expectOnce } = await startRunOn({
    carry: async (_call, send) => {
      const answer = await send();
      repeated.push((await send()).status);
      return answer;
    },
  });
  await expectOnce();
  expect(repeated[0]).toBeLessThan(300);
});

it("executes a run whose first calls were lost", async () => {
  const { server, expectOnce } = await startRunOn({
    carry: async ({ job }, send) => {
      if (job.attempt < 2) throw new Error("The call is lost.");
      return send();
    },
  });
  await expectOnce();
  expect(server.runs[0]?.calls).toBeGreaterThan(2);
});

it("hands a run over again after the server gave its function up", async () => {
  const { server, runId } = await startRunOn({
    carry: async ({ run }, send) => {
      if (run === server.runs[0]) throw new Error("Each call is lost.");
      return send();
    },
  });
  expect(await ended(runId)).toMatchObject({ status: "Completed", output: "2", stepsExecuted: 1 });
  await expect
    .poll(() => server.runs.map(({ fn, status }) => [fn.id, status]))
    .toEqual([
      ["stepwell-agent-run", "Failed"],
      ["stepwell-agent-run-failure", "Completed"],
      ["stepwell-agent-run", "Completed"],
    ]);
});

it("makes no model call and no step again after a response was lost", async () => {
  const { server, expectOnce } = await startRunOn({
    carry: async ({ job }, send) => {
      const answer = await send();
      if (job.attempt === 0) throw new Error("The response is lost.");
      return answer;
    },
  });
  await expectOnce();
  expect(server.runs[0]?.calls).toBeGreaterThan(1);
});

it("completes a run if no checkpoint reaches the server", async () => {
  const { server, expectOnce } = await startRunOn();
  server.acceptsCheckpoints = false;
  await expectOnce();
});

describe("the server's pages", () => {
  it("name each model call and each call of a function", async () => {
    const { server, expectOnce } = await startRunOn();
    await expectOnce();
    expect(server.runs[0]?.stepNames).toEqual(["model 1 · gpt-5-mini", "calculate", "model 2 · gpt-5-mini"]);
    expect(server.runs[0]?.output).toEqual({ status: "Completed" });
  });

  it("show a failed run as failed, with its message", async () => {
    const { server, runId } = await startRunOn({
      script: () => {
        throw new ModelError("the model is gone", { reason: "unauthorized", attempts: [] });
      },
    });
    const { errorMessage } = await ended(runId);
    // The second function is `onFailure`.
    await expect.poll(() => server.runs.map(({ status }) => status)).toEqual(["Failed", "Completed"]);
    expect(server.runs[0]?.error).toMatchObject({ message: errorMessage });
  });

  it("show a cancelled run as cancelled", async () => {
    const { server, runId, services, tenant } = await startRunOn({
      script: (_call, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        }),
    });
    await expect.poll(calls).toBe(1);
    await cancelRun(services, tenant.orgId, { runId, by: "Ada" });
    await ended(runId);
    await expect.poll(() => server.runs.map(({ status }) => status)).toEqual(["Cancelled"]);
  });
});
