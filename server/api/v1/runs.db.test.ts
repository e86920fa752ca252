import { expect, it } from "vitest";
import { newId } from "@/server/base/ids";
import { indexEndedRuns } from "@/server/runs/read/find/run-index";
import { insertRun } from "@/testing/runs";
import { createKey, openRestServer } from "@/testing/servers/rest-server";
import { createTenant, createTrigger, openWorld } from "@/testing/world";
import { runs } from "./runs";

const world = await openWorld();
const { call } = await openRestServer(world);
const plan = { readsPerMinute: null };
const tenant = await createTenant(world, { plan });
const stranger = await createTenant(world, { plan });

const key = await createKey(world, tenant);
const list = (query: string, by = key) => call(`/v1/runs${query}`, { key: by });
const idsOf = (answer: Awaited<ReturnType<typeof list>>) =>
  answer.body.data.map(({ id }: { id: string }) => id);
const found = async (query: string, by = key) => idsOf(await list(query, by));

const { id: triggerId } = await createTrigger(world, tenant);
const ago = (days: number) => new Date(world.clock.now().getTime() - days * 86_400_000);
const done = await insertRun(world, tenant, {
  kind: "agent",
  credits: "0.0612",
  tokens: 412,
  input: "secret in of parcel 42",
  createdAt: ago(3),
});
const failed = await insertRun(world, tenant, {
  status: "Failed",
  error: "secret error",
  source: "webhook",
  triggerId,
  createdAt: ago(2),
});
const child = await insertRun(world, tenant, { source: "run", parentRunId: done, createdAt: ago(1) });
const open = await insertRun(world, tenant, { status: "Pending", source: "api" });
await insertRun(world, stranger, { kind: "agent", input: "of parcel 42" });

it("lists the organization's root runs, newest first, without input and output", async () => {
  const answer = await list("");
  expect(answer.status).toBe(200);
  expect(idsOf(answer)).toEqual([open, failed, done]);
  expect(answer.body.data.at(-1)).toEqual({
    id: done,
    kind: "agent",
    targetId: tenant.agentId,
    targetName: "Helper",
    targetVersion: 1,
    model: "gpt-5-mini",
    status: "Completed",
    errorCode: null,
    source: "operator",
    triggerId: null,
    scheduleId: null,
    apiKeyId: null,
    parentRunId: null,
    metadata: null,
    stepsExecuted: 0,
    tokensUsed: 412,
    actionsUsed: 0,
    creditsUsed: "0.0612",
    createdAt: "2026-11-18T01:22:07.000Z",
    startedAt: expect.any(String),
    finishedAt: expect.any(String),
  });
  expect(answer.body.data[0].creditsUsed).toBe("0.0000");
  expect(answer.body.nextCursor).toBeNull();
  expect(answer.body.applied).toEqual({
    kind: null,
    status: null,
    target: null,
    trigger: null,
    schedule: null,
    key: null,
    source: null,
    from: null,
    to: null,
    text: null,
    metadata: null,
    children: false,
    limit: 50,
  });
  expect(JSON.stringify(answer.body)).not.toContain("secret");
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
});

const filters = (): [query: string, ids: string[]][] => [
  ["?status=Failed", [failed]],
  ["?status=Pending,Failed", [open, failed]],
  ["?status=Completed&children=true", [child, done]],
  ["?children=true", [open, child, failed, done]],
  ["?kind=agent", [done]],
  [`?target=${tenant.toolId}`, [open, failed]],
  [`?target=${tenant.toolId}&children=true`, [open, child, failed]],
  [`?target=${tenant.toolId.toUpperCase()}&status=Failed`, [failed]],
  [`?target=${newId()}`, []],
  [`?trigger=${triggerId}`, [failed]],
  [`?schedule=${newId()}`, []],
  [`?key=${tenant.apiKeyId}`, [open]],
  ["?source=webhook", [failed]],
  ["?source=run&children=true", [child]],
  ["?from=2026-11-19T00:00:00Z", [open, failed]],
  ["?from=2026-11-19T02:22:07%2B01:00&to=2026-11-20T00:00:00Z", [failed]],
  ["?to=2026-11-19T00:00:00Z", [done]],
  ["?text=parcel", [done]],
  [`?text=${"parcel".repeat(2)}`, []],
  [`?text=${failed}`, [failed]],
  ["?text=%00", []],
];

