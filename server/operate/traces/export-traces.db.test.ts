import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import type { Queryable } from "@/server/base/db/statement";
import type { TraceSettings } from "@/server/base/settings/env";
import { MIB } from "@/server/contract/sizes";
import { removeExpired } from "@/server/operate/retention";
import { indexEndedRuns } from "@/server/runs/read/find/run-index";
import { ModelError } from "@/server/work/models/port";
import { ask, openScriptedWorld } from "@/testing/engine/scripted-world";
import { insertRun } from "@/testing/runs";
import { closeServer, listen } from "@/testing/servers/listen";
import { createTenant } from "@/testing/world";
import { exportTraces, TRACE_BATCH } from "./export-traces";

const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
const value = z.strictObject({
  stringValue: z.string().optional(),
  boolValue: z.boolean().optional(),
  intValue: z
    .string()
    .regex(/^-?\d+$/)
    .optional(),
  doubleValue: z.number().optional(),
  arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: z.string() })) }).optional(),
});
const attributes = z.array(z.strictObject({ key: z.string(), value }));
const span = z.strictObject({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: hex(16).optional(),
  name: z.string(),
  kind: z.union([z.literal(1), z.literal(3)]),
  startTimeUnixNano: z.string().regex(/^\d{19}$/),
  endTimeUnixNano: z.string().regex(/^\d{19}$/),
  attributes,
  status: z.strictObject({ code: z.literal(2), message: z.string() }).optional(),
});
const request = z.strictObject({
  resourceSpans: z.tuple([
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.tuple([
        z.strictObject({ scope: z.strictObject({ name: z.literal("stepwell") }), spans: z.array(span) }),
      ]),
    }),
  ]),
});

let received: z.infer<typeof request>["resourceSpans"][0][] = [];
let headers: (string | undefined)[] = [];
let answer = { status: 200, body: "{}" };
let tooLarge: string | null = null;
let charactersRead = 0;
let onRequest: () => unknown = () => {};
const collector = createServer(async (incoming, outgoing) => {
  charactersRead = 0;
  const sent = await text(incoming);
  const body = request.parse(JSON.parse(sent));
  await onRequest();
  headers = [incoming.headers["content-type"], incoming.headers.authorization];
  const isTooLarge = tooLarge !== null && sent.includes(tooLarge);
  const { status, body: reply } = isTooLarge ? { status: 413, body: "too large" } : answer;
  if (status === 200) received.push(...body.resourceSpans);
  outgoing.writeHead(status, { "content-type": "application/json" }).end(reply);
});
const port = await listen(collector);
afterAll(() => closeServer(collector));

const endpoint = `http://127.0.0.1:${port}/v1/traces`;
const { world, run } = await openScriptedWorld({ env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint } });
const settings: TraceSettings = {
  url: endpoint,
  headers: { authorization: "Basic abc" },
  serviceName: "stepwell",
  contents: false,
};

beforeEach(async () => {
  await world.pool.query("DELETE FROM trace_queue");
  received = [];
  answer = { status: 200, body: "{}" };
  tooLarge = null;
  onRequest = () => {};
});

const queued = async () => (await world.pool.query("SELECT 1 FROM trace_queue")).rowCount;
const spansReceived = () => received.flatMap(({ scopeSpans: [{ spans }] }) => spans);
const attributeOf = ({ attributes }: z.infer<typeof span>, key: string) =>
  Object.values(attributes.find((one) => one.key === key)?.value ?? {})[0];

async function runWithChild() {
  const tenant = await createTenant(world);
  const done = await run(tenant, "Add", (_request, call) => {
    if (call > 1) return { content: "42 and 3" };
    return {
      toolCalls: [
        ...ask("calculate", { expression: "6*7" }, "a").toolCalls,
        ...ask("adder", { a: 1, b: 2 }, "b").toolCalls,
      ],
    };
  });
  expect(done.status).toBe("Completed");
  await indexEndedRuns(world);
  return done;
}

