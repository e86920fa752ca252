import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import * as apiRoute from "@/app/v1/[[...path]]/route";
import * as webhookRoute from "@/app/webhooks/[[...path]]/route";
import {
  type Answer,
  type Call,
  CONTRACT_CALLS,
  comparable,
  ODD_PATHS,
  type Setting,
  sendCall,
  startAgent,
  startTool,
} from "@/testing/contract-calls";
import { createProcess, type TestProcess } from "@/testing/process";
import { insertRun } from "@/testing/runs";
import { openInTest } from "@/testing/servers/inngest-server";
import { closeServer, listen } from "@/testing/servers/listen";
import { createTenant, createTrigger, createWorld, type World } from "@/testing/world";
import { createHandler, rejectBadHttp } from "./requests";

/** The process's own server and Next's route handlers answer alike. */

let world: World;
let services: TestProcess;
let server: Server;
let port: number;
let shown: IncomingMessage | undefined;

beforeAll(async () => {
  world = await createWorld();
  services = createProcess(world);
  vi.stubGlobal("stepwellServices", services);
  const showPage = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    shown = incoming;
    outgoing.end("a page");
  };
  const handler = createHandler(services, { showPage, dev: false, state: { stopping: false } });
  // As in serve.ts.
  server = createServer({ requireHostHeader: false }, handler);
  rejectBadHttp(server);
  port = await listen(server);
});
afterAll(async () => {
  await closeServer(server);
  await services.stop();
  await world.close();
});

const throughNode = (call: Call) => sendCall(`http://127.0.0.1:${port}`, call);

async function throughNext({ method, path, headers, body }: Call): Promise<Answer> {
  const route = path.startsWith("/webhooks") ? webhookRoute : apiRoute;
  const handler = Object.entries(route).find(([name]) => name === method)?.[1];
  if (handler === undefined) throw new Error(`the route has no ${method}`);
  const sent = body === undefined ? {} : { body: typeof body === "string" ? body : new Uint8Array(body) };
  const response = await handler(new Request(`http://stepwell.test${path}`, { method, headers, ...sent }));
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  };
}

async function createSetting(): Promise<Setting> {
  const tenant = await createTenant(world);
  const { token } = await createTrigger(world, tenant);
  const { token: signedToken } = await createTrigger(world, tenant, { secrets: ["s3cret"] });
  return { ...tenant, toolInput: '{"a":1,"b":2}', token, signedToken };
}

describe("both ways give the same answers", () => {
  it.each(CONTRACT_CALLS)("%i: %s", async (status, _what, make) => {
    const node = comparable(await throughNode(make(await createSetting())));
    const next = comparable(await throughNext(make(await createSetting())));
    expect(node.status).toBe(status);
    expect(node.hasRequestId).toBe(true);
    expect(next).toEqual(node);
  });

  it("a repetition of a start, and another one with its key", async () => {
    const setting = await createSetting();
    const headers = { "Idempotency-Key": "once" };
    const first = await throughNode(startTool(setting, { headers }));
    for (const send of [throughNode, throughNext]) {
      const again = await send(startTool(setting, { headers }));
      expect([again.status, again.text, again.headers["idempotent-replayed"]]).toEqual([
        200,
        first.text,
        "true",
      ]);
      expect((await send(startTool(setting, { headers, body: '{"a":2,"b":2}' }))).status).toBe(409);
    }
  });

  it("reads of a run, byte for byte", async () => {
    const setting = await createSetting();
    const { id } = JSON.parse((await throughNode(startAgent(setting))).text);
    services.clock = world.clock;
    const read = {
      method: "GET",
      path: `/v1/agents/run/${id}/status`,
      headers: { "X-API-Key": setting.key },
    };
    const node = await throughNode(read);
    expect(node.status).toBe(200);
    expect((await throughNext(read)).text).toBe(node.text);
    const known = { ...read, headers: { ...read.headers, "If-None-Match": node.headers.etag ?? "" } };
    for (const { status, text, headers } of [await throughNode(known), await throughNext(known)]) {
      expect([status, text, headers.etag]).toEqual([304, "", node.headers.etag]);
      expect(headers).not.toHaveProperty("content-length");
    }
  });
});

it("a request without Host is rejected, also a poll that memory could answer", async () => {
  const setting = await createSetting();
  const { id } = JSON.parse((await throughNode(startAgent(setting))).text);
  const headers = { "X-API-Key": setting.key };
  // Memory answers only while the process hears of changes.
  services.notifications.open();
  await expect.poll(() => services.notifications.fresh()).toBe(true);
  await throughNode({ method: "POST", path: `/v1/agents/run/${id}/cancel`, headers });
  const path = `/v1/agents/run/${id}/status`;
  expect((await throughNode({ method: "GET", path, headers })).status).toBe(200);
  const statusOf = (setHost: boolean) =>
    new Promise((resolve, reject) => {
      const sent = request({ port, path, headers, setHost }, (response) => {
        response.resume().once("end", () => resolve(response.statusCode));
      });
      sent.once("error", reject).end();
    });
  expect([await statusOf(true), await statusOf(false)]).toEqual([200, 400]);
});

it("a client that leaves ends its wait", async () => {
  const tenant = await createTenant(world);
  const { key } = tenant;
  const runId = await insertRun(world, tenant, { kind: "agent", status: "Pending" });
  const leave = new AbortController();
  const path = `http://127.0.0.1:${port}/v1/agents/run/${runId}/status?wait=30`;
  const answer = fetch(path, { headers: { "X-API-Key": key }, signal: leave.signal }).catch(() => "left");
  await expect.poll(() => services.endWaiters.size).toBe(1);
  leave.abort();
  await expect.poll(() => services.endWaiters.size).toBe(0);
  expect(await answer).toBe("left");
});

