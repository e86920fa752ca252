import { describe, expect, it, vi } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { KIB, MIB } from "@/server/contract/sizes";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { acquireStreamSlot, STREAM_LIMITS } from "@/server/guard/limits/stream-slots";
import { executeRun } from "@/testing/execute";
import { type Era, postMcp, readMcp, sendMcp } from "@/testing/mcp-messages";
import { insertTool } from "@/testing/tools";
import { createTenant, openWorld, type Tenant } from "@/testing/world";

/** The rules of `/v1` on `/mcp`, with an engine that executes only what the tests execute. */

const world = await openWorld();
const tenant = await createTenant(world);
const CALL = { method: "tools/call", params: { name: "tool_adder", arguments: { a: 1, b: 2 } } };

const runsOf = ({ orgId }: Tenant) =>
  world.db.run.findMany({ where: { organizationId: orgId }, orderBy: { createdAt: "desc" } });
const waiting = () => world.endWaiters.size;

async function expectRuns(of: Tenant, count: number) {
  await expect.poll(async () => (await runsOf(of)).length).toBe(count);
  const [last] = await runsOf(of);
  return last?.id ?? "";
}
const statusOf = async (id: string) => {
  const run = await world.db.run.findUniqueOrThrow({ where: { id } });
  return run.cancelRequestedAt === null ? run.status : "Cancelled";
};

const insertEcho = (of: Tenant) =>
  insertTool(world, of, {
    slug: "echo",
    definition: {
      steps: [{ id: "one", uses: "calculate", with: { expression: "1" } }],
      output: "{{ input }}",
    },
  });