it("sends a run, its calls and its child runs as one trace, and the same spans again", async () => {
  const done = await runWithChild();
  expect(await queued()).toBe(2);
  expect(await exportTraces(world, settings)).toBe(2);
  expect(await queued()).toBe(0);
  expect(headers).toEqual(["application/json", "Basic abc"]);
  const spans = spansReceived();
  const named = (name: string) => spans.find((one) => one.name === name);
  expect(spans.map(({ name }) => name).sort()).toEqual([
    "chat gpt-5-mini",
    "chat gpt-5-mini",
    "execute_tool adder",
    "execute_tool calculate",
    "execute_tool calculate",
    "invoke_agent Helper",
    "invoke_workflow Adder",
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([done.id.replaceAll("-", "")]));
  const root = named("invoke_agent Helper");
  expect(root?.parentSpanId).toBeUndefined();
  expect(named("execute_tool adder")?.parentSpanId).toBe(root?.spanId);
  expect(named("invoke_workflow Adder")?.parentSpanId).toBe(named("execute_tool adder")?.spanId);
  const nameOf = (one: typeof root) => one && attributeOf(one, "gen_ai.agent.name");
  expect([nameOf(root), nameOf(named("invoke_workflow Adder"))]).toEqual(["Helper", "Adder"]);
  const chat = named("chat gpt-5-mini");
  expect(chat?.parentSpanId).toBe(root?.spanId);
  expect(
    chat && [attributeOf(chat, "gen_ai.provider.name"), attributeOf(chat, "gen_ai.usage.input_tokens")],
  ).toEqual(["test", "100"]);
  // No contents without the setting.
  expect(JSON.stringify(received)).not.toContain("42 and 3");

  const first = new Map(spans.map((one) => [one.spanId, one]));
  received = [];
  await world.pool.query(
    "INSERT INTO trace_queue (run_id, organization_id, queued_at, next_at) SELECT id, organization_id, now(), '2020-01-01' FROM runs WHERE root_run_id = $1",
    [done.id],
  );
  await exportTraces(world, { ...settings, contents: true });
  expect(new Set(spansReceived().map(({ spanId }) => spanId))).toEqual(new Set(first.keys()));
  expect(JSON.stringify(received)).toContain("42 and 3");
  const replies = spansReceived().map((one) => attributeOf(one, "gen_ai.output.messages"));
  expect(replies).toContainEqual(expect.stringContaining('"arguments":{"expression":"6*7"}'));
});

it("sends error messages, which may quote inputs, only with the setting for contents", async () => {
  const tenant = await createTenant(world);
  const done = await run(tenant, "Add", (_request, call) => {
    if (call === 1) return ask("calculate", { expression: "private_word + 1" });
    throw new ModelError("The provider rejects private_word.", { reason: "rejected", attempts: [] });
  });
  expect(done.status).toBe("Failed");
  for (const contents of [false, true]) {
    received = [];
    await world.pool.query("DELETE FROM trace_queue");
    await world.pool.query(
      "INSERT INTO trace_queue (run_id, organization_id, queued_at, next_at) SELECT id, organization_id, now(), '2020-01-01' FROM runs WHERE id = $1",
      [done.id],
    );
    await exportTraces(world, { ...settings, contents });
    const failed = spansReceived().filter(({ status }) => status !== undefined);
    const kinds = new Set(failed.map(({ name }) => name.split(" ")[0]));
    expect(kinds).toEqual(new Set(["invoke_agent", "chat", "execute_tool"]));
    for (const { name, status } of failed)
      expect(status?.message.includes("private_word"), name).toBe(contents);
  }
});

it("a step that started again after a crash starts no later than its child run", async () => {
  const done = await runWithChild();
  await world.pool.query(
    "UPDATE steps SET started_at = started_at + interval '1 s', finished_at = finished_at + interval '2 s' WHERE run_id = $1",
    [done.id],
  );
  await exportTraces(world, settings);
  const startOf = (name: string) => spansReceived().find((one) => one.name === name)?.startTimeUnixNano;
  expect(startOf("execute_tool adder")).toBe(startOf("invoke_workflow Adder"));
});

it("a run whose start was written after its first step starts no later than that step", async () => {
  const done = await runWithChild();
  for (const table of ["steps", "model_calls"])
    await world.pool.query(
      `UPDATE ${table} SET started_at = started_at - interval '1 s'
       WHERE run_id IN (SELECT id FROM runs WHERE root_run_id = $1)`,
      [done.id],
    );
  await exportTraces(world, settings);
  const spans = spansReceived();
  const startOf = (one: (typeof spans)[0]) => BigInt(one.startTimeUnixNano);
  for (const one of spans) {
    const parent = spans.find(({ spanId }) => spanId === one.parentSpanId);
    if (parent) expect(startOf(parent), one.name).toBeLessThanOrEqual(startOf(one));
  }
});

it("keeps what an absent or busy collector did not take, and tries again later, for a day", async () => {
  await runWithChild();
  answer = { status: 503, body: "busy" };
  expect(await exportTraces(world, settings)).toBe(2);
  expect([await queued(), await exportTraces(world, settings)]).toEqual([2, 0]);
  world.clock.advance(16_000);
  expect(await exportTraces(world, { ...settings, url: "http://127.0.0.1:1/v1/traces" })).toBe(2);
  expect(await queued()).toBe(2);
  world.clock.advance(60_000);
  answer = { status: 200, body: "{}" };
  expect(await exportTraces(world, settings)).toBe(2);
  expect([await queued(), spansReceived().length]).toEqual([0, 7]);

  await runWithChild();
  answer = { status: 503, body: "busy" };
  world.clock.advance(25 * 3_600_000);
  expect([await exportTraces(world, settings), await queued()]).toEqual([2, 0]);
});

it.each([
  [{ status: 400, body: "bad" }, "400 bad"],
  [
    { status: 200, body: '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}' },
    "3 spans: too old",
  ],
])("logs what the collector rejects for good: %j", async (rejection, error) => {
  await runWithChild();
  answer = rejection;
  await exportTraces(world, settings);
  expect(await queued()).toBe(0);
  expect(world.log.entries.at(-1)?.fields).toMatchObject({ error, runs: 2, dropped: 2 });
});

it("drops only the run that the collector rejects for good", async () => {
  await runWithChild();
  tooLarge = "invoke_workflow Adder";
  expect([await exportTraces(world, settings), await queued(), spansReceived().length]).toEqual([2, 0, 5]);
  expect(world.log.entries.at(-1)?.fields).toEqual({ error: "413 too large", runs: 1, dropped: 1 });
});

it("exports the others while a run cannot be read, and drops that one after a day", async () => {
  const { id } = await runWithChild();
  await world.pool.query(
    "UPDATE steps SET finished_at = 'infinity' WHERE run_id IN (SELECT id FROM runs WHERE parent_run_id = $1)",
    [id],
  );
  expect([await exportTraces(world, settings), await queued(), spansReceived().length]).toEqual([2, 1, 5]);
  world.clock.advance(25 * 3_600_000);
  expect([await exportTraces(world, settings), await queued()]).toEqual([1, 0]);
  expect(world.log.entries.at(-1)?.fields).toMatchObject({ runs: 1, dropped: 1 });
});

async function runOfManyRequests() {
  const done = await runWithChild();
  await world.pool.query(
    `INSERT INTO steps (id, organization_id, run_id, key, step_number, iteration_number, tool_name, status, input, output, started_at, finished_at, duration_ms)
     SELECT gen_random_uuid(), organization_id, id, 'call-9-' || n, 100 + n, 9, 'calculate', 'Completed', repeat('i', 40000), repeat('o', 40000), finished_at, finished_at, 0
     FROM runs, generate_series(1, 200) n WHERE id = $1`,
    [done.id],
  );
}

it("holds a part of a long run's contents in memory, and sends each of its spans once", async () => {
  await runOfManyRequests();
  let most = 0;
  const pool: Queryable = {
    async query(statement) {
      const answer = await world.pool.query(statement);
      charactersRead += JSON.stringify(answer.rows).length;
      most = Math.max(most, charactersRead);
      return answer;
    },
  };
  charactersRead = 0;
  expect(await exportTraces({ ...world, pool }, { ...settings, contents: true })).toBe(2);
  const sent = spansReceived().map(({ spanId }) => spanId);
  expect([sent.length, new Set(sent).size]).toEqual([207, 207]);
  // A request of 4 MiB, and a page of rows.
  expect(most).toBeLessThan(9 * MIB);
});

it("no other process takes a batch whose requests take long", async () => {
  await runOfManyRequests();
  const takenByOthers: number[] = [];
  onRequest = async () => {
    world.clock.advance(9_000);
    takenByOthers.push(await exportTraces(world, settings));
  };
  expect(await exportTraces(world, { ...settings, contents: true })).toBe(2);
  expect(takenByOthers.length).toBeGreaterThan(2);
  expect([new Set(takenByOthers), await queued()]).toEqual([new Set([0]), 0]);
});

it("sends no further request when the process stops, and the batch later", async () => {
  await runOfManyRequests();
  let requests = 0;
  onRequest = () => {
    requests += 1;
  };
  expect(await exportTraces(world, { ...settings, contents: true }, () => requests === 0)).toBe(2);
  expect([requests, await queued()]).toEqual([1, 2]);
  // Nor does a stop after a day drop it.
  world.clock.advance(25 * 3_600_000);
  expect([await exportTraces(world, settings, () => false), await queued()]).toEqual([2, 2]);
  world.clock.advance(60_000);
  expect([await exportTraces(world, settings), await queued()]).toEqual([2, 0]);
});

it("retention drops what no process exports any more", async () => {
  await runWithChild();
  world.clock.advance(24 * 3_600_000);
  expect((await removeExpired(world))?.rows).toMatchObject({ traces: 0 });
  world.clock.advance(2 * 3_600_000);
  expect((await removeExpired(world))?.rows).toMatchObject({ traces: 2 });
  expect(await queued()).toBe(0);
});

it("shares the queue among processes, and drops runs that were removed", async () => {
  const tenant = await createTenant(world);
  for (let n = 0; n < 2 * TRACE_BATCH; n += 1) await insertRun(world, tenant);
  await indexEndedRuns(world);
  await world.db.run.deleteMany({ where: { organizationId: tenant.orgId } });
  expect(await Promise.all([1, 2, 3].map(() => exportTraces(world, settings)))).toEqual(
    expect.arrayContaining([TRACE_BATCH, TRACE_BATCH, 0]),
  );
  expect([await queued(), spansReceived()]).toEqual([0, []]);
});
