import { createServer, request as httpRequest, type Server } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import * as apiRoute from "@/app/v1/[...path]/route";
import * as webhookRoute from "@/app/webhooks/[token]/route";
import { newId } from "@/server/ids";
import { createHandler } from "./serve-requests";
import { createProcess, type TestProcess } from "./testing/process";
import { createTenant, createTrigger, createWorld, type Tenant, type World } from "./testing/world";

/** The two ways to the API, the process's own server and Next's route handlers, answer alike. */

let world: World;
let services: TestProcess;
let server: Server;
let port: number;
vi.mock("@/wiring", async (original) => ({ ...(await original<object>()), getServices: () => services }));

beforeAll(async () => {
  world = await createWorld();
  services = createProcess(world);
  const showPage = async (_incoming: unknown, outgoing: { end(text: string): void }) =>
    outgoing.end("a page");
  server = createServer(createHandler(services, { showPage, dev: false, state: { stopping: false } }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  port = address.port;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await services.stop();
  await world.close();
});

type Call = { method: string; path: string; headers: Record<string, string>; body?: string | Buffer };
type Answer = { status: number; headers: Record<string, string>; text: string };

/** Sends a call to the process's own server, its path as it is. */
function throughNode({ method, path, headers, body }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = body === undefined ? headers : { ...headers, "Content-Length": Buffer.byteLength(body) };
    const outgoing = httpRequest(
      { host: "127.0.0.1", port, method, path, headers: sent },
      async (incoming) => {
        let text = "";
        for await (const chunk of incoming) text += String(chunk);
        const named = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        resolve({ status: incoming.statusCode ?? 0, headers: Object.fromEntries(named), text });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Calls the route handler that Next calls. */
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

/** Ids differ from call to call, and so do the headers of the connection. */
const CONTRACT_HEADERS = [
  "content-type",
  "cache-control",
  "allow",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "idempotent-replayed",
  "accept-encoding",
];
function comparable({ status, headers, text }: Answer) {
  const kept = CONTRACT_HEADERS.map((name) => [name, headers[name]]);
  const body: unknown = JSON.parse(text, (key, value: unknown) =>
    /^(id|runId|requestId)$/.test(key) ? "an id" : value,
  );
  return {
    status,
    headers: Object.fromEntries(kept),
    hasRequestId: headers["x-request-id"] !== undefined,
    body,
  };
}

type Setting = { tenant: Tenant; token: string; signedToken: string };
async function createSetting(): Promise<Setting> {
  const tenant = await createTenant(world);
  const { token } = await createTrigger(world, tenant);
  const { token: signedToken } = await createTrigger(world, tenant, { secrets: ["s3cret"] });
  return { tenant, token, signedToken };
}

const JSON_TYPE = { "Content-Type": "application/json" };
const unknown = newId();
const startAgent = (tenant: Tenant, parts: Partial<Call> = {}): Call => ({
  method: "POST",
  path: `/v1/agents/run/${tenant.agentId}`,
  body: '{"userMessage":"Hi"}',
  ...parts,
  headers: { ...JSON_TYPE, "X-API-Key": tenant.key, ...parts.headers },
});
const startTool = (tenant: Tenant, parts: Partial<Call> = {}): Call =>
  startAgent(tenant, { path: `/v1/tools/run/${tenant.toolId}`, body: '{"a":1,"b":2}', ...parts });
const hook = (token: string, parts: Partial<Call> = {}): Call => ({
  method: "POST",
  path: `/webhooks/${token}`,
  body: '{"order":1}',
  ...parts,
  headers: { ...JSON_TYPE, ...parts.headers },
});

describe("both ways give the same answers", () => {
  it.each<[number, string, (setting: Setting) => Call]>([
    [200, "a start of an agent", ({ tenant }) => startAgent(tenant)],
    [200, "a start of a tool", ({ tenant }) => startTool(tenant)],
    [400, "a body that is no JSON", ({ tenant }) => startTool(tenant, { body: "{" })],
    [400, "a body without what is required", ({ tenant }) => startAgent(tenant, { body: "{}" })],
    [401, "a call without a key", ({ tenant }) => startAgent(tenant, { headers: { "X-API-Key": "" } })],
    [404, "an unknown agent", ({ tenant }) => startAgent(tenant, { path: `/v1/agents/run/${unknown}` })],
    [404, "an unknown path", ({ tenant }) => startAgent(tenant, { path: "/v1/elsewhere" })],
    [
      404,
      "an unknown run",
      ({ tenant }) => ({
        method: "GET",
        path: `/v1/agents/run/${unknown}/status`,
        headers: { "X-API-Key": tenant.key },
      }),
    ],
    [405, "another method", ({ tenant }) => ({ ...startAgent(tenant), method: "DELETE" })],
    [
      413,
      "a body of more than 1 MiB",
      ({ tenant }) => startTool(tenant, { body: `{"a":"${"x".repeat(1024 * 1024)}"}` }),
    ],
    [400, "a text", ({ tenant }) => startAgent(tenant, { headers: { "Content-Type": "text/plain" } })],
    [
      415,
      "a compressed body",
      ({ tenant }) =>
        startAgent(tenant, {
          body: gzipSync('{"userMessage":"Hi"}'),
          headers: { "Content-Encoding": "gzip" },
        }),
    ],
    [200, "a webhook call", ({ token }) => hook(token)],
    [401, "a webhook call without its signature", ({ signedToken }) => hook(signedToken)],
    [404, "a webhook call with an unknown token", () => hook("unknown")],
    [405, "a webhook call of another method", ({ token }) => ({ ...hook(token), method: "PUT" })],
    [
      415,
      "a compressed webhook call",
      ({ token }) => hook(token, { body: gzipSync("{}"), headers: { "Content-Encoding": "gzip" } }),
    ],
  ])("%i: %s", async (status, _what, make) => {
    const node = comparable(await throughNode(make(await createSetting())));
    const next = comparable(await throughNext(make(await createSetting())));
    expect(node.status).toBe(status);
    expect(node.hasRequestId).toBe(true);
    expect(next).toEqual(node);
  });

  it("a repetition of a start, and another one with its key", async () => {
    const { tenant } = await createSetting();
    const headers = { "Idempotency-Key": "once" };
    const first = await throughNode(startTool(tenant, { headers }));
    for (const send of [throughNode, throughNext]) {
      const again = await send(startTool(tenant, { headers }));
      expect([again.status, again.text, again.headers["idempotent-replayed"]]).toEqual([
        200,
        first.text,
        "true",
      ]);
      expect((await send(startTool(tenant, { headers, body: '{"a":2,"b":2}' }))).status).toBe(409);
    }
  });

  it("reads of a run, byte for byte", async () => {
    const { tenant } = await createSetting();
    const { id } = JSON.parse((await throughNode(startAgent(tenant))).text);
    services.clock = world.clock;
    const read = { method: "GET", path: `/v1/agents/run/${id}/status`, headers: { "X-API-Key": tenant.key } };
    const node = await throughNode(read);
    expect(node.status).toBe(200);
    expect((await throughNext(read)).text).toBe(node.text);
  });
});

describe("a compressed body", () => {
  it("is refused by its header, unread", async () => {
    const { tenant } = await createSetting();
    const headers = { "Content-Encoding": "gzip" };
    const answer = await throughNode(startAgent(tenant, { body: Buffer.from("no gzip at all"), headers }));
    expect(answer.status).toBe(415);
    expect(JSON.parse(answer.text)).toMatchObject({ success: false, code: "invalid_request" });
    expect(JSON.parse(answer.text).message).toContain("Content-Encoding");
  });
});

describe("a path that only looks like the API's", () => {
  it.each([
    "/v1%2fagents/run/x",
    "/v1%2Ftools",
    "//v1/agents/run/x",
    "///v1",
    "//webhooks/x",
    "/webhooks%2fx",
  ])("%s: the contract's 404, not a page and not a redirect", async (path) => {
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

  it.each(["/v10", "/runs", "/%2e%2e/v1x"])("%s belongs to a page", async (path) => {
    expect((await throughNode({ method: "GET", path, headers: {} })).text).toBe("a page");
  });
});
