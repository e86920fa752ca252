import { Webhook } from "standardwebhooks";
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { handleRest } from "@/server/api/rest";
import { DAY_MS } from "@/server/base/clock";
import { newId } from "@/server/base/ids";
import { onPausePoint } from "@/server/base/pause-points";
import { createGuardedEgress, type GuardedFetch } from "@/server/guard/egress/guarded-fetch";
import { resumeOrganization, suspendOrganization } from "@/server/operate/suspend-organization";
import { cancelRun } from "@/server/runs/cancel";
import { startRun } from "@/server/runs/start";
import { insertCallback } from "@/testing/callbacks";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { startCallbackReceiver } from "@/testing/servers/callback-receiver";
import { insertTool } from "@/testing/tools";
import {
  createTenant,
  createWorld,
  openWorld,
  scriptedModels,
  type Tenant,
  type World,
} from "@/testing/world";
import { lockCatalog, organizationLock } from "../../change";
import { rotateCallbackSecret } from "../change-callback";
import { disableEndpoint } from "./disable-endpoint";
import { CallbackDispatcher } from "./dispatcher";

const receiver = await startCallbackReceiver();
const other = await startCallbackReceiver();
afterAll(() => Promise.all([receiver.close(), other.close()]));
const unreachable = await startCallbackReceiver();
await unreachable.close();
const hosts = [receiver, other, unreachable].map(({ host }) => host);
const egress = createGuardedEgress({ allow: hosts });
afterAll(() => egress.close());

const timeouts: unknown[] = [];
let timeoutMs = 60_000;
const fetch: GuardedFetch = (url, init, sender) => {
  timeouts.push(init?.timeoutMs);
  return egress.fetch(url, { ...init, timeoutMs }, sender);
};
const env = { EGRESS_ALLOW: hosts.join(",") };
const mails: { to: readonly string[]; text: string }[] = [];
const models = scriptedModels(({ messages }) => {
  const asked = messages.findLast(({ role }) => role === "user")?.content ?? "";
  return asked === "long" ? { content: "x".repeat(262_145) } : {};
});
const world = await openWorld({
  models,
  env,
  fetch,
  sendMail: async ({ to, text }) => {
    mails.push({ to, text });
    return { messageId: "<1@stepwell.test>", accepted: [...to], rejected: [] };
  },
});
const dispatcher = new CallbackDispatcher(world);

let tenant: Tenant;
beforeEach(async () => {
  // `standardwebhooks` compares with the machine's time.
  world.clock.set(new Date());
  await world.db.callbackEvent.deleteMany();
  tenant = await createTenant(world);
  timeoutMs = 60_000;
  for (const each of [receiver, other]) {
    each.received.length = 0;
    each.mostInProgress = 0;
    each.answer = () => ({});
  }
});

const operator = ({ orgId }: Tenant = tenant) => ({ kind: "operator", orgId, name: "test" }) as const;

async function runAgent(userMessage = "Hi", of: Tenant = tenant): Promise<string> {
  const request = { kind: "agent", targetId: of.agentId, userMessage } as const;
  const { runId } = await startRun(world, operator(of), request);
  await executeRun(world, runId);
  return runId;
}

async function send(by: CallbackDispatcher = dispatcher): Promise<void> {
  await by.turn();
  await by.settle();
}

const deliveries = ({ orgId }: Tenant = tenant) =>
  world.db.callbackDelivery.findMany({
    where: { organizationId: orgId },
    include: { attempt: { orderBy: { number: "asc" } } },
    orderBy: { id: "asc" },
  });

const sent = z.object({
  type: z.string(),
  timestamp: z.string(),
  data: z.looseObject({ id: z.string(), kind: z.string(), status: z.string() }),
});
const bodies = (from = receiver) => from.received.map(({ body }) => sent.parse(JSON.parse(body)));

async function statusOf(runId: string): Promise<object> {
  const url = `http://stepwell.test/v1/agents/run/${runId}/status`;
  const response = await handleRest(world, new Request(url, { headers: { "X-API-Key": tenant.key } }));
  return z.looseObject({}).parse(await response.json());
}