describe("a compressed body", () => {
  it("is rejected by its header, unread", async () => {
    const setting = await createSetting();
    const headers = { "Content-Encoding": "gzip" };
    const answer = await throughNode(startAgent(setting, { body: Buffer.from("no gzip at all"), headers }));
    expect(answer.status).toBe(415);
    expect(JSON.parse(answer.text)).toMatchObject({ success: false, code: "invalid_request" });
    expect(JSON.parse(answer.text).message).toContain("Content-Encoding");
  });
});

describe("an Inngest server's calls", () => {
  async function introspect(env: Record<string, string>, executes: boolean) {
    const worker = createProcess(world, { env });
    onTestFinished(() => worker.stop());
    if (executes) await worker.engine.execute();
    const state = { stopping: false };
    const own = createServer(createHandler(worker, { showPage: null, dev: false, state }));
    onTestFinished(() => void own.close());
    const at = `http://127.0.0.1:${await listen(own)}`;
    return (method: string) =>
      sendCall(at, { method, path: "/api/inngest", headers: { Host: "stepwell.test", Connection: "close" } });
  }

  it("are answered by a process without pages", async () => {
    const ask = await introspect((await openInTest({ isDev: true })).env, true);
    const answer = await ask("GET");
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ function_count: expect.any(Number) });
    expect((await ask("DELETE")).status).toBe(405);
  });

  it("are put off by a process that executes no runs, and unknown on the embedded engine", async () => {
    const put = await introspect({ INNGEST_DEV: "http://127.0.0.1:9" }, false);
    const answer = await put("POST");
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining("INNGEST_SERVE_ORIGIN")]);
    expect((await (await introspect({}, true))("POST")).status).toBe(404);
  });
});

describe("a path that only looks like the API's", () => {
  it.each(ODD_PATHS)("%s: the contract's 404, not a page and not a redirect", async (path) => {
    for (const method of ["GET", "POST"]) {
      const answer = await throughNode({ method, path, headers: {} });
      expect([answer.status, answer.headers.location]).toEqual([404, undefined]);
      expect(answer.headers["content-type"]).toMatch(/^application\/json/);
      expect(JSON.parse(answer.text)).toMatchObject({
        success: false,
        code: "not_found",
        requestId: answer.headers["x-request-id"],
      });
    }
  });

  it.each(["/Webhooks", "/%77ebhooks", "//webhooks"])(
    "%s/…: the log does not get the token",
    async (path) => {
      const logged = vi.spyOn(services.log, "request");
      const token = "t0ken".repeat(8);
      await throughNode({ method: "POST", path: `${path}/${token}`, headers: {} });
      expect(logged.mock.lastCall).toMatchObject([{ path: "/webhooks/[token]", status: 404 }]);
      logged.mockRestore();
    },
  );

  it.each(["/v10", "/runs", "/%2e%2e/v1x"])("%s belongs to a page", async (path) => {
    expect((await throughNode({ method: "GET", path, headers: {} })).text).toBe("a page");
  });
});

describe("a page", () => {
  const show = async (call: Partial<Call>) => {
    shown = undefined;
    const { status } = await throughNode({ method: "GET", path: "/runs", headers: {}, ...call });
    return status;
  };

  it("gets our own cookies, and a target without a fragment", async () => {
    const cookie = `other=1; theme=dark; ${"x=1; ".repeat(500)}stepwell.session_token=a.b`;
    expect(await show({ path: "/runs?status=Failed#?a&b", headers: { cookie } })).toBe(200);
    expect(shown?.url).toBe("/runs?status=Failed");
    expect(shown?.headers.cookie).toBe("theme=dark; stepwell.session_token=a.b");
    expect(await show({ headers: { cookie: "other=1" } })).toBe(200);
    expect(shown?.headers).not.toHaveProperty("cookie");
  });

  it("gets no long header and no router state that Next cannot read", async () => {
    const state = encodeURIComponent('["",{}]');
    const headers = {
      "User-Agent": "a".repeat(2_000),
      Accept: "text/html",
      "X-Forwarded-For": `${"10.0.0.1, ".repeat(200)}192.0.2.7`,
      "Next-Router-State-Tree": state,
    };
    expect(await show({ headers })).toBe(200);
    expect(shown?.headers).not.toHaveProperty("user-agent");
    expect(shown?.headers).toMatchObject({ accept: "text/html", "next-router-state-tree": state });
    expect(shown?.headers["x-forwarded-for"]).toMatch(/, 192\.0\.2\.7$/);
    expect(await show({ headers: { "Next-Router-State-Tree": "[1]" } })).toBe(200);
    expect(shown?.headers).not.toHaveProperty("next-router-state-tree");
  });

  it.each([
    [200, "64 parameters", { path: `/runs?${"a&".repeat(63)}a` }],
    [400, "65 parameters", { path: `/runs?${"a&".repeat(64)}a` }],
    [400, "a malformed escape", { path: "/docs/%E0%A4%A" }],
    [405, "another method", { method: "POST" }],
    [200, "another method for a procedure", { method: "POST", path: "/api/trpc/runs.list" }],
    [
      431,
      "many headers",
      { headers: Object.fromEntries(Array.from({ length: 130 }, (_, n) => [`a${n}`, "1"])) },
    ],
    [200, "a target of 11 KiB", { path: `/${"a".repeat(11 * 1024)}` }],
    [431, "a target of 12 KiB", { path: `/${"a".repeat(12 * 1024)}` }],
  ])("answers %d to %s", async (status, _what, call) => {
    expect(await show(call)).toBe(status);
    expect(shown !== undefined).toBe(status === 200);
  });
});
