import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, expect, it } from "vitest";
import { exportTraces } from "@/server/operate/traces/export-traces";
import { indexEndedRuns } from "@/server/runs/read/find/run-index";
import { executeRun } from "@/testing/execute";
import { closeServer, listen } from "@/testing/servers/listen";
import { insertTool } from "@/testing/tools";
import { createTenant, createTrigger, openWorld } from "@/testing/world";
import { respondToWebRequest } from "./http/api-request";
import { respondToMcp } from "./mcp/mcp";
import { handleRest } from "./rest";
import { handleWebhook } from "./webhook";

type Span = { traceId: string; spanId: string; parentSpanId?: string; name: string };
let spans: Span[] = [];
const collector = createServer(async (incoming, outgoing) => {
  const [{ scopeSpans }] = JSON.parse(await text(incoming)).resourceSpans;
  spans.push(...scopeSpans[0].spans);
  outgoing.end("{}");
});
const url = `http://127.0.0.1:${await listen(collector)}`;
afterAll(() => closeServer(collector));

const sent: (string | null)[] = [];
const world = await openWorld({
  env: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
  fetch: async (_address, { headers } = {}) => {
    sent.push(new Headers(headers).get("traceparent"));
    return new Response("ok");
  },
});
const tenant = await createTenant(world);
const toolId = await insertTool(world, tenant, {
  slug: "fetcher",
  definition: { steps: [{ id: "fetch", uses: "http_request", with: { url: "https://api.example.com/" } }] },
});

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";

async function trace(runId: string): Promise<Span[]> {
  spans = [];
  await executeRun(world, runId);
  await indexEndedRuns(world);
  const { traces } = world.env;
  if (traces === undefined) throw new Error("no collector");
  await exportTraces(world, traces);
  return spans;
}

async function start(traceparent?: string): Promise<string> {
  const request = new Request(`http://stepwell.test/v1/tools/run/${toolId}`, {
    method: "POST",
    headers: {
      "x-api-key": tenant.key,
      "content-type": "application/json",
      ...(traceparent && { traceparent }),
    },
    body: "{}",
  });
  return (await (await handleRest(world, request)).json()).id;
}

it("a start's trace continues in the run, its steps, and the servers that they call", async () => {
  const [run, step] = await trace(await start(`00-${TRACE}-${CALLER}-01`));
  expect(run).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
  expect(step).toMatchObject({
    traceId: TRACE,
    parentSpanId: run?.spanId,
    name: "execute_tool http_request",
  });
  expect(sent.pop()).toBe(`00-${TRACE}-${step?.spanId}-01`);
});

it("a webhook's trace continues, too", async () => {
  const { token } = await createTrigger(world, tenant);
  const call = new Request(`http://stepwell.test/webhooks/${token}`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent: `00-${TRACE}-${CALLER}-01` },
    body: '{"event":1}',
  });
  const { runId } = await (await handleWebhook(world, call)).json();
  expect((await trace(runId))[0]).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
});

it("the trace of an MCP call's message continues, rather than that of its connection", async () => {
  const call = new Request("http://stepwell.test/mcp", {
    method: "POST",
    headers: {
      authorization: `Bearer ${tenant.key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      traceparent: `00-${TRACE.replace("0", "1")}-${CALLER}-01`,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "tool_fetcher", arguments: {}, _meta: { traceparent: `00-${TRACE}-${CALLER}-01` } },
    }),
  });
  const response = await respondToWebRequest(call, (request) => respondToMcp(world, request));
  const find = () => world.db.run.findFirst({ where: { toolId, finishedAt: null } });
  await expect.poll(find).not.toBeNull();
  const run = await find();
  expect((await trace(run?.id ?? ""))[0]).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
  expect(await response.text()).toContain('"result"');
});

it("a trace that the caller does not sample is passed on and not exported", async () => {
  expect(await trace(await start(`00-${TRACE}-${CALLER}-00`))).toEqual([]);
  expect(sent.pop()).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
});

it.each([undefined, "broken"])("a run with the header %s begins a trace", async (header) => {
  const id = await start(header);
  const [run] = await trace(id);
  expect([run?.traceId, run?.parentSpanId]).toEqual([id.replaceAll("-", ""), undefined]);
});