it("tells about the end of a run, with its status view, signed by Standard Webhooks", async () => {
  const { secret } = await insertCallback(world, tenant, { url: receiver.url });
  const runId = await runAgent();
  await send();
  const [request] = receiver.received;
  if (!request) throw new Error("nothing was received");
  expect(new Webhook(secret).verify(request.body, request.headers)).toEqual(JSON.parse(request.body));
  expect(request.headers).toMatchObject({ "content-type": "application/json", "user-agent": "Stepwell" });
  const { finishedAt, ...status } = z.looseObject({ finishedAt: z.string() }).parse(await statusOf(runId));
  expect(JSON.parse(request.body)).toEqual({
    type: "run.completed",
    timestamp: finishedAt,
    data: { ...status, finishedAt, kind: "agent", metadata: {} },
  });
  expect(timeouts).toContain(10_000);
  expect(await deliveries()).toMatchObject([
    {
      nextAt: null,
      leasedUntil: null,
      deliveredAt: expect.any(Date),
      attempt: [{ status: 200, answer: "ok" }],
    },
  ]);
  await send();
  expect(receiver.received).toHaveLength(1);
});

it("tells about failed, cancelled and waiting runs, and not about child runs", async () => {
  await insertCallback(world, tenant, { url: receiver.url });
  const { runId: cancelled } = await startRun(world, operator(), {
    kind: "agent",
    targetId: tenant.agentId,
    userMessage: "Hi",
  });
  await cancelRun(world, tenant.orgId, { runId: cancelled, by: "Ada" });
  const wait = { id: "pause", uses: "wait", with: { seconds: 600 } };
  const waiting = await insertTool(world, tenant, { slug: "waits", definition: { steps: [wait] } });
  const calling = await insertTool(world, tenant, {
    slug: "calls",
    definition: { steps: [{ id: "sum", uses: "run_tool", with: { tool: "adder", input: { a: 1, b: 2 } } }] },
  });
  const failing = await insertTool(world, tenant, {
    slug: "fails",
    definition: { steps: [{ id: "sum", uses: "calculate", with: { expression: "1 +" } }] },
  });
  const runs: string[] = [];
  for (const targetId of [waiting, calling, failing]) {
    const { runId } = await startRun(world, operator(), { kind: "tool", targetId, input: {} });
    await executeRun(world, runId);
    runs.push(runId);
  }
  await send();
  const told = bodies().map(({ type, data: { id, kind, status } }) => [type, id, kind, status].join(" "));
  expect(told.sort()).toEqual(
    [
      `run.failed ${runs[2]} tool Failed`,
      `run.cancelled ${cancelled} agent Cancelled`,
      `run.waiting ${runs[0]} tool Running`,
      `run.completed ${runs[1]} tool Completed`,
    ].sort(),
  );
  const until = new Date(world.clock.now().getTime() + 600_000).toISOString();
  expect(bodies().find(({ type }) => type === "run.waiting")?.data.waiting).toEqual({
    reason: "timer",
    until,
  });
  expect(bodies().find(({ type }) => type === "run.completed")?.data.outputData).toBeTypeOf("string");
});

it("records nothing for an organization without active callbacks", async () => {
  await runAgent();
  expect(await world.db.callbackEvent.count({ where: { organizationId: tenant.orgId } })).toBe(0);
  await insertCallback(world, tenant, { url: receiver.url, status: "inactive" });
  await runAgent();
  expect(await world.db.callbackEvent.count({ where: { organizationId: tenant.orgId } })).toBe(0);
});

it("tells an endpoint only about what it wants", async () => {
  await insertCallback(world, tenant, { url: receiver.url, slug: "failures", events: ["run.failed"] });
  await insertCallback(world, tenant, { url: other.url, slug: "helper", agents: ["helper"] });
  const tool = { kind: "tool", targetId: tenant.toolId, input: { a: 1, b: 2 } } as const;
  const { runId } = await startRun(world, operator(), tool);
  await executeRun(world, runId);
  const completed = await runAgent();
  await send();
  expect(bodies()).toEqual([]);
  expect(bodies(other).map(({ data }) => data.id)).toEqual([completed]);
  // No endpoint matches the tool's run: its event is deleted.
  const events = await world.db.callbackEvent.findMany({ where: { organizationId: tenant.orgId } });
  expect(events.map(({ runId: of }) => of)).toEqual([completed]);
});

it("compares metadata as texts", async () => {
  await insertCallback(world, tenant, { url: receiver.url, metadata: { shop: "no", level: 2 } });
  for (const metadata of [
    null,
    '{"shop":"no"}',
    '{"shop":"no","level":"2"}',
    '{"shop":"no","level":2,"a":1}',
  ]) {
    const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
    const { runId } = await startRun(world, operator(), request);
    await world.pool.query("UPDATE runs SET metadata = $2 WHERE id = $1", [runId, metadata]);
    await executeRun(world, runId);
  }
  await send();
  const told = bodies().map(({ data }) => data.metadata);
  expect(told).toHaveLength(2);
  expect(told).toContainEqual({ shop: "no", level: "2" });
  expect(told).toContainEqual({ shop: "no", level: 2, a: 1 });
});

