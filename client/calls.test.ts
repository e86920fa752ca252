import { afterEach, describe, expect, it } from "vitest";
import { openScriptedServer, type ScriptedAnswer } from "@/testing/servers/scripted-server";
import {
  ApiError,
  type ClientOptions,
  ConnectionError,
  RunFailedError,
  StepwellClient,
} from "./src/index.js";
import { pauseMs, readRetryAfter } from "./src/retry.js";
import { send } from "./src/transport.js";

const ID = "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02";
const STARTED: ScriptedAnswer = {
  status: 200,
  body: { success: true, id: ID, status: "Pending", message: "" },
};
const run = (status: string, more: object = {}): ScriptedAnswer => ({
  status: 200,
  body: { id: ID, status, errorMessage: null, finalOutput: null, ...more },
});
const rejected = (status: number, headers: Record<string, string> = {}): ScriptedAnswer => ({
  status,
  headers,
  body: {
    success: false,
    code: "rate_limited",
    message: "Too Many Requests",
    requestId: "r-1",
    issues: [{ path: "/userMessage", message: "is required" }],
  },
});

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(answers: [ScriptedAnswer, ...ScriptedAnswer[]], options: Partial<ClientOptions> = {}) {
  const server = await openScriptedServer(...answers);
  open.push(server);
  return { ...server, client: new StepwellClient({ url: `${server.url}/`, key: "k-1", ...options }) };
}

describe("a start", () => {
  it("is repeated after 429, 500 and a lost answer, with one key, and not before Retry-After", async () => {
    const { client, requests } = await serve([
      rejected(429, { "Retry-After": "1" }),
      { status: 500 },
      null,
      STARTED,
    ]);
    expect((await client.runAgent(ID, "Hello")).id).toBe(ID);
    expect(requests.map(({ path, body }) => [path, body])).toEqual(
      Array.from({ length: 4 }, () => [`/v1/agents/run/${ID}`, '{"userMessage":"Hello"}']),
    );
    const keys = new Set(requests.map(({ headers }) => headers["idempotency-key"]));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(requests.map(({ headers }) => headers["x-api-key"])).toEqual(["k-1", "k-1", "k-1", "k-1"]);
    const [first, second] = requests.map(({ atMs }) => atMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it("sends its options as headers", async () => {
    const { client, requests } = await serve([STARTED]);
    await client.runTool(
      ID,
      { sku: "A-1" },
      {
        idempotencyKey: "order-42",
        metadata: { customer: "Café", order: 42 },
        maxCredits: 0.5,
        deadlineSeconds: 60,
        callbackUrl: "https://example.com/runs",
      },
    );
    expect(requests[0]?.headers).toMatchObject({
      "idempotency-key": "order-42",
      "x-metadata": '{"customer":"Caf\\u00e9","order":42}',
      "x-max-credits": "0.5",
      "x-deadline-seconds": "60",
      "x-callback-url": "https://example.com/runs",
    });
  });

  it("keeps the key of its caller, whatever the case of the header's name", async () => {
    const { client, requests } = await serve([STARTED]);
    const headers = { "X-Max-Credits": "1", "idempotency-key": "order-42" };
    await client.call("runTool", { path: { toolId: ID }, headers, body: {} });
    expect(requests[0]?.headers).toMatchObject({ "x-max-credits": "1", "idempotency-key": "order-42" });
  });

  it("throws the service's error with the start's key", async () => {
    const { client, requests } = await serve([rejected(400)]);
    const error = await client
      .runTool(ID)
      .wait()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      code: "rate_limited",
      message: "Too Many Requests",
      requestId: "r-1",
      issues: [{ path: "/userMessage" }],
      idempotencyKey: requests[0]?.headers["idempotency-key"],
    });
    expect(requests).toHaveLength(1);
  });
});

describe("a call", () => {
  const NEVER: ScriptedAnswer = () => {};
  const failure = (promise: PromiseLike<unknown>) =>
    promise.then(
      () => null,
      (error: unknown) => error,
    );

  it("ends with the last error when its attempts are used up", async () => {
    const answers = [{ status: 503 }, { status: 502, body: "<html>" }] as const;
    const { client, requests } = await serve([...answers], { retries: 1 });
    const error = await failure(client.agentRun(ID).status());
    expect(error).toMatchObject({ status: 502, code: null, idempotencyKey: null });
    expect(requests).toHaveLength(2);
  });

  it("does not wait for a long Retry-After", async () => {
    const { client, requests } = await serve([rejected(429, { "Retry-After": "3600" })]);
    expect(await failure(client.runAgent(ID, "Hello"))).toMatchObject({
      status: 429,
      retryAfterMs: 3_600_000,
    });
    expect(requests).toHaveLength(1);
  });

  it("ends with the reason of its signal, while it is sent and between attempts", async () => {
    const { client, requests } = await serve([rejected(429, { "Retry-After": "50" }), NEVER]);
    for (const count of [1, 2]) {
      const leave = new AbortController();
      const failed = failure(client.agentRun(ID).wait({ signal: leave.signal }));
      await expect.poll(() => requests.length).toBe(count);
      const reason = new Error("enough");
      leave.abort(reason);
      expect(await failed).toBe(reason);
    }
    const gone = AbortSignal.abort(new Error("gone"));
    expect(await failure(client.runAgent(ID, "Hello", { signal: gone }))).toBe(gone.reason);
    expect(requests).toHaveLength(2);
  });

  it("ends without an answer", async () => {
    const { client } = await serve([NEVER], { timeoutMs: 50, retries: 0 });
    const error = await failure(client.runAgent(ID, "Hello", { idempotencyKey: "order-42" }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      message: "The service did not answer in time.",
      idempotencyKey: "order-42",
    });
  });

  it("follows no redirect with its key", async () => {
    const elsewhere = await serve([STARTED]);
    const { client } = await serve([{ status: 307, headers: { Location: `${elsewhere.url}/` } }]);
    expect(await failure(client.runAgent(ID, "Hello"))).toMatchObject({ status: 307 });
    expect(elsewhere.requests).toEqual([]);
  });

  it("that may not be repeated is repeated only after 429", async () => {
    const { url, requests } = await serve([rejected(429), { status: 503 }]);
    const settings = { url, key: "k-1", fetch, retries: 4, timeoutMs: 5_000, maxRetryAfterMs: 0 };
    const request = {
      method: "POST",
      path: "/",
      headers: {},
      isRepeatable: false,
      moreTimeMs: 0,
      signal: undefined,
    };
    expect(await failure(send(settings, request, (response) => response.json()))).toMatchObject({
      status: 503,
    });
    expect(requests).toHaveLength(2);
  });
});

it("an export is YAML if that is asked for, and the page of a proxy is none", async () => {
  const yaml = "organizations:\n  - slug: acme\n";
  const headers = { "content-type": "application/yaml; charset=utf-8" };
  const { client, requests } = await serve([
    { status: 200, headers, body: yaml },
    { status: 200, body: { organizations: [{ slug: "acme" }] } },
    { status: 200, headers: { "content-type": "text/html" }, body: "<html>" },
  ]);
  const text: string = await client.call("exportDefinitionFile", { query: { format: "yaml" } });
  expect(text).toBe(yaml);
  const { organizations } = await client.call("exportDefinitionFile", { query: { format: "json" } });
  expect(organizations).toEqual([{ slug: "acme" }]);
  await expect(client.call("exportDefinitionFile", { query: { format: "yaml" } })).rejects.toThrow(
    "not JSON",
  );
  expect(requests.map(({ path }) => path)).toEqual([
    "/v1/export?format=yaml",
    "/v1/export?format=json",
    "/v1/export?format=yaml",
  ]);
});

describe("the end of a run", () => {
  it("is waited for again and again", async () => {
    const { client, requests } = await serve([
      STARTED,
      run("Pending"),
      run("Completed", { finalOutput: "391" }),
    ]);
    expect(await client.runAgent(ID, "Hello").output()).toBe("391");
    expect(requests.map(({ path }) => path).slice(1)).toEqual(
      Array.from({ length: 2 }, () => `/v1/agents/run/${ID}/status?wait=30`),
    );
  });

  it("without an output is an error", async () => {
    const { client } = await serve([STARTED, run("Failed", { errorMessage: "No credits." })]);
    const error = await client
      .runTool(ID)
      .output()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RunFailedError);
    expect(error).toMatchObject({ message: "No credits.", runId: ID, status: "Failed" });
  });
});