it("finds runs that wait for a slot again as Running, which is their status", async () => {
  const other = await createTenant(world, { plan });
  const ids: string[] = [];
  for (const admitted of [true, false])
    ids.unshift(await insertRun(world, other, { status: "Running", admitted }));
  expect(await found("?status=Running", await createKey(world, other))).toEqual(ids);
});

it("filters open, queued and indexed runs alike, and repeats the filters as understood", async () => {
  for (const [query, ids] of filters()) expect([query, await found(query)]).toEqual([query, ids]);
  await indexEndedRuns(world);
  for (const [query, ids] of filters()) expect([query, await found(query)]).toEqual([query, ids]);
  const { applied } = (await list("?status=Failed,Pending&from=2026-11-19T02:00:00%2B01:00&limit=7")).body;
  expect(applied).toMatchObject({
    status: ["Failed", "Pending"],
    from: "2026-11-19T01:00:00.000Z",
    children: false,
    limit: 7,
  });
});

it("filters by metadata, which a row shows", async () => {
  const insert = (metadata: string) => insertRun(world, tenant, { metadata });
  const first = await insert('{"customer":"acme","seats":3}');
  const second = await insert('{"customer":"other","big":8202522731445525542}');
  for (const index of [false, true]) {
    if (index) await indexEndedRuns(world);
    expect(await found("?metadata.customer=acme")).toEqual([first]);
    expect(await found("?metadata.customer=acme&metadata.seats=3")).toEqual([first]);
    expect(await found("?metadata.customer=acme&metadata.seats=4")).toEqual([]);
    expect(await found("?metadata.big=8202522731445525542")).toEqual([second]);
  }
  const { data, applied } = (await list("?metadata.customer=acme")).body;
  expect([data[0].metadata, applied.metadata]).toEqual([
    { customer: "acme", seats: 3 },
    { customer: "acme" },
  ]);
  expect((await list("?metadata.customer=a&metadata.customer=b")).body.message).toBe(
    "The query parameter metadata.customer is given twice.",
  );
  expect((await list("?metadata=acme")).status).toBe(400);
  const many = Array.from({ length: 11 }, (_, n) => `metadata.k${n}=1`).join("&");
  expect((await list(`?${many}`)).body.issues[0].message).toBe("at most 10 keys of metadata can be given");
  await world.db.run.deleteMany({ where: { id: { in: [first, second] } } });
});

it("continues a page after the cursor while runs start, without a gap or a repetition", async () => {
  const all = await found("?children=true");
  const since: string[] = [];
  for (const query of ["?children=true", "?children=true&status=Completed,Failed,Pending"]) {
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await list(`${query}&limit=1${cursor}`);
      seen.push(...idsOf(page));
      since.push(await insertRun(world, tenant));
      cursor = page.body.nextCursor === null ? "" : `&cursor=${page.body.nextCursor}`;
    } while (cursor !== "");
    expect(seen.slice(-all.length)).toEqual(all);
    expect(new Set(seen).size).toBe(seen.length);
  }
  await world.db.run.deleteMany({ where: { id: { in: since } } });
  await world.pool.query("DELETE FROM run_index_queue");
});

it("shows a limited key only runs of its targets, and each key only its organization", async () => {
  const limited = await createKey(world, tenant, { targetIds: [tenant.agentId] });
  for (const query of [
    "",
    "?children=true",
    "?status=Completed",
    "?text=parcel",
    `?target=${tenant.agentId}`,
  ]) {
    expect([query, await found(query, limited)]).toEqual([query, [done]]);
  }
  for (const query of ["?status=Pending", `?target=${tenant.toolId}`, `?text=${failed}`, "?kind=tool"]) {
    expect([query, await found(query, limited)]).toEqual([query, []]);
  }
  const nowhere = await createKey(world, tenant, { targetIds: [newId()] });
  expect(await found("?children=true", nowhere)).toEqual([]);
  const others = await createKey(world, stranger);
  for (const query of ["?children=true", "?text=parcel", "?kind=agent"]) {
    const ids = await found(query, others);
    expect([query, ids.length]).toEqual([query, 1]);
    expect([done, failed, child, open]).not.toContain(ids[0]);
  }
  expect(await found(`?target=${tenant.agentId}`, others)).toEqual([]);
});