it("replaces a text beyond 256 KiB by its address", async () => {
  await insertCallback(world, tenant, { url: receiver.url });
  const runId = await runAgent("long");
  await send();
  expect(bodies()[0]?.data).toMatchObject({
    userMessage: "long",
    finalOutput: null,
    finalOutputUrl: `http://stepwell.test/v1/agents/run/${runId}/status`,
  });
});

describe("a failed attempt", () => {
  it.each([
    ["an error", () => ({ status: 503, body: "later" }), { status: 503, answer: "later" }],
    ["a redirect", () => ({ status: 302, headers: { location: "/login" } }), { status: 302 }],
    [
      "a redirect that preserves the method",
      () => ({ status: 308, headers: { location: "/" } }),
      { status: 308 },
    ],
    ["not modified", () => ({ status: 304 }), { status: 304 }],
    ["a closed connection", () => "close" as const, { status: null }],
    [
      "no answer in time",
      () => "hang" as const,
      { status: null, error: expect.stringContaining("longer than") },
    ],
  ])("%s is repeated with the same id", async (_name, answer, attempt) => {
    await insertCallback(world, tenant, { url: receiver.url });
    await runAgent();
    receiver.answer = answer;
    timeoutMs = 200;
    await send();
    timeoutMs = 60_000;
    const [failed] = await deliveries();
    expect(failed).toMatchObject({
      deliveredAt: null,
      failures: 1,
      leasedUntil: null,
      attempt: [{ error: expect.any(String), ...attempt }],
    });
    const pause = (failed?.nextAt?.getTime() ?? 0) - world.clock.now().getTime();
    expect(pause).toBeGreaterThanOrEqual(5_000);
    expect(pause).toBeLessThanOrEqual(5_500);
    await send();
    receiver.answer = () => ({});
    world.clock.advance(5_500);
    await send();
    expect(await deliveries()).toMatchObject([{ nextAt: null, deliveredAt: expect.any(Date), attempts: 2 }]);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(receiver.received).toHaveLength(2);
  });

  it.each([
    ["429 with seconds", 429, () => "3600", 3_600],
    ["503 with a date", 503, () => new Date(world.clock.now().getTime() + 600_000).toUTCString(), 600],
    ["429 with more than 20 hours", 429, () => "100000", 72_000],
    ["429 with less than the planned pause", 429, () => "1", 5],
    ["another status", 500, () => "3600", 5],
  ])("is repeated when the receiver asks for it: %s", async (_name, status, retryAfter, seconds) => {
    await insertCallback(world, tenant, { url: receiver.url });
    await runAgent();
    // Dates have whole seconds.
    world.clock.set(new Date(Math.ceil(Date.now() / 1_000) * 1_000));
    receiver.answer = () => ({ status, headers: { "retry-after": retryAfter() } });
    await send();
    const pause = ((await deliveries())[0]?.nextAt?.getTime() ?? 0) - world.clock.now().getTime();
    expect(pause).toBeGreaterThanOrEqual(seconds * 1_000);
    expect(pause).toBeLessThanOrEqual(Math.max(5_500, seconds * 1_000));
  });

  it("with 410 is the event's last; the next event is sent", async () => {
    await insertCallback(world, tenant, { url: receiver.url });
    await runAgent();
    receiver.answer = () => ({ status: 410 });
    await send();
    const gone = { nextAt: null, deliveredAt: null, leasedUntil: null, attempts: 1 };
    const [first, ...none] = await deliveries();
    expect([first, none]).toMatchObject([gone, []]);
    await runAgent();
    receiver.answer = () => ({});
    await send();
    // Ids of one millisecond have no order.
    const after = await deliveries();
    expect(after.find(({ id }) => id === first?.id)).toMatchObject(gone);
    expect(after.filter(({ id }) => id !== first?.id)).toMatchObject([{ deliveredAt: expect.any(Date) }]);
  });

  it("of a refused connection or a private address is told, too", async () => {
    await insertCallback(world, tenant, { url: unreachable.url });
    await insertCallback(world, tenant, { url: "https://127.0.0.1/", slug: "private" });
    await runAgent();
    await send();
    const errors = (await deliveries()).map(({ attempt }) => attempt[0]?.error ?? "").sort();
    expect(errors).toEqual([
      expect.stringContaining("127.0.0.1 is not a public address"),
      expect.stringContaining("the connection was refused"),
    ]);
  });

  it("names the target of a redirect, at most 200 characters without the secret", async () => {
    const { secret } = await insertCallback(world, tenant, { url: receiver.url });
    await runAgent();
    const target = (key: string) => `/new?key=${key}&pad=${"x".repeat(300)}`;
    receiver.answer = () => ({ status: 307, headers: { location: target(secret) } });
    await send();
    const shown = target("[secret]").slice(0, 200);
    expect((await deliveries())[0]?.attempt[0]?.error).toBe(
      `The endpoint redirects (307) to ${shown}; callbacks do not follow redirects.`,
    );
  });

  it("keeps the first KiB of the answer, without the secret", async () => {
    const { secret } = await insertCallback(world, tenant, { url: receiver.url });
    await runAgent();
    receiver.answer = () => ({ status: 500, body: `\0 ${secret} ${"é".repeat(4_000)}` });
    await send();
    const answer = (await deliveries())[0]?.attempt[0]?.answer ?? "";
    expect(answer).toMatch(/^\uFFFD \[secret\] é+$/);
    expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(1_024);
  });
});

