import { afterEach, expect, test, vi } from "vitest";
import { commandOf, missingIn, send } from "./call";
import type { Operation } from "./read-document";

const field = { type: "string", required: true, description: "" };
const start: Operation = {
  id: "runAgent",
  tag: "Agents",
  method: "POST",
  path: "/v1/agents/run/{agentId}",
  summary: "",
  description: "",
  keyed: true,
  parameters: [
    { ...field, name: "agentId", in: "path" },
    { ...field, name: "Idempotency-Key", in: "header", required: false },
  ],
  body: { fields: [], example: "{}" },
  response: { fields: [], example: "{}" },
  errors: [],
};

test("a command has the ids, the given headers and a placeholder for the key", () => {
  const values = { agentId: "a/b", "Idempotency-Key": " it's " };
  const call = { operation: start, values, body: '{"userMessage":"Hello"}' };
  expect(commandOf(call, "https://s.test")).toBe(
    [
      "curl -X POST 'https://s.test/v1/agents/run/a%2Fb'",
      '  -H "X-API-Key: $API_KEY"',
      "  -H 'Idempotency-Key: it'\\''s'",
      "  -H 'Content-Type: application/json'",
      `  --data-raw '{"userMessage":"Hello"}'`,
    ].join(" \\\n"),
  );
});

test("a call names its missing parts, and a read has neither method nor body", () => {
  const read: Operation = { ...start, method: "GET", body: null };
  const call = { operation: read, values: { agentId: " " }, body: "" };
  expect(missingIn(call)).toEqual(["agentId"]);
  expect(commandOf(call, "")).toBe("curl '/v1/agents/run/{agentId}' \\\n  -H \"X-API-Key: $API_KEY\"");
});

test("a change has its method, and one without a body no content type", () => {
  const change: Operation = { ...start, method: "PATCH", path: "/v1/agents/{agentId}" };
  const values = { agentId: "a" };
  expect(commandOf({ operation: change, values, body: "{}" }, "https://s.test")).toBe(
    [
      "curl -X PATCH 'https://s.test/v1/agents/a'",
      '  -H "X-API-Key: $API_KEY"',
      "  -H 'Content-Type: application/json'",
      "  --data-raw '{}'",
    ].join(" \\\n"),
  );
  const removal: Operation = { ...change, method: "DELETE", body: null };
  expect(commandOf({ operation: removal, values, body: "" }, "https://s.test")).toBe(
    "curl -X DELETE 'https://s.test/v1/agents/a' \\\n  -H \"X-API-Key: $API_KEY\"",
  );
});

afterEach(() => void vi.unstubAllGlobals());

test.each([
  ["text/event-stream", { ok: true, text: "event: snapshot" }],
  ["application/json", { failure: "There was no response within 40 s." }],
])("of an answer in %s that does not end, only events are shown", async (type, expected) => {
  const body = new ReadableStream(
    {
      start: (controller) => controller.enqueue(new TextEncoder().encode("event: snapshot")),
      pull: (controller) => controller.error(new DOMException("late", "TimeoutError")),
    },
    { highWaterMark: 0 },
  );
  vi.stubGlobal("fetch", async () => new Response(body, { headers: { "content-type": type } }));
  expect(await send({ operation: start, values: { agentId: "a" }, body: "{}" }, "key")).toMatchObject(
    expected,
  );
});

test("the query has the parameters that are filled in", () => {
  const parameters = ["status", "cursor"].map((name) => ({
    ...field,
    name,
    in: "query" as const,
    required: false,
  }));
  const list: Operation = { ...start, method: "GET", path: "/v1/runs", body: null, parameters };
  const values = { status: " Failed&x ", cursor: "" };
  const [line] = commandOf({ operation: list, values, body: "" }, "https://s.test").split(" \\\n");
  expect(line).toBe("curl 'https://s.test/v1/runs?status=Failed%26x'");
});

test("no value breaks out of its place in the address or the command", () => {
  const values = { agentId: "$&{x}/../'?#\uD83D\uDE00\uD83D", "Idempotency-Key": '@/etc/passwd" $(id)' };
  const lines = commandOf({ operation: start, values, body: "'; rm -rf / #" }, "https://s.test").split(
    " \\\n",
  );
  expect(lines[0]).toBe(
    "curl -X POST 'https://s.test/v1/agents/run/%24%26%7Bx%7D%2F..%2F'\\''%3F%23%F0%9F%98%80%EF%BF%BD'",
  );
  expect(lines[2]).toBe(`  -H 'Idempotency-Key: @/etc/passwd" $(id)'`);
  expect(lines[4]).toBe("  --data-raw ''\\''; rm -rf / #'");
});
