import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { startTestService, type TestService } from "@/testing/services/service";

/** With the official client, in both revisions of the protocol. */

const DEFINITIONS = `organizations:
  - slug: mcp
    credits: 100
    plan: { startsPerMinute: 20 }
    apiKeys:
      - { name: all }
      - { name: one, tools: [stock] }
      - { name: reader, scopes: ["runs:read"] }
    tools:
      - slug: stock
        name: Stock
        description: How many are in stock.
        parameters: { type: object, properties: { sku: { type: string } }, required: [sku] }
        outputSchema: { type: object, properties: { sku: { type: string }, inStock: { type: integer } } }
        steps: [{ id: level, uses: calculate, with: { expression: 6 - 2 } }]
        output: { sku: "{{ input.sku }}", inStock: "{{ steps.level }}" }
      - slug: broken
        name: Broken
        steps: [{ id: level, uses: calculate, with: { expression: 1 / 0 } }]
        output: none
      - slug: slow
        name: Slow
        steps: [{ id: pause, uses: wait, with: { seconds: 600 } }]
        output: done
    agents:
      - { slug: helper, name: Helper, model: gpt-5-mini, systemPrompt: You help., functions: [calculate] }
      - { slug: off, name: Off, model: gpt-5-mini, status: inactive }
`;

const applied = z.object({ apiKeys: z.array(z.object({ name: z.string(), key: z.string() })) });

let service: TestService;
const keys = new Map<string, string>();

beforeAll(async () => {
  service = await startTestService();
  const [organization] = await applyDefinitionFile(service.services, DEFINITIONS);
  for (const { name, key } of applied.parse(organization).apiKeys) keys.set(name, key);
});
afterAll(() => service?.stop());

const TYPES = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const ERAS = ["legacy", "auto"] as const;

async function connect(mode: (typeof ERAS)[number] = "auto", key = keys.get("all")) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", service.origin), { requestInit }));
  return client;
}

async function post(
  headers: Record<string, string>,
): Promise<{ status: number; code: unknown; challenge: string | null }> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const response = await fetch(new URL("/mcp", service.origin), {
    method: "POST",
    headers: { ...TYPES, ...headers },
    body,
  });
  const text = await response.text();
  const { code } = z.object({ code: z.unknown().optional() }).parse(response.ok ? {} : JSON.parse(text));
  return { status: response.status, code, challenge: response.headers.get("www-authenticate") };
}

const runsOf = () => service.services.db.run.findMany({ orderBy: { createdAt: "desc" } });

describe.each(ERAS)("a client of the era %s", (era) => {
  it("sees active agents and tools with their schemas", async () => {
    const client = await connect(era);
    const { tools } = await client.listTools();
    await client.close();
    expect(tools.map(({ name }) => name)).toEqual(["agent_helper", "tool_broken", "tool_slow", "tool_stock"]);
    expect(tools.at(-1)).toMatchObject({
      title: "Stock",
      description: "How many are in stock.",
      inputSchema: { type: "object", required: ["sku"] },
      outputSchema: { type: "object" },
    });
    expect(tools[0]?.inputSchema.required).toEqual(["userMessage"]);
  });

  it("calls them, with progress and structured output", async () => {
    const client = await connect(era);
    await client.listTools();
    const seen: string[] = [];
    const onprogress = ({ message }: { message?: string | undefined }) => seen.push(message ?? "");
    const stock = await client.callTool({ name: "tool_stock", arguments: { sku: "A-1" } }, { onprogress });
    expect(stock.isError).toBeFalsy();
    expect(stock.structuredContent).toEqual({ sku: "A-1", inStock: 4 });
    expect(stock.content).toEqual([{ type: "text", text: '{"sku":"A-1","inStock":4}' }]);
    expect(seen).toEqual(expect.arrayContaining(["Runs", "calculate runs", "calculate: Completed"]));
    const answer = await client.callTool({
      name: "agent_helper",
      arguments: { userMessage: "What is 17 * 23?" },
    });
    expect(JSON.stringify(answer.content)).toContain("391");
    await client.close();
  });

  it("gets failures and invalid inputs as results", async () => {
    const client = await connect(era);
    const broken = await client.callTool({ name: "tool_broken", arguments: {} });
    expect(broken).toMatchObject({ isError: true });
    const before = (await runsOf()).length;
    const invalid = await client.callTool({ name: "tool_stock", arguments: {} });
    expect(invalid).toMatchObject({ isError: true, _meta: { code: "invalid_request" } });
    expect(JSON.stringify(invalid.content)).toContain("sku");
    for (const name of ["agent_off", "tool_unknown", "other"]) {
      await expect(client.callTool({ name, arguments: {} })).rejects.toThrow(name);
    }
    expect(await runsOf()).toHaveLength(before);
    await client.close();
  });

  it("cancels the run with its call", async () => {
    const client = await connect(era);
    const leave = new AbortController();
    const onprogress = ({ message }: { message?: string | undefined }) => {
      if (message === "wait runs") leave.abort();
    };
    const call = client.callTool({ name: "tool_slow", arguments: {} }, { signal: leave.signal, onprogress });
    await expect(call).rejects.toThrow();
    const last = async () => (await runsOf())[0];
    await expect.poll(async () => (await last())?.status).toBe("Cancelled");
    expect((await last())?.cancelledBy).toContain("API key");
    // Earlier, it would abort the request that cancels.
    await client.close();
  });
});

describe("a key", () => {
  it("that is limited sees and calls only its tools", async () => {
    const client = await connect("auto", keys.get("one"));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["tool_stock"]);
    await expect(client.callTool({ name: "tool_slow", arguments: {} })).rejects.toThrow("tool_slow");
    await client.close();
  });

  it("is needed, with both scopes", async () => {
    expect(await post({})).toEqual({ status: 401, code: "unauthenticated", challenge: "Bearer" });
    expect(await post({ Authorization: "Bearer sw_wrong" })).toMatchObject({ status: 401 });
    expect(await post({ Authorization: `Bearer ${keys.get("reader")}` })).toMatchObject({
      status: 403,
      code: "forbidden",
    });
  });

  it("is not used by pages of other sites", async () => {
    const Authorization = `Bearer ${keys.get("all")}`;
    expect(await post({ Authorization, Origin: "https://evil.test" })).toMatchObject({
      status: 403,
      code: "forbidden",
    });
    expect(await post({ Authorization, Origin: service.origin })).toMatchObject({ status: 200 });
  });
});

it("a call has its response's head at once", { timeout: 12_000 }, async () => {
  // The first thing that the protocol's package sends comes after 15 seconds.
  const params = { name: "tool_slow", arguments: {} };
  const response = await fetch(new URL("/mcp", service.origin), {
    method: "POST",
    headers: { ...TYPES, Authorization: `Bearer ${keys.get("all")}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  await response.body?.cancel();
});

it("a call counts as a start", async () => {
  const client = await connect();
  let limited = null;
  for (let n = 0; n < 25 && limited === null; n += 1) {
    const { isError, _meta } = await client.callTool({ name: "tool_stock", arguments: { sku: "A-1" } });
    if (isError) limited = _meta;
  }
  expect(limited).toMatchObject({ code: "rate_limited" });
  await client.close();
});