describe("an endpoint that fails for three days", () => {
  it("is disabled, with an email to the admins and an entry in the audit log", async () => {
    const { id } = await insertCallback(world, tenant, { url: receiver.url });
    const admin = await createMember(world, tenant, "admin");
    await createMember(world, tenant, "viewer");
    await runAgent();
    receiver.answer = () => ({ status: 500 });
    mails.length = 0;
    for (let attempt = 1; attempt <= 11; attempt += 1) {
      expect(await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } })).toMatchObject({
        hasCallbacks: true,
      });
      await send();
      expect(receiver.received).toHaveLength(attempt);
      const next = (await deliveries())[0]?.nextAt;
      if (next) world.clock.set(next);
    }
    expect(await deliveries()).toMatchObject([{ nextAt: null, deliveredAt: null, attempts: 11 }]);
    const endpoint = await world.db.callbackEndpoint.findUniqueOrThrow({ where: { id } });
    expect(endpoint.disabledAt).toEqual(world.clock.now());
    expect(mails).toEqual([
      { to: [admin.email], text: expect.stringContaining(`http://stepwell.test/callbacks/${id}`) },
    ]);
    const entry = {
      action: "callback.disabled",
      subjectId: id,
      actor: "system",
      organizationId: tenant.orgId,
    };
    expect(await world.db.auditEntry.count({ where: entry })).toBe(1);
    expect(await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } })).toMatchObject({
      hasCallbacks: false,
    });
  });

  it.each([
    ["no process was running", async () => {}, 4],
    [
      "the organization was suspended",
      async () => {
        await suspendOrganization(world, operator(), "unpaid");
        await resumeOrganization(world, operator());
      },
      0.9,
    ],
  ])("is not disabled for time when %s", async (_name, meanwhile, days) => {
    const { id } = await insertCallback(world, tenant, { url: receiver.url });
    await runAgent();
    receiver.answer = () => ({ status: 500 });
    const since = world.clock.now();
    while (world.clock.now().getTime() - since.getTime() < 2 * DAY_MS) {
      await send();
      const next = (await deliveries())[0]?.nextAt;
      if (!next) throw new Error("it was given up");
      world.clock.set(next);
    }
    await meanwhile();
    world.clock.advance(days * DAY_MS);
    await send();
    expect(await world.db.callbackEndpoint.findUniqueOrThrow({ where: { id } })).toMatchObject({
      disabledAt: null,
      failingSince: world.clock.now(),
    });
  });

  it("does not stop the events of a callback that is saved at that moment", async () => {
    const { id } = await insertCallback(world, tenant, { url: receiver.url });
    const failingSince = world.clock.now();
    await world.db.callbackEndpoint.update({ where: { id }, data: { failingSince } });
    const { orgId } = tenant;
    let disabling: Promise<void> | undefined;
    await world.db.$transaction(async (tx) => {
      await lockCatalog(tx, [organizationLock(orgId)]);
      const { id: _id, ...saved } = await tx.callbackEndpoint.findUniqueOrThrow({ where: { id } });
      await tx.callbackEndpoint.create({ data: { ...saved, id: newId(), slug: "new", failingSince: null } });
      disabling = disableEndpoint(world, { orgId, endpointId: id, failingSince, lastError: "500" });
      const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
      await expect.poll(async () => (await world.pool.query(waiting)).rowCount).toBe(1);
    });
    await disabling;
    expect(await world.db.organization.findUniqueOrThrow({ where: { id: orgId } })).toMatchObject({
      hasCallbacks: true,
    });
  });

  it("is not disabled if something arrived meanwhile", async () => {
    const { id } = await insertCallback(world, tenant, { url: receiver.url });
    await runAgent();
    receiver.answer = () => ({ status: 500 });
    await send();
    world.clock.advance(2 * DAY_MS);
    receiver.answer = () => ({});
    await send();
    expect(await world.db.callbackEndpoint.findUniqueOrThrow({ where: { id } })).toMatchObject({
      failingSince: null,
    });
    await runAgent();
    receiver.answer = () => ({ status: 500 });
    world.clock.advance(2 * DAY_MS);
    await send();
    expect(await world.db.callbackEndpoint.findUniqueOrThrow({ where: { id } })).toMatchObject({
      disabledAt: null,
    });
  });
});

