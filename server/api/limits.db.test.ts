import { describe, expect, it, onTestFinished, vi } from "vitest";
import { newId } from "@/server/base/ids";
import { createApiKey } from "@/server/catalog/organization/api-keys";
import { KIB, MIB } from "@/server/contract/sizes";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { statementName } from "@/testing/process";
import { insertRun } from "@/testing/runs";
import { createTenant, createTrigger, openWorld } from "@/testing/world";
import { handleRest } from "./rest";
import { handleWebhook } from "./webhook";

const world = await openWorld();
const beside = await openWorld({ beside: world });

type Call = { method?: string; path: string; key?: string; body?: string; headers?: Record<string, string> };

function send({ method = "POST", path, key, body, headers }: Call, process = world): Promise<Response> {
  const request = new Request(`http://stepwell.test${path}`, {
    method,
    headers: { "Content-Type": "application/json", ...(key ? { "X-API-Key": key } : {}), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return (path.startsWith("/webhooks") ? handleWebhook : handleRest)(process, request);
}

const from = (address: string) => ({ "x-stepwell-peer": address });
const READ = { method: "GET", path: `/v1/tools/run/${newId()}/status` };

// draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4: lists of strings with parameters q and w, r and t.
const POLICY = /^"[a-z]+";q=\d+;w=\d+$/;
const LIMIT = /^"[a-z]+";r=\d+;t=\d+$/;

describe("the standard headers", () => {
  it("are on the answers of all seven endpoints, including errors after the limit", async () => {
    const tenant = await createTenant(world);
    const { token } = await createTrigger(world, tenant);
    const { key } = tenant;
    const start = await send({
      path: `/v1/agents/run/${tenant.agentId}`,
      key,
      body: '{"userMessage":"Hi"}',
    });
    const started = await send({ path: `/v1/tools/run/${tenant.toolId}`, key, body: '{"a":1,"b":2}' });
    const [run, toolRun] = [(await start.json()).id, (await started.json()).id];
    const answers: [string, number, Response][] = [
      ["starts", 200, start],
      ["starts", 200, started],
      ["reads", 200, await send({ method: "GET", path: `/v1/agents/run/${run}/status`, key })],
      ["reads", 200, await send({ method: "GET", path: `/v1/agents/run/${run}/details`, key })],
      ["reads", 200, await send({ method: "GET", path: `/v1/tools/run/${toolRun}/status`, key })],
      ["reads", 200, await send({ method: "GET", path: `/v1/tools/run/${toolRun}/result`, key })],
      ["webhook", 200, await send({ path: `/webhooks/${token}`, body: "{}" })],
      ["starts", 400, await send({ path: `/v1/tools/run/${tenant.toolId}`, key, body: "{" })],
      ["starts", 404, await send({ path: `/v1/tools/run/${newId()}`, key, body: "{}" })],
      ["reads", 404, await send({ method: "GET", path: `/v1/tools/run/${newId()}/status`, key })],
      ["webhook", 400, await send({ path: `/webhooks/${token}`, body: "{" })],
      // A malformed id of a webhook's call counts, too.
      [
        "webhook",
        400,
        await send({ path: `/webhooks/${token}`, body: "{}", headers: { "webhook-id": "é" } }),
      ],
    ];
    for (const [name, status, { status: answered, headers }] of answers) {
      expect(answered).toBe(status);
      expect(headers.get("ratelimit-policy")).toMatch(POLICY);
      expect(headers.get("ratelimit")).toMatch(LIMIT);
      expect(headers.get("ratelimit")).toContain(`"${name}";`);
      expect(headers.get("retry-after")).toBeNull();
    }
  });

  it("come with Retry-After on every kind of 429", async () => {
    const tenant = await createTenant(world, { plan: { startsPerMinute: 1, readsPerMinute: 1 } });
    const busy = await createTrigger(world, tenant, { rateLimit: { requests: 1, seconds: 7 } });
    const flooded = await createTrigger(world, tenant, { secrets: ["s3cret"] });
    const { key } = tenant;
    const repeated: [string, number, Call][] = [
      ["starts", 1, { path: `/v1/tools/run/${tenant.toolId}`, key }],
      ["reads", 1, { method: "GET", path: `/v1/tools/run/${newId()}/status`, key }],
      ["webhook", 1, { path: `/webhooks/${busy.token}`, body: "{}" }],
      ["calls", 60, { path: "/webhooks/unknown", body: "{}", headers: from("192.0.2.50") }],
      ["calls", 300, { path: `/webhooks/${flooded.token}`, body: "{}", headers: from("192.0.2.51") }],
    ];
    for (const [name, allowed, call] of repeated) {
      for (let time = 0; time < allowed; time += 1) expect((await send(call)).status).not.toBe(429);
      const { status, headers } = await send(call);
      expect(status).toBe(429);
      expect(headers.get("ratelimit-policy")).toBe(`"${name}";q=${allowed};w=${name === "webhook" ? 7 : 60}`);
      expect(headers.get("ratelimit")).toMatch(new RegExp(`^"${name}";r=0;t=\\d+$`));
      expect(Number(headers.get("retry-after"))).toBe(name === "webhook" ? 7 : 60);
    }
  });
});

describe("limits are set", () => {
  it("by a trigger, also above the guard against floods from one address", async () => {
    const tenant = await createTenant(world, { credits: "0" });
    const { token } = await createTrigger(world, tenant, { rateLimit: { requests: 301, seconds: 60 } });
    const call = { path: `/webhooks/${token}`, body: "{", headers: { "x-stepwell-peer": "192.0.2.52" } };
    for (let n = 0; n < 301; n += 1) expect((await send(call)).status).toBe(400);
    expect((await send(call)).status).toBe(429);
  });

  it("to unlimited by a plan, and still narrowed by a key", async () => {
    const tenant = await createTenant(world, { plan: { startsPerMinute: null, readsPerMinute: null } });
    const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const narrow = await createApiKey(world, operator, { name: "narrow", startsPerMinute: 1 });
    const path = `/v1/tools/run/${tenant.toolId}`;
    const body = '{"a":1,"b":2}';
    for (let call = 0; call < 3; call += 1) {
      const { status, headers } = await send({ path, key: tenant.key, body });
      expect([status, headers.get("ratelimit-policy")]).toEqual([200, null]);
    }
    expect((await send({ path, key: narrow.key, body })).status).toBe(200);
    expect((await send({ path, key: narrow.key, body })).status).toBe(429);
  });

  it("by the plan, narrowed by a key, or by a trigger; each key has its own window", async () => {
    const tenant = await createTenant(world, { plan: { startsPerMinute: 3, readsPerMinute: 4 } });
    const admin = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const narrow = await createApiKey(world, admin, {
      name: "narrow",
      startsPerMinute: 1,
      readsPerMinute: 2,
    });
    const wide = await createApiKey(world, admin, { name: "wide", startsPerMinute: 5, readsPerMinute: 6 });
    const accepted = async (call: Call, rejection: number) => {
      let count = 0;
      while (count < 10 && (await send(call)).status !== rejection) count += 1;
      return count;
    };
    for (const [key, starts, reads] of [
      [narrow.key, 1, 2],
      [tenant.key, 3, 4],
      [wide.key, 3, 4],
    ] as const) {
      expect(
        await accepted({ path: `/v1/tools/run/${tenant.toolId}`, key, body: '{"a":1,"b":2}' }, 429),
      ).toBe(starts);
      expect(await accepted({ method: "GET", path: `/v1/tools/run/${newId()}/status`, key }, 429)).toBe(
        reads,
      );
    }
    const { token } = await createTrigger(world, tenant, { rateLimit: { requests: 2, seconds: 60 } });
    expect(await accepted({ path: `/webhooks/${token}`, body: "{}" }, 429)).toBe(2);
  });

  it("over all processes together, for reads as for starts", async () => {
    const tenant = await createTenant(world, { plan: { readsPerMinute: 20 } });
    const call = { method: "GET", path: `/v1/tools/run/${newId()}/status`, key: tenant.key };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => send(call, n % 2 === 0 ? world : beside)),
    );
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  });
});

it("looks few unknown keys and tokens up at once, so that strangers leave connections for others", async () => {
  const { query } = world.pool;
  let [now, most] = [0, 0];
  const asked = vi.spyOn(world.pool, "query").mockImplementation(async (...args: unknown[]) => {
    if (!/^find-(api-key|trigger)$/.test(statementName(args) ?? ""))
      return Reflect.apply(query, world.pool, args);
    most = Math.max(most, ++now);
    try {
      return await Reflect.apply(query, world.pool, args);
    } finally {
      now -= 1;
    }
  });
  onTestFinished(() => asked.mockRestore());
  const calls = Array.from({ length: 50 }, (_, n) => [
    send({ ...READ, key: `sw_live_${String(n).padStart(40, "0")}`, headers: from("192.0.2.54") }),
    send({ path: `/webhooks/unknown-${n}`, body: "{}", headers: from("192.0.2.54") }),
  ]);
  const statuses = (await Promise.all(calls.flat())).map(({ status }) => status);
  expect(statuses).toEqual(calls.flatMap(() => [401, 404]));
  expect(most).toBe(4);
});

it("webhooks are checked in the order of the contract: the earlier of two errors is reported", async () => {
  const poor = await createTenant(world, { credits: "0" });
  const signed = await createTrigger(world, poor, {
    target: "tool",
    secrets: ["s3cret"],
    rateLimit: { requests: 4, seconds: 60 },
  });
  const path = `/webhooks/${signed.token}`;
  const { createHmac } = await import("node:crypto");
  const sign = (body: string) => ({
    "X-Signature": createHmac("sha256", "s3cret").update(body).digest("hex"),
  });
  const codeOf = async (call: Call) => (await (await send(call)).json()).code;
  const tooLarge = "x".repeat(1024 * 1024 + 1);
  const wrongType = { "Content-Type": "text/plain" };

  expect(await codeOf({ path: "/webhooks/unknown-order", body: tooLarge })).toBe("not_found");
  expect(await codeOf({ path, body: tooLarge })).toBe("payload_too_large");
  // A forged signature, a wrong type, no JSON, no credits.
  expect(await codeOf({ path, body: "not JSON", headers: wrongType })).toBe("invalid_signature");
  // Each of the next four counts: content type or JSON, then the trigger, the input, and the credits.
  await world.db.trigger.update({ where: { id: signed.id }, data: { disabledAt: world.clock.now() } });
  const notJson = "not JSON";
  expect(await codeOf({ path, body: notJson, headers: sign(notJson) })).toBe("invalid_request");
  expect(await codeOf({ path, body: "[]", headers: sign("[]") })).toBe("trigger_misconfigured");
  await world.db.trigger.update({ where: { id: signed.id }, data: { disabledAt: null } });
  const wrongInput = '{"a":"1"}';
  expect(await codeOf({ path, body: wrongInput, headers: sign(wrongInput) })).toBe("invalid_request");
  const fine = '{"a":1,"b":2}';
  expect(await codeOf({ path, body: fine, headers: sign(fine) })).toBe("insufficient_credits");
  // The limit is checked before these, the signature before the limit.
  expect(await codeOf({ path, body: notJson, headers: sign(notJson) })).toBe("rate_limited");
  expect(await codeOf({ path, body: fine })).toBe("invalid_signature");
});

it("the details of a run wait for the memory that they need, and not for another organization's", async () => {
  const memory = new ProcessMemory({ limit: 32 * MIB, used: () => 0 });
  const process = { ...world, memory };
  const read = async () => {
    const tenant = await createTenant(world);
    const runId = await insertRun(world, tenant, { kind: "agent", steps: 2 });
    await world.db.step.updateMany({ where: { runId }, data: { output: JSON.stringify("x".repeat(MIB)) } });
    const path = `/v1/agents/run/${runId}/details`;
    return { tenant, send: () => send({ method: "GET", path, key: tenant.key }, process) };
  };
  const [busy, other] = [await read(), await read()];
  const step = memory.openRun(busy.tenant.orgId).openStep();
  await step.hold(MIB);
  const entered = vi.spyOn(memory, "enter");
  const order: string[] = [];
  const waiting = busy.send().then(({ status }) => order.push(`waited: ${status}`));
  await vi.waitFor(() => expect(entered).toHaveBeenCalledOnce(), { timeout: 30_000 });
  await other.send().then(({ status }) => order.push(`other: ${status}`));
  step.release();
  await waiting;
  expect(order).toEqual(["other: 200", "waited: 200"]);
});

describe("a start with a heavy body", () => {
  it.each(["/v1", "/webhooks"])(
    "is not read under %s while its organization's others leave no room, and another's is",
    async (kind) => {
      // 2 MiB are for bodies, half of them for one organization.
      const memory = new ProcessMemory({ limit: 16 * MIB, used: () => 0 });
      const process = { ...world, memory };
      const body = JSON.stringify({ a: 1, b: 2, text: "x".repeat(256 * KIB) });
      const headers = { "Content-Length": String(body.length) };
      const start = async () => {
        const tenant = await createTenant(world);
        const { token } = await createTrigger(world, tenant, { target: "tool" });
        const path = kind === "/v1" ? `/v1/tools/run/${tenant.toolId}` : `/webhooks/${token}`;
        return { tenant, send: () => send({ path, key: tenant.key, body, headers }, process) };
      };
      const busy = await start();
      const other = await start();
      let finish = () => {};
      const reading = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const inProgress = memory.answer(busy.tenant.orgId, { bytes: 400 * KIB }, () => reading);
      const asked = vi.spyOn(memory, "answer");
      const order: string[] = [];
      const waiting = busy.send().then(({ status }) => order.push(`waited: ${status}`));
      await vi.waitFor(() => expect(asked).toHaveBeenCalledOnce(), { timeout: 30_000 });
      await other.send().then(({ status }) => order.push(`other: ${status}`));
      finish();
      await Promise.all([inProgress, waiting]);
      expect(order).toEqual(["other: 200", "waited: 200"]);
    },
  );

  it("is read although the slow bodies of a webhook of its organization wait for each other", async () => {
    // 1 MiB is for the bodies of an organization. Each counts twice.
    const memory = new ProcessMemory({ limit: 16 * MIB, used: () => 0 });
    const process = { ...world, memory };
    const tenant = await createTenant(world);
    const { token } = await createTrigger(world, tenant, { target: "tool" });
    let finish = () => {};
    const reading = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const asked = vi.spyOn(memory, "answer");
    const slow = [1, 2].map(() => {
      const body = new ReadableStream<Uint8Array>({
        async pull(stream) {
          await reading;
          stream.enqueue(Buffer.from('{"a":1,"b":2}'));
          stream.close();
        },
      });
      const headers = { "Content-Type": "application/json", "Content-Length": String(256 * KIB) };
      const init = { method: "POST", headers, body, duplex: "half" };
      return handleWebhook(process, new Request(`http://stepwell.test/webhooks/${token}`, init));
    });
    await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(2), { timeout: 30_000 });
    const large = JSON.stringify({ a: 1, b: 2, text: "x".repeat(200 * KIB) });
    const headers = { "Content-Length": String(large.length) };
    const call = { path: `/v1/tools/run/${tenant.toolId}`, key: tenant.key, body: large, headers };
    expect((await send(call, process)).status).toBe(200);
    finish();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200]);
  });

  // Counts as 60 MiB. An organization may hold 64 MiB.
  const body = `{"a":1,"b":2,"list":[${"{},".repeat(250_000)}{}]}`;

  it.each(["an API start", "a webhook call"])(
    "waits for its organization's memory as %s, and not for another's",
    async (kind) => {
      const memory = new ProcessMemory({ limit: 512 * MIB, used: () => 0 });
      const process = { ...world, memory };
      const start = async () => {
        const tenant = await createTenant(world);
        const { token } = await createTrigger(world, tenant, { target: "tool" });
        const api = { path: `/v1/tools/run/${tenant.toolId}`, key: tenant.key, body };
        const call = kind === "an API start" ? api : { path: `/webhooks/${token}`, body };
        return { tenant, send: () => send(call, process) };
      };
      const busy = await start();
      const other = await start();
      const step = memory.openRun(busy.tenant.orgId).openStep();
      await step.hold(16 * MIB);
      const entered = vi.spyOn(memory, "enter");
      const order: string[] = [];
      const waiting = busy.send().then(({ status }) => order.push(`waited: ${status}`));
      await vi.waitFor(() => expect(entered).toHaveBeenCalledOnce(), { timeout: 30_000 });
      await other.send().then(({ status }) => order.push(`other: ${status}`));
      step.release();
      await waiting;
      expect(order).toEqual(["other: 200", "waited: 200"]);
    },
  );
});