it("reads a list to its end", async () => {
  const page = (data: object[], nextCursor: string | null) => ({ status: 200, body: { data, nextCursor } });
  const { client, requests } = await serve([
    page([{ id: "1" }, { id: "2" }], "c-2"),
    page([{ id: "3" }], null),
  ]);
  const ids: string[] = [];
  for await (const { id } of client.each("listRuns", {
    query: { status: "Failed", "metadata.customer": "acme" },
  }))
    ids.push(id);
  expect(ids).toEqual(["1", "2", "3"]);
  expect(requests.map(({ path }) => path)).toEqual([
    "/v1/runs?status=Failed&metadata.customer=acme",
    "/v1/runs?status=Failed&metadata.customer=acme&cursor=c-2",
  ]);
});

describe("pauses", () => {
  it("are never shorter than Retry-After, and not the same for all", () => {
    expect([pauseMs(0, 2_000, 0), pauseMs(0, 2_000, 1)]).toEqual([2_000, 2_500]);
    expect([pauseMs(0, null, 0), pauseMs(0, null, 1)]).toEqual([250, 500]);
    expect([pauseMs(9, null, 0), pauseMs(9, null, 1)]).toEqual([4_000, 8_000]);
  });

  it.each([
    ["17", 17_000],
    ["Thu, 26 Nov 2026 10:00:05 GMT", 5_000],
    ["Thu, 26 Nov 2026 09:00:00 GMT", 0],
    ["soon", null],
    [null, null],
  ])("read Retry-After %s", (text, ms) => {
    expect(readRetryAfter(text, Date.parse("2026-11-26T10:00:00Z"))).toBe(ms);
  });
});