it("signs with both secrets during a rotation's overlap", async () => {
  const { id, secret } = await insertCallback(world, tenant, { url: receiver.url });
  const rotated = await rotateCallbackSecret(world, operator(), { id, overlapSeconds: 60 });
  await runAgent();
  await send();
  world.clock.advance(60_001);
  await runAgent();
  await send();
  world.clock.advance(-60_001);
  const verifies = (key: string) =>
    receiver.received.map(({ body, headers }) => {
      try {
        return new Webhook(key).verify(body, headers) !== undefined;
      } catch {
        return false;
      }
    });
  expect(verifies(rotated.secret)).toEqual([true, true]);
  expect(verifies(secret)).toEqual([true, false]);
});

it("pauses while the organization is suspended", async () => {
  await insertCallback(world, tenant, { url: receiver.url });
  await runAgent();
  await suspendOrganization(world, operator(), "unpaid");
  await send();
  expect(receiver.received).toEqual([]);
  await resumeOrganization(world, operator());
  await send();
  expect(receiver.received).toHaveLength(1);
});

async function runMany(count: number, of: Tenant = tenant): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await runAgent("Hi", of));
  return ids;
}

describe("several processes", () => {
  it("send each event once, at most four at a time to an endpoint", async () => {
    await insertCallback(world, tenant, { url: receiver.url });
    const runs = await runMany(20);
    const beside = await createWorld({ beside: world, env, fetch });
    const dispatchers = [dispatcher, new CallbackDispatcher(beside)];
    receiver.answer = () => new Promise((resolve) => setImmediate(() => resolve({})));
    for (const each of dispatchers) each.start();
    await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(20);
    await Promise.all(dispatchers.map((each) => each.settle()));
    expect(
      bodies()
        .map(({ data }) => data.id)
        .sort(),
    ).toEqual(runs.sort());
    expect(receiver.mostInProgress).toBeLessThanOrEqual(4);
    for (const each of dispatchers) await each.stop();
    await beside.close();
    expect((await deliveries()).every(({ deliveredAt }) => deliveredAt !== null)).toBe(true);
  });

  it("send what one claimed that was killed before it wrote the result", async () => {
    await insertCallback(world, tenant, { url: receiver.url });
    const [runId] = await runMany(1);
    // The receiver gets the event, and the process never learns its answer.
    let reached = () => {};
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const dying: World = {
      ...world,
      fetch: async (url, init, sender) => {
        await egress.fetch(url, init, sender);
        reached();
        return new Promise(() => {});
      },
    };
    await new CallbackDispatcher(dying).turn();
    await isReached;
    await send();
    expect(receiver.received).toHaveLength(1);
    world.clock.advance(30_001);
    await send();
    expect(bodies().map(({ data }) => data.id)).toEqual([runId, runId]);
    expect(await deliveries()).toMatchObject([{ attempts: 2, deliveredAt: expect.any(Date) }]);
  });

  it("lose no event if one is killed while it makes deliveries", async () => {
    await insertCallback(world, tenant, { url: receiver.url });
    await runMany(2);
    const client = await world.pool.connect();
    await client.query("BEGIN");
    const { rows } = await client.query<{ name: string }>(
      "SELECT proname AS name FROM pg_proc WHERE proname LIKE 'expand_callbacks%'",
    );
    await client.query(`SELECT ${rows[0]?.name}(now(), 500)`);
    // Another one leaves what the first one works on.
    await send();
    expect(receiver.received).toEqual([]);
    client.release(true);
    await expect
      .poll(async () => {
        await send();
        return receiver.received.length;
      })
      .toBe(2);
  });
});