describe("a message", () => {
  const headers = { Authorization: `Bearer ${tenant.key}` };
  const call = (value: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool_adder","arguments":${value}}}`;

  it.each([
    ["a batch", `[${call("{}")}]`, {}, 400],
    ["nested deeply", call(`{"a":${"[".repeat(201)}${"]".repeat(201)}}`), {}, 400],
    ["with a key twice", call('{"a":1,"a":2}'), {}, 400],
    ["empty", "", {}, 400],
    ["no JSON", "{", {}, 400],
    ["of another type", call("{}"), { "Content-Type": "text/plain" }, 400],
    ["compressed", call("{}"), { "Content-Encoding": "gzip" }, 415],
    ["too large", call(`{"a":"${"x".repeat(MIB)}"}`), {}, 413],
    ["from another site", call("{}"), { Origin: "https://evil.test" }, 403],
    ["with arguments that are no object", call('"x"'), { "MCP-Protocol-Version": "2025-11-25" }, 200],
    ["of an unknown revision", call("{}"), { "MCP-Protocol-Version": "1999-01-01" }, 400],
  ])("%s is rejected, and starts nothing", async (_, body, more, status) => {
    const before = (await runsOf(tenant)).length;
    const response = await postMcp(world, body, { headers: { ...headers, ...more } });
    expect(response.status).toBe(status);
    if (status === 200) expect(await readMcp(response)).toMatchObject({ error: { code: -32602 } });
    else await response.text();
    expect(await runsOf(tenant)).toHaveLength(before);
  });

  it.each([
    ["tools/call", { name: "tool_\0" }],
    ["tools/list", { cursor: "tool_\0" }],
  ])("%s with a name that no tool can have is rejected like one of no tool", async (method, params) => {
    const { length } = world.log.entries;
    const response = await sendMcp(world, { method, params }, { key: tenant.key, era: "legacy" });
    expect(await readMcp(response)).toMatchObject({ error: { code: -32602 } });
    expect(world.log.entries).toHaveLength(length);
  });

  it("goes to /mcp itself", async () => {
    const response = await postMcp(world, call("{}"), { headers, path: "/mcp/other" });
    expect(response.status).toBe(404);
  });

  it("keeps the digits of its arguments", async () => {
    await insertEcho(tenant);
    const digits = '{"n":12345678901234567890.125}';
    const body = call(digits).replace("tool_adder", "tool_echo");
    const response = postMcp(world, body, { headers });
    const run = await expectRuns(tenant, 1);
    expect(await world.db.run.findUniqueOrThrow({ where: { id: run } })).toMatchObject({ input: digits });
    await executeRun(world, run);
    expect(await readMcp(await response)).toMatchObject({ result: { content: [{ text: digits }] } });
  });
});

describe("memory", () => {
  // An organization's bodies have 2 MiB, and each counts twice.
  const small = { ...world, memory: new ProcessMemory({ limit: 32 * MIB, used: () => 0 }) };

  function startCall(of: Tenant, bytes: number) {
    let send = () => {};
    let isRead = false;
    const pull = (stream: ReadableStreamDefaultController<Uint8Array>) => {
      isRead = true;
      return new Promise<void>((resolve) => {
        send = () => {
          const message = { jsonrpc: "2.0", id: 1, ...CALL };
          stream.enqueue(Buffer.from(JSON.stringify(message)));
          stream.close();
          resolve();
        };
      });
    };
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const headers = { Authorization: `Bearer ${of.key}`, "Content-Length": String(bytes) };
    return { response: postMcp(small, body, { headers }), isRead: () => isRead, send: () => send() };
  }

  it("of a result is held until its client has taken it, and another result waits for it", async () => {
    const of = await createTenant(world);
    await insertEcho(of);
    const ask = async () => {
      const text = "x".repeat(400 * KIB);
      const call = { method: "tools/call", params: { name: "tool_echo", arguments: { text } } };
      return sendMcp(small, call, { key: of.key });
    };
    const hasRoom = () => small.memory.unread.hasRoom(of.orgId, MIB);
    const held = vi.spyOn(small.memory, "enter");
    const responses = [await ask(), await ask()];
    await expectRuns(of, 2);
    for (const { id } of await runsOf(of)) await executeRun(world, id);
    // 2 MiB are for an organization, and a result counts three times.
    await expect.poll(() => held.mock.calls.filter(([, { kind }]) => kind === "unread").length).toBe(2);
    expect(hasRoom()).toBe(false);
    const [first, second] = await Promise.all(responses.map(readMcp));
    for (const each of [first, second]) expect(each).toMatchObject({ result: { structuredContent: {} } });
    expect(hasRoom()).toBe(true);
  });

  it("of a body is held until its run has started, not until the run ends", async () => {
    const [flooding, calm] = [await createTenant(world), await createTenant(world)];
    const first = startCall(flooding, MIB);
    await expect.poll(first.isRead).toBe(true);
    const second = startCall(flooding, MIB);
    const others = [startCall(flooding, 8 * KIB), startCall(calm, MIB)];
    for (const { isRead } of others) await expect.poll(isRead).toBe(true);
    expect(second.isRead()).toBe(false);
    first.send();
    await expect.poll(second.isRead).toBe(true);
    // The first call still waits for its run.
    const run = await expectRuns(flooding, 1);
    expect(waiting()).toBe(1);
    for (const { send } of [second, ...others]) send();
    await expectRuns(flooding, 3);
    for (const of of [flooding, calm]) for (const { id } of await runsOf(of)) await executeRun(world, id);
    const responses = await Promise.all([first, second, ...others].map(({ response }) => response));
    const results = await Promise.all(responses.map(readMcp));
    expect(results.map(({ result }) => result?.structuredContent)).toEqual(Array(4).fill({ sum: 3 }));
    expect(results[0]).toMatchObject({ result: { _meta: { runId: run } } });
  });
});

describe("a key", () => {
  it("sees and calls nothing of another organization", async () => {
    const stranger = await createTenant(world);
    await insertTool(world, stranger, { slug: "theirs", definition: { steps: [], output: "x" } });
    const list = await readMcp(await sendMcp(world, { method: "tools/list" }, tenant));
    const names = list.result?.tools.map(({ name }) => name);
    expect(names).toContain("tool_adder");
    expect(names).not.toContain("tool_theirs");
    expect(list.result).toMatchObject({ ttlMs: 0, cacheScope: "private" });
    const call = { method: "tools/call", params: { name: "tool_theirs", arguments: {} } };
    const [foreign, unknown] = await Promise.all(
      [call, { ...call, params: { ...call.params, name: "tool_nobodys" } }].map(async (each) =>
        readMcp(await sendMcp(world, each, tenant)),
      ),
    );
    expect(foreign).toMatchObject({ error: { code: -32602 } });
    expect(foreign?.error?.message.replace("theirs", "nobodys")).toBe(unknown?.error?.message);
    expect(await runsOf(stranger)).toEqual([]);
  });

  it("has a limited number of calls in progress, beyond which nothing starts", async () => {
    const busy = await createTenant(world);
    const slots = Array.from({ length: STREAM_LIMITS.key }, () => acquireStreamSlot(world, busy));
    const { result } = await readMcp(await sendMcp(world, CALL, busy));
    expect(result).toMatchObject({ isError: true, _meta: { code: "rate_limited" } });
    expect(await runsOf(busy)).toEqual([]);
    for (const slot of slots) if ("release" in slot) slot.release();
  });

  it("has its reads counted, one for each message", async () => {
    const limited = await createTenant(world, { plan: { readsPerMinute: 2 } });
    const ask = () => sendMcp(world, { method: "tools/list" }, limited);
    const statuses = [await ask(), await ask(), await ask()].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it("that is revoked ends its calls, and the run continues", async () => {
    const revoked = await createTenant(world);
    const response = sendMcp(world, CALL, revoked);
    const run = await expectRuns(revoked, 1);
    const data = { revokedAt: world.clock.now() };
    await world.db.apiKey.update({ where: { id: revoked.apiKeyId }, data });
    const { result } = await readMcp(await response);
    expect(result).toMatchObject({ isError: true, _meta: { runId: run, code: "unauthenticated" } });
    expect(await statusOf(run)).toBe("Pending");
  });

  it("gives its calls the options of a start by headers", async () => {
    const customer = await createTenant(world);
    const headers = { "X-Metadata": '{"customer":"acme"}', "X-Deadline-Seconds": "60" };
    const response = sendMcp(world, CALL, { key: customer.key, headers });
    const run = await expectRuns(customer, 1);
    expect(await world.db.run.findUniqueOrThrow({ where: { id: run } })).toMatchObject({
      deadlineSeconds: 60,
    });
    await executeRun(world, run);
    await response;
    const wrong = await sendMcp(world, CALL, { key: customer.key, headers: { "X-Max-Credits": "much" } });
    expect(await readMcp(wrong)).toMatchObject({
      result: { isError: true, _meta: { code: "invalid_request" } },
    });
  });
});

describe("a call", () => {
  const session = { "Mcp-Session-Id": "s-1" };
  const cancelled = (requestId: number) => ({ method: "notifications/cancelled", params: { requestId } });

  async function openCall(era: Era, more: { headers?: Record<string, string>; id?: number } = {}) {
    const owner = await createTenant(world);
    const leave = new AbortController();
    const sent = { key: owner.key, era, signal: leave.signal, ...more };
    const response = await sendMcp(world, CALL, { ...sent, progress: true });
    const run = await expectRuns(owner, 1);
    await expect.poll(waiting).toBe(1);
    return { owner, run, response, leave: () => leave.abort() };
  }

  it("of 2026-07-28 is cancelled when its client disconnects", async () => {
    const { run, leave } = await openCall("modern");
    leave();
    await expect.poll(() => statusOf(run)).toBe("Cancelled");
    await expect.poll(waiting).toBe(0);
  });

  it("of 2025 goes on when its client disconnects", async () => {
    const { run, leave } = await openCall("legacy", { headers: session });
    leave();
    await expect.poll(waiting).toBe(0);
    expect(await statusOf(run)).toBe("Pending");
  });

  it("of 2025 is cancelled by a message of its session and key, also in another process", async () => {
    const other = await openWorldBeside();
    const { owner, run, response } = await openCall("legacy", { headers: session, id: 7 });
    const stranger = await createTenant(world);
    const send = (id: number, by: Tenant, headers: Record<string, string>) =>
      sendMcp(other, cancelled(id), { key: by.key, era: "legacy", headers });
    const elsewhere = { "Mcp-Session-Id": "s-2" };
    for (const each of [send(7, stranger, session), send(7, owner, elsewhere), send(8, owner, session)]) {
      expect((await each).status).toBe(202);
    }
    expect((await send(7, owner, {})).status).toBe(202);
    expect(await statusOf(run)).toBe("Pending");
    expect((await send(7, owner, session)).status).toBe(202);
    expect(await statusOf(run)).toBe("Cancelled");
    expect(await readMcp(response)).toMatchObject({ id: 7, result: { isError: true } });
  });

  it("of 2025 that its client repeats starts no second run", async () => {
    const { owner, run, response, leave } = await openCall("legacy", { headers: session, id: 3 });
    leave();
    await response.text().catch(() => {});
    await expect.poll(waiting).toBe(0);
    const again = await sendMcp(world, CALL, {
      key: owner.key,
      era: "legacy",
      headers: session,
      id: 3,
      progress: true,
    });
    await expect.poll(waiting).toBe(1);
    await executeRun(world, run);
    expect(await readMcp(again)).toMatchObject({
      result: { structuredContent: { sum: 3 }, _meta: { runId: run } },
    });
    expect(await runsOf(owner)).toHaveLength(1);
  });

  it("names its session at the start of one", async () => {
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    };
    const response = await sendMcp(
      world,
      { method: "initialize", params },
      { key: tenant.key, era: "legacy" },
    );
    expect(response.headers.get("mcp-session-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(await readMcp(response)).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  });

  it("whose client reads slowly gets all progress in order, and then its result", async () => {
    const owner = await createTenant(world);
    const steps: JsonObject[] = [
      { id: "each", uses: "calculate", with: { expression: "1 + 1" }, forEach: "[1..120]" },
    ];
    await insertTool(world, owner, { slug: "many", definition: { steps, output: "done" } });
    const call = { ...CALL, params: { name: "tool_many", arguments: {} } };
    const response = await sendMcp(world, call, { key: owner.key, progress: true });
    const run = await expectRuns(owner, 1);
    await executeRun(world, run);
    const frames = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
    const messages = frames.map((line) => JSON.parse(line.slice("data: ".length)));
    const progress = messages.slice(0, -1).map(({ params }) => params.progress);
    expect(progress).toEqual(progress.map((_, n) => n + 1));
    expect(progress.length).toBeGreaterThan(240);
    expect(messages.at(-1)).toMatchObject({ result: { content: [{ text: '"done"' }] } });
  });

  it("shows nothing of an unexpected error", async () => {
    const query = (statement: { name?: string }) =>
      statement.name === "list-callable"
        ? Promise.reject(new Error("secret detail"))
        : Reflect.apply(world.pool.query, world.pool, [statement]);
    const broken = { ...world, pool: Object.assign(Object.create(world.pool), { query }) };
    const { error } = await readMcp(await sendMcp(broken, { method: "tools/list" }, tenant));
    expect(error).toMatchObject({ code: -32603 });
    expect(JSON.stringify(error)).not.toContain("secret");
    expect(world.log.entries.map(({ message }) => message)).toContain("A request failed");
  });

  it("answers when the process stops, and its run continues", async () => {
    const stopping = await openWorldBeside();
    const owner = await createTenant(world);
    const response = sendMcp(stopping, CALL, owner);
    const run = await expectRuns(owner, 1);
    await expect.poll(() => stopping.endWaiters.size).toBe(1);
    stopping.endWaiters.close();
    const { result } = await readMcp(await response);
    expect(result).toMatchObject({ isError: true, _meta: { runId: run } });
    expect(result?.content[0]?.text).toContain("The run continues.");
    expect(await statusOf(run)).toBe("Pending");
  });
});

function openWorldBeside() {
  return openWorld({ beside: world });
}