it.each([
  ["?limit=0", "/limit", "limit must be a whole number from 1 to 200"],
  ["?limit=201", "/limit", "limit must be a whole number from 1 to 200"],
  ["?limit=1e1", "/limit", "limit must be a whole number from 1 to 200"],
  ["?limit=", "/limit", "limit must be a whole number from 1 to 200"],
  ["?kind=agents", "/kind", "kind must be one of agent, tool"],
  [
    "?status=completed",
    "/status",
    "status must be one or more of Pending, Running, Completed, Failed, Cancelled, with commas between them",
  ],
  [
    "?status=",
    "/status",
    "status must be one or more of Pending, Running, Completed, Failed, Cancelled, with commas between them",
  ],
  ["?source=cli", "/source", "source must be one of api, webhook, dashboard, operator, run, draft, schedule"],
  ["?target=helper", "/target", "target must be an id"],
  ["?trigger=x", "/trigger", "trigger must be an id"],
  ["?key=ci", "/key", "key must be an id"],
  ["?from=yesterday", "/from", "from must be a time such as 2026-11-21T00:00:00Z"],
  ["?to=1969-12-31T23:59:59Z", "/to", "to must not be before 1970"],
  ["?from=9999-12-31T23:59:59-14:00", "/from", "from must not be after 9999"],
  ["?to=9999-12-31T23:59:59-00:01", "/to", "to must not be after 9999"],
  ["?text=", "/text", "text must have 1 to 200 characters"],
  [`?text=${"x".repeat(201)}`, "/text", "text must have 1 to 200 characters"],
  ["?children=1", "/children", "children must be true or false"],
  ["?cursor=x", "/cursor", "cursor is not valid"],
])("400 for %s, with a sentence", async (query, path, sentence) => {
  const { status, body } = await list(query);
  expect({ status, code: body.code, issues: body.issues }).toEqual({
    status: 400,
    code: "invalid_request",
    issues: [{ path, message: sentence }],
  });
  expect(body.message).toBe(`The request is not valid: ${sentence}.`);
});

it("400 for an unknown, a repeated and a contradictory parameter, which the message names", async () => {
  const unknown = await list("?statuss=Failed");
  expect(unknown.status).toBe(400);
  expect(unknown.body.message).toBe(
    `The query parameter statuss is unknown. This call takes ${runs.list.query.join(", ")}.`,
  );
  const twice = await list("?status=Failed&status=Completed");
  expect(twice.status).toBe(400);
  expect(twice.body.message).toBe("The query parameter status is given twice.");
  const hidden = await list("?source=run");
  expect(hidden.status).toBe(400);
  expect(hidden.body.message).toBe("source=run lists child runs: add children=true.");
});

it("ends a search that takes too long with a sentence", async () => {
  const timeouts = { connection: 10_000, statement: 250, idleInTransaction: 10_000, silence: 15_000 };
  const hasty = await openWorld({ beside: world, timeouts });
  const other = await openRestServer(hasty);
  expect((await other.call("/v1/runs?text=parcel", { key })).status).toBe(200);
  const client = await world.pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("LOCK TABLE run_index IN ACCESS EXCLUSIVE MODE");
    const slow = await other.call("/v1/runs?text=parcel", { key });
    expect([slow.status, slow.body.message]).toEqual([
      400,
      "The search took too long. Narrow it with from, to, status or target.",
    ]);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
});

it("has a limit of its own, not above the key's reads", async () => {
  const paced = await createTenant(world);
  const normal = await list("", await createKey(world, paced));
  expect(normal.headers.get("ratelimit-policy")).toBe('"lists";q=120;w=60');
  const slow = await createKey(world, paced, { readsPerMinute: 2 });
  for (const left of [1, 0]) {
    expect((await list("", slow)).headers.get("ratelimit")).toMatch(new RegExp(`^"lists";r=${left};`));
  }
  const rejected = await list("", slow);
  expect([rejected.status, rejected.body.code]).toEqual([429, "rate_limited"]);
  expect(rejected.headers.get("retry-after")).toMatch(/^\d+$/);
  // Reads are counted apart.
  const run = await insertRun(world, paced);
  expect((await call(`/v1/runs/${run}`, { key: slow })).status).toBe(200);
});

it("checks the key and its scope before the query; keys get the scope only by name", async () => {
  expect((await list("?limit=0", "sw_live_nope")).status).toBe(401);
  const both = await createKey(world, tenant, { scopes: ["runs:read", "runs:start"] });
  expect((await list("?limit=0", both)).status).toBe(403);
  // The default of keys in a definition file.
  expect((await list("", tenant.key)).status).toBe(403);
});