it("loses no event in an hour of refused connections, though processes die meanwhile", async () => {
  await insertCallback(world, tenant, { url: unreachable.url });
  let passed = 0;
  onPausePoint(async (point) => {
    if (!point.startsWith("callback:")) return;
    passed += 1;
    if (passed % 4 === 0) throw new Error("killed");
  });
  onTestFinished(() => onPausePoint(null));
  const runs: string[] = [];
  const minute = async (minutes = 1) => {
    await send().catch(() => {});
    world.clock.advance(minutes * 60_000);
  };
  for (let n = 0; n < 60; n += 1) {
    if (n % 3 === 0) runs.push(await runAgent());
    await minute();
  }
  const attempts = (await deliveries()).flatMap(({ attempt }) => attempt);
  expect(attempts.length).toBeGreaterThan(runs.length);
  expect(attempts.every(({ error }) => error?.includes("the connection was refused"))).toBe(true);

  const opened = await startCallbackReceiver({ port: Number(new URL(unreachable.url).port) });
  onTestFinished(opened.close);
  const undelivered = () =>
    world.db.callbackDelivery.count({ where: { organizationId: tenant.orgId, deliveredAt: null } });
  for (let n = 0; n < 100 && (await undelivered()) > 0; n += 1) await minute(5);
  expect(await deliveries()).toHaveLength(runs.length);
  expect(await undelivered()).toBe(0);
  expect(new Set(bodies(opened).map(({ data }) => data.id))).toEqual(new Set(runs));
  // Those whose process died after it had sent them came again, with the same id.
  const ids = opened.received.map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids).size).toBe(runs.length);
  expect(ids.length).toBeGreaterThan(runs.length);
});

describe("a slow receiver", () => {
  it("does not delay another organization, and has four connections, or one while it fails", async () => {
    await insertCallback(world, tenant, { url: receiver.url });
    const quick = await createTenant(world);
    await insertCallback(world, quick, { url: other.url });
    await runMany(6);
    await runMany(1, quick);
    let answerAll = () => {};
    const answered = new Promise<{ status: number }>((resolve) => {
      answerAll = () => resolve({ status: 500 });
    });
    receiver.answer = () => answered;
    await dispatcher.turn();
    await expect.poll(() => other.received.length).toBe(1);
    await expect.poll(() => receiver.received.length).toBe(4);
    await dispatcher.turn();
    expect(receiver.received).toHaveLength(4);
    answerAll();
    await dispatcher.settle();
    receiver.mostInProgress = 0;
    await send();
    expect(receiver.received).toHaveLength(5);
  });
});

it("tells the address that a run was started with, signed with the organization's own secret", async () => {
  const starts = [tenant, await createTenant(world)].map(async (of) => {
    const request = { kind: "agent", targetId: of.agentId, userMessage: "Hi" } as const;
    const { runId } = await startRun(world, operator(of), request);
    await world.pool.query("UPDATE runs SET callback_url = $2 WHERE id = $1", [
      runId,
      `${receiver.url}/${of.slug}`,
    ]);
    await executeRun(world, runId);
    return [`/hooks/${of.slug}`, runId];
  });
  const runs = await Promise.all(starts);
  await send();
  expect(
    receiver.received.map(({ path, body }) => [path, sent.parse(JSON.parse(body)).data.id]).sort(),
  ).toEqual(runs.sort());
  const endpoint = await world.db.callbackEndpoint.findFirstOrThrow({
    where: { organizationId: tenant.orgId, slug: null },
  });
  const { secret } = await rotateCallbackSecret(world, operator(), { id: endpoint.id, overlapSeconds: 0 });
  const { deliveryId } = { deliveryId: (await deliveries())[0]?.id };
  await world.pool.query("UPDATE callback_deliveries SET next_at = $2 WHERE id = $1", [
    deliveryId,
    world.clock.now(),
  ]);
  await send();
  const last = receiver.received.at(-1);
  expect(new Webhook(secret).verify(last?.body ?? "", last?.headers ?? {})).toBeDefined();
});
